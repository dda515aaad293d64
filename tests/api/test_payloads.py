"""What each shape looks like on the wire, to the last key, and when each of them last changed."""

import json
from typing import Any

import pytest

from generator import encoding
from generator.api.resources import Body
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
# By id, not as the file has them.
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
    "/": {
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


def shown(found: Catalog) -> dict[str, Body]:
    """What the first two families show, by URL."""
    return {one.url: one.body for _, one in resources(found) if not one.url.startswith("/api/v2/")}


def wire(text: str) -> dict[str, str]:
    """The bodies by URL, as they are sent."""
    return {url: encoding.body(one.value).decode() for url, one in shown(catalog(text)).items()}


FOUND = wire(FULL)


def test_a_catalog_has_these_urls_and_no_others() -> None:
    """Every person, series, volume, chapter and group has a URL in its families, and nothing else has."""
    assert sorted(FOUND) == sorted(BODIES)


@pytest.mark.parametrize("url", BODIES)
def test_a_body_is_exactly_this(url: str) -> None:
    """Every key in its order, every value, no blank: the bytes that a client gets."""
    assert FOUND[url] == json.dumps(BODIES[url], ensure_ascii=False, separators=(",", ":"))


def test_nothing_at_all_is_empty_lists() -> None:
    """A catalog that is only a site answers every list."""
    bodies = wire("")

    assert bodies.pop("/")
    assert set(bodies.values()) == {"[]"}
    assert set(bodies) == {url for url in BODIES if url.count("/") < 3 + url.startswith("/api/v1/")} - {"/"}


@pytest.mark.parametrize(
    ("number", "wire_number"),
    [("1", "1"), ("1.0", "1"), ("0", "0"), ("10.50", "10.5"), ("0.1", "0.1"), ("999999999.9999", "999999999.9999"),
     ("123456789.0001", "123456789.0001"), ("100000000", "100000000"), ("1.2345", "1.2345")],
)  # fmt: skip
def test_a_number_on_the_wire_is_a_whole_one_or_a_fraction_with_all_its_digits(number: str, wire_number: str) -> None:
    """Never 1.0, never an exponent, never a digit lost to floating point; the same in paths and keys."""
    text = f"series: {{a: {{chapters: [{{number: {number}, published: 2026-05-01, pages: []}}]}}}}"
    bodies = wire(text)

    assert f'"volume":0,"number":{wire_number},' in bodies["/api/releases"]
    assert f'"volumes":{{"0":{{"{wire_number}":{{' in bodies["/api/series/a"]
    assert f"/api/v1/series/a/0/{wire_number}" in bodies


def chapters(*published: tuple[str, str, str]) -> str:
    return ", ".join(
        f"{{{volume and f'volume: {volume}, '}number: {number}, published: {time}, pages: []}}"
        for volume, number, time in published
    )


def test_releases_are_newest_first_and_at_one_moment_by_slug() -> None:
    """A series is announced once, by its newest chapter, and one without a chapter not at all."""
    found = wire(f"""series:
      c: {{title: A, chapters: [{chapters(("", "1", "2026-05-01"), ("", "2", "2026-03-01"))}]}}
      b: {{title: B, chapters: [{chapters(("1", "1", "2026-05-02"), ("2", "1", "2026-05-02"))}]}}
      B2: {{title: C, chapters: [{chapters(("1", "1", "2026-05-01"), ("1", "1.5", "2026-05-01"))}]}}
      a: {{title: D, chapters: [{chapters(("1", "1", "2026-05-01"))}]}}
      d: {{title: E, chapters: [{chapters(("1", "1", "2100-01-01"))}]}}
      e: {{title: F}}
    """)
    latest = [(one["slug"], one["latest_chapter"]) for one in json.loads(found["/api/releases"])]

    assert [(slug, one["volume"], one["number"]) for slug, one in latest] == [
        ("b", 2, 1), ("B2", 1, 1.5), ("a", 1, 1), ("c", 0, 1)
    ]  # fmt: skip
    assert found["/api/v1/releases"] == found["/api/releases"]


def test_what_is_scheduled_or_restricted_is_in_no_body_and_no_url() -> None:
    """A word that only hidden things have is found nowhere."""
    found = wire("""
        authors: [{id: 1, name: Ada Penn}]
        groups: [{id: 1, name: Night Shift}]
        series:
          open: {authors: [1], chapters: [
            {number: 1, published: 2026-05-01, pages: []},
            {number: 777, title: hidden, published: 2100-01-01, pages: [hidden.png], groups: [1]}]}
          hidden: {title: hidden, restricted: true, authors: [1], chapters: [
            {number: 1, published: 2026-05-01, pages: [], groups: [1]}]}
    """)

    assert [item for item in found.items() if "hidden" in "".join(item) or "777" in "".join(item)] == []
    assert json.loads(found["/api/authors/1"])["series"] == [{"slug": "open", "title": "open", "aliases": []}]
    assert json.loads(found["/api/v1/groups/1"])["series"] == []


def test_a_licensed_series_is_whole_unless_the_site_hides_it() -> None:
    """Old clients know nothing of licences: the same bytes as without one, or nothing."""
    free = "series: {a: {chapters: [{number: 1, published: 2026-05-01, pages: [1.png]}]}}"
    licensed = free.replace("chapters:", "licensed: true, chapters:")

    assert wire(licensed) == wire(free)
    assert wire(f"site: {{hide_licensed: true}}\n{licensed}") == wire("")


def test_an_empty_list_is_as_old_as_the_site() -> None:
    """What shows nothing has nothing of its own that could have changed."""
    assert {one.last_modified for one in shown(catalog("")).values()} == {WRITTEN}
