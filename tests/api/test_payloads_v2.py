"""Bodies of /api/v2. tests/responses/test_golden.py has their exact bytes and dates."""

import json
from functools import cache
from pathlib import Path

import pytest

from generator.api.payloads import v2
from generator.encoding import LAST_INSTANT
from tests.conftest import AS_OF, Site, copy_of


@pytest.fixture(scope="module")
def site(serve) -> Site:
    return serve("v2")[0]


@cache
def files(site: Site) -> dict[str, Path]:
    """The file of each URL; no test builds a site twice."""
    return {url: site.folder / "dist" / one.file for url, one in site.manifest.resources.items()}


def body(site: Site, url: str) -> bytes:
    return files(site)[url].read_bytes()


MEMBERS = {
    "Mo": ["Night Shift (Translator, Leader)", "Day, Inc. (Guest)"],
    "Nia": ["Night Shift (Letterer)"],
    "Alone": [],
}


def test_members_have_their_groups_and_roles(site: Site) -> None:
    """In the order of both; a member of no group is listed, too."""
    members = json.loads(body(site, "/api/v2/members"))["results"]

    assert {member["name"]: member["groups"] for member in members} == MEMBERS
    assert [json.loads(body(site, f"/api/v2/members/{member['id']}")) for member in members] == members


def test_all_public_chapters_are_listed_newest_first(site: Site) -> None:
    chapters = json.loads(body(site, "/api/v2/chapters"))["results"]
    public = {
        chapter["id"]
        for url in files(site)
        if url.startswith("/api/v2/series/") and url.endswith("/chapters") and "members-only" not in url
        for chapter in json.loads(body(site, url))["results"]
    }

    assert {chapter["id"] for chapter in chapters} == public
    assert len(chapters) == len(public)
    assert [chapter["published"] for chapter in chapters] == sorted(
        (chapter["published"] for chapter in chapters), reverse=True
    )
    assert not {chapter["series"] for chapter in chapters} & {
        "in-shops",
        "members-only",
        "in-shops-for-members",
        "tomorrow",
    }


@pytest.mark.parametrize(
    ("chapter", "number"), [(81, b"1.0"), (2147483647, b"1.2345"), (2147482, b"123456789.0"), (2147483, b"123456789.5")]
)
def test_chapter_number_has_a_decimal_point_and_all_digits(site: Site, chapter: int, number: bytes) -> None:
    """It is a JSON number without an exponent."""
    assert b'"number":%s,"volume":null' % number in body(site, f"/api/v2/chapters/{chapter}")


@pytest.mark.parametrize("chapter", [81, 2147483647, 2147482, 2147483])
def test_pages_have_numbers_from_1_and_unique_ids(site: Site, chapter: int) -> None:
    """The chapters have a thousand pages, the largest id, and no pages."""
    pages = json.loads(body(site, f"/api/v2/chapters/{chapter}/pages"))["results"]

    assert [page["number"] for page in pages] == list(range(1, len(pages) + 1))
    assert len({page["id"] for page in pages}) == len(pages)
    assert len(pages) == {81: 1002, 2147483647: 2, 2147482: 1, 2147483: 0}[chapter]


def test_page_ids_are_unique_in_the_catalog(site: Site) -> None:
    pages = [
        page["id"] for url in files(site) if url.endswith("/pages") for page in json.loads(body(site, url))["results"]
    ]

    assert len(set(pages)) == len(pages) > 1000
    assert all(0 < page_id <= 2147483647 for page_id in pages)


def test_page_url_keeps_its_query(site: Site) -> None:
    pages = json.loads(body(site, "/api/v2/chapters/2147483647/pages"))["results"]

    assert [page["image"] for page in pages] == [f"https://images.example/far/{number}.png?a=b" for number in (1, 2)]


def test_groups_of_a_cubari_chapter_are_joined(site: Site) -> None:
    """Cubari shows only the first name. N/A means no group."""
    for url in files(site):
        if url.startswith("/api/v2/cubari/"):
            for chapter in json.loads(body(site, url))["chapters"].values():
                assert len(chapter["groups"]) == 1 and all(chapter["groups"])


def test_counted_views_are_added(tmp_path: Path) -> None:
    """Counted views are added to those of the chapter and its series."""
    site = copy_of("minimal", tmp_path)
    chapters = "".join(
        f"- {{id: {one}, number: {one}, published: 2026-01-01, views: 5, pages: []}}\n" for one in (1, 2)
    )
    site.write("series/first.yaml", f"title: First\ncover: c.png\nchapters:\n{chapters}")
    site.write("views.yaml", "{1: 100, 2: 1}\n")
    site.build()

    assert json.loads(body(site, "/api/v2/chapters/1"))["views"] == 105
    assert json.loads(body(site, "/api/v2/series/first"))["views"] == 10 + 101


def test_empty_catalog_has_an_empty_first_page(tmp_path) -> None:
    """The list, its index and the list of chapters have the date of the site."""
    site = Site(tmp_path)
    site.write("site.yaml", "base_url: https://nothing.example\n")
    site.build()

    assert body(site, "/api/v2/series") == b'{"total":0,"last":true,"results":[]}'
    assert body(site, "/api/v2/chapters") == b'{"results":[]}'
    assert json.loads(body(site, "/api/v2/series#index"))["items"] == []


def test_no_last_modified_is_in_the_future(site: Site) -> None:
    """Clients reject future dates."""
    assert max(published.modified for published in site.manifest.resources.values()) <= AS_OF


@pytest.mark.parametrize(
    ("seconds", "iso", "rfc", "milliseconds"),
    [
        (0, "1970-01-01T00:00:00Z", "Thu, 01 Jan 1970 00:00:00 GMT", "0"),
        (1, "1970-01-01T00:00:01Z", "Thu, 01 Jan 1970 00:00:01 GMT", "1000"),
        (LAST_INSTANT, "9999-12-31T23:59:59Z", "Fri, 31 Dec 9999 23:59:59 GMT", "253402300799000"),
    ],
)
def test_first_and_last_instant_in_every_date_format(seconds: int, iso: str, rfc: str, milliseconds: str) -> None:
    """Milliseconds have no leading zeros; 1970 is 0."""
    forms = {name: form(seconds) for name, form in v2.DATE_FORMATS.items()}

    assert forms == {"iso-8601": iso, "rfc-5322": rfc, "timestamp": milliseconds}
