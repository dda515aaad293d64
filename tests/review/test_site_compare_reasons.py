"""Reasons that the recorded sites do not need, and their limits: two replays, one of which is changed."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from generator import encoding
from tests.review.conftest import Pair
from tests.support.fake_site import FakeSite, Reply
from tests.support.moved_sites import compare

ORIGINAL = {"Content-Type": "application/json", "Warning": '299 MangAdventure/0.9.6 "Deprecated API"'}


def compared(sites: Pair, folder: Path) -> Result:
    """Compare the sites; a header of version 1 shows the original service."""

    first = sites[0].answers
    first["/api/v1/releases"] = Reply(body=encoding.json([]), headers=ORIGINAL)
    sites[1].answers["/api/v1/releases"] = []
    return compare(sites[0].url, sites[1].url, folder / "cache")


def shown(sites: Pair, folder: Path) -> str:
    """What `compare` prints of sites that differ."""
    result = compared(sites, folder)
    assert result.exit_code == 1
    return result.output


def chapters(site: FakeSite) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = site.answers["/api/v2/series/one/chapters"]["results"]
    return results


@pytest.mark.parametrize(("first", "second", "code"), [(9, 3, 0), (9, 0, 1), (3, 9, 1)])
def test_views_that_are_counted_later_have_a_reason(
    first: int, second: int, code: int, sites: Pair, tmp_path: Path
) -> None:
    """Views that are lost, or that only the second site has, have none."""
    for site, views in zip(sites, (first, second), strict=True):
        chapters(site)[1]["views"] = views
        site.answers["/api/v2/series/one"]["views"] = views + (site is sites[0])
    result = compared(sites, tmp_path)

    assert result.exit_code == code
    assert ("views that the first site counted since the import" in result.output) == (code == 0)


def test_facts_that_only_the_second_site_states_have_a_reason(sites: Pair, tmp_path: Path) -> None:
    """They are new in version 2. In other bodies, and on the first site, they have none."""
    facts = {"kind": "manga", "rating": None, "language": "ja", "links": {"mal": 1}}
    series = [site.answers["/api/v2/series/one"] for site in sites]
    series[1].update(facts)
    result = compared(sites, tmp_path / "new")
    chapters(sites[1])[1]["kind"] = "manga"
    in_chapter = compared(sites, tmp_path / "chapter")
    del chapters(sites[1])[1]["kind"]
    series[0].update(facts)
    for name in facts:
        del series[1][name]
    lost = compared(sites, tmp_path / "lost")

    assert (result.exit_code, in_chapter.exit_code, lost.exit_code) == (0, 1, 1)
    assert "does not state kind, rating, language and links" in result.output


@pytest.mark.parametrize(("count", "code"), [(4, 0), (3, 1)])
def test_multiplied_chapters_have_a_reason(count: int, code: int, sites: Pair, tmp_path: Path) -> None:
    """The count of a filtered list is a multiple of the count in the whole list."""
    for site, chapters in zip(sites, (count, 2), strict=True):
        for path, number in (("/api/v2/series", 2), ("/api/v2/series?author=Ada", chapters)):
            item = {"slug": "one", "title": "One", "chapters": number}
            site.answers[path] = {"total": 1, "last": True, "results": [item]}
    result = compared(sites, tmp_path)

    assert result.exit_code == code
    assert ("filters of the original service multiply the number of chapters" in result.output) == (code == 0)


@pytest.mark.parametrize("stated", [["Alias", "Zoe"], ["Ada"]])
def test_authors_of_version_1_are_checked(stated: list[str], sites: Pair, tmp_path: Path) -> None:
    """The first site lists its artists; the second one should have the authors of the series."""
    first, second = sites
    first.answers["/api/v1/authors"] = first.answers["/api/v1/artists"]
    first.answers["/api/v1/series/one"]["authors"] = second.answers["/api/v1/series/one"]["authors"] = [stated]
    assert compared(sites, tmp_path).exit_code == 1


def test_authors_of_version_1_may_have_new_series(sites: Pair, tmp_path: Path) -> None:
    """Only the new series has no reason."""
    first, second = sites
    first.answers["/api/v1/authors"] = first.answers["/api/v1/artists"]
    first.answers["/api/v1/series"] = [first.answers["/api/v1/series/one"]]
    new = {"slug": "new", "title": "New", "aliases": []}
    second.answers["/api/v1/series"] = [*first.answers["/api/v1/series"], new]
    second.answers["/api/v1/authors"][0]["series"] = [new, {"slug": "one", "title": "One", "aliases": ["Uno"]}]
    result = compared(sites, tmp_path)

    assert "1 × the list of authors has the authors" in result.output
    assert "1 difference without a known reason:\n  1 series only on the second site: new\n" in result.output


@pytest.mark.parametrize(("name", "value"), [("id", "x"), ("name", "Someone")])
def test_wrong_authors_of_version_1_have_no_reason(name: str, value: str, sites: Pair, tmp_path: Path) -> None:
    """Version 2 has their ids and names."""
    first, second = sites
    first.answers["/api/v1/authors"] = first.answers["/api/v1/artists"]
    second.answers["/api/v1/authors"][0][name] = value
    output = shown(sites, tmp_path)

    assert "the list of authors has the authors" not in output


def test_page_numbers_without_gaps_have_a_reason(sites: Pair, tmp_path: Path) -> None:
    """The pages are the same, in the same order."""
    for site, numbers in zip(sites, ((1, 2, 5), (1, 2, 3)), strict=True):
        site.answers["/api/v2/chapters/12/pages"] = {
            "results": [
                {"id": 7 * n, "image": f"{site.url}/{i}.png", "number": n, "url": f"/reader/one/1/2/{n}/"}
                for i, n in enumerate(numbers)
            ]
        }
    result = compared(sites, tmp_path)

    assert result.exit_code == 0
    assert "  1 × gaps in page numbers are closed: " in result.output
    assert "ids of pages are computed from the id of the chapter: " in result.output


def test_order_of_volumes_is_numeric(sites: Pair, tmp_path: Path) -> None:
    """A key that is no number is none of the contract."""
    for site, order in zip(sites, (("10", "x", "9"), ("9", "10", "x")), strict=True):
        series = site.answers["/api/v1/series/one"]
        series["volumes"] |= {volume: {} for volume in order}
    result = compared(sites, tmp_path)

    assert result.exit_code == 1


@pytest.mark.parametrize(("which", "line"), [(0, "first"), (1, "second")])
def test_what_one_site_lists_is_counted(which: int, line: str, sites: Pair, tmp_path: Path) -> None:
    """By kind, with names: chapters of both versions are one."""
    answers = sites[1 - which].answers
    del answers["/api/v2/series/one/chapters"]["results"][0]
    del answers["/api/v2/cubari/one"]["chapters"]["12"]
    answers["/api/v1/series/one"]["volumes"]["1"].pop("2")
    answers["/api/v2/members"]["results"] = []
    answers["/api/v1/categories"] = []
    output = shown(sites, tmp_path)

    for text in ("1 chapter", "1 member", "1 category"):
        assert f"  {text} only on the {line} site: " in output
    assert f"1 chapter only on the {line} site: one 1/2\n" in output


def test_latest_chapter_that_is_not_the_newest_has_no_reason(sites: Pair, tmp_path: Path) -> None:
    """The first site shows a scheduled one, and the second one an old one."""
    first, second = sites
    dates = ("Thu, 01 Jan 2099 00:00:00 GMT", "Thu, 01 Jan 2015 00:00:00 GMT")
    latest = [{"title": "Part 2", "volume": 1, "number": 2, "date": date} for date in dates]
    releases = [[{"slug": "one", "latest_chapter": chapter}] for chapter in latest]
    second.answers["/api/v1/releases"] = releases[1]
    first.answers["/api/v1/releases"] = Reply(body=encoding.json(releases[0]), headers=ORIGINAL)
    result = compare(first.url, second.url, tmp_path / "cache")

    assert result.exit_code == 1
    assert "  1 × /api/v1/releases [].latest_chapter.date changed: " in result.output


def test_pages_that_are_no_object_have_no_reason(sites: Pair, tmp_path: Path) -> None:
    """They are compared as they are."""
    for site, pages in zip(sites, ([], {"results": []}), strict=True):
        site.answers["/api/v2/chapters/12/pages"] = pages

    assert "/api/v2/chapters/{id}/pages changed" in compared(sites, tmp_path).output


@pytest.mark.parametrize("most", [2, "many"])
def test_wrong_order_of_series_has_no_reason(most: object, sites: Pair, tmp_path: Path) -> None:
    """The values of the series show the right order; they may have any type."""
    for site, slugs in zip(sites, (("one", "two"), ("two", "one")), strict=True):
        counts = {"one": 1, "two": most}
        for path, order in (("/api/v2/series", ("one", "two")), ("/api/v2/series?sort=chapter_count", slugs)):
            results = [{"slug": slug, "title": slug, "chapters": counts[slug]} for slug in order]
            site.answers[path] = {"total": 2, "last": True, "results": results}
    output = shown(sites, tmp_path)

    assert "  1 × /api/v2/series results[] moved: /api/v2/series?sort=chapter_count " in output


def test_wrong_filter_has_no_reason(sites: Pair, tmp_path: Path) -> None:
    """The second site finds a series that does not have the category."""
    path = "/api/v2/series?categories=Drama"
    for site, series in zip(sites, ([], [{"slug": "two", "title": "Two"}]), strict=True):
        site.answers[path] = {"total": len(series), "last": True, "results": series}
    output = shown(sites, tmp_path)

    assert f"  1 × /api/v2/series results[] added: {path} " in output


def test_chapter_with_a_foreign_number_is_a_difference(sites: Pair, tmp_path: Path) -> None:
    """It has no name among those that only one site lists."""
    chapters(sites[0])[0]["number"] = "two"
    del chapters(sites[1])[0]
    output = shown(sites, tmp_path)

    assert "  1 × /api/v2/series/{slug}/chapters results[] removed: " in output


def test_roles_of_namesakes_have_no_reason_if_responses_contradict(sites: Pair, tmp_path: Path) -> None:
    """Without version 1, the response of a member is compared with the list of its own site."""
    sites[0].answers = {path: answer for path, answer in sites[0].answers.items() if not path.startswith("/api/v1")}
    for site, groups in zip(sites, (["Night Shift (Editor)"], []), strict=True):
        site.answers["/api/v2/members"] = {"results": [{"id": 9, "name": "Wren", "groups": ["Night Shift (Editor)"]}]}
        site.answers["/api/v2/members/9"] = {"id": 9, "name": "Wren", "groups": groups}
    sites[0].answers["/api/v1/releases"] = Reply(410, headers=ORIGINAL)
    result = compare(sites[0].url, sites[1].url, tmp_path / "cache")

    assert result.exit_code == 1
    assert "  1 × /api/v2/members/{id} groups[] removed: " in result.output
