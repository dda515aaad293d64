"""A second import: edits stay, changes of the site are written, and conflicts are noted."""

import dataclasses
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import pytest

from generator import encoding, filesystem
from generator.api.openapi.document import TITLE
from generator.catalog.yaml import editor
from generator.errors import FlatpanelError
from generator.imports import run
from generator.reading_sites.response_cache import FILE, ResponseCache, make
from tests.authoring.conftest import killed_after, refused_import, split_series, write_own_series
from tests.conftest import AS_OF
from tests.support import linked_catalog
from tests.support.fake_site import (
    FakeSite,
    Replies,
    Reply,
    again,
    chapter,
    edit,
    old_chapter,
    publish_third_chapter,
    read,
    rename,
    serving,
    small,
    texts,
    withdraw_series,
)
from tests.support.import_project import change
from tests.support.runs import sample

CONFLICT = "conflict"


@pytest.fixture
def site() -> Iterator[FakeSite]:
    with serving(small()) as site:
        yield site


@pytest.fixture
def catalog(site: FakeSite, tmp_path: Path) -> Path:
    """The catalog that the first import wrote."""
    site.imported(tmp_path)
    return tmp_path / "catalog_src"


def switch(site: FakeSite, base_url: str = "https://comics.example") -> None:
    """Let a site of this program respond."""
    site.answers["/api/v2/openapi.json"] = {"info": {"title": TITLE}, "servers": [{"url": "/"}, {"url": base_url}]}
    site.answers["/api/v2/series/one"]["status"] = "completed"


@pytest.mark.parametrize("base_url", ["https://comics.example", "https://new.example"])
def test_a_site_that_is_made_from_the_catalog_is_refused(base_url: str, site: FakeSite, catalog: Path) -> None:
    """After the switch, the URL of the old site is that of the new one; its responses would degrade the catalog."""
    switch(site, base_url)
    site.asked.clear()
    message = refused_import(site, catalog)

    assert site.paths == ["/api/v2/openapi.json"]
    assert "--from-database FILE without a URL" in message and "--from-flatpanel" in message
    # The old site responds again.
    del site.answers["/api/v2/openapi.json"]
    again(site, catalog)
    assert read(catalog, "series/one.yaml")["status"] == "completed"


def test_another_site_of_this_program_can_be_copied(site: FakeSite, tmp_path: Path) -> None:
    """A new catalog needs no option, and neither has a copy; a catalog that exists needs it once."""
    switch(site)
    site.imported(tmp_path / "new")
    edit(tmp_path / "new/catalog_src", "series/one.yaml", "title: One", "title: Two")
    again(site, tmp_path / "new/catalog_src")

    for name, host in (("own", "comics"), ("other", "other")):
        (tmp_path / name / "catalog_src").mkdir(parents=True)
        (tmp_path / name / "catalog_src/site.yaml").write_text(f"base_url: https://{host}.example\n")
    with pytest.raises(FlatpanelError, match="a site of Flatpanel"):
        site.imported(tmp_path / "own")
    site.imported(tmp_path / "own", from_flatpanel=True)
    again(site, tmp_path / "own/catalog_src")

    site.imported(tmp_path / "other", choice="mine")
    assert read(tmp_path / "other/catalog_src", "site.yaml") == {"base_url": "https://other.example"}


def test_an_unchanged_site_changes_no_file(site: FakeSite, catalog: Path) -> None:
    """No file is written, not even with the same content."""
    before = {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in catalog.rglob("*")}
    done = again(site, catalog)

    assert (done.files, set(done.counts.values())) == ([], {0})
    assert {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in catalog.rglob("*")} == before


def test_a_changed_field_is_updated(site: FakeSite, catalog: Path) -> None:
    """Other fields, comments and the order stay."""
    edit(catalog, "series/one.yaml", "title: One\n", "# Ours.\ntitle: One  # short\n")
    site.answers["/api/v2/series/one"] |= {"title": "The One", "description": "More.\nLines.", "aliases": []}
    site.answers["/api/v2/series/one/chapters"]["results"][1]["views"] = 5
    done = again(site, catalog)

    text = (catalog / "series/one.yaml").read_text()
    assert ("\n\n# Ours.\ntitle: The One  # short\naliases: []\ndescription: |-\n  More.\n  Lines.\nauthors:") in text
    assert "    views: 5\n" in text
    assert done.counts["changes"] == 4


