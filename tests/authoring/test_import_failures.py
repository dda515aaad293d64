"""Imports of a site of which some responses fail: what the rest tells arrives, and no invented value stays."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from generator.imports.merge import Choice
from generator.imports.run import ImportResult
from generator.reading_sites import crawl
from tests.support.fake_site import FakeSite, Reply, chapter, edit, old_chapter, read, serving, small

BROKEN = Reply(500)
CHAPTERS = "/api/v2/series/one/chapters"
Answers = dict[str, Any]


def only_new() -> Answers:
    """A site with version 2 only."""
    return {path: value for path, value in small().items() if path.startswith("/api/v2")}


def imported(answers: Answers, folder: Path) -> tuple[ImportResult, FakeSite]:
    with serving(answers) as site:
        return site.imported(folder), site


def series(folder: Path) -> Any:
    return read(folder / "catalog_src", "series/one.yaml")


def test_single_chapters_replace_a_list_that_fails(tmp_path: Path) -> None:
    """Their ids are those of the Cubari JSON; a chapter that fails costs itself.

    The list fails all the time: if the chapter fails later, only its response shows that it still exists.
    """
    answers = only_new() | {CHAPTERS: BROKEN, "/api/v2/chapters/11": chapter(11, 1.0)}
    results = []
    with serving(answers) as site:
        for answer in (BROKEN, chapter(12, 2.0), BROKEN):
            answers["/api/v2/chapters/12"] = answer
            done = site.imported(tmp_path)
            results.append([(one["id"], one["pages"]) for one in series(tmp_path)["chapters"]])

    first, second = ((id, "1.png .. 3.png") for id in (11, 12))
    assert results == [[first], [first, second], [first, second]]
    assert "one: a response of the last import is not available now; kept as it is" in done.notes


def test_single_chapters_that_all_fail_are_few(tmp_path: Path) -> None:
    """The rest of the series would fail, too."""
    answers = only_new() | {CHAPTERS: Reply(body=b"<html>")}
    one = answers["/api/v2/cubari/one"]["chapters"]["11"]
    answers["/api/v2/cubari/one"]["chapters"] = {str(id): one for id in (*range(11, 19), "x")}
    _, site = imported(answers, tmp_path)

    single = [path for path in site.paths if path.startswith("/api/v2/chapters/")]
    assert single == [f"/api/v2/chapters/{id}" for id in range(11, 11 + crawl.MAX_FAILURES)]


def test_a_series_whose_response_fails_comes_with_the_next_import(tmp_path: Path) -> None:
    """The note names the failure, not a missing title."""
    answers = only_new() | {"/api/v2/series/one": BROKEN}
    with serving(answers) as site:
        done = site.imported(tmp_path)
        assert "one: its own response failed; the series is skipped until the next import" in done.notes
        assert not any("title" in note for note in done.notes if not note.startswith("site.yaml"))
        assert not (tmp_path / "catalog_src/series/one.yaml").exists()
        answers["/api/v2/series/one"] = small()["/api/v2/series/one"]
        site.imported(tmp_path)

    assert series(tmp_path)["title"] == "One"


@pytest.mark.parametrize("others", [(), ("/api/v1/releases", "/api/v1/series")])
def test_no_id_of_a_category_is_invented_where_their_list_fails(others: tuple[str, ...], tmp_path: Path) -> None:
    """The next import has the ids of the site."""
    answers = small() | dict.fromkeys(("/api/v1/categories", *others), BROKEN)
    with serving(answers) as site:
        done = site.imported(tmp_path)
        assert any("failed; skipped" in note for note in done.notes)
        assert "categories" not in series(tmp_path)
        answers |= {"/api/v1/releases": [], **small()}
        site.imported(tmp_path)

    assert series(tmp_path)["categories"] == ["drama"]


@pytest.mark.parametrize("choice", ["", "mine"])
@pytest.mark.parametrize(
    ("version_2", "version_1", "fault"),
    [({"results": []}, [], "is empty"), (Reply(404), BROKEN, "failed")],
    ids=["empty", "failed"],
)
def test_no_id_is_invented_where_a_list_of_people_is_unavailable(
    version_2: Any, version_1: Any, fault: str, choice: Choice, tmp_path: Path
) -> None:
    """At a first import, and without the last one. A list that version 2 does not have may have failed in version 1."""
    with serving(small() | {"/api/v2/authors": version_2, "/api/v1/authors": version_1}) as site:
        for _ in ("first", "without the last one"):
            shutil.rmtree(tmp_path / "cache", ignore_errors=True)
            done = site.imported(tmp_path, choice=choice)
            sentence = f"one: ids of authors unknown, because their list {fault}; skipped until the next import"
            assert sentence in done.notes
            assert "authors" not in series(tmp_path)
        site.answers = small()
        site.imported(tmp_path, choice=choice)

    assert series(tmp_path)["authors"] == ["Ada"]


@pytest.mark.parametrize("status", [401, 404])
def test_new_ids_of_people_without_a_list_stay(status: int, tmp_path: Path) -> None:
    """They are those of their names at the last import, also after a rename here, and not those of other people."""
    answers = small() | dict.fromkeys(("/api/v2/authors", "/api/v1/authors"), Reply(status))
    catalog = tmp_path / "catalog_src"
    with serving(answers) as site:
        site.imported(tmp_path)
        edit(catalog, "authors.yaml", "name: Ada", "name: Ida")
        (catalog / "authors.yaml").write_text((catalog / "authors.yaml").read_text() + "- {id: 2, name: Mona}\n")
        edit(catalog, "series/one.yaml", "authors: [Ada]", "authors: [Ida]")
        answers["/api/v2/series"]["results"].insert(0, {"slug": "new"})
        answers["/api/v2/series/new"] = {**answers["/api/v2/series/one"], "authors": ["Cy", "Mona", "Ada", "Ada"]}
        for _ in range(2):
            site.imported(tmp_path)
            people = {person["id"]: person["name"] for person in read(catalog, "authors.yaml")}
            assert people == {1: "Ida", 2: "Mona", 3: "Cy", 4: "Ada"}
            assert read(catalog, "series/new.yaml")["authors"] == ["Cy", "Mona", "Ida", "Ada"]
            assert series(tmp_path)["authors"] == ["Ida"]


@pytest.mark.parametrize("has_version_1", [True, False])
def test_series_of_the_sitemap_are_requested_or_noted(has_version_1: bool, tmp_path: Path) -> None:
    """The list of version 1 fails or is switched off; the sitemap of series has one without chapters."""
    sitemap = b"".join(b"<loc>https://x.example/reader/%b/</loc>" % slug for slug in (b"one", b"two"))
    switched_off = dict.fromkeys([f"/api/v1/{name}" for name in ("releases", "series")], Reply(410))
    answers = small() | {"/reader/series-sitemap.xml": Reply(body=sitemap)} | switched_off
    if has_version_1:
        named = Reply(body=b"[]", headers={"Warning": '299 MangAdventure/0.8.0 "Deprecated API"'})
        answers |= {"/api/v1/releases": named, "/api/v1/series": BROKEN}
    answers["/api/v1/series/two"] = {"title": "Two", "cover": "https://comics.example/media/series/two/cover.png"}
    done, site = imported(answers, tmp_path)

    assert (tmp_path / "catalog_src/series/two.yaml").exists() == has_version_1
    assert ("/api/v1/series/two" in site.paths) == has_version_1
    note = "two: only in the sitemap: no response describes the series; not written"
    assert (note in done.notes) != has_version_1


def test_one_missing_chapter_of_version_1_does_not_stop_the_others(tmp_path: Path) -> None:
    """The original service does not find rounded numbers."""
    answers = {path: value for path, value in small().items() if path.startswith("/api/v1")}
    answers["/api/v1/series/one"]["volumes"] = {"null": {"1": old_chapter("1"), "2": {}, "3": old_chapter("2")}}
    answers |= {f"/api/v1/series/one/0/{number}": old_chapter(number) for number in ("1", "3")}
    _, site = imported(answers, tmp_path)

    requested = [path for path in site.paths if path.startswith("/api/v1/series/one/")]
    assert requested == [f"/api/v1/series/one/0/{number}" for number in ("1", "2", "3")]
