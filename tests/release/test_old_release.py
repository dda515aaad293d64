"""A dist that an older program built: this program continues, verifies, rolls back and exports its releases.

`tests/data/old_release.tar.xz` holds the catalog of the test site `everything`, two releases that the program built
from it at commit cc2e418, and its nginx.conf. The scripts of the documentation page are left out, since they are large.
"""

import os
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from generator.pipeline.run import build
from generator.release.export import export_release
from generator.release.manifest import OPENAPI, Manifest, Published, sidecar
from generator.release.store import Store
from generator.review import verify_files
from tests.conftest import AS_OF, Site
from tests.support.paths import DATA

FIRST, SECOND = "03f6caa725ab4ccd", "78a36a70a14cfb59"
# When the second release was built.
BUILT = AS_OF + 86_400


@pytest.fixture
def old(tmp_path: Path) -> Site:
    with tarfile.open(DATA / "old_release.tar.xz") as archive:
        # Python 3.11.2 has no filters, and takes no argument for one.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(tmp_path)
    return Site(tmp_path)


def bodies(manifest: Manifest) -> dict[str, Published]:
    """The bodies that the old program built as well, without the API's description, whose texts may change."""
    return {url: body for url, body in manifest.resources.items() if body.type == "application/json" and url != OPENAPI}


def test_an_old_release_verifies(old: Site) -> None:
    """Every file of both releases is as their manifests say."""
    assert [old.store.current(), *old.store.older()] == [SECOND, FIRST]
    assert list(verify_files.check_files(old.store)) == []


def test_a_build_continues_an_old_release(old: Site) -> None:
    """Unchanged bodies keep their files and Last-Modified, and both old releases stay complete."""
    before = bodies(old.manifest)
    files = {path: os.stat(old.folder / "dist" / path).st_mtime for path in (body.file for body in before.values())}
    report = old.build(BUILT + 60)

    assert bodies(old.manifest) == before
    assert len(before) > 200
    assert report.changes["changed"] <= 1
    assert report.changes["removed"] == 0
    assert {path: os.stat(old.folder / "dist" / path).st_mtime for path in files} == files
    assert [old.store.current(), *old.store.older()] == [report.release, SECOND, FIRST]
    assert list(verify_files.check_files(old.store)) == []


@pytest.mark.parametrize("after_build", [False, True])
def test_rollback_to_an_old_release(old: Site, after_build: bool) -> None:
    """An old release becomes current again under its own id, also from a release of this program."""
    if after_build:
        old.build(BUILT + 60)
    old.roll_back(FIRST[:6], BUILT + 120)

    assert old.store.current() == FIRST
    assert list(verify_files.check_files(old.store)) == []
    for body in old.manifest.resources.values():
        assert os.stat(old.folder / "dist" / body.file).st_mtime == body.modified
        assert Path(f"{old.folder}/dist/{body.file}.headers").read_bytes() == sidecar(body)


def test_an_old_release_is_exported(old: Site) -> None:
    """An export of the old release and one of a new build hold the same bodies with the same headers."""
    exported = export_release(old.store, old.folder / "before")
    old.build(BUILT + 60)
    export_release(old.store, old.folder / "after")
    paths = [path.relative_to(old.folder / "before") for path in (old.folder / "before/api").rglob("*.json*")]

    assert exported > 100
    for path in paths:
        if "openapi.json" not in path.name:
            assert (old.folder / "after" / path).read_bytes() == (old.folder / "before" / path).read_bytes(), path


def test_an_old_manifest_feeds_previous(old: Site) -> None:
    """A build elsewhere that gets the old manifest gives the same bodies the same validators."""
    previous = old.store.manifest_path(SECOND)
    elsewhere = replace(old.options, out=old.folder / "other", as_of=BUILT + 60, previous=previous)
    build(elsewhere)
    other = Store(old.folder / "other")

    assert bodies(other.manifest(other.current())) == bodies(old.manifest)