def test_an_edited_field_is_kept(site: FakeSite, catalog: Path) -> None:
    """Without a note if the site's value did not change; otherwise with a conflict, until an option decides it."""
    edit(catalog, "series/one.yaml", "title: One\n", "title: Uno\n")
    assert not any(CONFLICT in note for note in again(site, catalog).notes)

    edit(catalog, "series/one.yaml", "title: Part 1\n", "title: Start\n")
    edit(catalog, "site.yaml", "base_url: https://comics.example\n", "base_url: https://ours.example\n")
    site.answers["/api/v2/series/one"]["title"] = "The One"
    site.answers["/api/v2/series/one/chapters"]["results"][1]["title"] = "Begin"
    site.answers["/api/v1/series"][0]["url"] = "https://theirs.example/reader/one/"
    conflicts = {
        "one: title: conflict: 'Uno' here, 'The One' there; kept yours",
        "one chapter 1: title: conflict: 'Start' here, 'Begin' there; kept yours",
        "site.yaml: base_url: conflict: 'https://ours.example' here, 'https://theirs.example' there; kept yours",
    }

    for _ in range(2):
        done = again(site, catalog)
        assert conflicts <= set(done.notes)
        assert any("--mine" in line and "--theirs" in line for line in done.summary)
    for choice in ("mine", ""):
        assert not any(CONFLICT in note for note in again(site, catalog, choice=choice).notes)
    assert read(catalog, "series/one.yaml")["title"] == "Uno"


def test_new_entries_are_appended(site: FakeSite, catalog: Path) -> None:
    """Chapters and people to their lists; a series gets its own file."""
    edit(catalog, "authors.yaml", "# Authors of series.\n", "# Writers, by hand.\n")
    publish_third_chapter(site)
    site.answers["/api/v2/authors"]["results"].append({"id": 8, "name": "Ed"})
    site.answers["/api/v2/series"]["results"].append({"slug": "two"})
    site.answers["/api/v2/series/two"] = {**site.answers["/api/v2/series/one"], "authors": ["Ed"]}
    done = again(site, catalog)

    assert sorted(done.files) == ["authors.yaml", "series/one.yaml", "series/two.yaml"]
    assert (catalog / "authors.yaml").read_text().partition("\n")[2].startswith("# Writers, by hand.\n\n- id: 4\n")
    assert read(catalog, "authors.yaml")[1] == {"id": 8, "name": "Ed"}
    assert [one["id"] for one in read(catalog, "series/one.yaml")["chapters"]] == [11, 12, 13]
    assert read(catalog, "series/two.yaml")["authors"] == ["Ed"]


def test_a_series_folder_gets_chapter_files(site: FakeSite, catalog: Path) -> None:
    """A changed chapter is edited in its own file."""
    split_series(catalog)
    for number, name in enumerate(("003-part-3", "v1-003-part-3"), 50):
        text = f"number: {number}\npublished: 2020-01-01\npages: []\n"
        (catalog / f"series/one/chapters/{name}.yaml").write_text(text)
    site.answers["/api/v2/series/one/chapters"]["results"][1]["title"] = "First"
    publish_third_chapter(site)
    done = again(site, catalog)

    assert sorted(done.files) == ["series/one/chapters/a.yaml", "series/one/chapters/v1-003-part-3-2.yaml"]
    assert read(catalog, "series/one/chapters/a.yaml")["title"] == "First"


def test_removed_entries_are_not_added_again(site: FakeSite, catalog: Path) -> None:
    """A note names the series, chapters and people, until the site has removed them, too.

    Chapters are identified by id. An entry that only the site removed is noted each time.
    """
    text = (catalog / "series/one.yaml").read_text()
    (catalog / "series/one.yaml").write_text(text[: text.index("  - id: 12")])
    removed = "removed from the catalog since the last import; not added again"
    assert f"one chapter 2: {removed}" in again(site, catalog).notes
    assert [one["id"] for one in read(catalog, "series/one.yaml")["chapters"]] == [11]

    (catalog / "series/one.yaml").unlink()
    (catalog / "members.yaml").write_text("")
    (catalog / "groups.yaml").write_text("- {id: 2, name: Night Shift}\n")
    assert f"members 9, one: {removed}" in again(site, catalog).notes

    before = dict(site.answers)
    withdraw_series(site)
    site.answers |= {"/api/v2/members": {"results": []}, "/api/v2/groups": {"results": []}, "/api/v1/groups": []}
    for _ in range(2):
        gone = [note for note in again(site, catalog).notes if "no longer on the site" in note]
        assert gone == ["groups 2: no longer on the site; kept in the catalog"]
    # The site did not have the series for a while.
    site.answers = before
    again(site, catalog)
    assert not (catalog / "series/one.yaml").exists()


def test_each_catalog_has_its_own_last_import(site: FakeSite, catalog: Path) -> None:
    """Entries of another catalog do not count as removed here."""
    before = {path.name: path.read_bytes() for path in catalog.rglob("*.yaml")}
    catalog.rename(catalog.with_name("moved"))
    again(site, catalog)

    assert {path.name: path.read_bytes() for path in catalog.rglob("*.yaml")} == before
    run.run(dataclasses.replace(site.import_options(catalog.parent), catalog=catalog.with_name("third")))
    assert {path.name: path.read_bytes() for path in catalog.with_name("third").rglob("*.yaml")} == before


