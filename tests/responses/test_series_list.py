"""`/api/v2/series` and its parameters: files for pages of a sort order, the njs shim for everything else."""

import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import AS_OF, Site
from tests.support import reference_list, runs
from tests.support.linked_catalog import read_catalog
from tests.support.nginx_client import Web
from tests.support.reference_list import Listed
from tests.support.tables import each

LIST = "/api/v2/series"
BLANKS = [chr(code) for code in (*range(0x1C, 0x21), 0x85, 0xA0, 0x180E, 0x200A, 0x200B, 0x2028, 0x3000, 0xFEFF)]
NO_PAGE = (404, {"detail": "Invalid page."})
EVERYTHING = "title=&categories=-unused"
ORDERS = [f"{sign}{name}" for name in reference_list.ORDERS for sign in ("", "-")]


@pytest.fixture(scope="module")
def expected(asked_site: Site):
    """The list that the reference implementation returns for a query."""
    catalog = read_catalog(asked_site.folder / "catalog_src", AS_OF)
    return lambda query: reference_list.answer(catalog, query)


def listed(web: Web, query: str) -> Listed | None:
    response = web.ask(f"{LIST}?{query}")
    if response.status == 200:
        return reference_list.read(json.loads(response.body))
    assert (response.status, json.loads(response.body)) == NO_PAGE
    return None


@each("sort", ORDERS)
@each("page", [1, 2, 3])
def test_files_and_shim_return_the_same(web: Web, expected, sort: str, page: int) -> None:
    """A filter that matches every series makes the shim return a page that is also a file."""
    file = web.ask(f"{LIST}?page={page}&sort={sort}")
    searched = web.ask(f"{LIST}?page={page}&sort={sort}&{EVERYTHING}")

    assert searched.body == file.body
    assert searched["etag"] == file["etag"]
    assert reference_list.read(json.loads(file.body)) == expected(f"page={page}&sort={sort}")


@each("query", ["", "?", "?page=1", "?sort=title", "?sort=title&page=1", "?limit=25", "?x=y", "?page"])
def test_explicit_defaults_return_the_first_page(web: Web, query: str) -> None:
    """Unknown parameters are ignored."""
    plain, spelled = web.ask(LIST), web.ask(LIST + query)

    assert (spelled.body, spelled["etag"], spelled["last-modified"]) == (
        plain.body,
        plain["etag"],
        plain["last-modified"],
    )


@each("page", ["4", "0", "abc", "last", "-1", "1.0", "01", "+1", "%2B1", "1e0", "٢", "9" * 30, "1;2", "1%0A"])
@each("rest", ["", "&sort=-views", f"&{EVERYTHING}", "&limit=999"])
def test_missing_page_is_404_without_last(web: Web, page: str, rest: str) -> None:
    """This holds for files and the shim. Some clients load pages while a body has `last`."""
    response = web.ask(f"{LIST}?page={quote(page, safe='%')}{rest}")

    assert (response.status, json.loads(response.body)) == NO_PAGE


@each(
    ("limit", "length"),
    [
        ("1", 1),
        ("999", 64),
        ("1000", 64),
        ("1" + "0" * 30, 64),
        ("007", 7),
        ("abc", 25),
        ("1.5", 25),
        ("٣", 25),
        ("", 25),
    ],
)
def test_limit_is_a_number_up_to_999(web: Web, limit: str, length: int) -> None:
    """Larger numbers mean 999. Values below 1 and other texts mean 25."""
    response = json.loads(web.ask(f"{LIST}?limit={quote(limit, safe='')}").body)

    assert (response["total"], response["last"], len(response["results"])) == (64, length == 64, length)


@each(
    "query",
    [
        # Encodings of names and values.
        "titl%65=full",
        "title=full+book",
        "title=a%2Bb",
        "Title=full",
        "Sort=-title&PAGE=2",
        # Repeated and empty parameters, and such without a value.
        "title=nothing&title=full",
        "limit=2&limit=3",
        "=full",
        "&&title=full&&",
        # Text that cannot be decoded stays as it is.
        "title=%",
        "title=%ff%fe",
        "title=%ED%A0%80",
        "title=%00",
        # Orders.
        "sort=-views,title",
        "sort=updated,views",
        # Statuses and slugs.
        "status=ANY",
        "status=any,ongoing",
        "slug=Full-Book",
        "slug=tomorrow",
        # Categories.
        "categories=ACTION,drama",
        "categories=-action,action",
        "categories=+Action+,+-+drama+",
        # The Unicode blanks that JavaScript trims.
        *(f"categories={quote(blank)}action{quote(blank)}" for blank in BLANKS),
        *(f"categories=-{quote(blank)}action" for blank in BLANKS),
        *(f"sort={quote(blank)}-views" for blank in BLANKS),
        "categories=Steins%3BGate",
        "categories=100%25+why?+%23%26%2B%22%27%241%5C",
        "categories=" + "x," * 500,
        # People and titles.
        "author=%E3%83%9A%E3%83%B3",
        "author=q+%26+a,+100%25",
        "title=no.+7",
        "title=full&author=ada&artist=bo&status=hiatus&categories=slice&slug=full-book",
        "title=*",
        # Properties that every JavaScript object has.
        "__proto__=1&title=full",
        "slug=constructor",
        "categories=__proto__",
        "categories=-constructor",
        "status=constructor",
        "sort=constructor",
    ],
)
def test_query_returns_what_the_reference_returns(web: Web, expected, query: str) -> None:
    """The shim and the reference in Python agree on every encoding."""
    assert listed(web, query) == expected(query)


