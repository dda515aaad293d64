"""Publishing into dist: files that a build adds, keeps, removes and refuses."""

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from generator.api import routes
from generator.pipeline.run import build
from generator.release import journal
from generator.release.bodies import BUILD_STATE_FILE
from generator.release.manifest import files_with_sidecar, sidecar
from generator.review import verify_files
from tests.conftest import Site
from tests.support import tree_snapshot


def named(site: Site) -> set[str]:
    """Every body, sidecar and gzip form of the current release."""
    return {path for one in site.manifest.resources.values() for path in files_with_sidecar(one)}


def rebuild(site: Site) -> str:
    return site.build().release


def publish(site: Site, *versions: Callable[[Site], None]) -> list[str]:
    """Build one version of the catalog after the other; the ids of the releases."""
    releases = []
    for version in versions:
        version(site)
        releases.append(rebuild(site))
    return releases


def test_first_build_contains_exactly_the_referenced_files(site: Site) -> None:
    """Each file is referenced by the manifest, belongs to the release folder, or marks dist."""
    (release,) = publish(site, tree_snapshot.first_version)
    folder = f"releases/{release}/"
    expected = named(site) | {folder + file for file in site.manifest.files} | {folder + "manifest.json", "current"}

    # Exists only if root builds in a folder that other accounts cannot enter.
    files = tree_snapshot.files(site.folder / "dist") - {"run/user.conf"}
    assert files == expected | {BUILD_STATE_FILE, f"releases/{journal.FILE}"}
    assert os.readlink(site.folder / "dist/current") == f"releases/{release}"


def test_bodies_of_a_release_removed_by_hand_are_removed(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """They stayed for ever. The next build removes them, also an unchanged one, which renders nothing again."""
    cached = replace(site.options, cache=site.folder / "cache")
    tree_snapshot.first_version(site)
    old = build(cached).release
    tree_snapshot.third_version(site)
    release = build(cached).release
    shutil.rmtree(site.folder / "dist/releases" / old)
    monkeypatch.setattr(routes, "resources_of", lambda *_: pytest.fail("a series is rendered"))

    assert build(cached).release == release
    assert {f"www/{path}" for path in tree_snapshot.files(site.folder / "dist/www")} == named(site)
    assert list(verify_files.check_files(site.store)) == []
    before = tree_snapshot.state(site.folder / "dist")
    assert build(cached).release == release
    assert tree_snapshot.state(site.folder / "dist") == before


def test_folder_without_the_state_of_its_builds_is_unfinished(site: Site) -> None:
    """The next build restores the file: a copy tool may skip names with a dot."""
    release = rebuild(site)
    (site.store.root / BUILD_STATE_FILE).unlink()

    assert not site.store.finished()
    assert rebuild(site) == release
    assert site.store.finished()


def test_body_changed_and_changed_back_gets_a_later_date(site: Site) -> None:
    """It keeps its file and ETag; its date is later than that of the body in between."""
    publish(site, tree_snapshot.first_version)
    first, inodes = site.manifest.resources, tree_snapshot.state(site.folder / "dist")
    publish(site, tree_snapshot.second_version)
    second = site.manifest.resources
    publish(site, tree_snapshot.first_version)
    third, back = site.manifest.resources, [url for url in first if url in second and first[url] != second[url]]

    assert "/api/series/first" in back
    for url in back:
        path = site.folder / "dist" / third[url].file
        assert (third[url].file, third[url].etag) == (first[url].file, first[url].etag)
        assert third[url].modified > second[url].modified
        assert Path(f"{path}.headers").read_bytes() == sidecar(third[url])
        assert (path.stat().st_ino, path.stat().st_mtime) == (inodes[third[url].file][0], third[url].modified)
