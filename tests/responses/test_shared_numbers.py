"""Chapters without a volume may share a number: v2 has all of them, and URLs with a number have the highest id."""

import json
from typing import Any

from tests.support.nginx_client import Web
from tests.support.tables import each

SITE = "imported"
READER = "/reader/versions"


def value(web: Web, path: str) -> Any:
    response = web.ask(path)
    assert response.status == 200, path
    return json.loads(response.body)


@each("path", ["/api/v2/series/versions/chapters", "/api/v2/chapters?series=versions", "/api/v2/chapters"])
def test_lists_of_v2_have_every_version(web: Web, path: str) -> None:
    """Newest first; of one instant and number, the highest id first."""
    chapters = value(web, path)["results"]

    assert [(chapter["id"], chapter["volume"], chapter["number"]) for chapter in chapters] == [
        (71, None, 2.0), (74, None, 3.0), (72, None, 3.0), (73, 1, 3.0), (75, None, 2.0), (70, None, 1.0)
    ]  # fmt: skip


def test_count_sum_and_date_of_the_series_are_those_of_all_versions(web: Web) -> None:
    (item,) = value(web, "/api/v2/series?slug=versions")["results"]
    detail = value(web, "/api/v2/series/versions")

    assert (item["chapters"], item["updated"]) == (6, "2026-02-12T10:00:00Z")
    assert (detail["views"], detail["updated"]) == (8, "2026-02-12T10:00:00Z")


@each(
    ("chapter", "title", "number"),
    [(71, "Twice by night", 2), (75, "Twice by day", 2), (72, "Thrice by night", 3), (74, "Thrice by day", 3)],
)
def test_each_version_has_its_own_urls_with_its_id(web: Web, chapter: int, title: str, number: int) -> None:
    """Their `url` and the target of `/read` are the same."""
    body, read = value(web, f"/api/v2/chapters/{chapter}"), web.ask(f"/api/v2/chapters/{chapter}/read")

    assert (body["id"], body["title"], body["url"]) == (chapter, title, f"{READER}/0/{number}/")
    assert (read.status, dict(read.headers)["location"]) == (308, f"https://imported.example{READER}/0/{number}/")


def test_each_version_has_its_own_pages(web: Web) -> None:
    """Page files lie in the folder of the number; ids of pages are those of the version."""
    pages = {chapter: value(web, f"/api/v2/chapters/{chapter}/pages")["results"] for chapter in (71, 75)}

    assert [(page["id"], page["image"], page["url"]) for page in pages[71]] == [
        (71001, "https://images.example/71/1.png", f"{READER}/0/2/1/"),
        (71002, "https://images.example/71/2.png", f"{READER}/0/2/2/"),
    ]
    assert [(page["id"], page["image"], page["url"]) for page in pages[75]] == [
        (75001, "https://imported.example/media/series/versions/0/2/b1.png", f"{READER}/0/2/1/"),
        (75002, "https://imported.example/media/series/versions/0/2/b2.png", f"{READER}/0/2/2/"),
    ]


def test_cubari_json_has_every_version(web: Web) -> None:
    """In reading order; of one number, the lowest id first."""
    chapters = value(web, "/api/v2/cubari/versions")["chapters"]

    assert [(chapter_id, chapter["number"], list(chapter["groups"])) for chapter_id, chapter in chapters.items()] == [
        ("73", "3", ["N/A"]), ("70", "1", ["Night Shift, Day Shift"]), ("71", "2", ["Night Shift"]),
        ("75", "2", ["Day Shift"]), ("72", "3", ["Night Shift"]), ("74", "3", ["Day Shift"]),
    ]  # fmt: skip


@each("number", ["2", "02", "2.0", "2e0"])
def test_pages_by_number_are_those_of_the_highest_id(web: Web, number: str) -> None:
    by_number = web.ask(f"/api/v2/pages?series=Versions&volume=0&number={number}")

    assert by_number.body == web.ask("/api/v2/chapters/75/pages").body


@each("version", ["/api", "/api/v1"])
def test_older_versions_have_the_highest_id(web: Web, version: str) -> None:
    """A series, its volume and the chapter show the same one; a scheduled version does not count yet."""
    titles = {"1": "Once", "2": "Twice by day", "3": "Thrice by day"}
    volumes = value(web, f"{version}/series/versions")["volumes"]

    assert {number: chapter["title"] for number, chapter in volumes["0"].items()} == titles
    assert {number: chapter["title"] for number, chapter in volumes["1"].items()} == {"3": "Thrice, bound"}
    assert value(web, f"{version}/series/versions/0") == volumes["0"]
    for number in titles:
        assert value(web, f"{version}/series/versions/0/{number}") == volumes["0"][number]


@each("version", ["/api", "/api/v1"])
def test_latest_chapter_is_one_that_the_version_shows(web: Web, version: str) -> None:
    """The newest chapter of all is hidden by one with a higher id."""
    (release,) = value(web, f"{version}/releases")

    assert release["latest_chapter"] == {
        "title": "Thrice by day",
        "volume": 0,
        "number": 3,
        "date": "Wed, 11 Feb 2026 10:00:00 GMT",
    }