@each(
    ("text", "slug"),
    [
        ("ÉLAN", "ete"),
        ("straße und die strasse", "strasse"),
        ("straẞe", "strasse"),
        ("İSTANBUL", "istanbul"),
        ("i̇stanbul", "istanbul"),
        ("ıstanbul", "istanbul"),
        ("οδυσσεύς".replace("ύ", "υ"), "odysseus"),
        ("οδυσσευσ", "odysseus"),
        ("ВОЙНА И мир", "war"),
        ("ｆｕｌｌ ＷＩＤＴＨ", "fullwidth"),
        ("𐐨𐐁", "deseret"),
    ],
)
def test_unicode_case_is_folded(web: Web, text: str, slug: str) -> None:
    """Letters beyond ASCII match in any case."""
    slugs = listed(web, f"title={quote_plus(text)}").slugs

    assert slugs == [slug]


def queries(
    names: list[str], characters: str, categories: list[str], slugs: list[str]
) -> st.SearchStrategy[tuple[list[tuple[str, str]], Callable[[str], str]]]:
    """Parameters of a list, combined at random, and one of three encodings."""
    texts = st.one_of(st.sampled_from(names), st.text(max_size=3), st.text(characters, max_size=6))
    signs = st.sampled_from(["", " ", "-", "- ", " -"])
    genre = st.builds("{}{}{}".format, signs, st.sampled_from([*categories, "", "x"]), st.sampled_from(["", " "]))
    values = {
        "page": st.sampled_from(["1", "1", "1", "2", "3", "5", "0", "", "x"]),
        "limit": st.sampled_from(["1", "2", "5", "25", "64", "200", "999", "0", ""]),
        "sort": st.sampled_from([*ORDERS, "", "x", "-views,title"]),
        "status": st.sampled_from(["any", "Ongoing", "completed", "hiatus", "cancelled", "canceled", ""]),
        "slug": st.sampled_from([*slugs, "", "x"]),
        "categories": st.lists(genre, max_size=4).map(",".join),
        "title": texts,
        "author": texts,
        "artist": texts,
        "nonsense": texts,
    }
    pairs = st.sampled_from(sorted(values)).flatmap(lambda name: st.tuples(st.just(name), values[name]))
    escapes = st.sampled_from([quote, quote_plus, lambda text: "".join(f"%{byte:02X}" for byte in text.encode())])
    return st.tuples(st.lists(pairs, max_size=5), escapes)


def encoded(query: tuple[list[tuple[str, str]], Callable[[str], str]]) -> str:
    pairs, escape = query
    return "&".join(f"{name}={escape(value)}" for name, value in pairs)


TITLES = ["full", "Book", "é", "É", "ß", "SS", "ς", "Σ", "мир", "a", "AMBER", "o. 1", "%", "+", "İ", "No", "🙂"]
GENRES = ["Action", "drama", "SLICE", "slice of life", "été", "ÉTÉ", "gate", "Steins;Gate"]


@settings(max_examples=150 if runs.everything else 50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(queries(TITLES, "eé", GENRES, ["full-book", "AMBER-HARBOR"]))
def test_random_query_returns_what_the_reference_returns(web: Web, expected, query) -> None:
    assert listed(web, encoded(query)) == expected(encoded(query))


def test_filtered_list_has_the_headers_of_a_file(web: Web) -> None:
    """There is no compressed form, and therefore no Vary. test_apps.py has its conditions."""
    file, searched = web.ask(LIST).fields, web.ask(f"{LIST}?title=full&limit=5", Accept_Encoding="gzip").fields
    for headers in (file, searched):
        for name in ("etag", "content-length", "vary"):
            headers.pop(name, None)
    # The index also contains people and categories, and may be newer than the list.
    assert searched.pop("last-modified") >= file.pop("last-modified")
    assert searched == file


@each("query", ["?title=full", "?page=2", "?page=99", "?title=full&page=2"])
def test_head_of_a_list_has_the_headers_of_get(web: Web, query: str) -> None:
    """This holds for files, the shim and missing pages."""
    get, head = web.ask(LIST + query), web.ask(LIST + query, "HEAD")

    assert (head.status, head.fields, head.body) == (get.status, get.fields, b"")


def test_filter_without_matches_is_an_empty_list(web: Web) -> None:
    """The first page always exists."""
    assert web.ask(f"{LIST}?status=nonsense").body == b'{"total":0,"last":true,"results":[]}'
    assert web.ask(f"{LIST}?status=nonsense&page=2").status == 404
