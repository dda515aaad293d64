"""Publishing into dist: files that a build adds, keeps, removes and refuses."""

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from generator.api import routes
from generator.errors import FlatpanelError
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


def of_release(site: Site) -> dict[str, object]:
    """The current release and all files that it references, by path."""
    release = f"releases/{site.store.current()}"
    content = tree_snapshot.content(site.folder / "dist")
    return {path: text for path, text in content.items() if path in named(site) or path.startswith(release)}


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


def test_new_release_leaves_the_previous_one_complete(site: Site) -> None:
    """Workers that still serve the previous release find all its files unchanged."""
    (old,) = publish(site, tree_snapshot.first_version)
    before = of_release(site)
    (new,) = publish(site, tree_snapshot.second_version)
    after = tree_snapshot.content(site.folder / "dist")

    assert {path: after.get(path) for path in before} == before
    assert (site.store.current(), site.store.previous()) == (new, old)
    assert new != old


def test_release_before_the_previous_one_is_removed(site: Site) -> None:
    """Two builds later, its bodies, its folder and its empty folders are gone."""
    _, second = publish(site, tree_snapshot.first_version, tree_snapshot.second_version)
    kept = named(site)
    (third,) = publish(site, tree_snapshot.third_version)
    kept |= named(site)
    www = site.folder / "dist/www"

    assert {f"www/{path}" for path in tree_snapshot.files(www)} == kept
    assert {path.name for path in (site.folder / "dist/releases").iterdir()} == {second, third, journal.FILE}
    assert [path for _, path in tree_snapshot.walk(www) if path.is_dir() and not any(path.iterdir())] == []
    assert not (www / "api/series/first/3").exists()


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


def test_unchanged_bodies_are_not_touched(site: Site) -> None:
    """A build that changes one series leaves the files of the other alone."""
    publish(site, tree_snapshot.first_version)
    before = tree_snapshot.state(site.folder / "dist/www")
    publish(site, tree_snapshot.second_version)
    after = tree_snapshot.state(site.folder / "dist/www")
    second = {path for path in before if path.startswith("api/series/second.")}

    assert len(second) == 2
    assert {path: after[path] for path in second} == {path: before[path] for path in second}


def test_rollback_goes_back_and_forward(site: Site) -> None:
    """`rollback` and `rollback RELEASE` switch between two releases, which stay unchanged."""
    first, second = publish(site, tree_snapshot.first_version, tree_snapshot.second_version)
    releases = {
        path: text for path, text in tree_snapshot.content(site.folder / "dist/releases").items() if "/" in path
    }

    assert site.roll_back() == site.store.current() == first
    assert site.store.previous() == second
    assert site.roll_back(second) == site.store.current() == second
    files = tree_snapshot.content(site.folder / "dist/releases")
    assert {path: text for path, text in files.items() if "/" in path} == releases
    assert list(verify_files.check_files(site.store)) == []


def test_build_after_rollback_gives_the_same_release_again(site: Site) -> None:
    """An unchanged catalog gives the release that was rolled back."""
    _, second = publish(site, tree_snapshot.first_version, tree_snapshot.second_version)
    site.roll_back()

    assert rebuild(site) == second
    assert list(verify_files.check_files(site.store)) == []


def test_rollback_to_a_damaged_release_is_refused(site: Site) -> None:
    """The error names the missing file."""
    publish(site, tree_snapshot.first_version)
    lost = site.manifest.resources["/api/series/first"].file
    (second,) = publish(site, tree_snapshot.second_version)
    (site.folder / "dist" / lost).unlink()

    with pytest.raises(FlatpanelError, match=f"{lost}: is missing, so release"):
        site.roll_back()
    assert site.store.current() == second
