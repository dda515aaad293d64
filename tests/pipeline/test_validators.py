"""ETag and Last-Modified from one release to the next: they change with the content only."""

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result

from generator import encoding
from generator.encoding import http_date
from generator.errors import FlatpanelError
from generator.pipeline import run as pipeline
from generator.release import manifest
from generator.release.rules import NO_RULES
from tests.conftest import AS_OF, WRITTEN, Site
from tests.support import tree_snapshot

FIRST = "/api/series/first"
FEBRUARY, MARCH = 1_769_904_000, 1_772_323_200  # the first of each, 2026


def series(site: Site, title: str, modified: str | None = "2026-02-01T00:00:00Z") -> None:
    """The series `first`, without chapters."""
    dated = f"modified: {modified}\n" if modified else ""
    site.write("series/first.yaml", f"title: {title}\ncover: c.png\n{dated}")


def validators(site: Site, url: str = FIRST) -> tuple[str, int]:
    body = site.manifest.resources[url]
    return body.etag, body.modified


def all_validators(site: Site) -> dict[str, tuple[str, int]]:
    return {url: (body.etag, body.modified) for url, body in site.manifest.resources.items()}


def test_the_first_date_is_that_of_the_newest_part(site: Site) -> None:
    """Here the chapter is newer than its series and the author."""
    site.build()

    assert validators(site)[1] == 1_770_026_400  # the chapter's 2026-02-02T10:00:00Z
    assert validators(site, "/api/authors/1")[1] == FEBRUARY
    assert validators(site, "/api/series")[1] == MARCH


VERSIONS = """\
title: Versions
cover: c.png
modified: 2026-02-01
chapters:
  - {id: 5, number: 1, published: 2026-02-01, modified: 2026-02-01, pages: [a.png]}
  - {id: 7, number: 1, published: 2036-02-01, modified: 2026-02-01, pages: [b.png]}
  - {id: 6, number: 1, published: 2026-01-01, modified: 2026-01-01, pages: [c.png]}
"""
DUE = 2_085_436_800  # 2036-02-01


def test_a_due_version_replaces_the_one_with_the_lower_id(site: Site) -> None:
    """The date goes forward, also when the version is removed again and the body is as before."""
    url, pages = "/api/series/versions/0/1", []
    dates = []
    for text, as_of in (VERSIONS, AS_OF), (VERSIONS, DUE), (VERSIONS.replace("2036", "2037"), DUE + 10):
        site.write("series/versions.yaml", text)
        site.build(as_of)
        body = json.loads((site.folder / "dist" / site.manifest.resources[url].file).read_bytes())
        pages.append(body["pages"])
        dates.append(site.manifest.resources[url].modified)
        listed = json.loads((site.folder / "dist" / site.manifest.resources["/api/v2/chapters"].file).read_bytes())
        assert [chapter["id"] for chapter in listed["results"] if chapter["series"] == "versions"] == (
            [7, 5, 6] if as_of == DUE else [5, 6]
        )

    assert pages == [["c.png"], ["b.png"], ["c.png"]]
    assert dates[0] < dates[1] < dates[2]


def test_a_changed_body_gets_a_new_etag_and_date(site: Site) -> None:
    """Bodies without the change keep both."""
    series(site, "First")
    site.build()
    before = all_validators(site)
    series(site, "Fjrst", modified="2026-05-01T00:00:00Z")
    site.build()
    after = all_validators(site)
    changed = {url for url in before if after[url][0] != before[url][0]}

    assert changed == {f"/api{family}/series{slug}" for family in ("", "/v1") for slug in ("", "/first")}
    assert {after[url][1] for url in changed} == {1_777_593_600}
    assert {url: after[url] for url in before.keys() - changed} == {url: before[url] for url in before.keys() - changed}


@pytest.mark.parametrize("modified", ["2026-02-01T00:00:00Z", "2026-01-31T23:59:59Z", "1999-01-01"])
def test_the_date_of_a_changed_body_strictly_increases(site: Site, modified: str) -> None:
    """A client that compares dates alone notices a change whose `modified` stayed or went backwards."""
    series(site, "First")
    site.build()
    series(site, "Fjrst", modified=modified)
    site.build()

    assert validators(site)[1] == FEBRUARY + 1
    series(site, "Fjrrst", modified=modified)
    site.build()
    assert validators(site)[1] == FEBRUARY + 2


def test_a_date_in_the_future_becomes_the_time_of_the_build(site: Site) -> None:
    """No response has a later date than the build."""
    series(site, "First", modified="2090-01-01T00:00:00Z")
    site.build()

    assert validators(site)[1] == AS_OF


