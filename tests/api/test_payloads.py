"""The exact bytes of each kind of body."""

import json
from typing import Any

from generator import encoding
from generator.api.payloads.resources import Body
from generator.catalog.entities import Catalog
from tests.support.yaml_catalogs import WRITTEN, catalog, resources

FULL = """
site: {media: https://images.example/}
authors: [{id: 2, name: Bo Ink}, {id: 1, name: Ada Penn, aliases: [A. P., 大]}]
artists: [{id: 1, name: Cy Brush, aliases: [C.]}]
categories: [{id: drama, name: Drama, description: Sad.}, {id: action, name: Action}]
members: [{id: 1, name: Wren, twitter: t, discord: d, irc: i, reddit: r}, {id: 2, name: Robin}]
groups:
  - {id: 2, name: Quiet}
  - id: 1
    name: Night Shift
    description: "Lamps\\nand ink"
    website: https://night.example
    email: e
    discord: gd
    twitter: gt
    reddit: gr
    irc: gi
    logo: logo.png
    members: [{member: Robin, role: Editor}, {member: Wren, role: Translator}, {member: Robin, role: Letterer}]
series:
  moons:
    title: Paper Moons
    aliases: [紙の月, Moons]
    description: "Folds\\nthe \\"moon\\"."
    authors: [Ada Penn, Bo Ink]
    artists: [Cy Brush]
    categories: [drama, action]
    status: canceled
    cover: co ver.jpg
    chapters:
      - number: 10.50
        volume: 2
        title: Ten and a half
        published: 2026-05-01T12:00:00.9+02:00
        final: true
        groups: [2, Night Shift]
        pages: [1 a.png, é.png]
      - {number: 3, published: 2026-04-01, pages: [https://elsewhere.example/a/1.png]}
  empty: {title: Empty}
"""

MOONS = {"slug": "moons", "title": "Paper Moons", "aliases": ["紙の月", "Moons"]}
URL = "https://comics.example/reader/moons/"
TEN = {
    "title": "Ten and a half",
    "url": f"{URL}2/10.5/",
    "pages": ["1%20a.png", "%C3%A9.png"],
    "date": "Fri, 01 May 2026 10:00:00 GMT",
    "final": True,
}
THREE = {
    "title": "",
    "url": f"{URL}0/3/",
    "pages": ["1.png"],
    "date": "Wed, 01 Apr 2026 00:00:00 GMT",
    "final": False,
}
TEN_V1 = {
    "title": "Ten and a half",
    "full_title": "Vol. 2, Ch. 10.5: Ten and a half",
    "url": f"{URL}2/10.5/",
    "pages_root": "https://images.example/series/moons/2/10.5/",
    "pages_list": ["1%20a.png", "%C3%A9.png"],
    "date": "Fri, 01 May 2026 10:00:00 GMT",
    "final": True,
    "groups": [{"id": 2, "name": "Quiet"}, {"id": 1, "name": "Night Shift"}],
}
THREE_V1 = {
    "title": "",
    "full_title": "Ch. 3",
    "url": f"{URL}0/3/",
    "pages_root": "https://elsewhere.example/a/",
    "pages_list": ["1.png"],
    "date": "Wed, 01 Apr 2026 00:00:00 GMT",
    "final": False,
    "groups": [],
}
AFTER_SLUG = {"url": URL, "description": 'Folds\nthe "moon".'}
PEOPLE = {"authors": [["Ada Penn", "A. P.", "大"], ["Bo Ink"]], "artists": [["Cy Brush", "C."]]}
# Sorted by id, not in the order of the file.
GENRES = {"categories": [{"name": "Action", "description": ""}, {"name": "Drama", "description": "Sad."}]}
COVER = {"cover": "https://images.example/series/moons/co%20ver.jpg", "completed": True}
SERIES = {**MOONS, **AFTER_SLUG, **PEOPLE, **COVER, "volumes": {"0": {"3": THREE}, "2": {"10.5": TEN}}}
VOLUMES_V1 = {"volumes": {"0": {"3": THREE_V1}, "2": {"10.5": TEN_V1}}}
SERIES_V1 = {**MOONS, **AFTER_SLUG, **PEOPLE, **GENRES, **COVER, **VOLUMES_V1}
EMPTY = {
    "slug": "empty",
    "title": "Empty",
    "aliases": [],
    "url": "https://comics.example/reader/empty/",
    "description": "",
    "authors": [],
    "artists": [],
    "cover": "https://images.example/series/empty/cover.jpg",
    "completed": False,
    "volumes": {},
}
EMPTY_V1 = {
    **{key: EMPTY[key] for key in ("slug", "title", "aliases", "url", "description", "authors", "artists")},
    "categories": [],
    **{key: EMPTY[key] for key in ("cover", "completed", "volumes")},
}
ADA = {"id": 1, "name": "Ada Penn", "aliases": ["A. P.", "大"], "series": [MOONS]}
BO = {"id": 2, "name": "Bo Ink", "aliases": [], "series": [MOONS]}
CY = {"id": 1, "name": "Cy Brush", "aliases": ["C."], "series": [MOONS]}
RELEASE = {
    "slug": "moons",
    "title": "Paper Moons",
    "url": URL,
    "cover": "https://images.example/series/moons/co%20ver.jpg",
    "latest_chapter": {
        "title": "Ten and a half",
        "volume": 2,
        "number": 10.5,
        "date": "Fri, 01 May 2026 10:00:00 GMT",
    },
}
NIGHT_SHIFT = {
    "id": 1,
    "name": "Night Shift",
    "description": "Lamps\nand ink",
    "website": "https://night.example",
    "discord": "gd",
    "twitter": "gt",
    "logo": "https://images.example/groups/1/logo.png",
    "members": [
        {"id": 2, "name": "Robin", "roles": ["Editor", "Letterer"], "twitter": "", "discord": ""},
        {"id": 1, "name": "Wren", "roles": ["Translator"], "twitter": "t", "discord": "d"},
    ],
    "series": [MOONS],
}
QUIET = {
    "id": 2,
    "name": "Quiet",
    "description": "",
    "website": "",
    "discord": "",
    "twitter": "",
    "logo": "",
    "members": [],
    "series": [MOONS],
}

