"""`serve --watch` with a simulated clock."""

import errno
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from generator.commands import options
from generator.commands import serve as command
from generator.errors import FlatpanelError
from generator.nginx import config, process
from tests.commands.test_serve import FIRST, ask
from tests.conftest import AS_OF, Site
from tests.support import tree_snapshot
from tests.support.servers import free_port

# Runs a command, or `serve --watch` with a script.
Play = Callable[..., Result]


class Script:
    """A clock whose pauses run the scenes of the test."""

    def __init__(self, *scenes: Callable[[], object]) -> None:
        self.now = float(AS_OF)
        self.scenes = iter(scenes)

    def time(self) -> float:
        return self.now

    def sleep(self, _: float) -> None:
        scene = next(self.scenes, None)
        if scene is None:
            raise KeyboardInterrupt  # Ctrl-C
        scene()

    def at(self, seconds: int, *actions: Callable[[], object]) -> Callable[[], None]:
        """A scene of these actions, after which so many seconds have passed since the start."""

        def scene() -> None:
            for action in actions:
                action()
            self.now = AS_OF + seconds

        return scene


@pytest.fixture
def play(site: Site, run: Play, monkeypatch: pytest.MonkeyPatch) -> Iterator[Play]:
    """Run `serve --watch` in this process, with the clock of a script."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}

    def play(script: Script, port: int | None, *arguments: str) -> Result:
        monkeypatch.setattr(options, "time", script)
        monkeypatch.setattr(command, "time", script)
        monkeypatch.setattr(command.FolderEvents, "wait", lambda _, seconds: script.sleep(seconds))
        catalog, out, conf = site.paths
        chosen = ["--port", str(port), *arguments] if port else arguments
        places = ["--catalog", catalog, "--out", out, "--nginx", conf, "--jobs", "1"]
        return run("serve", *places, "--watch", *chosen)

    yield play
    for number, handler in handlers.items():
        signal.signal(number, handler)


def schedule(site: Site, due: int) -> str:
    """Add a chapter to the first series and return its URL."""
    path = site.folder / "catalog_src/series/first.yaml"
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(due))
    path.write_text(path.read_text() + f"  - {{number: 2, published: {moment}, pages: [1.png]}}\n")
    return f"{FIRST}/0/2"


@pytest.fixture
def fill_the_disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Let the next build fail."""
    build = command.building.build_site

    def full_disk(_: Any) -> Any:
        monkeypatch.setattr(command.building, "build_site", build)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    return lambda: monkeypatch.setattr(command.building, "build_site", full_disk)


def test_a_chapter_appears_when_it_is_due(site: Site, play: Play, fill_the_disk: Callable[[], None]) -> None:
    """Without an edit. That build fails at the second of its publication, and is repeated after a minute."""
    url, port, seen, script = schedule(site, AS_OF + 10), free_port(), [], Script()

    def look() -> None:
        seen.append(ask(port, url).status)

    script.scenes = iter(
        [script.at(9, look), script.at(10, fill_the_disk), *(script.at(seconds, look) for seconds in (69, 70, 71))]
    )
    result = play(script, port)

    assert (result.exit_code, seen) == (0, [404, 404, 404, 200])
    assert result.stderr.count("No space left on device") == 1
    assert result.stdout.count(" is live") == 1


def test_with_as_of_only_an_edit_appears(site: Site, play: Play, fill_the_disk: Callable[[], None]) -> None:
    """The time of the site is fixed, so that no chapter becomes due. The time of a repeated build is not."""
    url, seen, script = schedule(site, AS_OF + 10), [], Script()

    def look() -> None:
        seen.append((site.folder / "dist/current").readlink())

    edit = partial(site.write, "series/third.yaml", "title: Third\ncover: c.png\n")
    script.scenes = iter(
        [script.at(20), script.at(20, look, edit, fill_the_disk), *(script.at(time, look) for time in (79, 80, 81))]
    )
    result = play(script, free_port(), "--as-of", str(AS_OF))

    assert seen[0] == seen[1] == seen[2] != seen[3]
    assert result.stdout.count(" is live") == 1
    assert "/api/series/third" in site.manifest.resources and url not in site.manifest.resources


