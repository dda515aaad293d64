"""Builds that are killed, and disks that refuse: what is served stays whole, and the next build clears up."""

import errno
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from generator.pipeline import run as pipeline
from generator.release.manifest import files_with_sidecar
from generator.review import verify_files
from tests.conftest import Site
from tests.release.test_odd_folders import a_second_later
from tests.support import tree_snapshot
from tests.support.incremental_pair import in_memory
from tests.support.killed_builds import killed_at

# Child processes are made from one that has threads, under xdist; they run nothing but a build.
pytestmark = [pytest.mark.usefixtures("hasty"), pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")]


def a_first_build(site: Site) -> None:
    (site.folder / "catalog_src/authors.yaml").unlink()
    tree_snapshot.write_series(site, "One", volumes=1, others=[])


def a_third_release(site: Site) -> None:
    """The first one will be collected."""
    a_first_build(site)
    site.build()
    tree_snapshot.write_series(site, "Two", volumes=2, others=[])
    site.build()
    tree_snapshot.write_series(site, "Three", volumes=1, others=[])


def a_return(site: Site) -> None:
    """The bodies of the first release will be served again, with later dates."""
    a_third_release(site)
    tree_snapshot.write_series(site, "One", volumes=1, others=[])


@pytest.fixture
def folder() -> Iterator[Path]:
    """For hundreds of copies of a site."""
    with in_memory() as path:
        yield path


def victims(site: Site, folder: Path, work: Callable[[Site], object]) -> Iterator[Site]:
    """The site after `work` was killed at its first write, at its second, and so on until it is done."""
    for moment in count(1):
        victim = copy(site, folder / str(moment))
        if not killed_at(moment, lambda: work(victim)):  # noqa: B023  # called before the loop goes on
            assert moment > 8
            return
        yield victim
        shutil.rmtree(victim.folder)


def copy(site: Site, folder: Path) -> Site:
    shutil.copytree(site.folder, folder, symlinks=True)
    return Site(folder)


def damage(site: Site) -> list[str]:
    """Everything that is wrong with what is served; there may be leftovers beside it."""
    served = {
        f"{site.folder}/dist/{path}" for one in site.manifest.resources.values() for path in files_with_sidecar(one)
    }
    release = f"{site.folder}/dist/releases/{site.store.current()}/"
    found = ((str(one), str(one.path)) for one in verify_files.check_files(site.store))
    return [one for one, path in found if path in served or path.startswith(release)]


@pytest.mark.parametrize("prepare", [a_first_build, a_third_release, a_return])
def test_wherever_a_build_is_killed_the_site_is_whole_and_the_next_build_clears_up(
    site: Site, folder: Path, prepare: Callable[[Site], None]
) -> None:
    """After a kill the old release or the new one is served, whole; one more build ends as if nothing had happened."""
    prepare(site)
    done = copy(site, folder / "done")
    done.build()
    old, new, seen = site.store.current(), done.store.current(), set()

    for victim in victims(site, folder, Site.build):
        seen.add(victim.store.current())

        assert victim.store.current() is None or damage(victim) == []
        victim.build()
        assert tree_snapshot.content(victim.folder) == tree_snapshot.content(done.folder)
    assert seen == {old, new}


def test_a_killed_build_can_be_taken_back(site: Site, folder: Path) -> None:
    """Whoever undoes the change that a build died of gets back exactly what was there before."""
    a_return(site)
    before = tree_snapshot.content(site.folder / "dist")

    for victim in victims(site, folder, Site.build):
        if victim.store.current() == site.store.current():
            tree_snapshot.write_series(victim, "Two", volumes=2, others=[])
            victim.build()

            assert tree_snapshot.content(victim.folder / "dist") == before


def test_what_is_served_keeps_its_dates_until_the_next_release_is(site: Site, folder: Path) -> None:
    """A build that will date bodies otherwise which are served now is killed: their sidecars are as they were."""
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


def test_wherever_a_rollback_is_killed_the_site_is_whole(site: Site, folder: Path) -> None:
    """After a kill one of the two releases is served, whole, and the next build clears up."""
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


def refuse(monkeypatch: pytest.MonkeyPatch, name: str, number: int, file: str) -> None:
    """Let the system refuse every call of os.`name` that is about `file`, or any at all that writes."""
    call = getattr(os, name)

    def refusing(*arguments: Any, **named: Any) -> Any:
        if name == "write":
            raise OSError(number, os.strerror(number))
        if str(arguments[0]).endswith(file):
            raise OSError(number, os.strerror(number), str(arguments[0]))
        return call(*arguments, **named)

    monkeypatch.setattr(os, name, refusing)


@pytest.mark.parametrize(
    ("name", "number", "file", "sentence"),
    [
        ("write", errno.ENOSPC, ".flatpanel", "No space left on device"),
        ("open", errno.EACCES, ".json.headers", "Permission denied"),
        ("open", errno.EACCES, "validators.map", "Permission denied"),
        ("mkdir", errno.EROFS, "/www/api/series/one", "Read-only file system"),
        ("replace", errno.EIO, "dist/.new", "Input/output error"),
        ("unlink", errno.EPERM, ".json.headers", "Operation not permitted"),
    ],
)
def test_what_the_disk_refuses_is_a_sentence_and_the_next_build_succeeds(
    site: Site,
    run: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    number: int,
    file: str,
    sentence: str,
) -> None:
    """A full, read-only or failing disk ends a build with exit code 1 and the place, not with a traceback."""
    a_third_release(site)
    tree_snapshot.write_series(site, "Three", volumes=1, others=["one"])
    site.write("series/one.yaml", CHAPTER)
    done = copy(site, tmp_path_factory.mktemp("done") / "site")
    done.build()
    with monkeypatch.context() as refused:
        refuse(refused, name, number, file)
        result = run("build", *tree_snapshot.options(site), "--no-cache")

    assert (result.exit_code, result.stdout) == (1, "")
    assert re.fullmatch(rf"{site.folder}\S*{re.escape(file)}: {sentence}\n", result.stderr)
    assert damage(site) == []
    site.build()
    assert tree_snapshot.content(site.folder) == tree_snapshot.content(done.folder)


CHAPTER = """
title: One
cover: c.png
modified: 2026-02-01T00:00:00Z
chapters: [{number: 1, published: 2026-02-02T10:00:00Z, modified: 2026-02-02T10:00:00Z, pages: [1.png]}]
"""


def test_a_place_where_nothing_can_be_is_a_sentence_too(site: Site, run: Callable[..., Result]) -> None:
    """A dist below a file is refused by the system, in a sentence, and as JSON for programs."""
    out = site.folder / "catalog_src/site.yaml/dist"
    plain = run("build", *tree_snapshot.options(site), "--out", out)
    listed = run("build", *tree_snapshot.options(site), "--out", out, "--json")

    assert (plain.exit_code, plain.stdout, plain.stderr) == (1, "", f"{out}: Not a directory\n")
    assert (listed.exit_code, listed.stderr) == (1, "")
    assert json.loads(listed.stdout) == {"ok": False, "message": f"{out}: Not a directory", "problems": []}
