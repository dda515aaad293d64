"""Concurrent builds of one folder, and killed builds with a cache: no release mixes two catalogs."""

import fcntl
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from subprocess import PIPE

import pytest

from generator import filesystem
from generator.pipeline import run
from generator.release.bodies import BUILD_STATE_FILE
from generator.review import verify_files
from tests.conftest import Site, copy_of
from tests.faults.test_failing_calls import CACHE, build, prepared, visible
from tests.faults.test_killed_builds import copy, damage, victims
from tests.support import runs, tree_snapshot
from tests.support.incremental_pair import stray
from tests.support.paths import BUILD

# Under xdist the forking process has threads; its children only run a build.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@pytest.mark.kills
@pytest.mark.usefixtures("without_sync_and_docs")
def test_a_killed_build_with_a_cache_does_not_change_the_next_result(folder: Path) -> None:
    """Each entry of the killed build in the cache is correct or discarded."""
    site = prepared(folder, remembering=True)
    done = copy(site, folder / "done")
    build(done, remembering=True)
    releases, expected = {site.store.current(), done.store.current()}, visible(done)

    # test_killed_builds.py kills a build without a cache, at the same places.
    for victim in victims(site, folder, partial(build, remembering=True), step=2):
        assert victim.store.current() in releases
        assert damage(victim) == []
        build(victim, remembering=True)
        changed = dict(visible(victim).items() ^ expected.items())
        assert all(path.startswith(CACHE) for path in changed)
        assert os.listdir(victim.folder / CACHE) == ["cache.sqlite"]
        assert build(victim, remembering=True).parsed == 0


@pytest.mark.usefixtures("without_sync_and_docs")
def test_a_release_of_a_rollback_in_between_is_removed_later(folder: Path) -> None:
    """The cache of the current release does not have the release before it."""
    site = prepared(folder, remembering=True)
    tree_snapshot.write_series(site, "Other", volumes=3, others=["other"])
    build(site, remembering=False)
    site.roll_back()
    tree_snapshot.write_series(site, "Last", volumes=1, others=[])
    build(site, remembering=True)

    assert stray(site.store) == []
    assert visible(site).keys().isdisjoint({"dist/www/api/series/other"})


@pytest.mark.end_to_end
def test_two_concurrent_builds_never_mix(folder: Path) -> None:
    """Two catalogs are built into one folder with one cache; one is published, then the other."""
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
    for _ in range(3 if runs.everything else 1):
        options = ["build", *map(str, tree_snapshot.options(site)[2:]), "--catalog"]
        processes = [
            subprocess.Popen([sys.executable, "-B", BUILD, *options, catalog], stdout=PIPE, stderr=PIPE, text=True)
            for catalog in (site.folder / "catalog_src", other)
        ]
        outputs = [process.communicate() for process in processes]

        assert [process.returncode for process in processes] == [0, 0], outputs
        assert list(verify_files.check_files(site.store)) == []
        assert stray(site.store) == []
        titles = {release: released(site, release) for release in (site.store.current(), site.store.previous())}
        assert sorted(titles.values()) == ["mine", "yours"]


def test_the_main_file_is_written_by_one_build_at_a_time(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise both would write the same temporary file, and one would publish what the other has half written."""
    free = []

    def look(path: Path, text: bytes) -> bool:
        with (site.folder / "dist" / BUILD_STATE_FILE).open() as mark, pytest.raises(BlockingIOError):
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
        free.append(path.name)
        return True

    monkeypatch.setattr(filesystem, "write_if_changed", look)
    build(site, remembering=False)

    assert "nginx.conf" in free


def released(site: Site, release: str | None) -> str:
    """The catalog of which a release consists; it must be exactly one."""
    urls = site.store.manifest(release).resources
    (catalog,) = {"mine", "yours"} & {url.rpartition("/")[2] for url in urls}
    return catalog
