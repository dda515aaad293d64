"""Values of the original service that a catalog writes in another form."""

from pathlib import Path
from typing import Any

import pytest

from generator.catalog.records import Series
from generator.imports.site.people_and_groups import StatedPerson, ids_by_aliases, ids_in_order, stated_people
from generator.reading_sites import image_paths, lenient
from generator.reading_sites.image_paths import SiteImages
from generator.reading_sites.lenient import Fields
from generator.reading_sites.notes import Notes
from tests.authoring.conftest import read_import as read
from tests.support.fake_site import Reply, chapter, cubari_chapter, imported, old_chapter, small

V2 = "/api/v2/series/one"


# Characters that a catalog cannot hold


def test_bad_characters_are_dropped_and_the_field_is_kept() -> None:
    """Line breaks and tabs stay in long texts only."""
    notes = Notes()
    values = {
        "title": "One\ttwo\x00",
        "description": "a\tb\r\nc\x0b\ud800",
        "aliases": ["x\ny", "\x07", "Uno"],
        "cover": "c.png",
    }
    record = lenient.valid_fields(Series, values, "one", notes)

    assert record == {"title": "One two", "description": "a\tb\nc", "aliases": ["x y", "Uno"], "cover": "c.png"}
    assert list(notes) == [
        "one title, one description, one aliases: control characters are dropped; "
        "a tab or line break in a line becomes a space"
    ]


def test_line_ends_are_normalized_with_a_note() -> None:
    """Forms send CRLF; no character of the text is lost."""
    notes = Notes()
    values = {"title": "One", "description": "a\r\nb\rc", "cover": "c.png"}
    record = lenient.valid_fields(Series, values, "one", notes)

    assert record == {"title": "One", "description": "a\nb\nc", "cover": "c.png"}
    assert list(notes) == ["one description: line ends CRLF and CR become LF"]


def test_names_with_bad_characters_still_match(tmp_path: Path) -> None:
    """References compare the names that the catalog has."""
    responses = small()
    responses["/api/v2/authors"]["results"][0]["name"] = "A\x0bda"
    responses["/api/v1/authors"][0]["name"] = "A\x0bda"
    responses[V2]["authors"] = ["A\x0bda"]
    responses["/api/v1/series/one"]["authors"] = [["A\x0bda", "A."]]
    notes = imported(responses, tmp_path).notes

    assert read(tmp_path, "authors.yaml") == [{"id": 4, "name": "Ada", "aliases": ["A."]}]
    assert read(tmp_path, "series/one.yaml")["authors"] == ["Ada"]
    assert not [note for note in notes if "unknown name" in note]


# Images

MEDIA = "http://x.example/media/series/a/1/1"
ORIGINAL = SiteImages("http://x.example", True, "http://x.example/media/")


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        (
            f"https://images.weserv.nl/?url={MEDIA.replace('/', '%2F')}%2F1%2520a%23.png&w=300&we",
            f"{MEDIA}/1%2520a%23.png",
        ),
        ("https://images.weserv.nl/?w=9&url=x.example%2F1.png", "https://x.example/1.png"),
        ("https://images.weserv.nl/?url=x", "https://x"),
        ("https://i3.wp.com/x.example/media/1.png?ssl=1&quality=100&fit=300%2C300", "http://x.example/media/1.png"),
        ("https://i0.wp.com/x.example/media/1?a.png?ssl=1", "http://x.example/media/1?a.png"),
        ("https://i0.wp.com/x.example/media/1.png", "http://x.example/media/1.png"),
        ("https://i0.wp.com/y.example/media/1.png?fit=3%2C3", "https://y.example/media/1.png"),
        ("https://cdn.statically.io/img/x.example/w=300,h=300/media/1.png", "http://x.example/media/1.png"),
        ("https://cdn.statically.io/img/x.example//media/1.png", "http://x.example/media/1.png"),
        (f"{MEDIA}/1.png?url=y", f"{MEDIA}/1.png?url=y"),
    ],
)
def test_urls_of_cdns_are_unwrapped(url: str, origin: str) -> None:
    """Two CDNs name the host without its scheme."""
    assert image_paths.unwrapped(url, "http://x.example") == origin


@pytest.mark.parametrize(
    ("url", "image"),
    [
        (f"{MEDIA}/1%20a#b?c%d.png", "1 a#b?c%d.png"),
        (f"{MEDIA}/%C3%BC.png", "ü.png"),
        (f"{MEDIA}/%FF.png", f"{MEDIA}/%FF.png"),
        ("http://x.example/media/1?2.png", "http://x.example/media/1%3F2.png"),
        ("no url", "no%20url"),
        ("", ""),
    ],
)
def test_raw_characters_of_the_original_service_are_encoded(url: str, image: str) -> None:
    """In a path of its media folder, a question mark is part of the name."""
    assert image_paths.image(ORIGINAL.url(url), ORIGINAL.root, "series/a/1/1/") == image


