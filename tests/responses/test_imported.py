"""What imports write: licensed series without a chapter, with and without `updated`, and chapters that share a number.

Their bodies are in the golden files of `imported`.
"""

import json

from tests.support.nginx_client import Web
from tests.support.tables import each

SITE = "imported"
COVER = "https://imported.example/media/series/sold/cover.jpg"
ITEM = {
    "slug": "sold",
    "title": "Sold",
    "url": "/reader/sold/",
    "cover": COVER,
    "updated": "2026-02-20T18:30:00Z",
    "chapters": None,
}
OF_CHAPTERS = (
    "/api/v2/series/{}/chapters",
    "/api/v2/series/{}/chapters?date_format=timestamp",
    "/api/v2/cubari/{}",
)


def results(web: Web, query: str) -> list[dict[str, object]]:
    return json.loads(web.ask(f"/api/v2/series{query}").body)["results"]


@each("query", ["", "?slug=SOLD", "?title=old", "?author=penn", "?status=completed"])
def test_series_with_updated_is_listed(web: Web, query: str) -> None:
    """The list and its filters have the series once, and none that has neither chapters nor `updated`."""
    listed = [item for item in results(web, query) if str(item["slug"]).startswith("sold")]

    assert listed == [ITEM]


def test_series_with_updated_is_sorted_by_it(web: Web) -> None:
    """It has no chapters to be counted, and the newest publication of all."""
    by_upload, by_count = (
        [item["slug"] for item in results(web, f"?sort={sort}")] for sort in ("-latest_upload", "chapter_count")
    )

    assert (by_upload[0], by_count[0]) == ("sold", "sold")


@each("path", OF_CHAPTERS)
def test_chapters_of_a_series_with_updated_are_451(web: Web, path: str) -> None:
    response = web.ask(path.format("sold"))

    assert (response.status, response.body) == (451, b'{"detail":"This series is licensed."}')


@each("path", ["/api/v2/series/{}", *OF_CHAPTERS])
def test_series_with_neither_chapters_nor_updated_is_404(web: Web, path: str) -> None:
    assert web.ask(path.format("sold-unseen")).status == 404


@each("path", ["/api/v2/chapters?series=sold", "/api/v2/pages?series=sold&volume=0&number=1"])
def test_chapters_of_a_series_with_updated_are_in_no_list(web: Web, path: str) -> None:
    response = web.ask(path)

    assert (response.status, response.body) == (200, b'{"results":[]}')


# Chapters without a volume may share a number: URLs with a number have the highest id.


@each(("chapter", "number"), [(71, 2), (75, 2), (72, 3), (74, 3)])
def test_each_version_can_be_read_by_its_id(web: Web, chapter: int, number: int) -> None:
    """All of them lead to the page of their number."""
    read = web.ask(f"/api/v2/chapters/{chapter}/read")

    assert (read.status, read["location"]) == (308, f"https://imported.example/reader/versions/0/{number}/")


@each("number", ["2", "02", "2.0", "2e0"])
def test_pages_by_number_are_those_of_the_highest_id(web: Web, number: str) -> None:
    by_number = web.ask(f"/api/v2/pages?series=Versions&volume=0&number={number}")

    assert by_number.body == web.ask("/api/v2/chapters/75/pages").body
