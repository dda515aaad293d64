"""When each body last changed: with the newest of everything it shows, and with nothing else."""

import pytest

from tests.support.yaml_catalogs import catalog, resources

THINGS = dict.fromkeys(
    ("ada", "bo", "cy", "drama", "action", "night", "quiet", "wren", "moons", "empty", "one", "two"), "1980-01-01"
)
# Every chapter is published in 1990, so that this is the least that a body with a chapter can say.
PUBLISHED = 631_152_000
NEW, NEW_SECONDS = "2020-01-01", 1_577_836_800


def moments(**modified: str) -> dict[str, int]:
    """When each URL last changed, if these things changed then and all others in 1980."""
    at = THINGS | modified
    found = catalog(f"""
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
    return {one.url: one.body.last_modified for _, one in resources(found) if not one.url.startswith("/api/v2/")}


def both(*paths: str) -> set[str]:
    return {f"/api/{path}" for path in paths} | {f"/api/v1/{path}" for path in paths}


# Which URLs show each thing.
SHOW = {
    "ada": both("authors", "authors/1", "series", "series/moons"),
    "bo": both("authors", "authors/2", "series", "series/empty"),
    "cy": both("artists", "artists/1", "series", "series/moons"),
    "drama": {"/api/v1/categories", "/api/v1/series", "/api/v1/series/moons"},
    "action": {"/api/v1/categories", "/api/v1/series", "/api/v1/series/empty"},
    "night": {
        *("/api/v1/groups", "/api/v1/groups/1", "/api/v1/series"),
        *("/api/v1/series/moons", "/api/v1/series/moons/1", "/api/v1/series/moons/1/1"),
    },
    "quiet": {"/api/v1/groups", "/api/v1/groups/2"},
    "wren": {"/api/v1/groups", "/api/v1/groups/1"},
    "moons": {
        *both("authors", "authors/1", "artists", "artists/1", "series", "series/moons", "releases"),
        *("/api/v1/groups", "/api/v1/groups/1"),
    },
    "empty": both("authors", "authors/2", "series", "series/empty"),
    "one": both("series", "series/moons", "series/moons/1", "series/moons/1/1"),
    "two": both("series", "series/moons", "series/moons/1", "series/moons/1/2", "releases"),
}


def test_the_table_is_complete() -> None:
    """Every thing that can change has a line."""
    assert set(SHOW) == set(THINGS)


@pytest.mark.parametrize("thing", SHOW)
def test_a_body_is_as_new_as_the_newest_thing_it_shows(thing: str) -> None:
    """A change shows in every body that holds the thing, and in no other."""
    before, after = moments(), moments(**{thing: NEW})

    assert {url for url, seconds in after.items() if seconds == NEW_SECONDS} == SHOW[thing]
    assert {url: after[url] for url in after if url not in SHOW[thing]} == {
        url: before[url] for url in before if url not in SHOW[thing]
    }


def test_a_chapter_is_never_older_than_its_publication() -> None:
    """What was written long before it was published appeared when it was published."""
    found = moments()
    with_a_chapter = both(
        "series", "series/moons", "series/moons/1", "series/moons/1/1", "series/moons/1/2", "releases"
    )

    assert {url for url, seconds in found.items() if seconds == PUBLISHED} == with_a_chapter