def test_names_of_version_1_show_which_percent_sign_is_a_character() -> None:
    """Other names do not replace the end of a URL, nor do those of another number of pages."""
    urls = [f"{MEDIA}/a%20b.png", f"{MEDIA}/c%20d.png", f"{MEDIA}/e.png"]

    assert ORIGINAL.pages(urls, ["a%20b.png", "c d.png", "f.png"]) == [f"{MEDIA}/a%2520b.png", *urls[1:]]
    assert ORIGINAL.pages(urls, ["a%20b.png"]) == urls


def test_urls_of_other_sites_are_unchanged() -> None:
    """A site of ours may have images at a CDN."""
    images = SiteImages("http://x.example", False, "http://x.example/media/")

    assert images.pages(["https://i0.wp.com/x.example/1.png?ssl=1"], ["1.png"]) == [
        "https://i0.wp.com/x.example/1.png?ssl=1"
    ]


# Categories


def test_categories_of_one_name_in_another_case_are_merged(tmp_path: Path) -> None:
    """Filters ignore case, so a catalog holds one of them; no series loses its category."""
    responses = small()
    responses["/api/v2/categories"]["results"] += [{"name": "DRAMA"}, {"name": "Sea/Shore"}]
    responses[V2]["categories"] = ["DRAMA", "Sea/Shore"]
    notes = imported(responses, tmp_path).notes

    assert [category["id"] for category in read(tmp_path, "categories.yaml")] == ["drama", "sea/shore"]
    assert read(tmp_path, "series/one.yaml")["categories"] == ["drama", "sea/shore"]
    assert "category DRAMA: its id or name is that of category drama, which replaces it" in notes


def test_a_category_with_the_name_of_another_is_replaced_in_series(tmp_path: Path) -> None:
    """Version 1 states an id of its own for it, which the catalog does not have."""
    responses = small()
    responses["/api/v2/categories"]["results"].append({"name": "DRAMA"})
    responses["/api/v1/categories"].append({"id": "sad", "name": "DRAMA", "description": ""})
    responses[V2]["categories"] = ["DRAMA"]
    imported(responses, tmp_path)

    assert [category["id"] for category in read(tmp_path, "categories.yaml")] == ["drama"]
    assert read(tmp_path, "series/one.yaml")["categories"] == ["drama"]


# Licensed series


def test_licensed_series_without_ids_has_its_last_publication(tmp_path: Path) -> None:
    """Version 2 lists it then; chapters with ids show the same."""
    responses = small()
    responses[V2] |= {"licensed": True, "updated": "2026-01-01T00:00:00Z"}
    imported(responses, tmp_path / "with ids")
    for path in ("/api/v2/series/one/chapters", "/api/v2/cubari/one"):
        responses[path] = Reply(451)
    imported(responses, tmp_path / "without")

    assert "updated" not in read(tmp_path / "with ids", "series/one.yaml")
    series = read(tmp_path / "without", "series/one.yaml")
    assert (series["licensed"], series["updated"]) == (True, "2026-01-01T00:00:00Z")


def test_status_451_of_any_response_means_licensed(tmp_path: Path) -> None:
    """Version 2 has no other response for a licensed series without chapters."""
    responses = small()
    responses["/api/v2/cubari/one"] = Reply(451)
    imported(responses, tmp_path)

    assert read(tmp_path, "series/one.yaml")["licensed"] is True


# Chapters that share a number


def test_chapters_without_a_volume_share_a_number(tmp_path: Path) -> None:
    """The older versions show the one with the highest id; in a volume, a second one is skipped."""
    responses = small()
    listed = [chapter(id, 1.0, volume=None, title=f"Version {id}", views=id) for id in (12, 13, 11)]
    listed += [chapter(14, 2.0), chapter(15, 2.0), chapter(15, 3.0)]
    responses["/api/v2/series/one/chapters"] = {"results": listed}
    responses["/api/v2/cubari/one"]["chapters"] = {str(one["id"]): cubari_chapter(one) for one in listed}
    only = {**old_chapter("1"), "title": "Old", "final": True}
    responses["/api/v1/series/one"]["volumes"] = {"null": {"1": only}, "1": {"2": old_chapter("2")}}
    for one in listed:
        del one["final"]
    notes = imported(responses, tmp_path).notes

    chapters = read(tmp_path, "series/one.yaml")["chapters"]
    assert [(one["id"], one.get("volume"), one["number"], one.get("final")) for one in chapters] == [
        (15, 1, 2, True),
        (11, None, 1, None),
        (12, None, 1, None),
        (13, None, 1, True),
    ]
    assert [note for note in notes if "duplicate" in note] == [
        "one: chapter 3 is a duplicate; skipped",
        "one: chapter 2 is a duplicate; skipped",
    ]


# People of one name


