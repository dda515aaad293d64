"""Tags and dates from one release to the next: they follow content, and nothing else."""

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result

from generator.encoding import http_date
from generator.errors import FlatpanelError
from generator.pipeline import run as pipeline
from tests.conftest import AS_OF, WRITTEN, Site
from tests.support import tree_snapshot

FIRST = "/api/series/first"
FEBRUARY, MARCH = 1_769_904_000, 1_772_323_200  # the first of each, 2026


def series(site: Site, title: str, modified: str | None = "2026-02-01T00:00:00Z") -> None:
    """The series `first`, without chapters."""
    dated = f"modified: {modified}\n" if modified else ""
    site.write("series/first.yaml", f"title: {title}\ncover: c.png\n{dated}")


def validators(site: Site, url: str = FIRST) -> tuple[str, int]:
    one = site.manifest.resources[url]
    return one.etag, one.modified


def all_validators(site: Site) -> dict[str, tuple[str, int]]:
    return {url: (one.etag, one.modified) for url, one in site.manifest.resources.items()}


def test_the_first_date_is_that_of_the_newest_thing_shown(site: Site) -> None:
    """A body is as new as the newest of what it shows: here the chapter, which is newer than series and author."""
    site.build()

    assert validators(site)[1] == 1_770_026_400  # the chapter's 2026-02-02T10:00:00Z
    assert validators(site, "/api/authors/1")[1] == FEBRUARY
    assert validators(site, "/api/series")[1] == MARCH


def test_what_does_not_change_keeps_both(site: Site) -> None:
    """A newer `modified` of something whose body stays the same moves neither tag nor date."""
    series(site, "First")
    site.build()
    before = all_validators(site)
    series(site, "First", modified="2026-05-01T00:00:00Z")
    site.build()

    assert all_validators(site) == before


def test_what_changes_takes_the_date_of_its_change(site: Site) -> None:
    """A changed body has another tag and the new `modified`; what does not show the change has neither."""
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
def test_what_changes_moves_strictly_forward_even_if_its_date_does_not(site: Site, modified: str) -> None:
    """A client that compares dates alone still notices a change whose `modified` stayed or went backwards."""
    series(site, "First")
    site.build()
    series(site, "Fjrst", modified=modified)
    site.build()

    assert validators(site)[1] == FEBRUARY + 1
    series(site, "Fjrrst", modified=modified)
    site.build()
    assert validators(site)[1] == FEBRUARY + 2


def test_a_date_in_the_future_is_cut_to_the_moment_of_the_build(site: Site) -> None:
    """No answer is dated later than the instant it is built as of."""
    series(site, "First", modified="2090-01-01T00:00:00Z")
    site.build()

    assert validators(site)[1] == AS_OF


def test_where_the_field_is_absent_the_file_tells(site: Site) -> None:
    """Outside of git a series without `modified` is as old as its file, to the second."""
    series(site, "First", modified=None)
    os.utime(site.folder / "catalog_src/series/first.yaml", ns=(0, FEBRUARY * 10**9 + 999_999_999))
    site.build()

    assert validators(site)[1] == FEBRUARY


def test_files_older_than_1970_have_a_date_too(site: Site) -> None:
    """Archives that set impossible times do not stop a build."""
    series(site, "First", modified=None)
    os.utime(site.folder / "catalog_src/series/first.yaml", (-5, -5))
    site.build()
    site.build()

    assert validators(site)[1] == 0


def test_touching_files_changes_nothing(site: Site) -> None:
    """New times on every file of the catalog, as after a checkout, give the same release."""
    series(site, "First", modified=None)
    release = site.build().release
    before = tree_snapshot.state(site.folder / "dist")
    for path in (site.folder / "catalog_src").rglob("*.yaml"):
        os.utime(path, (AS_OF - 5, AS_OF - 5))

    assert site.build().release == release
    assert tree_snapshot.state(site.folder / "dist") == before


def git(folder: Path, *arguments: str, at: int = WRITTEN) -> None:
    """git with nobody's configuration, committing at a given time."""
    people = {f"GIT_{role}_{what}": "a@b.example" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    times = {"GIT_AUTHOR_DATE": f"{at} +0000", "GIT_COMMITTER_DATE": f"{at} +0000"}
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    environment = {**os.environ, **people, **times, **quiet}
    subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True)


def test_in_git_the_last_commit_tells(site: Site) -> None:
    """A series without `modified` is as old as the last commit of its file; an edit that is not committed is of now."""
    series(site, "First", modified=None)
    git(site.folder, "init", "--quiet")
    git(site.folder, "add", "catalog_src")
    git(site.folder, "commit", "--quiet", "-m", "all of it", at=FEBRUARY)
    site.build()

    assert validators(site)[1] == FEBRUARY
    series(site, "Fjrst", modified=None)
    site.build(AS_OF)
    assert validators(site)[1] == AS_OF