def test_new_entries_do_not_reference_removed_people(site: FakeSite, catalog: Path) -> None:
    """They are written without this reference."""
    (catalog / "artists.yaml").write_text("")
    edit(catalog, "series/one.yaml", "artists: [Bo]\n", "")
    site.answers["/api/v2/series"]["results"].append({"slug": "two"})
    site.answers["/api/v2/series/two"] = site.answers["/api/v2/series/one"]
    again(site, catalog)

    assert read(catalog, "series/two.yaml")["artists"] == []


@pytest.mark.parametrize("status", [500, 401, 403])
def test_a_temporary_failure_does_not_change_a_series(status: int, site: FakeSite, tmp_path: Path) -> None:
    """The next import with all responses compares it again."""
    chapters = site.answers["/api/v2/series/one/chapters"]
    site.answers["/api/v2/series/one/chapters"] = Replies([Reply(401), chapters])
    for path in ("/api/v1/series/one", "/api/v1/series"):
        site.answers[path] = Reply(404)
    site.imported(tmp_path, key="k")
    catalog = tmp_path / "catalog_src"
    before = texts(catalog)
    assert read(catalog, "series/one.yaml")["restricted"] is True

    right = site.answers["/api/v2/series/one"]
    for path in ("/api/v2/series/one", "/api/v2/series/one/chapters"):
        site.answers[path] = Reply(status)
    done = again(site, catalog)
    assert texts(catalog) == before
    assert "one: a response of the last import is not available now; kept as it is" in done.notes
    if status == 403:
        assert "/api/v2/series/one, /api/v2/series/one/chapters: status 403; skipped" in done.notes

    site.answers["/api/v2/series/one"] = {**right, "title": "New"}
    site.answers["/api/v2/series/one/chapters"] = Replies([Reply(401), chapters])
    again(site, catalog, key="k")
    assert texts(catalog) == {name: text.replace("title: One\n", "title: New\n") for name, text in before.items()}


@pytest.mark.parametrize(("completed", "expected"), [(False, "hiatus"), (True, "completed")])
def test_an_older_version_denies_no_licence(completed: bool, expected: str, site: FakeSite, tmp_path: Path) -> None:
    """Version 2 does not show a series whose chapters were deleted. Version 1 may say that it is completed now."""
    site.answers["/api/v2/series/one"]["licensed"] = True
    site.imported(tmp_path)
    for path in ("series/one", "series/one/chapters", "cubari/one"):
        site.answers[f"/api/v2/{path}"] = Reply(404)
    site.answers["/api/v1/series/one"] |= {"completed": completed, "volumes": {}}
    for _ in range(2):
        again(site, tmp_path / "catalog_src", removes=True)
        series = read(tmp_path / "catalog_src", "series/one.yaml")
        assert (series["licensed"], series["status"], len(series["chapters"])) == (True, expected, 2)


ERROR = Reply(body=b'{"detail":"Under maintenance"}')


@pytest.mark.parametrize(
    ("path", "answers"),
    [
        *(
            (f"/{kind}", {f"/api/v2/{kind}": {"results": []}, f"/api/v1/{kind}": []})
            for kind in ("authors", "categories", "groups", "members")
        ),
        # Version 1 has members in its groups.
        ("/members", {"/api/v2/members": {"results": []}, "/api/v1/groups": []}),
        ("/api/v2/authors", {"/api/v2/authors": ERROR}),
        ("/api/v1/authors", {"/api/v1/authors": ERROR}),
        # The site may have switched version 1 off.
        ("/api/v1/authors", {"/api/v1/authors": Reply(404)}),
    ],
)
def test_a_list_that_is_empty_or_unavailable_ends_the_import(
    path: str, answers: dict[str, Any], site: FakeSite, catalog: Path
) -> None:
    """The names would get new ids or be lost, and so would the credits of the whole catalog."""
    right = site.answers
    site.answers = right | answers
    message = refused_import(site, catalog, removes=True, choice="theirs")
    assert f"{path}: usable at the last import, but unavailable or empty" in message

    site.answers = right
    assert again(site, catalog).files == []


