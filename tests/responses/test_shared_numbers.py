"""Chapters without a volume may share a number: v2 has all of them, and URLs with a number have the highest id.

The bodies of series, pages and older versions are in the golden files of `imported`.
"""

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


@each(
    ("chapter", "title", "number"),
    [(71, "Twice by night", 2), (75, "Twice by day", 2), (72, "Thrice by night", 3), (74, "Thrice by day", 3)],
)
def test_each_version_has_its_own_urls_with_its_id(web: Web, chapter: int, title: str, number: int) -> None:
    """Their `url` and the target of `/read` are the same."""
    body, read = value(web, f"/api/v2/chapters/{chapter}"), web.ask(f"/api/v2/chapters/{chapter}/read")

    assert (body["id"], body["title"], body["url"]) == (chapter, title, f"{READER}/0/{number}/")
    assert (read.status, dict(read.headers)["location"]) == (308, f"https://imported.example{READER}/0/{number}/")


@each("number", ["2", "02", "2.0", "2e0"])
def test_pages_by_number_are_those_of_the_highest_id(web: Web, number: str) -> None:
    by_number = web.ask(f"/api/v2/pages?series=Versions&volume=0&number={number}")

    assert by_number.body == web.ask("/api/v2/chapters/75/pages").body