def test_files_of_a_body_that_returns_have_its_date(site: Site) -> None:
    """Also if neither date is sent, so that the sidecar stays as it is."""
    options = replace(site.options, cache=site.folder / "cache")
    series(site, "First", modified="2090-01-01T00:00:00Z")
    pipeline.build(replace(options, as_of=AS_OF + 1000))
    for title in ("First", "Fjrst", "First"):
        series(site, title, modified="2090-01-01T00:00:00Z")
        pipeline.build(options)

    body = site.manifest.resources[FIRST]
    assert body.modified == -(AS_OF + 1002)
    assert (site.folder / "dist" / body.file).stat().st_mtime == AS_OF + 1002


def test_a_date_after_the_build_is_not_sent(site: Site) -> None:
    """One build ran with a wrong clock. Its dates stay in the manifest: a later one is sent as soon as it is past."""
    options = replace(site.options, cache=site.folder / "cache")
    series(site, "First", modified="2090-01-01T00:00:00Z")
    wrong = pipeline.build(replace(options, as_of=AS_OF + 1000))
    before = all_validators(site)
    assert validators(site)[1] == AS_OF + 1000 and wrong.warnings == []

    result = pipeline.build(options)
    after, future = all_validators(site), {url for url, (_, date) in before.items() if date > AS_OF}
    assert FIRST in future and "its release was built for a later time" in result.warnings[0]
    assert {url: after[url] for url in future} == {url: (before[url][0], -before[url][1]) for url in future}
    assert {url: after[url] for url in before.keys() - future} == {url: before[url] for url in before.keys() - future}
    assert pipeline.build(replace(options, cache=None)).release == result.release
    body = site.manifest.resources[FIRST]
    sidecar = site.folder / "dist" / f"{body.file}.headers"
    assert sidecar.read_text() == f'ETag: "{body.etag}"\n'
    assert sidecar.with_suffix("").stat().st_mtime == AS_OF + 1000

    series(site, "Fjrst", modified="2090-01-01T00:00:00Z")
    assert not pipeline.build(options).warnings
    assert validators(site)[1] == -(AS_OF + 1001)
    series(site, "Fjrrst")
    pipeline.build(replace(options, as_of=AS_OF + 2000))
    assert validators(site)[1] == AS_OF + 1002


@pytest.mark.parametrize(("nanoseconds", "date"), [(FEBRUARY * 10**9 + 999_999_999, FEBRUARY), (-5 * 10**9, 0)])
def test_without_modified_the_mtime_counts(site: Site, nanoseconds: int, date: int) -> None:
    """Outside of git, to the second. Archives that set times before 1970 do not stop a build."""
    series(site, "First", modified=None)
    os.utime(site.folder / "catalog_src/series/first.yaml", ns=(0, nanoseconds))
    site.build()
    site.build()

    assert validators(site)[1] == date


def test_touching_files_changes_nothing(site: Site) -> None:
    """New times of all files, as after a checkout, give the same release."""
    series(site, "First", modified=None)
    release = site.build().release
    before = tree_snapshot.state(site.folder / "dist")
    for path in (site.folder / "catalog_src").rglob("*.yaml"):
        os.utime(path, (AS_OF - 5, AS_OF - 5))

    assert site.build().release == release
    assert tree_snapshot.state(site.folder / "dist") == before


def git(folder: Path, *arguments: str, at: int = WRITTEN) -> None:
    """Git without the user's configuration, committing at a given time."""
    people = {f"GIT_{role}_{what}": "a@b.example" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    times = {"GIT_AUTHOR_DATE": f"{at} +0000", "GIT_COMMITTER_DATE": f"{at} +0000"}
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    environment = {**os.environ, **people, **times, **quiet}
    subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True)


@pytest.mark.parametrize(("modified", "date"), [(None, FEBRUARY), ("2026-03-01T00:00:00Z", MARCH)])
def test_in_git_the_last_commit_counts(site: Site, modified: str | None, date: int) -> None:
    """A series without `modified` has the date of the last commit of its file; an uncommitted edit is of now."""
    series(site, "First", modified)
    git(site.folder, "init", "--quiet")
    git(site.folder, "add", "catalog_src")
    git(site.folder, "commit", "--quiet", "-m", "all of it", at=FEBRUARY)
    site.build()

    assert validators(site)[1] == date
    series(site, "Fjrst", modified=None)
    site.build(AS_OF)
    assert validators(site)[1] == AS_OF


def test_a_scheduled_chapter_dates_bodies_from_its_publication(site: Site) -> None:
    """When a chapter is published, its bodies get that date, though the file is unchanged."""
    due = 1_780_315_200  # 2026-06-01T12:00:00Z
    path = site.folder / "catalog_src/series/first.yaml"
    path.write_text(
        path.read_text().replace("2026-02-02T10:00:00Z\n    modified", "2026-06-01T12:00:00Z\n    modified")
    )
    report = site.build(due - 1)

    assert (report.next_publication, validators(site)[1]) == (due, FEBRUARY)
    report = site.build(due)
    assert (report.next_publication, validators(site)[1]) == (None, due)