@pytest.mark.parametrize("status", [200, 401])
def test_lists_without_series_end_the_import(status: int, site: FakeSite, tmp_path: Path) -> None:
    """A first one, too: all series would seem removed, and `base_url` would be the URL of the import."""
    right, empty = site.answers, {"/api/v2/series": Reply(status, b'{"results":[]}'), "/api/v1/series": []}
    message = "its lists have no series with a valid slug; nothing was written. Import again later, or with an API key"
    for key in (None, "k"):
        site.answers = right | empty
        with pytest.raises(FlatpanelError, match=re.escape(message)):
            site.imported(tmp_path, key=key)
        # The empty lists are not in the cache.
        site.answers = right | ({"/api/v2/series": Replies([Reply(401), right["/api/v2/series"]])} if key else {})
        site.imported(tmp_path, key=key)
        assert read(tmp_path / "catalog_src", "site.yaml")["base_url"] == "https://comics.example"


def test_a_refused_import_requests_again_what_failed_or_is_empty(site: FakeSite, tmp_path: Path) -> None:
    """At once: the site may be repaired, and all other responses are in the cache."""
    right = site.answers["/api/v2/series/one/chapters"]
    for answer in (Reply(404), Reply(403), Reply(body=b"<html>"), {"results": []}):
        site.answers["/api/v2/series/one/chapters"] = answer
        with pytest.raises(FlatpanelError, match="2 chapters without an id"):
            site.imported(tmp_path, allows_missing_ids=False)
        assert not (tmp_path / "catalog_src").exists()
    site.answers["/api/v2/series/one/chapters"] = right
    site.asked.clear()
    site.imported(tmp_path, allows_missing_ids=False)

    assert "/api/v2/series/one/chapters" in site.paths
    assert "/api/v2/series/one" not in site.paths
    assert [one["id"] for one in read(tmp_path / "catalog_src", "series/one.yaml")["chapters"]] == [11, 12]


@pytest.mark.parametrize("path", ["/api/v2/series/one", "/api/v2/series/one/chapters"])
def test_an_error_is_no_data(path: str, site: FakeSite, catalog: Path) -> None:
    """Nothing is removed, and no older version replaces what version 2 has."""
    before, right = texts(catalog), site.answers[path]
    site.answers[path] = ERROR
    done = again(site, catalog, removes=True, choice="theirs")
    assert f"{path}: not the JSON of this path; skipped" in done.notes
    assert "one: a response of the last import is not available now; kept as it is" in done.notes
    assert texts(catalog) == before

    site.answers[path] = right
    assert again(site, catalog).files == []


def test_an_old_list_without_series_keeps_base_url(site: FakeSite, catalog: Path) -> None:
    """Its URLs show `base_url`. It may be empty if all series are licensed: the older versions may hide them."""
    site.answers["/api/v1/series"] = []
    assert "/api/v1/series: usable at the last import, but unavailable or empty" in refused_import(site, catalog)
    site.answers["/api/v2/series/one"]["licensed"] = True

    assert "series/one.yaml" in again(site, catalog, now=AS_OF + 7200).files


def test_a_missing_openapi_document_keeps_the_settings(site: FakeSite, catalog: Path) -> None:
    """`restricted` does not change."""
    document: dict[str, Any] = {"paths": {"/api/v2/members": {"get": {"security": [{"header": []}]}}}}
    site.answers["/api/v2/openapi.json"] = document
    again(site, catalog)
    assert read(catalog, "site.yaml")["restricted"] == ["/members"]

    for answer in (Reply(500), Reply(body=b"<html>"), document):
        site.answers["/api/v2/openapi.json"] = answer
        assert again(site, catalog).files == []


