"""Two builds of one folder at once, and builds that are killed and remember: neither ever mixes two catalogs."""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from generator import filesystem
from generator.pipeline import run
from generator.release.bodies import MARK
from generator.review import verify_files
from tests.conftest import Site, copy_of
from tests.faults.test_failing_calls import CACHE, build, prepared, visible
from tests.faults.test_killed_builds import copy, damage
from tests.support import tree_snapshot
from tests.support.incremental_pair import in_memory, stray
from tests.support.killed_builds import killed_at
from tests.support.paths import BUILD

# Child processes are made from one that has threads, under xdist; they run nothing but a build.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@pytest.fixture
def folder() -> Iterator[Path]:
    with in_memory() as path:
        yield path


@pytest.mark.usefixtures("hasty")
def test_wherever_a_build_is_killed_that_remembers_the_next_ends_as_if_nothing_had_happened(folder: Path) -> None:
    """What it had put into its memory until then is not believed, or it is right."""
    site = prepared(folder, remembering=True)
    done = copy(site, folder / "done")
    build(done, remembering=True)
    releases, expected = {site.store.current(), done.store.current()}, visible(done)

    for moment in count(1, 7):
        victim = copy(site, folder / str(moment))
        if not killed_at(moment, lambda: build(victim, remembering=True)):  # noqa: B023  # called at once
            break
        assert victim.store.current() in releases
        assert damage(victim) == []
        build(victim, remembering=True)
        assert {path: one for path, one in visible(victim).items() if not path.startswith(CACHE)} == {
            path: one for path, one in expected.items() if not path.startswith(CACHE)
        }
        assert os.listdir(victim.folder / CACHE) == ["cache.sqlite"]
        assert build(victim, remembering=True).parsed == 0
        shutil.rmtree(victim.folder)
    assert moment > 100


@pytest.mark.usefixtures("hasty")
def test_what_another_build_published_in_between_is_collected(folder: Path) -> None:
    """A memory of the release that is served may not know of the one before it: a rollback lies in between."""
    site = prepared(folder, remembering=True)
    tree_snapshot.write_series(site, "Other", volumes=3, others=["other"])
    build(site, remembering=False)
    site.roll_back()
    tree_snapshot.write_series(site, "Last", volumes=1, others=[])
    build(site, remembering=True)

    assert stray(site.store) == []
    assert visible(site).keys().isdisjoint({"dist/www/api/series/other"})


def test_two_builds_at_once_never_mix(folder: Path) -> None:
    """Of two catalogs that are built into one folder with one memory, one is published, then the other."""
    site = copy_of("minimal", folder / "site")
    other = folder / "other"
    expected = {}
    for title, catalog in (("Mine", site.folder / "catalog_src"), ("Yours", other)):
        tree_snapshot.write_series(site, title, volumes=3, others=[title.lower()])
        if catalog == other:
            shutil.copytree(site.folder / "catalog_src", other)
        alone = folder / title
        report = run.build(replace(site.options, out=alone / "dist", nginx=alone / "nginx.conf"))
        expected[title] = report.resources
    tree_snapshot.write_series(site, "Mine", volumes=3, others=["mine"])
    for _ in range(3):
        commands = [
            [
                sys.executable,
                "-B",
                BUILD,
                "build",
                *map(str, tree_snapshot.options(site)[2:]),
                "--catalog",
                str(catalog),
            ]
            for catalog in (site.folder / "catalog_src", other)
        ]
        at_work = [subprocess.Popen(one, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for one in commands]
        said = [one.communicate() for one in at_work]

        assert [one.returncode for one in at_work] == [0, 0], said
        assert list(verify_files.check_files(site.store)) == []
        assert stray(site.store) == []
        titles = {release: released(site, release) for release in (site.store.current(), site.store.previous())}
        assert sorted(titles.values()) == ["mine", "yours"]


def test_the_main_file_is_written_by_one_build_at_a_time(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of them would write into the same unnamed file, and one would publish what the other has half written."""
    free = []

    def look(path: Path, text: bytes) -> bool:
        with (site.folder / "dist" / MARK).open() as mark, pytest.raises(BlockingIOError):
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
        free.append(path.name)
        return True

    monkeypatch.setattr(filesystem, "write_if_changed", look)
    build(site, remembering=False)

    assert "nginx.conf" in free


def released(site: Site, release: str | None) -> str:
    """The one catalog that a release is about."""
    known = site.store.manifest(release).resources
    (found,) = {"mine", "yours"} & {url.rpartition("/")[2] for url in known}
    return found