def namesakes() -> dict[str, Any]:
    """The original service with two authors and two groups of one name; its version 1 has no list of authors."""
    responses = small()
    responses["/api/v2/authors"] = {"results": [{"id": id, "name": "Ada"} for id in (4, 5)] + [{"id": 6, "name": "Cy"}]}
    responses["/api/v1/authors"] = responses["/api/v1/artists"]
    groups = responses["/api/v2/groups"]["results"]
    groups.append({**groups[0], "id": 3})
    responses["/api/v2/members"]["results"].append({"id": 10, "name": "Wren"})
    responses["/api/v1/releases"] = Reply(200, b"[]", {"Warning": '299 MangAdventure/0.8.0 "Deprecated API"'})
    return responses


def test_aliases_of_authors_come_from_a_series_of_all_namesakes(tmp_path: Path) -> None:
    """It has them in the order of their ids; the aliases show which of them made another series."""
    responses = namesakes()
    responses["/api/v1/series"].append({"slug": "two"})
    responses["/api/v1/series/one"]["authors"] = [["Ada", "The Second"], ["Cy", "C."], []]
    responses[V2]["authors"] = ["Ada", "Cy"]
    two = {"slug": "two", "title": "Two", "authors": [["Ada", "A."], ["Ada", "The Second"]]}
    responses["/api/v1/series/two"] = {**responses["/api/v1/series/one"], **two, "volumes": {}}
    notes = imported(responses, tmp_path).notes

    authors = {author["id"]: author.get("aliases") for author in read(tmp_path, "authors.yaml")}
    assert authors == {4: ["A."], 5: ["The Second"], 6: ["C."]}
    assert read(tmp_path, "series/one.yaml")["authors"] == [5, "Cy"]
    assert read(tmp_path, "series/two.yaml")["authors"] == [4, 5]
    assert not [note for note in notes if "authors Ada" in note or "other people" in note]


def test_people_of_another_service_have_the_aliases_of_its_list(tmp_path: Path) -> None:
    """Its list of authors is one, also if all of them are artists."""
    responses = small()
    responses["/api/v2/authors"] = {"results": [{"id": 4, "name": "Ada"}]}
    responses["/api/v1/authors"] = responses["/api/v1/artists"] = [{"id": 4, "name": "Ada", "aliases": ["Countess"]}]
    imported(responses, tmp_path)

    assert read(tmp_path, "authors.yaml") == [{"id": 4, "name": "Ada", "aliases": ["Countess"]}]


def test_people_who_cannot_be_told_apart_are_noted(tmp_path: Path) -> None:
    """Without version 1, there are names only."""
    responses = {path: value for path, value in namesakes().items() if not path.startswith("/api/v1/")}
    notes = imported(responses, tmp_path).notes

    assert read(tmp_path, "series/one.yaml")["authors"] == [4]
    (note,) = [note for note in notes if "same name" in note]
    assert note.startswith("members Wren, groups Night Shift, authors Ada: ")


def test_a_chapter_of_two_groups_of_one_name_has_both(tmp_path: Path) -> None:
    """Without version 1, the second mention of the name is the second group."""
    responses = {path: value for path, value in namesakes().items() if not path.startswith("/api/v1/")}
    responses["/api/v2/series/one/chapters"]["results"][0]["groups"] = ["Night Shift", "Night Shift"]
    imported(responses, tmp_path)

    chapters = read(tmp_path, "series/one.yaml")["chapters"]
    assert {one["id"]: one["groups"] for one in chapters} == {12: [2, 3], 11: [2]}


def test_people_with_equal_aliases_are_not_told_apart() -> None:
    """Neither do those of a list without all people of the name."""
    records: dict[int, Fields] = {1: {"name": "Ada"}, 2: {"name": "Ada"}, 3: {"name": "Bo", "aliases": ["B", "A"]}}
    ada, bo = StatedPerson("Ada"), StatedPerson("Bo", ("A", "B"))

    assert ids_by_aliases(records) == {bo: 3}
    assert ids_in_order(records, [[ada, bo], [ada, ada]]) == {bo: 3}
    assert stated_people([["Bo", "B", "A"], [], 7]) == [bo]
    assert stated_people(7) == []


# Numbers of pages


@pytest.mark.parametrize(("numbers", "is_noted"), [([1, 2, 3], False), ([2, 5, 9], True), ([1, 1, 2], True)])
def test_gaps_in_page_numbers_are_noted(numbers: list[int], is_noted: bool, tmp_path: Path) -> None:
    """A catalog has an order only. The Cubari JSON has no numbers, so the original service is asked for pages."""
    responses = namesakes()
    folder = "https://comics.example/media/series/one/1/1"
    pages = [{"image": f"{folder}/{name}.png", "number": number} for name, number in zip("123", numbers, strict=True)]
    responses["/api/v2/chapters/11/pages"] = {"results": pages}
    notes = imported(responses, tmp_path).notes

    assert read(tmp_path, "series/one.yaml")["chapters"][0]["pages"] == "1.png .. 3.png"
    assert ("one chapter 1: gaps in the numbers of pages are closed" in notes) == is_noted
