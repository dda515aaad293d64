"""The bodies of v2, byte for byte: every key, its order, its type, and the date of the newest thing that it shows."""

import json

import pytest

from generator.api.payloads import v2
from generator.encoding import LAST_INSTANT, http_date
from tests.conftest import AS_OF, Site, copy_of
from tests.support.expected_v2 import (
    ALONE,
    AUTHORS,
    CATEGORIES,
    DAY,
    DETAIL,
    DRAMA,
    ISO,
    ITEM,
    MAIL,
    MILLISECONDS,
    MO,
    NIA,
    NIGHT_SHIFT,
    PAGES,
    READER,
    SOLD,
    SOLD_DETAIL,
)


@pytest.fixture(scope="module")
def site(serve) -> Site:
    return serve("v2")[0]


def body(site: Site, url: str) -> bytes:
    return (site.folder / "dist" / site.manifest.resources[url].file).read_bytes()


def written(value: object) -> bytes:
    """As it is sent: compact, as it is spelt, in this order."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


@pytest.mark.parametrize(
    ("url", "shown", "modified"),
    [
        ("/api/v2/series/full-book", DETAIL, "Sun, 01 Mar 2026 10:00:00 GMT"),
        ("/api/v2/series/in-shops", SOLD_DETAIL, "Fri, 13 Feb 2026 00:00:00 GMT"),
        ("/api/v2/series/full-book/chapters", ISO, "Sun, 01 Mar 2026 10:00:00 GMT"),
        ("/api/v2/series/full-book/chapters?date_format=rfc-5322", MAIL, "Sun, 01 Mar 2026 10:00:00 GMT"),
        ("/api/v2/series/full-book/chapters?date_format=timestamp", MILLISECONDS, "Sun, 01 Mar 2026 10:00:00 GMT"),
        ("/api/v2/chapters/11", ISO["results"][-1], "Thu, 05 Feb 2026 10:00:00 GMT"),
        ("/api/v2/chapters/11/pages", PAGES, "Thu, 05 Feb 2026 10:00:00 GMT"),
        ("/api/v2/pages?series=~&volume=0&number=0", {"results": []}, None),
        ("/api/v2/categories", {"results": CATEGORIES}, "Thu, 01 Jan 2026 00:00:00 GMT"),
        ("/api/v2/categories/Drama", DRAMA, "Thu, 01 Jan 2026 00:00:00 GMT"),
        ("/api/v2/authors", {"results": AUTHORS}, "Sun, 04 Jan 2026 00:00:00 GMT"),
        ("/api/v2/authors/2", AUTHORS[1], "Fri, 02 Jan 2026 00:00:00 GMT"),
        ("/api/v2/artists/5", {"id": 5, "name": "İlkay Ş."}, "Sat, 03 Jan 2026 00:00:00 GMT"),
        ("/api/v2/groups", {"results": [NIGHT_SHIFT, DAY]}, "Mon, 02 Feb 2026 00:00:00 GMT"),
        ("/api/v2/groups/1", NIGHT_SHIFT, "Sun, 01 Feb 2026 00:00:00 GMT"),
        ("/api/v2/members", {"results": [MO, NIA, ALONE]}, "Mon, 02 Feb 2026 00:00:00 GMT"),
        ("/api/v2/members/3", ALONE, "Fri, 02 Jan 2026 00:00:00 GMT"),
        ("/api/v2/cubari/full-book", READER, "Sun, 01 Mar 2026 10:00:00 GMT"),
        ("/api/v2/bookmarks#two", {"bookmarks": []}, "Mon, 02 Mar 2026 00:00:00 GMT"),
    ],
)
def test_a_body_is_this_and_nothing_else(site: Site, url: str, shown: object, modified: str | None) -> None:
    """Every byte of it, and when the newest part of it changed."""
    assert body(site, url) == written(shown)
    if modified:
        assert http_date(site.manifest.resources[url].modified) == modified


@pytest.mark.parametrize("item", [ITEM, SOLD])
def test_an_item_of_the_list_counts_chapters_unless_it_is_licensed(site: Site, item: dict[str, object]) -> None:
    """In all eight orders the same item, on one of three pages, and in the index as it is sent."""
    lists = [url for url in site.manifest.resources if url.startswith("/api/v2/series?sort=")]
    found = [url.partition("&")[0] for url in lists if written(item) in body(site, url)]

    assert len(lists) == 24
    assert sorted(found) == sorted({url.partition("&")[0] for url in lists})


def test_a_page_of_the_list_says_how_many_there_are(site: Site) -> None:
    """25, 25 and 14 of 64; only the third is the last."""
    pages = [json.loads(body(site, f"/api/v2/series?sort=title&page={page}")) for page in (1, 2, 3)]

    assert [(list(one), one["total"], one["last"], len(one["results"])) for one in pages] == [
        (["total", "last", "results"], 64, False, 25),
        (["total", "last", "results"], 64, False, 25),
        (["total", "last", "results"], 64, True, 14),
    ]


def test_the_chapters_of_all_series_are_newest_first(site: Site) -> None:
    """Of those that anybody may read, and of them all."""
    found = json.loads(body(site, "/api/v2/chapters"))["results"]
    free = {
        chapter["id"]
        for url in site.manifest.resources
        if url.startswith("/api/v2/series/") and url.endswith("/chapters") and "members-only" not in url
        for chapter in json.loads(body(site, url))["results"]
    }

    assert {one["id"] for one in found} == free
    assert len(found) == len(free)
    assert [one["published"] for one in found] == sorted((one["published"] for one in found), reverse=True)
    assert not {one["series"] for one in found} & {"in-shops", "members-only", "in-shops-for-members", "tomorrow"}


@pytest.mark.parametrize(
    ("one", "number"), [(81, b"1.0"), (2147483647, b"1.2345"), (2147482, b"123456789.0"), (2147483, b"123456789.5")]
)
def test_the_number_of_a_chapter_has_a_point_and_all_of_its_digits(site: Site, one: int, number: bytes) -> None:
    """As a JSON number, never with an exponent."""
    assert b'"number":%s,"volume":null' % number in body(site, f"/api/v2/chapters/{one}")


@pytest.mark.parametrize("one", [81, 2147483647, 2147482, 2147483])
def test_pages_are_counted_from_one_and_have_ids_of_their_own(site: Site, one: int) -> None:
    """In a chapter of a thousand pages, in one with the largest id, and in one without any."""
    pages = json.loads(body(site, f"/api/v2/chapters/{one}/pages"))["results"]

    assert [page["number"] for page in pages] == list(range(1, len(pages) + 1))
    assert len({page["id"] for page in pages}) == len(pages)
    assert len(pages) == {81: 1002, 2147483647: 2, 2147482: 1, 2147483: 0}[one]


def test_ids_of_pages_are_unique_in_the_whole_catalog(site: Site) -> None:
    """Two chapters never share one."""
    pages = [
        page["id"]
        for url in site.manifest.resources
        if url.endswith("/pages")
        for page in json.loads(body(site, url))["results"]
    ]

    assert len(set(pages)) == len(pages) > 1000
    assert all(0 < one <= 2147483647 for one in pages)


def test_addresses_of_pages_keep_what_they_say(site: Site) -> None:
    """A query behind the name of an image is part of its address."""
    found = json.loads(body(site, "/api/v2/chapters/2147483647/pages"))["results"]

    assert [one["image"] for one in found] == [f"https://images.example/far/{page}.png?a=b" for page in (1, 2)]


def test_one_group_stands_for_all_of_a_chapters_groups(site: Site) -> None:
    """Joined, and N/A for none: cubari takes the first name and would show the rest of them nowhere."""
    for url in site.manifest.resources:
        if url.startswith("/api/v2/cubari/"):
            for one in json.loads(body(site, url))["chapters"].values():
                assert len(one["groups"]) == 1 and all(one["groups"])


def test_views_that_came_back_are_shown(site: Site, tmp_path) -> None:
    """What the logs counted is added to what the catalog says, for the chapter and for its series."""
    made = copy_of("v2", tmp_path)
    made.write("views.yaml", "{11: 100, 12: 1}\n")
    made.build()

    assert json.loads(body(made, "/api/v2/chapters/11"))["views"] == 105
    assert json.loads(body(made, "/api/v2/series/full-book"))["views"] == 13 + 101


def test_a_catalog_without_anything_has_a_first_page_of_nothing(tmp_path) -> None:
    """The list, its index and the chapters exist before the first series does, as old as the site."""
    made = Site(tmp_path)
    made.write("site.yaml", "base_url: https://nothing.example\n")
    made.build()

    assert body(made, "/api/v2/series") == b'{"total":0,"last":true,"results":[]}'
    assert body(made, "/api/v2/chapters") == b'{"results":[]}'
    assert json.loads(body(made, "/api/v2/series#index"))["items"] == []


def test_a_date_is_cut_to_the_second(site: Site) -> None:
    """The ninth tenth of a second is not there in any form."""
    assert {form: date(1_772_359_200) for form, date in v2.DATE_FORMATS.items()} == {
        "iso-8601": "2026-03-01T10:00:00Z",
        "rfc-5322": "Sun, 01 Mar 2026 10:00:00 GMT",
        "timestamp": "1772359200000",
    }
    assert b"1772359200000" in body(site, "/api/v2/chapters?date_format=timestamp")


def test_nothing_is_dated_in_the_future(site: Site) -> None:
    """A date that has not come is one that no client may trust."""
    assert max(one.modified for one in site.manifest.resources.values()) <= AS_OF


@pytest.mark.parametrize(
    ("seconds", "iso", "rfc", "milliseconds"),
    [
        (0, "1970-01-01T00:00:00Z", "Thu, 01 Jan 1970 00:00:00 GMT", "0"),
        (1, "1970-01-01T00:00:01Z", "Thu, 01 Jan 1970 00:00:01 GMT", "1000"),
        (LAST_INSTANT, "9999-12-31T23:59:59Z", "Fri, 31 Dec 9999 23:59:59 GMT", "253402300799000"),
    ],
)
def test_the_first_and_the_last_instant_have_every_form(seconds: int, iso: str, rfc: str, milliseconds: str) -> None:
    """A number of milliseconds has no zeros before it, not even where it is none."""
    forms = {name: form(seconds) for name, form in v2.DATE_FORMATS.items()}

    assert forms == {"iso-8601": iso, "rfc-5322": rfc, "timestamp": milliseconds}
