"""The last-modified time of each body: that of its newest part. A client that compares dates would keep old names."""

from itertools import chain

from tests.api import test_komga
from tests.data.clients.komga import ROOT
from tests.support.yaml_catalogs import catalog, resources

ENTITIES = dict.fromkeys(
    ("ada", "bo", "cy", "drama", "action", "night", "quiet", "wren", "moons", "empty", "one", "two"), "1980-01-01"
)
# Every chapter is published in 1990, the earliest date of a body with a chapter.
PUBLISHED = 631_152_000
NEW, NEW_SECONDS = "2020-01-01", 1_577_836_800


def last_modified(**modified: str) -> dict[str, int]:
    """The last-modified time of each URL, if these entities were changed then and all others in 1980."""
    at = ENTITIES | modified
    linked = catalog(f"""
        authors: [{{id: 1, name: Ada, modified: {at["ada"]}}}, {{id: 2, name: Bo, modified: {at["bo"]}}}]
        artists: [{{id: 1, name: Cy, modified: {at["cy"]}}}]
        categories: [{{id: drama, name: D, modified: {at["drama"]}}}, {{id: action, name: A, modified: {at["action"]}}}]
        members: [{{id: 1, name: Wren, modified: {at["wren"]}}}]
        groups:
        - {{id: 1, name: Night, members: [{{member: Wren, role: R}}], modified: {at["night"]}}}
        - {{id: 2, name: Quiet, modified: {at["quiet"]}}}
        series:
          empty: {{authors: [Bo], categories: [action], modified: {at["empty"]}}}
          moons:
            authors: [Ada]
            artists: [Cy]
            categories: [drama]
            modified: {at["moons"]}
            chapters:
            - {{volume: 1, number: 1, pages: [], published: 1990-01-01, groups: [Night], modified: {at["one"]}}}
            - {{volume: 1, number: 2, pages: [], published: 1990-01-01, modified: {at["two"]}}}
    """)
    bodies = chain((resource for _, resource in resources(linked)), test_komga.resources(linked))
    return {one.url: one.body.last_modified for one in bodies if not one.url.startswith("/api/v2/")}


def both(*paths: str) -> set[str]:
    return {f"/api/{path}" for path in paths} | {f"/api/v1/{path}" for path in paths}


def of_komga(*paths: str) -> set[str]:
    return {f"{ROOT}/{path}" for path in paths}


MOONS_IN_KOMGA = of_komga("series/moons", "series/moons/books", "books/1", "books/2")
# The URLs whose bodies contain each entity.
URLS_WITH = {
    "ada": both("authors", "authors/1", "series", "series/moons") | MOONS_IN_KOMGA | of_komga("authors"),
    "bo": both("authors", "authors/2", "series", "series/empty"),
    "cy": both("artists", "artists/1", "series", "series/moons") | MOONS_IN_KOMGA | of_komga("authors"),
    "drama": {"/api/v1/categories", "/api/v1/series", "/api/v1/series/moons"} | of_komga("genres", "series/moons"),
    "action": {"/api/v1/categories", "/api/v1/series", "/api/v1/series/empty"},
    "night": {
        *("/api/v1/groups", "/api/v1/groups/1", "/api/v1/series"),
        *("/api/v1/series/moons", "/api/v1/series/moons/1", "/api/v1/series/moons/1/1"),
        *of_komga("series/moons", "series/moons/books", "books/1", "publishers"),
    },
    "quiet": {"/api/v1/groups", "/api/v1/groups/2"},
    "wren": {"/api/v1/groups", "/api/v1/groups/1"},
    "moons": {
        *both("authors", "authors/1", "artists", "artists/1", "series", "series/moons", "releases"),
        *("/api/v1/groups", "/api/v1/groups/1"),
        *MOONS_IN_KOMGA,
    },
    "empty": both("authors", "authors/2", "series", "series/empty"),
    "one": both("series", "series/moons", "series/moons/1", "series/moons/1/1") | MOONS_IN_KOMGA - of_komga("books/2"),
    "two": both("series", "series/moons", "series/moons/1", "series/moons/1/2", "releases")
    | (MOONS_IN_KOMGA - of_komga("books/1")),
}


def test_table_has_every_entity() -> None:
    assert set(URLS_WITH) == set(ENTITIES)


def test_body_has_the_date_of_its_newest_part() -> None:
    """A change affects every body that contains the entity, and no other."""
    before = last_modified()
    for entity in URLS_WITH:
        after = last_modified(**{entity: NEW})
        assert {url for url, seconds in after.items() if seconds == NEW_SECONDS} == URLS_WITH[entity]
        assert {url: after[url] for url in after if url not in URLS_WITH[entity]} == {
            url: before[url] for url in before if url not in URLS_WITH[entity]
        }


def test_chapter_is_not_older_than_its_publication() -> None:
    """A chapter written long before appears when it is published."""
    dates = last_modified()
    with_a_chapter = both(
        "series", "series/moons", "series/moons/1", "series/moons/1/1", "series/moons/1/2", "releases"
    )

    assert {url for url, seconds in dates.items() if seconds == PUBLISHED} == with_a_chapter | MOONS_IN_KOMGA