BODIES: dict[str, Any] = {
    "/index.json": {
        "api": {name: f"https://comics.example/api/{name}" for name in ("authors", "artists", "series", "releases")},
        "v1": {
            name: f"https://comics.example/api/v1/{name}"
            for name in ("authors", "artists", "series", "releases", "categories", "groups")
        },
        "v2": {
            name: f"https://comics.example/api/v2/{name}"
            for name in ("series", "chapters", "categories", "authors", "artists", "groups", "members")
        }
        | {"openapi": "https://comics.example/api/v2/openapi.json"},
    },
    "/api/authors": [ADA, BO],
    "/api/authors/1": ADA,
    "/api/authors/2": BO,
    "/api/artists": [CY],
    "/api/artists/1": CY,
    "/api/series": [EMPTY, SERIES],
    "/api/series/empty": EMPTY,
    "/api/series/moons": SERIES,
    "/api/series/moons/0": {"3": THREE},
    "/api/series/moons/0/3": THREE,
    "/api/series/moons/2": {"10.5": TEN},
    "/api/series/moons/2/10.5": TEN,
    "/api/releases": [RELEASE],
    "/api/v1/authors": [ADA, BO],
    "/api/v1/authors/1": ADA,
    "/api/v1/authors/2": BO,
    "/api/v1/artists": [CY],
    "/api/v1/artists/1": CY,
    "/api/v1/series": [EMPTY_V1, SERIES_V1],
    "/api/v1/series/empty": EMPTY_V1,
    "/api/v1/series/moons": SERIES_V1,
    "/api/v1/series/moons/0": {"3": THREE_V1},
    "/api/v1/series/moons/0/3": THREE_V1,
    "/api/v1/series/moons/2": {"10.5": TEN_V1},
    "/api/v1/series/moons/2/10.5": TEN_V1,
    "/api/v1/releases": [RELEASE],
    "/api/v1/categories": [
        {"id": "action", "name": "Action", "description": ""},
        {"id": "drama", "name": "Drama", "description": "Sad."},
    ],
    "/api/v1/groups": [NIGHT_SHIFT, QUIET],
    "/api/v1/groups/1": NIGHT_SHIFT,
    "/api/v1/groups/2": QUIET,
}
BODIES["/"] = BODIES["/index.json"]


def bodies_of(catalog: Catalog) -> dict[str, Body]:
    """The bodies of /api and /api/v1, by URL."""
    return {
        resource.url: resource.body for _, resource in resources(catalog) if not resource.url.startswith("/api/v2/")
    }


def encoded_bodies(text: str) -> dict[str, str]:
    """The bodies by URL, as they are sent."""
    return {url: encoding.body(body.value).decode() for url, body in bodies_of(catalog(text)).items()}


FOUND = encoded_bodies(FULL)


def test_urls_of_a_catalog() -> None:
    """Every person, series, volume, chapter and group has its URLs, and there are no others."""
    assert sorted(FOUND) == sorted(BODIES)


def test_exact_body() -> None:
    """The keys, their order, the values and the bytes are as expected."""
    for url, body in BODIES.items():
        assert FOUND[url] == json.dumps(body, ensure_ascii=False, separators=(",", ":")), url


def test_empty_catalog_has_empty_lists() -> None:
    bodies = encoded_bodies("")

    assert bodies.pop("/") == bodies.pop("/index.json") != "[]"
    assert set(bodies.values()) == {"[]"}
    lists = {url for url in BODIES if url.count("/") < 3 + url.startswith("/api/v1/")}
    assert set(bodies) == lists - {"/", "/index.json"}


def test_number_keeps_its_digits() -> None:
    """A number is never 1.0, has no exponent and loses no digit. The same holds in paths and keys."""
    for number, encoded_number in [
        ("1", "1"),
        ("1.0", "1"),
        ("0", "0"),
        ("10.50", "10.5"),
        ("0.1", "0.1"),
        ("999999999.9999", "999999999.9999"),
        ("123456789.0001", "123456789.0001"),
        ("100000000", "100000000"),
        ("1.2345", "1.2345"),
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
