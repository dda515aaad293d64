"""Every system call by which a build writes may fail: the current release stays complete, the next build cleans up."""

import errno
import os
import re
import shutil
import signal
import sqlite3
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from generator import filesystem
from generator.pipeline import process_pool
from generator.pipeline import run as pipeline
from generator.pipeline.build_result import BuildResult
from generator.pipeline.cache import FILE
from generator.release import bodies
from generator.release.bodies import BUILD_STATE_FILE
from tests.conftest import Site, copy_of
from tests.faults.test_killed_builds import copy, damage
from tests.support import runs, tree_snapshot
from tests.support.incremental_pair import stray
from tests.support.killed_builds import intercepted, refusing

# As on a disk that is full, closed, read-only or broken.
FAULTS = (errno.ENOSPC, errno.EACCES, errno.EROFS, errno.EIO, errno.EMFILE)


@dataclass
class Fault:
    """The failed call, if there is one; calls of other processes are not counted here."""

    moment: int
    number: int
    calls: int = 0
    name: str = ""
    place: str = ""

    @property
    def sentence(self) -> str:
        return os.strerror(self.number)

    @property
    def struck(self) -> bool:
        return self.calls >= self.moment


@contextmanager
def failing_at(moment: int, number: int) -> Iterator[Fault]:
    """Let call number `moment` fail, counted from 1, in this process and in each that it starts."""
    fault = Fault(moment, number)

    def instead(name: str, call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        if name == "write" and not stat.S_ISREG(os.fstat(arguments[0]).st_mode):
            return call(*arguments, **named)  # a pipe between processes
        if name == "open" and (arguments[1] & os.O_PATH or "dir_fd" in named) and not arguments[1] & os.O_WRONLY:
            return call(*arguments, **named)  # reads the catalog; tests/catalog/test_links.py covers it
        fault.calls += 1
        if fault.calls != fault.moment:
            return call(*arguments, **named)
        fault.name, fault.place = name, str(arguments[0])
        if name != "write":
            raise OSError(fault.number, fault.sentence, arguments[0])
        if fault.number != errno.ENOSPC:  # a full disk writes nothing, a broken one half
            call(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
        raise OSError(fault.number, fault.sentence)

    with intercepted(instead):
        yield fault


Run = Callable[..., Result]
CACHE = ".flatpanel_cache"
# A build makes about 400 similar calls: every seventh fails, with each fault in turn. STRIDE=1 lets every call fail,
# which takes minutes.
STRIDE = int(os.environ.get("STRIDE", "7"))

# Under xdist the forking process has threads.
pytestmark = [
    pytest.mark.usefixtures("without_sync_and_docs"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]


@pytest.fixture
def temporary(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files of this test only."""
    path = folder / "tmp"
    path.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(path))
    return path


def prepared(folder: Path, *, remembering: bool) -> Site:
    """A site with two releases, and a catalog for the third: a series is removed, a chapter is added."""
    site = copy_of("minimal", folder / "site")
    for title, volumes, others in (("One", 1, ["two", "three"]), ("Two", 2, ["two"])):
        tree_snapshot.write_series(site, title, volumes=volumes, others=others)
        build(site, remembering=remembering)
    tree_snapshot.write_series(site, "Three", volumes=1, others=[])
    return site


def build(site: Site, *, remembering: bool) -> BuildResult:
    return pipeline.build(replace(site.options, cache=site.folder / CACHE if remembering else None))


def visible(site: Site) -> dict[str, object]:
    """Everything but the cache, in whose folder only its own file may be."""
    contents = tree_snapshot.content(site.folder)
    return {path: text for path, text in contents.items() if path != f"{CACHE}/{FILE}"}


def message(result: Result, fault: Fault, site: Site, temporary: Path) -> None:
    """The error as one sentence with a place and a reason."""
    assert (result.exit_code, result.stdout) == (1, "")
    places = f"(?:{re.escape(str(site.folder))}|{re.escape(str(temporary))})"
    assert re.fullmatch(rf"{places}[^\n]*: {fault.sentence}\n", result.stderr), (fault, result.stderr)


@pytest.mark.failing_calls
@pytest.mark.parametrize(("remembering", "first"), [(False, 1), (True, 4)], ids=["forgetful", "remembering"])
def test_after_any_failing_call_the_site_is_complete_and_the_next_build_cleans_up(
    folder: Path, temporary: Path, run: Run, remembering: bool, first: int
) -> None:
    """The build ends with a message or succeeds, and the next one gives the same result as without the fault."""
    site = prepared(folder, remembering=remembering)
    done = copy(site, folder / "done")
    build(done, remembering=remembering)
    expected, releases = visible(done), {site.store.current(), done.store.current()}
    options = [] if remembering else ["--no-cache"]

    for moment in count(min(first, STRIDE), STRIDE):
        victim = copy(site, folder / str(moment))
        with failing_at(moment, FAULTS[moment % len(FAULTS)]) as fault:
            result = run("build", *tree_snapshot.options(victim), *options)
        if not fault.struck:
            break
        if result.exit_code:
            message(result, fault, victim, temporary)
        else:  # mkdir of an existing folder, or a cache that is not needed
            assert visible(victim).items() >= {path: one for path, one in expected.items() if path != CACHE}.items()
        for left in temporary.iterdir():
            assert str(left) in result.stderr, fault
            shutil.rmtree(left)
        assert victim.store.current() in releases
        assert damage(victim) == []
        build(victim, remembering=remembering)
        assert visible(victim) == expected, fault
        shutil.rmtree(victim.folder)
    assert moment > 100


@pytest.mark.failing_calls
@pytest.mark.parametrize("number", FAULTS, ids=errno.errorcode.get)
def test_failing_calls_in_worker_processes_are_reported(folder: Path, temporary: Path, run: Run, number: int) -> None:
    """Two processes share the work; each of them meets the fault."""
    site = prepared(folder, remembering=True)
    for index in range(20):
        site.write(f"series/s{index}.yaml", f"title: t{index}\ncover: c.png\nmodified: 2026-03-01T00:00:00Z\n")
    done = copy(site, folder / "done")
    build(done, remembering=True)

    for moment in (12, 33):
        victim = copy(site, folder / str(moment))
        with failing_at(moment, number) as fault:
            result = run("build", *tree_snapshot.options(victim)[:-1], 2)
        message(result, fault, victim, temporary)
        assert damage(victim) == []
        build(victim, remembering=True)
        assert visible(victim) == visible(done), fault
        for left in temporary.iterdir():
            shutil.rmtree(left)


def die(task: int) -> int:
    if task == 9:
        os.kill(os.getpid(), signal.SIGKILL)
    return task


def make_die() -> Callable[[int], int]:
    """By its name, since not all systems fork the processes."""
    return die


def test_a_killed_worker_process_is_a_message() -> None:
    """The system kills a process when memory runs out."""
    with pytest.raises(OSError, match=r"^a worker process was killed, .*; --jobs 1 needs less$"):
        list(process_pool.ordered_map(2, make_die, range(40)))


def test_a_full_disk_does_not_empty_the_mark_of_an_unfinished_build(site: Site) -> None:
    """Writing it again emptied it first, so the leftovers of two builds stayed for good."""
    tree_snapshot.first_version(site)
    site.build()
    before = tree_snapshot.content(site.folder / "dist")
    (site.folder / "dist/www/.0123456789abcdef0123456789abcdef").write_text("of a body")
    (site.folder / "dist" / BUILD_STATE_FILE).write_text("unfinished\n")

    with refusing("write", errno.ENOSPC):
        bodies.mark_unfinished(site.folder / "dist")
        tree_snapshot.second_version(site)
        with pytest.raises(OSError, match="No space left"):
            site.build()
    tree_snapshot.first_version(site)
    site.build()

    assert tree_snapshot.content(site.folder / "dist") == before


def test_a_release_that_cannot_be_synced_is_not_published(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full or broken disk may be noticed only when buffered data is written."""
    monkeypatch.undo()
    old = site.build().release
    tree_snapshot.first_version(site)

    class Library:
        def syncfs(self, descriptor: int) -> int:
            filesystem.ctypes.set_errno(errno.EIO)
            return -1

    monkeypatch.setattr(filesystem.ctypes, "CDLL", lambda *_, **__: Library())
    with pytest.raises(OSError, match=re.escape(f"Input/output error: '{site.folder}/dist'")):
        site.build()
    monkeypatch.undo()

    assert site.store.current() == old
    site.build()
    assert stray(site.store) == []


def test_a_failing_fsync_of_a_folder_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error of fsync has no path."""
    monkeypatch.undo()

    def broken(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match=re.escape(str(tmp_path))):
        filesystem.sync(tmp_path)


def test_a_failing_write_of_a_long_list_names_the_file(tmp_path: Path) -> None:
    """The error of a call on a descriptor has no path."""
    with (
        refusing("utime", errno.EIO),
        pytest.raises(OSError, match=re.escape(f"{tmp_path}/list")),
        filesystem.PartialFile(tmp_path / "list") as growing,
    ):
        growing.finish(f"{tmp_path}/other", 1)
    assert list(tmp_path.iterdir()) == []


# The cache


def full_after(monkeypatch: pytest.MonkeyPatch, pages: int, name: str) -> None:
    """Allow SQLite this many pages in files whose path contains `name`."""
    connect = sqlite3.connect

    def limited(path: Path, **named: Any) -> sqlite3.Connection:
        connection = connect(path, **named)
        if name in str(path):
            connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    monkeypatch.setattr(sqlite3, "connect", limited)


@pytest.mark.parametrize("pages", runs.sample([1, 2, 3, 4, 5, 6, 7], 3))
def test_a_build_with_a_full_cache_succeeds_without_it(
    folder: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch, pages: int
) -> None:
    """At any time; the next build with enough space writes the cache again."""
    site = prepared(folder, remembering=False)
    done = copy(site, folder / "done")
    build(done, remembering=False)
    with monkeypatch.context() as fault:
        full_after(fault, pages, CACHE)
        build(site, remembering=True)

    assert visible(done).items() <= visible(site).items()
    assert list(temporary.iterdir()) == []
    build(site, remembering=True)
    assert build(site, remembering=True).parsed == 0
    assert stray(site.store) == []


def test_a_full_temporary_folder_is_a_message(
    folder: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    """A build without a cache uses a temporary one; the message names the folder."""
    site = prepared(folder, remembering=False)
    before = tree_snapshot.content(site.folder)
    full_after(monkeypatch, 2, "flatpanel-")
    result = run("build", *tree_snapshot.options(site), "--no-cache")

    assert (result.exit_code, result.stdout) == (1, "")
    assert re.fullmatch(rf"{temporary}/flatpanel-\w+: database or disk is full; TMPDIR .*\n", result.stderr)
    assert tree_snapshot.content(site.folder) == before
    assert list(temporary.iterdir()) == []


def test_an_unreadable_cache_that_cannot_be_removed_is_not_used(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be on a disk that is mounted read-only."""
    cache = site.folder / CACHE
    cache.mkdir()
    (cache / FILE).write_text("not a database\n")

    def refuse(path: Path) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr(filesystem, "delete", refuse)
    build(site, remembering=True)

    assert stray(site.store) == []


# A full disk


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MiB, if this account may mount one."""
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", tmp_path], capture_output=True)
    if made.returncode:
        pytest.skip("nothing can be mounted here")
    try:
        yield tmp_path
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def test_a_full_disk_keeps_the_current_release(full_disk: Path, run: Run) -> None:
    """A release that does not fit leaves the current one, and a smaller one fits again."""
    site = copy_of("minimal", full_disk / "site")
    tree_snapshot.first_version(site)
    options = tree_snapshot.options(site)
    assert run("build", *options).exit_code == 0
    old, ballast = site.store.current(), full_disk / "ballast"
    tree_snapshot.second_version(site)
    results = []
    for free in range(0, 2_000_000, 250_000):
        ballast.unlink(missing_ok=True)
        space = os.statvfs(full_disk)
        ballast.write_bytes(b"\0" * max(0, space.f_bavail * space.f_frsize - free))
        results.append(run("build", *options))
        assert damage(site) == []
        if results[-1].exit_code == 0:
            break
        assert re.fullmatch(r"/[^\n]*: No space left on device\n", results[-1].stderr), results[-1].stderr
        assert site.store.current() == old

    assert results[0].exit_code == 1
    ballast.unlink()
    assert run("build", *options).exit_code == 0
    assert stray(site.store) == []
