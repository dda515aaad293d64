"""A dist that an older program built: this program continues, verifies, rolls back and exports its releases.

`tests/data/old_release.tar.xz` holds the catalog of the test site `everything`, two releases that the program built
from it at commit cc2e418, and its nginx.conf. The scripts of the documentation page are left out, since they are large.
"""

import json
import os
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from generator.api.resources import LOCKED_RESULTS_URL, SERIES_INDEX_URL
from generator.errors import FlatpanelError
from generator.hosts.export import export_release
from generator.pipeline import rollback
from generator.pipeline.run import build
from generator.release import transaction
from generator.release.manifest import OPENAPI, Manifest, Published, sidecar
from generator.release.store import Store
from generator.review import verify_files
from generator.review.diff.compare import compare
from generator.review.diff.release_view import ReleaseView
from tests.commands.test_cli import Run
from tests.conftest import AS_OF, Site
from tests.support import nginx_client
from tests.support.paths import DATA
from tests.support.release_table import different_maps

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
    """The bodies that the old program sent as well, without the API's description, whose texts may change."""
    others = (OPENAPI, SERIES_INDEX_URL, LOCKED_RESULTS_URL, "/index.json")
    return {
        url: body for url, body in manifest.resources.items() if body.type == "application/json" and url not in others
    }


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
    # The description, and the index that only nginx reads.
    assert report.changes["changed"] <= 2
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


def test_the_present_main_file_serves_an_old_release(old: Site) -> None:
    """The old release has no file for paths outside the API."""
    with nginx_client.listening() as listener:
        with (old.folder / "catalog_src/site.yaml").open("a") as settings:
            settings.write(f"port: {listener.getsockname()[1]}\n")
        old.build(BUILT + 60)
        old.roll_back(FIRST[:6], BUILT + 120)
        with nginx_client.running(old.folder, listener) as web:
            index = (old.folder / "dist" / old.manifest.resources["/"].file).read_bytes()
            for path, status, body in (
                ("/", 200, index),
                ("/index.json", 404, b'{"error":"Not found","status":404}'),
                ("/reader/", 404, b'{"error":"Not found","status":404}'),
                ("/of/index/series", 404, b'{"error":"Not found","status":404}'),
                ("/api/v2/nothing", 404, b'{"detail":"Not found."}'),
            ):
                response = web.ask(path)
                assert (path, response.status, response.body) == (path, status, body)
                assert response["content-type"] == "application/json"
            assert web.complaints() == []


OTHER_KEY = f"- {{name: new, sha256: {'a' * 64}, account: bare}}\n"


def test_rollback_to_an_old_release_with_other_keys(old: Site) -> None:
    """The result is a release of the old format with the present keys, which verifies and can be continued."""
    (old.folder / "catalog_src/keys.yaml").write_text(OTHER_KEY)
    old.build(BUILT + 60)
    before = old.store.manifest(FIRST)
    release = old.roll_back(FIRST[:6], BUILT + 120)
    folder = old.folder / "dist/releases" / release

    assert release != FIRST
    assert old.manifest == replace(before, files=old.manifest.files, highest_id=old.manifest.highest_id)
    assert old.manifest.rules is None
    assert f"\n{'a' * 64} =bare;\n" in (folder / "keys.map").read_text()
    assert not (folder / "keys.json").exists()
    assert list(verify_files.check_files(old.store)) == []
    with pytest.raises(FlatpanelError, match="was written by an older version of the program; build again"):
        old.store.table()
    old.build(BUILT + 180)
    assert old.manifest.rules is not None
    assert different_maps(old.store) == []
    assert list(verify_files.check_files(old.store)) == []


def test_rollback_from_an_old_release_to_a_present_one(old: Site) -> None:
    """The keys of the old release become those of a present one, in both files."""
    (old.folder / "catalog_src/keys.yaml").write_text(OTHER_KEY)
    present = old.build(BUILT + 60).release
    keys = (old.folder / "dist/releases" / SECOND / "keys.map").read_bytes()
    with transaction.begin(old.store, pytest.fail) as opened:
        # The keys of the target, as a rollback by the old program would have left them.
        rollback.carry_out(opened, replace(rollback.plan(opened, SECOND), release=SECOND, files={}), BUILT + 120)
    assert old.store.current() == SECOND
    release = old.roll_back(present, BUILT + 180)

    assert release != present
    assert (old.folder / "dist/releases" / release / "keys.map").read_bytes() == keys
    assert different_maps(old.store) == []
    assert list(verify_files.check_files(old.store)) == []


def test_rollback_to_an_old_release_names_what_it_opens(old: Site) -> None:
    """The gates of an old current release are read from its maps, those of a present one from its table."""
    for _ in range(2):
        with transaction.begin(old.store, pytest.fail) as opened:
            assert rollback.plan(opened, FIRST).reopened == {}
        old.build(BUILT + 60)
    (old.folder / "catalog_src/series/unlicensed.yaml").write_text(UNLICENSED.format(licensed="false"))
    opening = old.build(BUILT + 120).release
    (old.folder / "catalog_src/series/unlicensed.yaml").write_text(UNLICENSED.format(licensed="true"))
    old.build(BUILT + 180)
    with transaction.begin(old.store, pytest.fail) as opened:
        assert rollback.plan(opened, opening).reopened == {"unlicensed": "licensed"}


UNLICENSED = """title: Unlicensed
cover: c.jpg
modified: 2026-01-01
licensed: {licensed}
chapters:
  - {{id: 9007, number: 1, published: 2026-01-01, modified: 2026-01-01, pages: [a.jpg]}}
"""


def test_an_old_release_is_compared_with_a_present_one(old: Site) -> None:
    """The same catalog gives the same gates, old slugs and aliases, whether maps or the table say so."""
    report = old.build(BUILT + 60)
    folder = old.folder / "dist/releases"
    paths = [folder / release / "manifest.json" for release in (SECOND, report.release)]
    with ReleaseView(paths[0], "old") as before, ReleaseView(paths[1], "new") as after:
        comparison = compare(before, after)
        assert comparison.left_out == ""
        assert before.gates() == after.gates()
        assert len(before.gates()) > 20
        assert {gate.status for gate in before.gates().values()} == {308, 451}
        # The old program answered without a key for numbers that no restricted chapter has.
        locked = {"/query/pages/members-only/0/1000000000": LOCKED_RESULTS_URL}
        assert before.page_queries() | locked == after.page_queries()
        assert len(before.page_queries()) > 5
        assert before.base_url == after.base_url
        assert comparison.settings.count("keys.json") == 0


def test_old_releases_are_listed(old: Site, run: Run) -> None:
    """With the same numbers of series and chapters as a release of the same catalog in the present format."""
    old.build(BUILT + 60)
    listed = json.loads(run("releases", "--json", "--out", old.folder / "dist").stdout)["releases"]

    assert [one["release"] for one in listed[1:]] == [SECOND, FIRST]
    assert (listed[0]["series"], listed[0]["chapters"]) == (listed[1]["series"], listed[1]["chapters"])
    assert listed[0]["chapters"] > 10
