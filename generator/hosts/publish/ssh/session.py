"""One process of the system's ssh, which runs a shell script on the server and passes data to it.

The script is sent on stdin, so the command itself has no characters that a login shell could read in its own way. The
shell reads it line by line and never too far: after its last line, commands and data follow on stdin.
"""

import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO

from .... import filesystem
from ....errors import FlatpanelError
from .target import SshTarget

_SCRIPTS = Path(__file__).parent / "scripts"
_END = "."
# No login shell reads anything of it in another way than sh.
_COMMAND = (
    'exec sh -c \'script=$(while IFS= read -r line && [ "$line" != . ]; do printf "%s\\n" "$line"; done); '
    'eval "$script"\''
)
_GREETING = b"flatpanel-publish\n"
_OPTIONS = {
    # Asks for no password and no new host key: a publish often runs without a person who could answer.
    "BatchMode": "yes",
    "ConnectTimeout": "20",
    "ServerAliveInterval": "15",
    "ServerAliveCountMax": "4",
    "LogLevel": "ERROR",
    "ForwardAgent": "no",
    "ForwardX11": "no",
    "ClearAllForwardings": "yes",
    "PermitLocalCommand": "no",
}
_BUFFER = 1 << 18
# Bytes of error messages that are read.
_MAX_ERRORS = 1 << 16
# The exit code of ssh if the connection fails.
_CONNECTION_FAILED = 255
_HINTS = {
    "Permission denied (": "check the user, and that the server has your public key",
    "Host key verification failed": "connect once with ssh and check the key of the server",
}


class Refused(FlatpanelError):
    """The script on the server ended with an error, which is the attribute `reason`."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"{url}: {reason}")
        self.reason = reason


@contextmanager
def connected(
    target: SshTarget, script: str, variables: Mapping[str, str], *, lock_seconds: int, dry_run: bool, compress: bool
) -> Iterator["Session"]:
    """Run a script on a server. It ends when it reads the end of its input."""
    of_all = {"folder": target.folder, "lock_seconds": str(lock_seconds), "dry": "yes" if dry_run else ""}
    options = {**_OPTIONS, "Compression": "yes" if compress else "no"}
    command = ["ssh", "-T", *(f"-o{name}={value}" for name, value in options.items()), *target.arguments(), _COMMAND]
    with filesystem.unnamed_file() as errors:
        try:
            process = subprocess.Popen(
                command, bufsize=_BUFFER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
            )
        except FileNotFoundError:
            raise FlatpanelError("ssh is not installed; on Debian: sudo apt-get install openssh-client") from None
        session = Session(target.url, process, errors)
        try:
            session.start(_script_text(script, {**of_all, **variables}))
            yield session
        finally:
            session.close()


class Session:
    """A script that runs on a server."""

    def __init__(self, url: str, process: subprocess.Popen[bytes], errors: BinaryIO) -> None:
        assert process.stdin and process.stdout
        self.url, self._process, self._errors = url, process, errors
        self._input, self._output = process.stdin, process.stdout

    def start(self, script: str) -> None:
        """Send the script, and skip what the login shell prints before it runs."""
        self._send(script.encode(errors="surrogateescape"))
        while (line := self._output.readline()) != _GREETING:
            if not line:
                raise self._failure()

    def close(self) -> None:
        with suppress(OSError):
            self._input.close()
        self._output.close()
        self._process.wait()

    def _send(self, data: bytes) -> None:
        with suppress(BrokenPipeError):  # the next read says why the connection ended
            self._input.write(data)
            self._input.flush()

    def command(self, command: str) -> None:
        self._send(f"{command}\n".encode(errors="surrogateescape"))

    def lines(self, command: str = "") -> Iterator[str]:
        """Send a command, and return the lines up to one that only says `end`."""
        if command:
            self.command(command)
        while (line := self.line()) != "end":
            yield line

    def line(self) -> str:
        """The next line. Raises if the script refuses, or if the connection ended."""
        line = self._output.readline()
        if not line.endswith(b"\n"):
            raise self._failure()
        text = line[:-1].decode(errors="surrogateescape")
        if text.startswith("refused "):
            self._wait()
            # The reason, then the first error of the program that failed on the server.
            raise Refused(self.url, ": ".join([text.removeprefix("refused ").strip(), *self._error_lines()[:1]]))
        return text

    def content(self, command: str) -> Iterator[bytes]:
        """Send a command, and return the content of the file that the script answers with, in blocks."""
        self.command(command)
        remaining = int(self.line())
        while remaining:
            block = self._output.read(min(remaining, 1 << 20))
            if not block:
                raise self._failure()
            remaining -= len(block)
            yield block

    def upload(self, write: Callable[[IO[bytes]], None]) -> None:
        """Let a function write the data that follows the last command, and end the input."""
        try:
            write(self._input)
            self._input.close()
        except BrokenPipeError:
            # The script ended early, and says why.
            while True:
                self.line()

    def _wait(self) -> int:
        """Wait until ssh has passed on all messages of the server, and return its exit code."""
        with suppress(OSError):
            self._input.close()
        self._output.read()
        return self._process.wait()

    def _error_lines(self) -> list[str]:
        self._errors.seek(0)
        text = self._errors.read(_MAX_ERRORS).decode(errors="replace")
        return [line.strip() for line in text.splitlines() if line.strip()]

    def _failure(self) -> FlatpanelError:
        """Why the script printed nothing more."""
        code = self._wait()
        lines = self._error_lines() or ["the connection ended"]
        if code != _CONNECTION_FAILED:
            return FlatpanelError(f"{self.url}: the shell on the server ended: {lines[0]}")
        hint = next((hint for text, hint in _HINTS.items() if text in lines[-1]), None)
        return FlatpanelError(f"{self.url}: {lines[-1]}" + (f"; {hint}" if hint else ""))


def _script_text(script: str, variables: Mapping[str, str]) -> str:
    """The script in braces: if the connection ends before the last line, the shell runs nothing of it."""
    assignments = [f"{name}={shlex.quote(value)}" for name, value in variables.items()]
    texts = ((_SCRIPTS / name).read_text(encoding="utf-8") for name in ("open.sh", script))
    return "\n".join(["{", *assignments, *texts, "}", _END, ""])
