"""Bodies of the read calls of Komga, without a server."""

from collections.abc import Iterator
from typing import Any

from generator import encoding
from generator.api import app_routes
from generator.api.pages import theme
from generator.api.payloads import series_index
from generator.api.payloads.resources import Resource
from generator.api.route_items import InSeries
from generator.catalog import entities
from generator.catalog.entities import Catalog
from tests.data.clients.komga import ROOT
from tests.support.tables import each
from tests.support.yaml_catalogs import catalog


def resources(catalog: Catalog) -> Iterator[Resource]:
    """All bodies below /komga."""
    page = theme.context(catalog.site, catalog.theme)
    for route in app_routes.bodies_of(("komga",)):
        if isinstance(route.for_each, InSeries):
            for series in catalog.series:
                assert isinstance(series, entities.Series)
                yield from route.resources(route.for_each.items_of(series), page)
        else:
            yield from route.resources(route.for_each(catalog), page)


def bodies(text: str) -> dict[str, Any]:
    """The values of all bodies by path below the API's root."""
    return {one.url.removeprefix(f"{ROOT}/"): one.body.value for one in resources(catalog(text))}


@each(
    ("chapters", "expected"),
    [
        # In reading order: chapters of no volume are the last.
        ("{volume: 1, number: 1}, {volume: 1, number: 1.5}, {volume: 2, number: 2}, {number: 3}", "1 1.5 2 3"),
        ("{number: 2}, {volume: 2, number: 1.25}, {volume: 1, number: 1}", "1 1.25 2"),
        ("{volume: 1, number: 1}, {volume: 1, number: 2}, {volume: 2, number: 1}", "1 2 3"),
        ("{volume: 1, number: 7}, {number: 1}", "1 2"),
        # Versions of one chapter share a number; with one that volumes share, an app could not tell which comes first.
        ("{id: 1, number: 999999999.9999}, {id: 2, number: 999999999.9999}", "999999999.9999 999999999.9999"),
        ("{volume: 1, number: 7}, {volume: 2, number: 7}", "1 2"),
    ],
)
def test_numbers_sort_chapters_in_reading_order(chapters: str, expected: str) -> None:
    """The app sorts by this number, and only by this number."""
    made = chapters.replace("}", ", published: 2026-01-01, pages: []}")
    books = bodies(f"series: {{a: {{chapters: [{made}]}}}}")["series/a/books"]["content"]

    assert " ".join(encoding.json_text(book["metadata"]["numberSort"]) for book in books) == expected
    assert [book["number"] for book in books] == list(range(1, len(books) + 1))


@each(
    ("chapter", "title", "size"),
    [
        ("title: A, pages: [1.png]", "A", "1 page"),
        ("title: '', pages: []", "Ch. 1", "0 pages"),
        ("title: ' ', pages: 1.png .. 24.png", "Ch. 1: ", "24 pages"),
    ],
)
def test_the_app_shows_number_title_and_size(chapter: str, title: str, size: str) -> None:
    """In its default template; so the size of a file, which is not known, would be of no use."""
    (book,) = bodies(f"series: {{a: {{chapters: [{{number: 1, published: 2026-01-01, {chapter}}}]}}}}")[
        "series/a/books"
    ]["content"]

    assert (book["metadata"]["title"].rstrip(), book["size"]) == (title.rstrip(), size)


@each(
    ("site", "series", "expected"),
    [
        ("", "", {"readingDirection": "LEFT_TO_RIGHT", "language": "en", "tags": [], "totalBookCount": None}),
        ("direction: rtl, language: fr", "", {"readingDirection": "RIGHT_TO_LEFT", "language": "fr"}),
        ("direction: rtl", "kind: webtoon, language: ja", {"readingDirection": "WEBTOON", "tags": ["Webtoon"]}),
        ("", "kind: manga, status: canceled", {"status": "ABANDONED", "tags": ["Manga"]}),
        ("", "status: completed", {"status": "ENDED", "publisher": "Tea, & Co., X", "genres": ["G"]}),
        ("", "status: hiatus, final: true", {"status": "HIATUS", "totalBookCount": 2, "ageRating": None}),
        ("", "rating: explicit", {"status": "ONGOING", "ageRating": 18}),
    ],
)
def test_facts_of_a_series(site: str, series: str, expected: dict[str, object]) -> None:
    final = "final: true" in series
    fields = series.replace(", final: true", "")
    found = bodies(f"""
        site: {{{site}}}
        categories: [{{id: g, name: G}}]
        groups: [{{id: 1, name: "Tea, & Co."}}, {{id: 2, name: X}}]
        series:
          a:
            categories: [g]
            chapters:
            - {{number: 1, published: 2026-01-01, pages: [], groups: [1]}}
            - {{number: 2, published: 2026-01-02, pages: [], groups: [2, 1], final: {str(final).lower()}}}
            {fields.replace(", ", chr(10) + " " * 12)}
    """)["series/a"]

    assert {name: found["metadata"][name] for name in expected} == expected
    assert (found["created"], found["lastModified"]) == ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z")


def test_the_index_has_public_series_only() -> None:
    """A site without Komga has none of it."""
    text = """
        groups: [{id: 1, name: X}, {id: 2, name: Hidden}]
        series:
          a: {kind: comic, chapters: [{number: 1, published: 2026-01-01, pages: [], groups: [1]}]}
          b: {kind: manga, restricted: true, chapters: [{number: 1, published: 2026-01-01, pages: [], groups: [2]}]}
    """
    index: Any = series_index.index(catalog(f"{' ' * 8}site: {{apps: [komga]}}{text}")).value

    assert (list(index["komga"]["publishers"]), list(index["komga"]["tags"])) == (["/x"], ["/comic"])
    assert index["lists"][index["komga"]["public"]] == series_index.bits([0], 2)
    assert "komga" not in dict(series_index.index(catalog(text)).value)
    assert series_index.index(catalog("site: {apps: [komga]}")).value["komga"]["longest_name"] == 0