def test_an_edit_during_the_first_build_is_built(site: Site, play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """The snapshot is taken before the build."""
    run, port, edits = command.building.build_site, free_port(), [lambda: tree_snapshot.first_version(site)]

    def slow(wanted: Any) -> Any:
        report = run(wanted)
        if edits:
            edits.pop()()
        return report

    monkeypatch.setattr(command.building, "build_site", slow)
    result = play(Script(lambda: None), port)

    assert result.stdout.count(" is live") == 1
    assert FIRST + "/3/3" in site.manifest.resources


def test_old_workers_stop_before_nginx_stops_them(site: Site, play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """nginx lets them accept connections for another 0.1 s, with the old release."""
    lines: list[str] = []
    read = process._Messages.read
    monkeypatch.setattr(process._Messages, "read", lambda self, line: (lines.append(line), read(self, line)))

    play(Script(lambda: schedule(site, AS_OF - 60)), free_port())

    started = [index for index, line in enumerate(lines) if ": start worker process " in line]
    stopped = [index for index, line in enumerate(lines) if f"(SIGQUIT) received from {os.getpid()}" in line]
    assert stopped and 2 * len(stopped) == len(started)
    assert max(started) < min(stopped)


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> list[process.Server]:
    """The servers that are up."""
    started: list[process.Server] = []
    up = process.Server.wait_until_up
    monkeypatch.setattr(process.Server, "wait_until_up", lambda server: (started.append(server), up(server)))
    return started


def test_a_crash_of_nginx_is_an_error(play: Play, servers: list[process.Server]) -> None:
    """The message contains its exit code."""

    def kill() -> None:
        workers = servers[0].messages.workers
        servers[0].process.kill()
        servers[0].process.wait()
        for worker in workers:  # they would outlive it
            os.kill(worker, signal.SIGKILL)

    result = play(Script(kill), free_port())

    assert (result.exit_code, result.stderr) == (1, "nginx ended with exit code -9\n")


def test_stopping_nginx_is_no_error(play: Play, servers: list[process.Server]) -> None:
    """For example with `nginx -s quit`."""

    def stop() -> None:
        servers[0].process.terminate()
        servers[0].process.wait()

    assert play(Script(stop), free_port()).exit_code == 0


def test_a_missing_nginx_is_an_error(site: Site, play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message explains how to install it."""
    monkeypatch.setattr(process.shutil, "which", lambda name, path: None)
    result = play(Script(), free_port())
    sentence = "nginx is not installed; on Debian: sudo apt-get install nginx libnginx-mod-http-js\n"

    assert (result.exit_code, result.stderr) == (1, sentence)


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ("exit 1", "nginx ended with exit code 1\n"),
        # nginx quotes requests without escaping them.
        (
            r"printf '\033]0;owned\a\233\nlast' >&2; exit 1",
            "\\x1b]0;owned\\x07\\x9b\nlast\nnginx ended with exit code 1\n",
        ),
        # It neither starts workers nor ends.
        ("exec sleep 600", "nginx did not load the new configuration within 0 s\n"),
    ],
    ids=["ends", "prints", "hangs"],
)
def test_an_nginx_that_does_not_start_is_an_error(
    site: Site, play: Play, monkeypatch: pytest.MonkeyPatch, script: str, complaint: str
) -> None:
    """One that ends is not waited for. What it prints is escaped."""
    program = site.folder / "nginx"
    program.write_text(f'#!/bin/sh\n[ "$1" = -V ] && exit\n{script}\n')
    program.chmod(0o755)
    monkeypatch.setattr(process, "find_nginx", lambda: str(program))
    monkeypatch.setattr(process, "MAX_WAIT", 0 if "sleep" in script else process.MAX_WAIT)
    result = play(Script(), free_port())

    assert (result.exit_code, result.stderr) == (1, complaint)
    assert "serving" not in result.stdout


def test_a_rollback_is_live_at_once(site: Site, play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """If nginx refuses the release that another command chose, it is named once, and the one before stays live."""
    port, etags, releases = free_port(), [], []
    main = config.main_conf

    def look() -> None:
        releases.append(site.store.current())
        etags.append(ask(port)["etag"])

    def edit() -> None:
        look()
        tree_snapshot.first_version(site)

    def roll_back() -> None:
        look()
        site.roll_back()

    def refuse() -> None:
        look()
        monkeypatch.setattr(config, "main_conf", lambda *given, **named: main(*given, **named) + b"nonsense;\n")
        site.roll_back(releases[1])

    result = play(Script(edit, roll_back, lambda: None, refuse, lambda: None, look), port)
    first, second = etags[:2]

    assert first != second
    assert (etags[2:], releases) == ([first, first], [releases[0], releases[1], releases[0], releases[1]])
    assert f"release {releases[0]} is live; another command made it the current one\n" in result.stdout
    assert result.stderr.count("nginx rejected the configuration; its messages above say why\n") == 1


def test_a_circle_of_links_keeps_the_previous_release(site: Site, play: Play) -> None:
    port, catalog, away, etags = free_port(), site.folder / "catalog_src", site.folder / "away", []

    def look() -> None:
        etags.append(ask(port)["etag"])

    def turn() -> None:
        catalog.rename(away)
        catalog.symlink_to(catalog)

    def mend() -> None:
        look()
        catalog.unlink()
        away.rename(catalog)
        tree_snapshot.first_version(site)

    result = play(Script(turn, mend, look), port)

    assert "no such folder" in result.stderr and "still serving the previous release" in result.stderr
    assert etags[0] != etags[1]


def test_a_refused_configuration_keeps_the_previous_release(
    site: Site, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message quotes nginx."""
    port, etags = free_port(), []
    main = config.main_conf

    def edit() -> None:
        etags.append(site.manifest.resources[FIRST].etag)
        tree_snapshot.first_version(site)
        monkeypatch.setattr(config, "main_conf", lambda *given, **named: main(*given, **named) + b"nonsense;\n")

    def look() -> None:
        etags.append(ask(port)["etag"].strip('"'))

    result = play(Script(edit, look), port)

    why, *then = result.stderr.splitlines()
    assert "[emerg] " in why and 'unknown directive "nonsense"' in why
    assert [line[9:] for line in then] == [
        "nginx rejected the configuration; its messages above say why",
        "still serving the previous release",
    ]
    assert etags[0] == etags[1]


def test_a_port_in_use_is_an_error(site: Site, play: Play) -> None:
    """Before the build. The default port is that of site.yaml."""
    with socket.socket() as other:
        other.bind(("", 0))
        other.listen()
        port = other.getsockname()[1]
        site.write("site.yaml", f"base_url: https://minimal.example\nport: {port}\n")
        result = play(Script(), None)
    sentence = f"port {port} of 127.0.0.1 cannot be used: Address already in use; choose another with --port\n"

    assert (result.exit_code, result.output) == (1, sentence)
    assert not (site.folder / "dist").exists()


def test_a_failed_start_leaves_no_folder(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scratch folder is removed."""
    folders: list[Path] = []
    site.build()

    def find() -> str:
        raise FlatpanelError("no nginx")

    def configure(server: process.Server) -> None:
        folders.append(server.run)

    monkeypatch.setattr(process.Server, "configure", configure)
    monkeypatch.setattr(process, "find_nginx", find)
    with pytest.raises(FlatpanelError, match="no nginx"), process.Server(site.store, "dist", free_port(), pytest.fail):
        pass

    assert [folder.exists() for folder in folders] == [False]
