"""dist in odd states: what is not ours, what somebody deleted or added, what another version or machine wrote."""

import ctypes
import os
import re
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from generator import encoding
from generator.errors import FlatpanelError
from generator.pipeline.run import build
from generator.release import transaction
from generator.release.bodies import MARK
from generator.release.manifest import Manifest
from generator.release.new_folder import TEMPORARY_NAME
from generator.review import verify_files
from tests.conftest import Site
from tests.release.test_store import named, rebuild
from tests.support import tree_snapshot


def a_file(out: Path) -> None:
    out.write_text("mine")


def a_full_folder(out: Path) -> None:
    out.mkdir()
    (out / "thesis.txt").write_text("mine")


def a_link_to_a_full_folder(out: Path) -> None:
    a_full_folder(out.with_name("elsewhere"))
    out.symlink_to("elsewhere")


def a_link_to_nothing(out: Path) -> None:
    out.symlink_to("nowhere")


@pytest.mark.parametrize("foreign", [a_file, a_full_folder, a_link_to_a_full_folder, a_link_to_nothing])
def test_what_is_not_ours_is_refused_and_left_alone(site: Site, foreign: Callable[[Path], None]) -> None:
    """A build never writes into a place that holds somebody else's work."""
    foreign(site.folder / "dist")
    before = tree_snapshot.state(site.folder)

    with pytest.raises(FlatpanelError, match=r"/dist: .*choose another with --out"):
        rebuild(site)
    assert tree_snapshot.state(site.folder) == before


def test_an_empty_folder_is_as_good_as_none(site: Site) -> None:
    """Somebody who made the folder in advance is not turned away."""
    (site.folder / "dist").mkdir()
    release = rebuild(site)

    assert site.store.current() == release


def test_a_copy_without_hidden_files_is_still_ours(site: Site) -> None:
    """A tool that leaves out names with a dot does not make dist a foreign folder."""
    release = rebuild(site)
    (site.folder / "dist" / MARK).unlink()

    assert rebuild(site) == release


def test_a_body_that_was_deleted_is_written_again(site: Site) -> None:
    """A build of an unchanged catalog brings back what somebody deleted."""
    rebuild(site)
    before = tree_snapshot.content(site.folder)
    one = site.manifest.resources["/api/series/first"]
    (site.folder / "dist" / one.file).unlink()
    rebuild(site)

    assert tree_snapshot.content(site.folder) == before


def test_where_the_current_release_got_lost_everything_is_built_again(site: Site) -> None:
    """Without `current` nobody knows what is named; a build leaves only what it names itself."""
    tree_snapshot.first_version(site)
    rebuild(site)
    (site.folder / "dist/current").unlink()
    tree_snapshot.third_version(site)
    rebuild(site)

    assert {path for path in tree_snapshot.files(site.folder / "dist") if path.startswith("www/")} == named(site)
    assert list(verify_files.check_files(site.store)) == []


def test_what_others_leave_among_the_releases_stays(site: Site) -> None:
    """A file that a desktop drops into the folder, or a link that somebody made, is not ours to delete."""
    rebuild(site)
    releases = site.folder / "dist/releases"
    (releases / ".DS_Store").write_text("")
    (releases / "stable").symlink_to(str(site.store.current()))
    tree_snapshot.second_version(site)
    rebuild(site)

    assert (releases / ".DS_Store").exists()
    assert (releases / "stable").is_symlink()


def test_folders_that_are_gone_already_need_no_pruning(site: Site) -> None:
    """Somebody's own tidying up does not stop a build."""
    tree_snapshot.first_version(site)
    rebuild(site)
    tree_snapshot.third_version(site)
    rebuild(site)
    shutil.rmtree(site.folder / "dist/www/api/series/first/3")
    tree_snapshot.write_series(site, "Fourth", volumes=1, others=[])
    rebuild(site)

    assert list(verify_files.check_files(site.store)) == []