def test_the_field_wins_over_git_and_file(site: Site) -> None:
    """An entity that says when it was modified is believed."""
    series(site, "First", modified="2026-03-01T00:00:00Z")
    git(site.folder, "init", "--quiet")
    git(site.folder, "add", "catalog_src")
    git(site.folder, "commit", "--quiet", "-m", "all of it", at=FEBRUARY)
    site.build()

    assert validators(site)[1] == MARCH


def test_a_scheduled_chapter_dates_what_shows_it_from_its_publication(site: Site) -> None:
    """When a chapter's time comes, what shows it is dated then, though the file is as it was."""
    due = 1_780_315_200  # 2026-06-01T12:00:00Z
    path = site.folder / "catalog_src/series/first.yaml"
    path.write_text(
        path.read_text().replace("2026-02-02T10:00:00Z\n    modified", "2026-06-01T12:00:00Z\n    modified")
    )
    report = site.build(due - 1)

    assert (report.next_publication, validators(site)[1]) == (due, FEBRUARY)
    report = site.build(due)
    assert (report.next_publication, validators(site)[1]) == (None, due)


def test_the_validators_of_another_machine_are_continued(site: Site, tmp_path: Path) -> None:
    """With --previous and no dist, tags and dates go on as if the site had been built here all the time."""
    series(site, "First")
    site.build()
    kept = tmp_path / "manifest.json"
    kept.write_bytes((site.folder / "dist/current/manifest.json").read_bytes())
    series(site, "Fjrst", modified="2026-01-01T00:00:00Z")
    here = site.build()
    elsewhere = replace(site.options, out=site.folder / "other/dist", nginx=site.folder / "other/nginx.conf")
    there = pipeline.build(replace(elsewhere, previous=kept))

    assert validators(site)[1] == FEBRUARY + 1
    assert there.release == here.release


HEAD = b'{"flatpanel": 2, "highest_id": 0, "page_ids": {}, "files": {}, '


@pytest.mark.parametrize(
    "text",
    [
        b"{",
        b"[]",
        b"{}",
        b'{"flatpanel": 2}',
        HEAD + b'"runs": {"": -1}, "resources": {}}',
        HEAD + b'"runs": {}, "resources": []}',
        HEAD + b'"runs": {}, "resources": {"/": {"etag": 5}}}',
        HEAD + b'"runs": {}, "resources": {"/": {"modified": "today"}}}',
        HEAD + b'"runs": {}, "resources": {"/": {"modified": 1e18}}}',
        HEAD + b'"runs": {}, "resources": {"/": {"modified": -1}}}',
        b"\xff",
    ],
)
def test_a_file_that_is_no_manifest_cannot_be_continued(site: Site, tmp_path: Path, text: bytes) -> None:
    """--previous with another file is refused by name, before anything is written."""
    kept = tmp_path / "kept.json"
    kept.write_bytes(text)

    with pytest.raises(FlatpanelError, match=r"kept\.json: is not the manifest of a release$"):
        pipeline.build(replace(site.options, previous=kept))
    assert not (site.folder / "dist").exists()


def test_a_manifest_that_was_laid_out_anew_cannot_be_continued(site: Site, tmp_path: Path) -> None:
    """A build reads it in parts, and finds them by its lines."""
    site.build()
    kept = tmp_path / "kept.json"
    kept.write_text(json.dumps(json.loads((site.folder / "dist/current/manifest.json").read_bytes())))

    with pytest.raises(FlatpanelError, match=r"kept\.json: manifest has been reformatted; restore the original file$"):
        pipeline.build(replace(site.options, previous=kept))


def test_a_manifest_of_another_format_cannot_be_continued(site: Site, tmp_path: Path) -> None:
    """What a newer version wrote is not guessed at."""
    kept = tmp_path / "kept.json"
    kept.write_bytes(b'{"flatpanel": 3}')

    with pytest.raises(
        FlatpanelError, match=r"kept\.json: was written by another version of the program \(format 3\)$"
    ):
        pipeline.build(replace(site.options, previous=kept))


def test_now_can_be_fixed_from_outside(site: Site, run: Callable[..., Result]) -> None:
    """SOURCE_DATE_EPOCH is the instant of the build where --as-of does not say another."""
    series(site, "First", modified="2090-01-01T00:00:00Z")
    catalog, out, nginx = site.paths
    where = ["--catalog", catalog, "--out", out, "--nginx", nginx, "--jobs", 1, "--quiet"]
    assert run("build", *where, SOURCE_DATE_EPOCH=str(MARCH)).exit_code == 0

    assert http_date(validators(site)[1]) == "Sun, 01 Mar 2026 00:00:00 GMT"
    series(site, "Fjrst", modified="2090-01-01T00:00:00Z")
    assert run("build", *where, "--as-of", "2026-04-01", SOURCE_DATE_EPOCH=str(MARCH)).exit_code == 0
    assert http_date(validators(site)[1]) == "Wed, 01 Apr 2026 00:00:00 GMT"
