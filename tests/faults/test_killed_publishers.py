"""A publish over ssh that is killed, here or on the server, at each of its steps."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import Result

from generator.review import verify_files
from tests.conftest import Site
from tests.support import ssh_server
from tests.support.paths import BUILD
from tests.support.remote_site import Remote

pytestmark = pytest.mark.kills

# The commands that the scripts on the server call.
COMMANDS = ("cat", "find", "ls", "ln", "mkdir", "mv", "rm", "sync", "tar", "wc", "xargs")
# Kills the shell of the script at its call number LIMIT.
DEADLY = """\
PATH=/usr/bin:/bin
read name </proc/$PPID/comm
if [ "$name" = sh ]; then
    echo >>"$CALLS"
    [ "$(wc -l <"$CALLS")" != LIMIT ] || kill -9 $PPID
fi
exec "$real" "$@"
"""
# Passes on LIMIT bytes, then kills a process and ends.
CUTTER = """\
import os, sys
left, victim = map(int, sys.argv[1:])
while left and (data := os.read(0, min(left, 4096))):
    os.write(1, data)
    left -= len(data)
if not left:
    os.kill(victim, 9)
"""


class Publisher(Remote):
    """A site with two releases, and a server that has the first of them."""

    def send(self, ok: bool | None = True) -> int:
        return self.publish("--reload", "true", "--lock-seconds", 300, ok=ok).exit_code

    def check_old_or_new(self) -> None:
        """Nginx could load the server's release at this moment: all its files are there, whole."""
        assert self.store.current() in (self.site.store.current(), self.site.store.previous())
        assert list(verify_files.size_faults(self.store)) == []

    def check_resumed(self) -> None:
        """Another publish finishes the work and clears up."""
        self.send()
        assert self.store.current() == self.site.store.current()
        assert list(verify_files.check_files(self.store)) == []
        assert not (self.folder / "dist/run/publish").exists()


def in_a_process(*arguments: object, **environment: str) -> SimpleNamespace:
    """Run a command so that it can be killed."""
    command = [sys.executable, BUILD, *map(str, arguments)]
    done = subprocess.run(command, env={**os.environ, **environment}, stderr=subprocess.DEVNULL)
    return SimpleNamespace(exit_code=done.returncode)


@pytest.fixture
def publisher(site: Site, tmp_path: Path, run: Callable[..., Result]) -> Iterator[Publisher]:
    (tmp_path / "ssh").mkdir()
    site.build()
    with ssh_server.running(tmp_path / "ssh") as server:
        publisher = Publisher(site, server, tmp_path / "srv", run)
        publisher.send()
        yield publisher


def test_killed_after_any_number_of_bytes(publisher: Publisher) -> None:
    """SIGKILL to the program while it sends the script, the commands, or the files."""
    server = publisher.server
    server.wrap_client(f'tee "{server.folder}/sent" | ssh "$@"')
    publisher.edit("Another")
    publisher.send()
    sent = (server.folder / "sent").stat().st_size
    (server.folder / "cut.py").write_text(CUTTER)
    # Another release takes some bytes less, so the last limit leaves an eighth.
    for limit in (sent * step // 8 for step in range(8)):
        publisher.edit(f"Cut after {limit}")
        server.wrap_client(f'{sys.executable} "{server.folder}/cut.py" {limit} $PPID | ssh "$@"')
        assert replace(publisher, run=in_a_process).send(ok=None) == -9
        publisher.check_old_or_new()
        # Near the end, the server may have all files.
        if limit < sent // 2:
            assert publisher.store.current() == publisher.site.store.previous()
        server.wrap_client('ssh "$@"')
        publisher.check_resumed()


def test_killed_at_any_command_of_the_server(publisher: Publisher) -> None:
    """The server loses its shell, as in a reboot: between any two steps, or in the middle of one."""
    kill_at(publisher, 0)
    publisher.edit("Another")
    publisher.send()
    calls = len(calls_of(publisher).read_bytes())
    assert calls > 10
    currents = set()
    for limit in range(1, calls + 1):
        publisher.edit(f"Killed at {limit}")
        kill_at(publisher, limit)
        publisher.send(ok=None)
        publisher.check_old_or_new()
        currents.add(publisher.store.current() == publisher.site.store.current())
        kill_at(publisher, 0)
        publisher.check_resumed()
    assert currents == {True, False}


def calls_of(publisher: Publisher) -> Path:
    return publisher.server.folder / "calls"


def kill_at(publisher: Publisher, limit: int) -> None:
    calls_of(publisher).write_bytes(b"")
    script = DEADLY.replace("LIMIT", str(limit)).replace("$CALLS", str(calls_of(publisher)))
    for name in COMMANDS:
        publisher.server.wrap_command(name, script)