def test_half_of_an_old_release_is_not_taken_for_a_whole_one(site: Site) -> None:
    """A folder with the name of the next release that nothing names is a leftover, and is written anew."""
    tree_snapshot.first_version(site)
    rebuild(site)
    twin = Site(site.folder / "twin")
    shutil.copytree(site.folder / "catalog_src", twin.folder / "catalog_src")
    shutil.copytree(site.folder / "dist", twin.folder / "dist", symlinks=True)
    tree_snapshot.second_version(site)
    tree_snapshot.second_version(twin)
    leftover = twin.folder / "dist/releases" / rebuild(site)
    leftover.mkdir()
    (leftover / "manifest.json").write_text("half of it")
    rebuild(twin)

    assert tree_snapshot.content(twin.folder / "dist") == tree_snapshot.content(site.folder / "dist")


def test_a_body_that_is_served_keeps_its_date_until_the_next_release_is(site: Site, tmp_path: Path) -> None:
    """A build that continues other validators dates what it shares with the current release, and going back as well."""
    tree_snapshot.first_version(site)
    first = rebuild(site)
    mine = site.manifest.resources
    other = tmp_path / "other.json"
    other.write_bytes(a_second_later((site.folder / "dist/current/manifest.json").read_bytes()))
    build(replace(site.options, previous=other))

    assert dates(site.manifest) == {url: one.modified + 1 for url, one in mine.items()}
    assert list(verify_files.check_files(site.store)) == []
    assert site.roll_back() == first
    assert list(verify_files.check_files(site.store)) == []


def a_second_later(manifest: bytes) -> bytes:
    """The same manifest with every date a second later."""
    return re.sub(rb'(?<="modified":)\d+', lambda found: b"%d" % (int(found[0]) + 1), manifest)


def dates(manifest: Manifest) -> dict[str, int]:
    return {url: one.modified for url, one in manifest.resources.items()}


def test_another_idea_of_what_is_worth_compressing_reaches_bodies_that_are_there(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A newer version of the build adds compressed forms, and removes them when no release names them any more."""
    tree_snapshot.first_version(site)
    kept = encoding.MIN_GZIP_SIZE
    monkeypatch.setattr(encoding, "MIN_GZIP_SIZE", 10**9)
    none = rebuild(site)
    monkeypatch.setattr(encoding, "MIN_GZIP_SIZE", kept)
    some = rebuild(site)
    packed = {path for path in named(site) if path.endswith(".gz")}

    assert none != some
    assert packed == {path for path in tree_snapshot.files(site.folder / "dist") if path.endswith(".gz")} != set()
    monkeypatch.setattr(encoding, "MIN_GZIP_SIZE", 10**9)
    rebuild(site)
    assert list(verify_files.check_files(site.store)) == []
    tree_snapshot.second_version(site)
    rebuild(site)
    assert list(verify_files.check_files(site.store)) == []
    assert [path for path in tree_snapshot.files(site.folder / "dist") if path.endswith(".gz")] == []


def test_a_second_build_waits_for_the_first(site: Site) -> None:
    """Of two builds at once the second is told so, and goes on when the first is done."""
    told = []
    with ExitStack() as first:
        first.enter_context(transaction.begin(site.store, pytest.fail))

        def waiting() -> None:
            told.append(site.store.current())
            first.close()

        report = build(site.options, waiting)

    assert told == [None]
    assert site.store.current() == report.release


def test_a_release_is_on_the_disk_before_it_is_current(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one folder cannot be flushed by itself everything is, and only then the release gets its name."""
    seen: list[tuple[str | None, list[str]]] = []

    def sync() -> None:
        seen.append((site.store.current(), [path.name for path in (site.folder / "dist/releases").iterdir()]))

    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: object())
    monkeypatch.setattr(os, "sync", sync)
    rebuild(site)

    assert seen == [(None, [TEMPORARY_NAME])]


def test_a_rollback_after_a_build_that_was_killed_clears_up_first(site: Site) -> None:
    """What the build had written is not taken for something that the release before needs."""
    tree_snapshot.first_version(site)
    rebuild(site)
    tree_snapshot.second_version(site)
    rebuild(site)
    (site.folder / "dist" / MARK).write_text("unfinished\n")
    (site.folder / "dist/www/half").write_text("of a body")
    site.roll_back()

    assert list(verify_files.check_files(site.store)) == []
