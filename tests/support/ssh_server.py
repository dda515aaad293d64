"""A real sshd on a loopback port, with keys of its own, and an `ssh` in PATH that uses its own configuration.

Each connection gets an sshd of its own, as from inetd: so no port is guessed, and no test waits.
"""

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from socketserver import BaseRequestHandler
from tempfile import TemporaryDirectory

import pytest

from tests.support import servers
from tests.support.servers import LIMIT

_PATH = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"))
_PRIVILEGE_SEPARATION = Path("/run/sshd")


@dataclass(frozen=True)
class SshServer:
    """The running server. `folder` has its files; `commands` is the first folder of PATH on the server."""

    folder: Path
    port: int
    sessions: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def commands(self) -> Path:
        return self.folder / "commands"

    @property
    def client(self) -> Path:
        """The folder with the command ssh that a test puts first in PATH."""
        return self.folder / "client"

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": f"{self.client}{os.pathsep}{os.environ['PATH']}"}

    def url(self, path: str | Path) -> str:
        return f"ssh://{account()}@127.0.0.1:{self.port}{path}"

    def wrap_client(self, script: str) -> None:
        """Replace the command ssh by a script; `ssh` in it is the real one, with this configuration."""
        command = self.client / "ssh"
        command.write_text(
            f"#!/bin/sh\nssh() {{ {shutil.which('ssh')} -F '{self.folder}/ssh_config' \"$@\"; }}\n{script}\n"
        )
        command.chmod(0o755)

    def wrap_command(self, name: str, script: str) -> None:
        """Replace a command on the server by a script; `$real` in it is the path of the real one."""
        command = self.commands / name
        command.write_text(f"#!/bin/sh\nreal={shutil.which(name, path=_PATH)}\n{script}\n")
        command.chmod(0o755)


def account() -> str:
    return pwd.getpwuid(os.geteuid()).pw_name


@cache
def _new_keys() -> dict[str, bytes]:
    """Pairs of keys, made once."""
    with TemporaryDirectory() as folder:
        for name in ("host_key", "user_key", "other_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{folder}/{name}"], check=True)
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def _keys(folder: Path) -> None:
    for name, text in _new_keys().items():
        (folder / name).write_bytes(text)
        (folder / name).chmod(0o600)
    shutil.copy(folder / "user_key.pub", folder / "authorized_keys")


# What the server and the client read; {folder} has the keys. The usual exchange of keys, which quantum computers cannot
# break, takes a third of the time of a session, so both name another one.
_CONFIGURATION = {
    "sshd_config": """HostKey "{folder}/host_key"
AuthorizedKeysFile "{folder}/authorized_keys"
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
PidFile none
PrintMotd no
KexAlgorithms curve25519-sha256
SetEnv "PATH={folder}/commands:/usr/local/bin:/usr/bin:/bin"
""",
    "ssh_config": """IdentityFile "{folder}/user_key"
IdentitiesOnly yes
KexAlgorithms curve25519-sha256
ConnectTimeout {limit}
ServerAliveInterval {limit}
IdentityAgent none
UserKnownHostsFile "{folder}/known_hosts"
GlobalKnownHostsFile none
""",
}


def _configure(folder: Path, port: int) -> None:
    for name, text in _CONFIGURATION.items():
        (folder / name).write_text(text.format(folder=folder, limit=LIMIT))
    host_key = (folder / "host_key.pub").read_text().split()[:2]
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {' '.join(host_key)}\n")


def _find_sshd() -> str:
    sshd = shutil.which("sshd", path=_PATH)
    if not sshd or not shutil.which("ssh"):
        if os.environ.get("CI"):
            pytest.fail("publish over ssh is not tested: openssh-server and openssh-client are not installed")
        pytest.skip("openssh-server and openssh-client are not installed")
    return sshd


@contextmanager
def running(folder: Path) -> Iterator[SshServer]:
    """A server that accepts the key of the folder, for the account of the tests."""
    sshd = _find_sshd()
    if os.geteuid() == 0:
        _PRIVILEGE_SEPARATION.mkdir(exist_ok=True)  # sshd of root starts only with this folder

    class Session(BaseRequestHandler):
        def handle(self) -> None:
            command = [sshd, "-i", "-e", "-f", folder / "sshd_config"]
            with self.request as connection, (folder / "sshd.log").open("ab") as log:
                server.sessions.append(subprocess.Popen(command, stdin=connection, stdout=connection, stderr=log))

    _keys(folder)
    with servers.answering(Session) as port:
        server = SshServer(folder, port)
        for path in (server.commands, server.client):
            path.mkdir()
        _configure(folder, port)
        server.wrap_client('ssh "$@"')
        try:
            yield server
        finally:
            for session in server.sessions:
                session.terminate()
                session.wait(LIMIT)
