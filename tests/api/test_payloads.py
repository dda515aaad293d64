"""Bodies of /api and /api/v1 for odd values. tests/responses/test_golden.py has the exact bytes of usual ones."""

import json

from generator import encoding
from generator.api.payloads.resources import Body
from generator.catalog.entities import Catalog
from tests.support.yaml_catalogs import WRITTEN, catalog, resources


def bodies_of(catalog: Catalog) -> dict[str, Body]:
    """The bodies of /api and /api/v1, by URL."""
    return {
        resource.url: resource.body for _, resource in resources(catalog) if not resource.url.startswith("/api/v2/")
    }


def encoded_bodies(text: str) -> dict[str, str]:
    """The bodies by URL, as they are sent."""
    return {url: encoding.body(body.value).decode() for url, body in bodies_of(catalog(text)).items()}


def test_empty_catalog_has_empty_lists() -> None:
    bodies = encoded_bodies("")
    names = [f"{version}/{name}" for version in ("", "/v1") for name in ("authors", "artists", "series", "releases")]

    assert bodies.pop("/") == bodies.pop("/index.json") != "[]"
    assert bodies == {f"/api{name}": "[]" for name in (*names, "/v1/categories", "/v1/groups")}


def test_number_keeps_its_digits() -> None:
    """A number is never 1.0, has no exponent and loses no digit. The same holds in paths and keys."""
    for number, encoded_number in [
        ("1.0", "1"),
        ("0", "0"),
        ("10.50", "10.5"),
        ("999999999.9999", "999999999.9999"),
        ("100000000", "100000000"),
    ]:
        text = f"series: {{a: {{chapters: [{{number: {number}, published: 2026-05-01, pages: []}}]}}}}"
        bodies = encoded_bodies(text)
        assert f'"volume":0,"number":{encoded_number},' in bodies["/api/releases"]
        assert f'"volumes":{{"0":{{"{encoded_number}":{{' in bodies["/api/series/a"]
        assert f"/api/v1/series/a/0/{encoded_number}" in bodies


def chapters(*published: tuple[str, str, str]) -> str:
    return ", ".join(
        f"{{{volume and f'volume: {volume}, '}number: {number}, published: {time}, pages: []}}"
        for volume, number, time in published
    )


def test_releases_are_sorted_by_date_and_slug() -> None:
    """A series appears once, with its newest chapter. A series without chapters does not appear."""
    bodies = encoded_bodies(f"""series:
      c: {{title: A, chapters: [{chapters(("", "1", "2026-05-01"), ("", "2", "2026-03-01"))}]}}
      b: {{title: B, chapters: [{chapters(("1", "1", "2026-05-02"), ("2", "1", "2026-05-02"))}]}}
      B2: {{title: C, chapters: [{chapters(("1", "1", "2026-05-01"), ("1", "1.5", "2026-05-01"))}]}}
      a: {{title: D, chapters: [{chapters(("1", "1", "2026-05-01"))}]}}
      d: {{title: E, chapters: [{chapters(("1", "1", "2100-01-01"))}]}}
      e: {{title: F}}
    """)
    latest = [(one["slug"], one["latest_chapter"]) for one in json.loads(bodies["/api/releases"])]

    assert [(slug, one["volume"], one["number"]) for slug, one in latest] == [
        ("b", 2, 1), ("B2", 1, 1.5), ("a", 1, 1), ("c", 0, 1)
    ]  # fmt: skip
    assert bodies["/api/v1/releases"] == bodies["/api/releases"]


def test_scheduled_and_restricted_entities_are_in_no_body_or_url() -> None:
    """Their texts occur nowhere."""
    bodies = encoded_bodies("""
        authors: [{id: 1, name: Ada Penn}]
        groups: [{id: 1, name: Night Shift}]
        series:
          open: {authors: [1], chapters: [
            {number: 1, published: 2026-05-01, pages: []},
            {number: 777, title: hidden, published: 2100-01-01, pages: [hidden.png], groups: [1]}]}
          hidden: {title: hidden, restricted: true, authors: [1], chapters: [
            {number: 1, published: 2026-05-01, pages: [], groups: [1]}]}
    """)

    assert [item for item in bodies.items() if "hidden" in "".join(item) or "777" in "".join(item)] == []
    assert json.loads(bodies["/api/authors/1"])["series"] == [{"slug": "open", "title": "open", "aliases": []}]
    assert json.loads(bodies["/api/v1/groups/1"])["series"] == []


def test_licensed_series_is_complete_unless_hidden() -> None:
    """/api and /api/v1 have the same bytes as without a licence, or nothing."""
    free = "series: {a: {chapters: [{number: 1, published: 2026-05-01, pages: [1.png]}]}}"
    licensed = free.replace("chapters:", "licensed: true, chapters:")

    assert encoded_bodies(licensed) == encoded_bodies(free)
    assert encoded_bodies(f"site: {{hide_licensed: true}}\n{licensed}") == encoded_bodies("")


def test_empty_list_has_the_date_of_the_site() -> None:
    """It has no part that could change."""
    assert {one.last_modified for one in bodies_of(catalog("")).values()} == {WRITTEN}
