"""Killed builds, and disks that refuse writes: the current release stays complete, and the next build cleans up."""

import errno
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result

from generator.pipeline import run as pipeline
from generator.release.manifest import files_with_sidecar
from generator.review import verify_files
from tests.conftest import Site
from tests.release.test_odd_folders import a_second_later
from tests.support import runs, tree_snapshot
from tests.support.killed_builds import killed_at, moments, refusing

Run = Callable[..., Result]
# Under xdist the forking process has threads; its children only run a build.
pytestmark = [
    pytest.mark.usefixtures("without_sync_and_docs"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]


def a_first_build(site: Site) -> None:
    (site.folder / "catalog_src/authors.yaml").unlink()
    tree_snapshot.write_series(site, "One", volumes=1, others=[])


def a_third_release(site: Site) -> None:
    """The first release will be removed."""
    a_first_build(site)
    site.build()
    tree_snapshot.write_series(site, "Two", volumes=2, others=[])
    site.build()
    tree_snapshot.write_series(site, "Three", volumes=1, others=[])


def a_return(site: Site) -> None:
    """The bodies of the first release are used again, with later dates."""
    a_third_release(site)
    tree_snapshot.write_series(site, "One", volumes=1, others=[])


def victims(site: Site, folder: Path, work: Callable[[Site], object], start: int = 0, step: int = 3) -> Iterator[Site]:
    """The site after `work` was killed at each `step`th place in the program that writes; every day, at some of them.

    Three builds write at nearly the same places, so together they are killed at each.
    """
    whole = copy(site, folder / "whole")
    kills = moments(lambda: work(whole), folder)
    assert len(kills) > 8
    for moment in runs.sample([*kills[start:-1:step], kills[-1]], 7):
        victim = copy(site, folder / str(moment))
        assert killed_at(moment, lambda: work(victim))  # noqa: B023  # called before the loop goes on
        yield victim
        shutil.rmtree(victim.folder)


def copy(site: Site, folder: Path) -> Site:
    shutil.copytree(site.folder, folder, symlinks=True)
    return Site(folder)


def damage(site: Site) -> list[str]:
    """Every fault of the current release. Leftovers beside it are allowed."""
    served = {
        f"{site.folder}/dist/{path}" for body in site.manifest.resources.values() for path in files_with_sidecar(body)
    }
    release = f"{site.folder}/dist/releases/{site.store.current()}/"
    faults = ((str(fault), str(fault.path)) for fault in verify_files.check_files(site.store))
    return [fault for fault, path in faults if path in served or path.startswith(release)]


@pytest.mark.kills
@pytest.mark.parametrize(("prepare", "third"), [(a_first_build, 0), (a_third_release, 1), (a_return, 2)])
def test_after_a_kill_at_any_write_the_site_is_complete_and_the_next_build_cleans_up(
    site: Site, folder: Path, prepare: Callable[[Site], None], third: int
) -> None:
    """The current release is the old or the new one; the next build gives the same result as without the kill."""
    prepare(site)
    done = copy(site, folder / "done")
    done.build()
    old, new, seen = site.store.current(), done.store.current(), set()

    for victim in victims(site, folder, Site.build, third):
        seen.add(victim.store.current())

        assert victim.store.current() is None or damage(victim) == []
        victim.build()
        assert tree_snapshot.content(victim.folder) == tree_snapshot.content(done.folder)
    assert seen == {old, new}


def test_reverting_the_edit_of_a_killed_build_restores_the_site(site: Site, folder: Path) -> None:
    """The result is exactly the site of before the edit."""
    a_return(site)
    before = tree_snapshot.content(site.folder / "dist")

    for victim in victims(site, folder, Site.build):
        if victim.store.current() == site.store.current():
            tree_snapshot.write_series(victim, "Two", volumes=2, others=[])
            victim.build()

            assert tree_snapshot.content(victim.folder / "dist") == before


def test_current_bodies_keep_their_dates_until_the_commit(site: Site, folder: Path) -> None:
    """A build that changes their dates is killed: the sidecars stay."""
    a_first_build(site)
    old = site.build().release
    later = folder / "later.json"
    later.write_bytes(a_second_later((site.folder / "dist/current/manifest.json").read_bytes()))

    def work(victim: Site) -> None:
        pipeline.build(replace(victim.options, previous=later))

    for victim in victims(site, folder, work):
        assert victim.store.current() != old or damage(victim) == []
        work(victim)
        assert victim.store.current() != old
        assert list(verify_files.check_files(victim.store)) == []


def test_after_a_killed_rollback_the_site_is_complete(site: Site, folder: Path) -> None:
    """One of the two releases is current, and the next build cleans up."""
    a_third_release(site)
    tree_snapshot.write_series(site, "Two", volumes=2, others=[])
    old, seen = site.store.current(), set()

    for victim in victims(site, folder, Site.roll_back):
        seen.add(victim.store.current())

        assert damage(victim) == []
        assert {victim.store.current(), *victim.store.older()} == {old, site.store.previous()}
        steps = () if victim.store.current() != old else (site.store.previous(),)
        assert victim.store.journal()[-1].before == steps
        assert victim.build().release == old
        assert list(verify_files.check_files(victim.store)) == []
    assert seen == {old, site.store.previous()}


@pytest.mark.parametrize(
    ("name", "number", "file"),
    [
        ("write", errno.ENOSPC, ".flatpanel"),
        ("open", errno.EACCES, ".json.headers"),
        ("open", errno.EACCES, "validators.map"),
        ("mkdir", errno.EROFS, "/www/api/series/one"),
        ("replace", errno.EIO, "dist/.new"),
        ("unlink", errno.EPERM, ".json.headers"),
    ],
)
def test_a_failing_disk_is_a_message_and_the_next_build_succeeds(
    site: Site, folder: Path, run: Run, name: str, number: int, file: str
) -> None:
    """A full, read-only or broken disk ends a build with exit code 1 and the path, not with a traceback."""
    a_third_release(site)
    tree_snapshot.write_series(site, "Three", volumes=1, others=["one"])
    site.write("series/one.yaml", CHAPTER)
    done = copy(site, folder / "done")
    done.build()
    with refusing(name, number, file):
        result = run("build", *tree_snapshot.options(site), "--no-cache")

    assert (result.exit_code, result.stdout) == (1, "")
    assert re.fullmatch(rf"{site.folder}\S*{re.escape(file)}: {os.strerror(number)}\n", result.stderr)
    assert damage(site) == []
    site.build()
    assert tree_snapshot.content(site.folder) == tree_snapshot.content(done.folder)


CHAPTER = """
title: One
cover: c.png
modified: 2026-02-01T00:00:00Z
chapters: [{number: 1, published: 2026-02-02T10:00:00Z, modified: 2026-02-02T10:00:00Z, pages: [1.png]}]
"""


def test_an_impossible_output_path_is_a_message(site: Site, run: Run) -> None:
    """The system refuses a dist below a file; the message is also available as JSON."""
    out = site.folder / "catalog_src/site.yaml/dist"
    plain = run("build", *tree_snapshot.options(site), "--out", out)
    listed = run("build", *tree_snapshot.options(site), "--out", out, "--json")

    assert (plain.exit_code, plain.stdout, plain.stderr) == (1, "", f"{out}: Not a directory\n")
    assert (listed.exit_code, listed.stderr) == (1, "")
    assert json.loads(listed.stdout) == {"ok": False, "message": f"{out}: Not a directory", "problems": []}