def test_previous_continues_the_validators_of_another_machine(site: Site, tmp_path: Path) -> None:
    """Without `dist`, ETags and dates continue as if the site had been built here all the time."""
    series(site, "First")
    site.build()
    manifest_copy = tmp_path / "manifest.json"
    manifest_copy.write_bytes((site.folder / "dist/current/manifest.json").read_bytes())
    series(site, "Fjrst", modified="2026-01-01T00:00:00Z")
    here = site.build()
    elsewhere = replace(site.options, out=site.folder / "other/dist", nginx=site.folder / "other/nginx.conf")
    there = pipeline.build(replace(elsewhere, previous=manifest_copy))

    assert validators(site)[1] == FEBRUARY + 1
    assert there.release == here.release


HEAD = b'{"flatpanel": 3, "highest_id": 0, "page_ids": {}, "files": {}, '
WITH_RULES = HEAD + b'"runs": {}, "resources": {}, "rules": '
RULES = encoding.json(NO_RULES)


@pytest.mark.parametrize(
    "text",
    [
        b"{",
        b"[]",
        b"{}",
        HEAD + b'"runs": {}, "resources": {}}',
        WITH_RULES + b"{}}",
        WITH_RULES + b'{"max_ages": 60}}',
        HEAD + b'"runs": {"": -1}, "resources": {}, "rules": %b}' % RULES,
        HEAD + b'"runs": {}, "resources": [], "rules": %b}' % RULES,
        HEAD + b'"runs": {}, "resources": {"/": {"etag": 5}}, "rules": %b}' % RULES,
        HEAD + b'"runs": {}, "resources": {"/": {"modified": "today"}}, "rules": %b}' % RULES,
        HEAD + b'"runs": {}, "resources": {"/": {"modified": 1e18}}, "rules": %b}' % RULES,
        b"\xff",
    ],
)
def test_previous_with_another_file_is_refused(site: Site, tmp_path: Path, text: bytes) -> None:
    """By name, before anything is written."""
    manifest_copy = tmp_path / "kept.json"
    manifest_copy.write_bytes(text)

    with pytest.raises(FlatpanelError, match=r"kept\.json: is not the manifest of a release$"):
        pipeline.build(replace(site.options, previous=manifest_copy))
    assert not (site.folder / "dist").exists()


def test_a_reformatted_manifest_cannot_be_continued(site: Site, tmp_path: Path) -> None:
    """A build reads it in parts, and finds these by their lines."""
    site.build()
    manifest_copy = tmp_path / "kept.json"
    manifest_copy.write_text(json.dumps(json.loads((site.folder / "dist/current/manifest.json").read_bytes())))

    with pytest.raises(FlatpanelError, match=r"kept\.json: manifest has been reformatted; restore the original file$"):
        pipeline.build(replace(site.options, previous=manifest_copy))


@pytest.mark.parametrize("number", [2, 4])
def test_a_manifest_of_another_format_cannot_be_continued(site: Site, tmp_path: Path, number: int) -> None:
    """An older version had fewer lines, and a newer one may give its fields another meaning."""
    manifest_copy = tmp_path / "kept.json"
    manifest_copy.write_bytes(b'{"flatpanel": %d}' % number)

    with pytest.raises(FlatpanelError, match=rf"kept\.json: has format {number}, and this version .* format 3 only"):
        pipeline.build(replace(site.options, previous=manifest_copy))


def test_a_current_release_of_another_format_is_not_continued(site: Site) -> None:
    """Its manifest is intact, so the message names the format; `dist` does not change."""
    releases = site.folder / "dist/releases"
    text = (releases / site.build().release / "manifest.json").read_bytes().replace(b"3", b"2", 1)
    former = manifest.release_id(encoding.sha256(text))
    (releases / former).mkdir()
    (releases / former / "manifest.json").write_bytes(text)
    (site.folder / "dist/current").unlink()
    (site.folder / "dist/current").symlink_to(f"releases/{former}")
    before = tree_snapshot.state(site.folder)

    with pytest.raises(FlatpanelError, match=rf"{former}/manifest\.json: has format 2, and this version"):
        site.build()
    assert tree_snapshot.state(site.folder) == before


def test_source_date_epoch_sets_the_time_of_the_build(site: Site, run: Callable[..., Result]) -> None:
    """`--as-of` takes precedence."""
    series(site, "First", modified="2090-01-01T00:00:00Z")
    catalog, out, nginx = site.paths
    where = ["--catalog", catalog, "--out", out, "--nginx", nginx, "--jobs", 1, "--quiet"]
    assert run("build", *where, SOURCE_DATE_EPOCH=str(MARCH)).exit_code == 0

    assert http_date(validators(site)[1]) == "Sun, 01 Mar 2026 00:00:00 GMT"
    series(site, "Fjrst", modified="2090-01-01T00:00:00Z")
    assert run("build", *where, "--as-of", "2026-04-01", SOURCE_DATE_EPOCH=str(MARCH)).exit_code == 0
    assert http_date(validators(site)[1]) == "Wed, 01 Apr 2026 00:00:00 GMT"