def test_a_file_is_parsed_once_for_all_its_changes(
    site: FakeSite, catalog: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After some weeks, the views of nearly all chapters have changed."""
    parsed: list[bytes] = []
    positions = editor.read_positions
    monkeypatch.setattr(editor, "read_positions", lambda text: parsed.append(text) or positions(text))
    site.answers["/api/v2/series/one"]["title"] = "First"
    for listed in site.answers["/api/v2/series/one/chapters"]["results"]:
        listed["views"] = 1000

    assert again(site, catalog).counts["changes"] == 3
    assert len(parsed) == 1


def test_pages_that_the_site_hides_are_kept(site: FakeSite, catalog: Path) -> None:
    """An empty list of pages is not an update."""
    del site.answers["/api/v2/cubari/one"]
    for old in site.answers["/api/v1/series/one"]["volumes"]["1"].values():
        del old["pages_list"], old["pages_root"]
    again(site, catalog)

    assert read(catalog, "series/one.yaml")["chapters"][0]["pages"] == "1.png .. 3.png"


@pytest.fixture
def other_catalog(tmp_path: Path) -> Path:
    """A catalog that was not imported, with other values than the site."""
    catalog = tmp_path / "catalog_src"
    (catalog / "series").mkdir(parents=True)
    (catalog / "site.yaml").write_text("base_url: https://mine.example\n")
    (catalog / "authors.yaml").write_text("- {id: 4, name: Ada Lovelace}\n")
    (catalog / "categories.yaml").write_text("- {id: sad, name: Drama}\n")
    (catalog / "series/one.yaml").write_text(
        "title: Mine\ncover: mine.jpg\nchapters:\n  - {number: 1, volume: 1, published: 2020-01-01, pages: []}\n"
    )
    return catalog


def test_without_a_last_import_differences_are_refused(site: FakeSite, other_catalog: Path) -> None:
    """The message shows names of other people first, and both options; nothing is written."""
    first, *differences, last = refused_import(site, other_catalog).splitlines()

    assert first == (
        f"{other_catalog}: its last import from this site is unknown, and ids name other people here than on the site; "
        "nothing was written"
    )
    assert differences[0] == "  authors 4: 'Ada Lovelace' here, 'Ada' there"
    assert "  site.yaml: base_url: 'https://mine.example' here, 'https://comics.example' there" in differences
    assert "  one: title: 'Mine' here, 'One' there" in differences
    assert (len(differences), differences[-1]) == (13, "  and 6 more")
    assert "--mine" in last and "--theirs" in last


def test_without_a_last_import_mine_adds_missing_fields_only(site: FakeSite, other_catalog: Path) -> None:
    """Other values stay."""
    site.answers["/api/v2/series"]["results"].append({"slug": "two"})
    site.answers["/api/v2/series/two"] = {**site.answers["/api/v2/series/one"], "categories": []}
    done = again(site, other_catalog, choice="mine")

    assert "categories drama: its name or id is that of the category sad of the catalog, which is used" in done.notes
    assert not any(CONFLICT in note for note in done.notes)
    assert read(other_catalog, "site.yaml")["base_url"] == "https://mine.example"
    assert read(other_catalog, "authors.yaml") == [{"id": 4, "name": "Ada Lovelace", "aliases": ["A."]}]
    series = read(other_catalog, "series/one.yaml")
    assert (series["title"], series["description"], series["authors"]) == ("Mine", "About.", ["Ada Lovelace"])
    assert series["chapters"][0]["id"] == 11
    assert (series["categories"], read(other_catalog, "series/two.yaml").get("categories", [])) == (["sad"], [])


def test_without_a_last_import_theirs_takes_the_values_of_the_site(site: FakeSite, other_catalog: Path) -> None:
    """The next import has a last import, and changes nothing."""
    again(site, other_catalog, choice="theirs")

    assert read(other_catalog, "site.yaml")["base_url"] == "https://comics.example"
    assert read(other_catalog, "authors.yaml") == [{"id": 4, "name": "Ada", "aliases": ["A."]}]
    series = read(other_catalog, "series/one.yaml")
    assert (series["title"], series["authors"], series["chapters"][0]["title"]) == ("One", ["Ada"], "Part 1")
    assert again(site, other_catalog).files == []


def test_a_new_chapter_with_a_used_id_gets_it_later(site: FakeSite, catalog: Path) -> None:
    """A note names it at each import until no other chapter has the id."""
    write_own_series(catalog, 13)
    publish_third_chapter(site)
    for _ in range(2):
        note = "one 13: another chapter of the catalog has its id; imported without id"
        assert note in again(site, catalog).notes
        assert "id" not in read(catalog, "series/one.yaml")["chapters"][2]
    write_own_series(catalog, 14)
    again(site, catalog)

    assert read(catalog, "series/one.yaml")["chapters"][2]["id"] == 13
    assert again(site, catalog).files == []


def test_a_used_id_is_not_written_into_an_existing_chapter(site: FakeSite, catalog: Path) -> None:
    """The chapters are matched by number; the id belongs to another chapter."""
    edit(catalog, "series/one.yaml", "  - id: 11\n    volume", "  - volume")
    write_own_series(catalog, 11)

    assert "one 11: another chapter of the catalog has its id; imported without id" in again(site, catalog).notes
    assert "id" not in read(catalog, "series/one.yaml")["chapters"][0]


def test_chapters_are_matched_by_id_when_numbers_change(site: FakeSite, catalog: Path) -> None:
    """A new chapter has the old number of another one."""
    listed = [chapter(11, 1.0, views=3), chapter(13, 2.0, title="New"), chapter(12, 3.0, title="Part 2")]
    site.answers["/api/v2/series/one/chapters"]["results"] = listed
    again(site, catalog)
    chapters = read(catalog, "series/one.yaml")["chapters"]

    expected = [(11, 1, "Part 1"), (12, 3, "Part 2"), (13, 2, "New")]
    assert [(one["id"], one["number"], one["title"]) for one in chapters] == expected


def test_a_slug_that_differs_only_in_case_is_skipped(site: FakeSite, tmp_path: Path) -> None:
    """nginx cannot distinguish the two."""
    catalog = tmp_path / "catalog_src"
    (catalog / "series").mkdir(parents=True)
    (catalog / "site.yaml").write_text("base_url: https://comics.example\n")
    (catalog / "series/ONE.yaml").write_text("title: Mine\ncover: c.jpg\n")

    assert "one: differs from ONE only in case; skipped" in again(site, catalog).notes


def test_a_field_that_cannot_be_edited_is_noted(site: FakeSite, catalog: Path) -> None:
    """The note has the new value, at each import until the field has it. The field does not count as updated."""
    edit(catalog, "series/one.yaml", "title: One\n", "title: &t One\n")
    edit(catalog, "series/one.yaml", "aliases: [Uno]\n", "aliases: [Uno]\nchapter_title: *t\n")
    site.answers["/api/v2/series/one"]["aliases"] = ["Eins"]
    edit(catalog, "groups.yaml", "discord: n", "discord: &d n\n  twitter: *d")
    site.answers["/api/v2/groups"]["results"][0] |= {"discord": "m", "twitter": "t"}
    note = "groups.yaml: [0].discord: cannot be edited automatically; change it to discord: m"
    for updated in (1, 0):
        done = again(site, catalog)
        assert (note in done.notes, done.counts["changes"]) == (True, updated)
    assert read(catalog, "series/one.yaml")["aliases"] == ["Eins"]
    edit(catalog, "groups.yaml", "discord: &d n\n  twitter: *d", "discord: m\n  twitter: t")
    assert note not in again(site, catalog).notes


@pytest.mark.parametrize("dry", [False, True])
def test_a_renamed_reference_that_cannot_be_edited_ends_the_import(dry: bool, site: FakeSite, catalog: Path) -> None:
    """It would name nothing afterwards. Nothing is written, and each place is named."""
    edit(catalog, "series/one.yaml", "groups: [Night Shift]", "groups:\n      - Night Shift  # ours")
    site.answers["/api/v2/groups"]["results"][0]["name"] = "Day Shift"
    *places, advice = refused_import(site, catalog, dry=dry).splitlines()
    reason = "names a renamed entry and cannot be edited automatically; should become Day Shift"
    assert places == [f"series/one.yaml: chapters[{number}].groups: {reason}" for number in (0, 1)]
    assert advice.startswith("nothing was written. Write each name and reference without comments")


def test_a_name_that_cannot_be_edited_ends_the_import(site: FakeSite, catalog: Path) -> None:
    """Its references would name nothing. The message is about the name, not about them."""
    edit(catalog, "authors.yaml", "  name: Ada\n  aliases: [A.]", "  name: &name Ada\n  aliases: [A., *name]")
    site.answers["/api/v2/authors"]["results"][0]["name"] = "Ida"
    site.answers["/api/v2/series/one"]["authors"] = ["Ida"]
    place, advice = refused_import(site, catalog).splitlines()
    reason = "cannot be edited automatically, and references follow it; should become Ida"
    assert place == f"authors.yaml: [0].name: {reason}"
    assert advice.startswith("nothing was written. Write each name and reference without comments")


def test_a_flow_list_cannot_be_extended(site: FakeSite, catalog: Path) -> None:
    """The message names the file, and nothing is written."""
    (catalog / "authors.yaml").write_text("[{id: 4, name: Ada, aliases: [A.]}]\n")
    site.answers["/api/v2/authors"]["results"].append({"id": 8, "name": "Ed"})

    assert re.fullmatch(
        r"authors\.yaml: cannot be edited in .*a `-`; nothing was written", refused_import(site, catalog)
    )


def test_a_catalog_with_problems_ends_the_import_first(site: FakeSite, catalog: Path) -> None:
    """No request is sent."""
    edit(catalog, "series/one.yaml", "title: One\n", "titel: One\n")
    site.asked.clear()
    message = refused_import(site, catalog)

    assert message.startswith(f"{catalog}/series/one.yaml:3:1: titel: unknown field")
    assert site.asked == []


def test_an_update_with_problems_is_not_written(site: FakeSite, catalog: Path) -> None:
    """Problems name the files of the catalog, not temporary ones. An anchor keeps the import from editing the field."""
    edit(catalog, "series/one.yaml", "aliases: [Uno]\n", "formerly: &slugs [two]\naliases: *slugs\n")
    site.answers["/api/v2/series"]["results"].append({"slug": "two"})
    site.answers["/api/v2/series/two"] = site.answers["/api/v2/series/one"]

    assert refused_import(site, catalog).startswith(f"{catalog}/series/one.yaml:4:19: formerly[0]: ")


@pytest.mark.parametrize("files", sample(range(7), 3))
def test_a_killed_import_leaves_a_valid_catalog(files: int, site: FakeSite, tmp_path: Path) -> None:
    """The next import writes the rest."""
    with killed_after(files):
        site.imported(tmp_path / "killed")
    if files:
        linked_catalog.read_catalog(tmp_path / "killed/catalog_src", AS_OF)
    site.imported(tmp_path / "killed")
    site.imported(tmp_path / "whole")

    assert texts(tmp_path / "killed/catalog_src") == texts(tmp_path / "whole/catalog_src")


def test_a_killed_second_import_is_finished_first(site: FakeSite, catalog: Path) -> None:
    """A rename changes several files, of which some alone are an invalid catalog."""
    before = texts(catalog)
    rename(site, '"Ada"', '"Ida"')
    with killed_after(1):
        again(site, catalog)
    assert texts(catalog) != before
    assert "an import is unfinished" in refused_import(site, catalog, dry=True)
    again(site, catalog)

    assert texts(catalog) == {file: text.replace("Ada", "Ida") for file, text in before.items()}


def test_a_dry_run_writes_only_the_cache(site: FakeSite, tmp_path: Path) -> None:
    """It lists the files, and the next import sends no requests, but does two hours later."""
    done = site.imported(tmp_path, dry=True)
    assert "series/one.yaml" in done.files
    assert not (tmp_path / "catalog_src").exists()

    asked = len(site.asked)
    assert (site.imported(tmp_path).requests, len(site.asked)) == (0, asked)
    assert (tmp_path / "catalog_src/series/one.yaml").exists()
    assert site.imported(tmp_path, now=AS_OF + 7200).requests == done.requests


def test_an_interrupted_import_resumes(site: FakeSite, tmp_path: Path) -> None:
    """Within a day, no request is sent twice."""
    right = site.answers["/api/v2/cubari/one"]
    site.answers["/api/v2/cubari/one"] = Reply(503)
    with pytest.raises(FlatpanelError, match="status 503; gave up after 7 tries; run again to resume"):
        site.imported(tmp_path)
    assert not (tmp_path / "catalog_src").exists()
    site.answers["/api/v2/cubari/one"] = right
    site.asked.clear()

    site.imported(tmp_path, dry=True, now=AS_OF + 80_000)
    assert "/api/v2/cubari/one" in site.paths
    assert "/api/v2/series" not in site.paths
    site.imported(tmp_path, now=AS_OF + 90_000)
    assert "/api/v2/series" in site.paths


DATED = {"Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT"}
TAGGED = {"ETag": '"a"'}


@pytest.mark.parametrize("sent", [{}, TAGGED, DATED, TAGGED | DATED])
def test_the_second_import_sends_conditional_requests(sent: dict[str, str], site: FakeSite, tmp_path: Path) -> None:
    """No date alone: the original service answers 304 to it although names and groups changed."""
    site.answers["/api/v2/authors"] = Reply(body=b'{"results":[{"id":4,"name":"Ada"}]}', headers=sent)
    site.imported(tmp_path)
    if "ETag" in sent:
        site.answers["/api/v2/authors"] = Reply(304, b"")
    site.asked.clear()
    assert site.imported(tmp_path).files == []

    (headers,) = [headers for path, headers in site.asked if path == "/api/v2/authors"]
    assert headers.get("If-None-Match") == sent.get("ETag")
    assert headers.get("If-Modified-Since") == (sent.get("Last-Modified") if "ETag" in sent else None)


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"run": "x"}', b"null\n{}"])
def test_a_damaged_cache_is_ignored(damage: bytes, site: FakeSite, catalog: Path) -> None:
    """It only costs requests."""
    for file in (catalog.parent / "cache").rglob("*"):
        if file.is_file():
            file.write_bytes(damage)

    assert again(site, catalog).files == []


def test_a_damaged_response_is_requested_again(site: FakeSite, tmp_path: Path) -> None:
    """The database itself is intact."""
    site.imported(tmp_path, dry=True)
    (file,) = (tmp_path / "cache").rglob(FILE)
    change(file, "UPDATE response SET body = x'00' WHERE name = '/api/v2/artists'")
    site.asked.clear()
    site.imported(tmp_path)

    assert site.paths == ["/api/v2/artists"]
    assert [person["name"] for person in read(tmp_path / "catalog_src", "artists.yaml")] == ["Bo"]


def test_a_cache_with_damaged_pages_is_replaced(site: FakeSite, tmp_path: Path) -> None:
    """This costs requests only."""
    site.imported(tmp_path)
    (file,) = (tmp_path / "cache").rglob(FILE)
    size = file.stat().st_size
    with file.open("r+b") as opened:
        opened.seek(4096)
        opened.write(b"?" * (size - 4096))
    again(site, tmp_path / "catalog_src")

    assert file.read_bytes().startswith(b"SQLite format 3")


def test_a_killed_import_loses_no_response(tmp_path: Path) -> None:
    """Each is stored when it arrives: the files have it before they are closed."""
    folder, copy = make(tmp_path / "cache"), tmp_path / "copy"
    with closing(ResponseCache(folder, AS_OF)) as cache:
        cache.keep("/one", 200, {}, b"1")
        shutil.copytree(folder, copy)
    with closing(ResponseCache(copy, AS_OF + 1)) as cache:
        found = cache.find("/one")

    assert found and (found.body, found.run) == (b"1", cache.run)


def test_a_full_disk_is_a_message(tmp_path: Path) -> None:
    """What was received before is kept."""
    with closing(ResponseCache(make(tmp_path / "cache"), AS_OF)) as cache:
        cache.keep("/small", 200, {}, b"{}")
        cache._database.execute("PRAGMA max_page_count = 3")
        with pytest.raises(FlatpanelError, match=f"{FILE}: database or disk is full"):
            cache.keep("/large", 200, {}, os.urandom(50_000))
        assert cache.find("/small")


def test_a_cache_that_cannot_be_opened_is_a_message(tmp_path: Path) -> None:
    """What was received before is kept: a full disk, a missing permission or a lock damages nothing."""
    folder = make(tmp_path / "cache")
    with closing(ResponseCache(folder, AS_OF)) as cache:
        cache.keep("/one", 200, {}, b"1")
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(FlatpanelError, match=f"{FILE}: database is locked"):
            ResponseCache(folder, AS_OF)
    with closing(ResponseCache(folder, AS_OF)) as cache:
        assert cache.find("/one")


def test_concurrent_imports_of_one_site_keep_both_results(
    site: FakeSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two catalogs are imported from one site at once."""
    alone = filesystem.exclusive

    def waiting(folder: Path) -> AbstractContextManager[None]:
        monkeypatch.undo()
        run.run(dataclasses.replace(site.import_options(tmp_path), catalog=tmp_path / "first"))
        return alone(folder)

    monkeypatch.setattr(filesystem, "exclusive", waiting)
    run.run(dataclasses.replace(site.import_options(tmp_path), catalog=tmp_path / "second"))
    files = {path.name for path in (tmp_path / "cache").rglob("imported-*.json")}

    assert files == {f"imported-{encoding.digest(name)}.json" for name in (b"../../first", b"../../second")}


def test_an_invalid_saved_record_is_ignored(site: FakeSite, catalog: Path) -> None:
    """An older version may have saved fields that are invalid now."""
    (state,) = (catalog.parent / "cache").rglob("imported-*.json")
    state.write_bytes(state.read_bytes().replace(b'"title":"One"', b'"titel":"One"'))
    edit(catalog, "series/one.yaml", "title: One\n", "title: Uno\n")

    assert "one: title: conflict: 'Uno' here, 'One' there; kept yours" in again(site, catalog).notes


@pytest.mark.parametrize("state", [b'["source",[]]\n', b'["source",{"title":"A series"}]\n', b'{"series":{"one":{}}}'])
def test_a_last_import_in_another_format_is_unknown(state: bytes, site: FakeSite, catalog: Path) -> None:
    """It is not read, so an edit cannot be told from a change of the site."""
    (file,) = (catalog.parent / "cache").rglob("imported-*.json")
    file.write_bytes(state)
    edit(catalog, "series/one.yaml", "title: One\n", "title: Uno\n")
    switch(site, "https://other.example")

    assert "last import from this site is unknown" in refused_import(site, catalog)


def test_the_cache_is_private_and_has_no_key(site: FakeSite, tmp_path: Path) -> None:
    """Only the owner can read it."""
    site.answers["/api/v2/series/one/chapters"] = Reply(401, b"{}")
    done = site.imported(tmp_path, key="my secret key")
    files = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]

    assert {path.stat().st_mode & 0o077 for path in files} == {0}
    assert not any(b"my secret key" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert "/api/v2/series/one/chapters: the API key is not accepted; skipped" in done.notes
    keys = [headers.get("X-API-Key") for path, headers in site.asked if path == "/api/v2/series/one/chapters"]
    assert keys == [None, "my secret key"]
    assert not any("X-API-Key" in headers for path, headers in site.asked if "chapters" not in path)


def test_chapters_without_id_are_matched_by_number(site: FakeSite, catalog: Path) -> None:
    """By volume and number."""
    site.answers["/api/v1/series/one"]["volumes"]["2"] = {"5": old_chapter("5")}
    again(site, catalog)
    done = again(site, catalog)

    assert (done.files, read(catalog, "series/one.yaml")["chapters"][2]["volume"]) == ([], 2)
