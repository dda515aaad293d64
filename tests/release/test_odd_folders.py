"""dist in unusual states: foreign files, deleted or added files, results of other versions or machines."""

import ctypes
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from generator import encoding
from generator.errors import FlatpanelError
from generator.pipeline.run import build
from generator.release.bodies import BUILD_STATE_FILE
from generator.release.manifest import Manifest
from generator.release.transaction import TEMPORARY_NAME
from generator.review import verify_files
from tests.conftest import Site
from tests.release.test_store import named, publish, rebuild
from tests.support import tree_snapshot


def a_file(out: Path) -> None:
    out.write_text("mine")


def a_full_folder(out: Path) -> None:
    out.mkdir()
    (out / "thesis.txt").write_text("mine")


def a_link_to_nothing(out: Path) -> None:
    out.symlink_to("nowhere")


@pytest.mark.parametrize("foreign", [a_file, a_full_folder, a_link_to_nothing])
def test_foreign_folder_is_refused_and_unchanged(site: Site, foreign: Callable[[Path], None]) -> None:
    """A build never writes into a folder with files of other programs."""
    foreign(site.folder / "dist")
    before = tree_snapshot.state(site.folder)

    with pytest.raises(FlatpanelError, match=r"/dist: .*choose another with --out"):
        rebuild(site)
    assert tree_snapshot.state(site.folder) == before


def test_empty_folder_is_accepted(site: Site) -> None:
    """The folder may be created in advance."""
    (site.folder / "dist").mkdir()
    release = rebuild(site)

    assert site.store.current() == release


def test_missing_current_release_makes_a_full_build(site: Site) -> None:
    """Without `current`, no file is known to be referenced; the build removes all that it does not reference itself."""
    publish(site, tree_snapshot.first_version)
    (site.folder / "dist/current").unlink()
    publish(site, tree_snapshot.third_version)

    assert {path for path in tree_snapshot.files(site.folder / "dist") if path.startswith("www/")} == named(site)
    assert list(verify_files.check_files(site.store)) == []


def test_foreign_files_among_the_releases_stay(site: Site) -> None:
    """A file of a desktop program, a link or folder made by hand is not removed."""
    rebuild(site)
    releases = site.folder / "dist/releases"
    (releases / ".DS_Store").write_text("")
    (releases / "backup").mkdir()
    (releases / "stable").symlink_to(str(site.store.current()))
    publish(site, tree_snapshot.second_version)

    assert (releases / ".DS_Store").exists() and (releases / "backup").exists()
    assert (releases / "stable").is_symlink()


def test_foreign_files_among_the_bodies_stay(site: Site) -> None:
    """A build that cleans up after another one removes what a build can have left, and nothing else."""
    rebuild(site)
    folder = site.folder / "dist/www/api"
    (folder / "well-known").mkdir()
    foreign = [folder / name for name in ("well-known/challenge", ".DS_Store", "series.json")]
    tag = "0123456789abcdef" * 2
    names = (".{}", ".{}.gz", "a.{}.json", "a.{}.json.gz", "a.{}.json.headers", ".a.{}.html.new")
    left = [folder / name.format(tag) for name in names]
    for path in [*foreign, *left]:
        path.write_text("mine")
    (site.folder / "dist" / BUILD_STATE_FILE).write_text("unfinished\n")
    rebuild(site)

    assert [path.read_text() for path in foreign] == ["mine"] * 3
    assert not any(path.exists() for path in left)


@pytest.mark.parametrize("name", ["releases", "run", "www", "private"])
def test_a_link_in_place_of_a_folder_is_refused(site: Site, name: str) -> None:
    """A build that cleans up would remove the files behind it."""
    rebuild(site)
    outside = site.folder / "outside"
    (outside / "0123456789abcdef").mkdir(parents=True)
    (outside / "0123456789abcdef/file").write_text("mine")
    (site.folder / "dist" / BUILD_STATE_FILE).write_text("unfinished\n")
    path = site.folder / "dist" / name
    if path.exists():
        path.rename(site.folder / "moved")
    path.symlink_to(outside)
    before = tree_snapshot.state(site.folder)

    with pytest.raises(FlatpanelError, match=f"/dist/{name}: is a link, which is not followed"):
        rebuild(site)
    assert tree_snapshot.state(site.folder) == before


def test_no_body_is_written_behind_a_link(site: Site) -> None:
    """A folder below www that became a link: the build that would write there ends, and the release stays."""
    rebuild(site)
    folder, outside = site.folder / "dist/www/api/series", site.folder / "outside"
    folder.rename(outside)
    folder.symlink_to(outside)
    current, before = site.store.current(), tree_snapshot.state(outside)
    path = site.folder / "catalog_src/series/first.yaml"
    path.write_text(re.sub("^title: .*", "title: Another", path.read_text(), flags=re.MULTILINE))

    with pytest.raises(FlatpanelError, match="/dist/www/api/series: is a link, which is not followed"):
        rebuild(site)
    assert tree_snapshot.state(outside) == before
    assert site.store.current() == current


def test_folders_already_removed_do_not_stop_a_build(site: Site) -> None:
    """Removing empty folders by hand is harmless."""
    publish(site, tree_snapshot.first_version, tree_snapshot.third_version)
    shutil.rmtree(site.folder / "dist/www/api/series/first/3")
    tree_snapshot.write_series(site, "Fourth", volumes=1, others=[])
    rebuild(site)

    assert list(verify_files.check_files(site.store)) == []


def test_partial_release_folder_is_replaced(site: Site) -> None:
    """An unreferenced folder with the id of the next release is a leftover and is written again."""
    publish(site, tree_snapshot.first_version)
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


def test_served_body_keeps_its_date_until_the_commit(site: Site, tmp_path: Path) -> None:
    """A build with --previous changes dates of shared bodies only when its release becomes current; so does a
    rollback.
    """
    (first,) = publish(site, tree_snapshot.first_version)
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


def test_newer_version_adds_gzip_forms_to_existing_bodies(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are removed when no release references them."""
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
    publish(site, tree_snapshot.second_version)
    assert list(verify_files.check_files(site.store)) == []
    assert [path for path in tree_snapshot.files(site.folder / "dist") if path.endswith(".gz")] == []


def test_release_is_flushed_before_it_becomes_current(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without syncfs everything is flushed, and only then the release gets its name."""
    seen: list[tuple[str | None, list[str]]] = []

    def sync() -> None:
        seen.append((site.store.current(), [path.name for path in (site.folder / "dist/releases").iterdir()]))

    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: object())
    monkeypatch.setattr(os, "sync", sync)
    rebuild(site)

    assert seen == [(None, [TEMPORARY_NAME])]


def test_rollback_after_a_killed_build_removes_its_files_first(site: Site) -> None:
    """They do not count as files of the older release. A part of a release that it was removing is no release."""
    publish(site, tree_snapshot.first_version, tree_snapshot.second_version)
    (site.folder / "dist" / BUILD_STATE_FILE).write_text("unfinished\n")
    (site.folder / "dist/www/.0123456789abcdef0123456789abcdef").write_text("of a body")
    part = site.folder / "dist/releases/0123456789abcdef"
    part.mkdir()
    (part / "http.conf").write_text("of the release")
    site.roll_back()

    assert list(verify_files.check_files(site.store)) == []
    assert not part.exists() and len(site.store.older()) == 1
