"""`serve` with a real nginx."""

import os
import pwd
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from generator import filesystem
from generator.nginx import process as nginx_process
from generator.release import nginx_user
from generator.release.store import Store
from tests.conftest import Site
from tests.support import nginx_client
from tests.support.paths import BUILD
from tests.support.runs import sample
from tests.support.servers import free_port

# A limit for defects; no step takes long.
DEADLINE = 60
FIRST = "/api/series/first"
SERIES = "title: {}\ncover: c.png\n"


def own_addresses() -> list[str]:
    """IPv4 addresses of this machine."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # sends nothing
        return [probe.getsockname()[0]]
    return []


def ask(port: int, url: str = FIRST, host: str = "127.0.0.1") -> nginx_client.Answer:
    with socket.create_connection(("127.0.0.1", port), timeout=DEADLINE) as client:
        client.sendall(f"GET {url} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        return nginx_client.parse(b"".join(iter(lambda: client.recv(65536), b"")))


def edit(site: Site, path: str, text: str) -> None:
    """Replace a file of the catalog in one step, so that no build reads half of an edit."""
    draft = site.folder / "draft"
    draft.write_text(text)
    draft.rename(site.folder / "catalog_src" / path)


class Serving:
    """A running `python build.py serve` and its output."""

    def __init__(self, site: Site, *arguments: str) -> None:
        self.port = free_port()
        catalog, out, conf = site.paths
        places = ["--catalog", catalog, "--out", out, "--nginx", conf]
        self.process = subprocess.Popen(
            [sys.executable, BUILD, "serve", *places, "--port", str(self.port), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.said = ""
        # The output before it serves.
        self.first = ""

    def read(self) -> bytes:
        assert self.process.stdout
        ready, _, _ = select.select([self.process.stdout], [], [], DEADLINE)
        assert ready, f"nothing more was said after:\n{self.said}"
        return os.read(self.process.stdout.fileno(), 65536)

    def until(self, words: str) -> str:
        """What was said since the last time, as soon as it contains these words and its line is complete."""
        while words not in self.said or not self.said.endswith("\n"):
            part = self.read()
            assert part, f"it ended after:\n{self.said}"
            self.said += part.decode()
        printed, self.said = self.said, ""
        return printed

    def end(self, number: int) -> int:
        """Its exit code after a signal; every process that holds its output must have ended, nginx included."""
        self.process.send_signal(number)
        while self.read():
            pass
        return self.process.wait()


@contextmanager
def serving(site: Site, *arguments: str) -> Iterator[Serving]:
    started = Serving(site, *arguments)
    try:
        started.first = started.until(" (Ctrl-C stops)")
        yield started
    finally:
        if started.process.poll() is None:
            started.end(signal.SIGTERM)
        assert started.process.stdout
        started.process.stdout.close()


@pytest.mark.end_to_end
@pytest.mark.parametrize("number", sample([signal.SIGINT, signal.SIGHUP, signal.SIGTERM], 2))
def test_serve_ends_with_nginx_on_a_signal(site: Site, number: int) -> None:
    """Exit code 0; no process and no folder remains."""
    with serving(site) as served:
        published = site.manifest.resources[FIRST]

        assert ask(served.port)["etag"] == f'"{published.etag}"'
        assert served.end(number) == 0
        with pytest.raises(ConnectionRefusedError):
            ask(served.port)


def test_nginx_ends_with_a_killed_serve(site: Site) -> None:
    """SIGKILL lets serve stop nothing itself."""
    with serving(site) as served:
        pid = served.process.pid
        children = [os.pidfd_open(int(child)) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        served.process.kill()
        for child in children:
            assert select.select([child], [], [], DEADLINE)[0], "a process of serve still runs"
            os.close(child)

        assert children
        with pytest.raises(ConnectionRefusedError):
            ask(served.port)


def test_a_forked_process_does_not_keep_nginx_running(site: Site) -> None:
    """A worker that renders a theme is a fork. It closes the pipe whose end makes the guard stop nginx."""
    site.build()
    with nginx_process.Server(site.store, "dist", free_port(), print) as server:
        assert server.guard.stdin
        child = os.fork()
        if not child:
            os._exit(server.guard.stdin.closed)
        _, status = os.waitpid(child, 0)

        assert os.waitstatus_to_exitcode(status) == 1
        assert not server.guard.stdin.closed


def test_watch_publishes_an_edit(site: Site) -> None:
    """When it is announced, the ETag and the later date are live. A typo changes nothing."""
    with serving(site, "--watch") as served:
        before = site.manifest.resources[FIRST]
        path = site.folder / "catalog_src/series/first.yaml"
        text = path.read_text()

        edit(site, "series/first.yaml", text.replace("title: First", "titel: First"))
        printed = served.until("still serving the previous release")
        assert f"{path}:1:1: titel: unknown field; did you mean title?" in printed
        assert ask(served.port)["etag"] == f'"{before.etag}"'

        edit(site, "series/first.yaml", text.replace("title: First", "title: Fjrst"))
        printed = served.until(" is live")
        assert f"release {site.store.current()} is live" in printed
        after = site.manifest.resources[FIRST]
        assert ask(served.port)["etag"] == f'"{after.etag}"' != f'"{before.etag}"'
        assert after.modified > before.modified


def test_watch_publishes_changed_settings(site: Site, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A change in site.yaml changes headers. `dist` does not have to be beside nginx.conf."""
    out = tmp_path_factory.mktemp("elsewhere") / "dist"
    with serving(site, "--watch", "--out", str(out)) as served:
        assert Store(out).current() and ask(served.port)["cache-control"] == "public, max-age=300"
        edit(site, "site.yaml", "base_url: https://minimal.example\ncache: {unversioned: {series: 7}}\n")
        served.until(" is live")
        assert ask(served.port)["cache-control"] == "public, max-age=7"


@pytest.mark.parametrize(
    ("user", "mode", "is_known", "line"),
    [
        (0, 0o700, True, "user account{};\n"),
        (0, 0o700, False, "user root;\n"),
        (0, 0o755, True, None),
        (1000, 0o700, True, None),
    ],
    ids=["root", "root in a container", "root in an open folder", "other account"],
)
def test_workers_run_as_the_owner_of_the_folder(
    monkeypatch: pytest.MonkeyPatch, user: int, mode: int, is_known: bool, line: str | None
) -> None:
    """If root starts nginx in a folder that other accounts cannot enter."""

    def getpwuid(number: int) -> SimpleNamespace:
        if not is_known:
            raise KeyError(number)
        return SimpleNamespace(pw_name=f"account{number}")

    monkeypatch.setattr(pwd, "getpwuid", getpwuid)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    with filesystem.scratch_folder(shared=True) as folder:
        (folder / "dist").mkdir()
        (folder / "dist").chmod(mode)
        written = folder / "user.conf"
        written.write_text("user of_before;")
        nginx_user.write_user_conf(folder / "dist", written)

        assert (written.read_text() if written.exists() else None) == (line and line.format(os.getuid()))
