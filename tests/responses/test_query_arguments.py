"""Parameters select existing bodies. Their values never become part of a path, a header or a log."""

import json
from datetime import datetime

import pytest

from generator.api.payloads import v2
from tests.conftest import AS_OF, Site
from tests.support import reference_list
from tests.support.linked_catalog import read_catalog
from tests.support.nginx_client import Answer, Web
from tests.support.tables import each

HOSTILE = {
    "traversal": "../../../../etc/passwd",
    "escaped traversal": "%2e%2e%2f%2e%2e%2fprivate",
    "another resource": "/api/v2/profile",
    "a path below": "full-book/chapters",
    "out and in": "x/../full-book",
    "out and into what is restricted": "full-book/../members-only",
    "NUL": "%00",
    "trailing NUL": "full-book%00",
    "a line": "%0d%0aX-Injected:%201%0d%0a%0d%0a",
    "a line feed": "full-book%0a",
    "a variable": "$fp_tag",
    "a pattern": "~.*",
    "the empty list": "~",
    "quotes": "%22%27`;",
    "no UTF-8": "%ff%fe",
    "half an escape": "%",
    "a comma list": ",,,",
    "the index": "index",
    "an owner": "one",
    "a keyword of nginx": "default",
    "a prototype": "__proto__",
    "a date format in capitals": "TIMESTAMP",
    "long": "x" * 3000,
    "numbers": "9" * 400,
}
FILTERS = ("page", "limit", "sort", "slug", "status", "categories", "title", "author", "artist", "nonsense")
EMPTY = (200, {"results": []})
PAGES = "/api/v2/chapters/11/pages"


@pytest.fixture(scope="module")
def catalog(asked_site: Site):
    return read_catalog(asked_site.folder / "catalog_src", AS_OF)


def status_and_body(response: Answer) -> tuple[int, object]:
    assert response["x-injected"] is None
    assert response["content-type"] == "application/json"
    return response.status, json.loads(response.body)


@each("name", FILTERS)
@each("value", HOSTILE)
def test_hostile_filter_only_filters(web: Web, catalog, name: str, value: str) -> None:
    """The response is the list of the reference, a missing page, or a 400 because of the length."""
    query = f"{name}={value}"
    status, body = status_and_body(web.ask(f"/api/v2/series?{query}"))
    page = reference_list.read(body) if status == 200 else None

    if status == 400:
        assert body == {"error": reference_list.refusal(query)}
    else:
        assert (page, None) == (reference_list.answer(catalog, query), reference_list.refusal(query))
        assert page or (status, body) == (404, {"detail": "Invalid page."})


@each("path", ["/api/v2/chapters?", "/api/v2/series/full-book/chapters?", "/api/v2/chapters?series=FULL-book&"])
@each("date_format", ["rfc-5322", "timestamp"])
def test_date_format_changes_the_publication_only(web: Web, path: str, date_format: str) -> None:
    """The last of several formats counts."""
    plain = json.loads(web.ask(path).body)["results"]
    seconds = [int(datetime.fromisoformat(chapter["published"]).timestamp()) for chapter in plain]
    dates = map(v2.DATE_FORMATS[date_format], seconds)
    expected = [chapter | {"published": date} for chapter, date in zip(plain, dates, strict=True)]

    assert json.loads(web.ask(f"{path}date_format=bad&date_format={date_format}").body)["results"] == expected


@each("value", HOSTILE)
@each("path", ["/api/v2/chapters", "/api/v2/series/full-book/chapters", "/api/v2/chapters?series=war"])
def test_unknown_date_format_is_400(web: Web, path: str, value: str) -> None:
    response = web.ask(f"{path}{'&' if '?' in path else '?'}date_format={value}")

    assert status_and_body(response) == (400, {"error": "date_format should be iso-8601, rfc-5322 or timestamp"})


@each("value", HOSTILE)
def test_unknown_series_of_chapters_is_an_empty_list(web: Web, value: str) -> None:
    """A slug is looked up in a map and never inserted into a path."""
    response = web.ask(f"/api/v2/chapters?series={value}")
    expected = web.ask("/api/v2/series/__proto__/chapters").body if value == "__proto__" else b'{"results":[]}'

    assert (status_and_body(response)[0], response.body) == (200, expected)
    if value != "__proto__":
        assert status_and_body(web.ask(f"/api/v2/chapters?series={value}&date_format=timestamp")) == EMPTY


@each("value", HOSTILE)
def test_unknown_series_of_pages_is_an_empty_list(web: Web, value: str) -> None:
    """The last of several equal parameters counts."""
    query = f"series={value}&volume=1&number=1"

    assert status_and_body(web.ask(f"/api/v2/pages?{query}")) == EMPTY
    assert status_and_body(web.ask(f"/api/v2/pages?series=full-book&{query}&track=true")) == EMPTY


@each("name", ["volume", "number"])
@each("series", ["full-book", "nobody", "in-shops", "%2F"])
@each("value", HOSTILE)
def test_volume_or_number_that_is_no_number_is_400(web: Web, series: str, name: str, value: str) -> None:
    """The error quotes the value. The series need not exist."""
    numbers = {"volume": "1", "number": "1"} | {name: value}
    response = web.ask(f"/api/v2/pages?{name}=1&series={series}&volume={numbers['volume']}&number={numbers['number']}")

    if value.isdigit():
        assert status_and_body(response) == EMPTY
    else:
        error = {"error": f"Invalid {name}: {reference_list.decoded(value)[:100]}"}
        assert status_and_body(response) == (400, error)
        assert response["cache-control"] == "no-store"
        assert response["access-control-allow-origin"] == "*"


@each(
    "query",
    [
        "",
        "?",
        "?series=full-book",
        "?volume=1&number=1",
        "?series=&volume=1&number=1",
        "?series=full-book&volume=1&Number=1",
        "?track=true",
    ],
)
def test_pages_need_series_volume_and_number(web: Web, query: str) -> None:
    """None of them may be empty."""
    response = web.ask(f"/api/v2/pages{query}")

    assert (response.status, json.loads(response.body)) == (400, {"error": "series, volume and number are required"})


@each("series", ["full-book", "FULL-Book", "full%2Dbook"])
@each(
    ("volume", "number", "exists"),
    [
        ("01", "1.0", True),
        ("0.1e1", "0.10E01", True),
        ("10e00", "1", False),
        ("0", "1", False),
        ("1", "1.00001", False),
        ("1", "1e99", False),
        ("9" * 99, "9" * 4000, False),
    ],
)
def test_pages_accept_every_spelling_of_a_number(web: Web, series: str, volume: str, number: str, exists: bool) -> None:
    """1, 01, 1.0 and 1e0 are the same number, of any length, and the case of the slug is ignored."""
    response, pages = web.ask(f"/api/v2/pages?series={series}&volume={volume}&number={number}"), web.ask(PAGES)

    assert (response.status, response.body) == (200, pages.body if exists else b'{"results":[]}')


@each(
    ("volume", "number", "error"),
    [
        ("x", "1", "Invalid volume: x"),
        ("1.5", "1", "Invalid volume: 1.5"),
        ("1", "1e0%0A", "Invalid number: 1e0\n"),
        ("+1", "1", "Invalid volume:  1"),
        ("%D9%A1", "1", "Invalid volume: \u0661"),
        ("1", "%22%5C%0A%00", 'Invalid number: "\\\n\0'),
        ("1", "x%26api_key=secret", "Invalid number: x&"),
        ("1", "x&api_key=secret", "Invalid number: x"),
    ],
)
def test_error_quotes_the_invalid_number(web: Web, volume: str, number: str, error: str) -> None:
    """The value is a JSON string, and never contains the API key."""
    response = web.ask(f"/api/v2/pages?series=nobody&volume={volume}&number={number}")

    assert status_and_body(response) == (400, {"error": error})


@each("raw", [b"\xff", b"\xc3\xa9", b"\xed\xa0\x80", b"x" * 99 + b"\xc3\xa9\xc3\xa9", b"\xff%2B"])
def test_error_quotes_raw_bytes_as_utf8(web: Web, raw: bytes) -> None:
    """The body is JSON even if the request is not UTF-8."""
    line = b"GET /api/v2/pages?series=a&number=1&volume=" + raw + b" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    head, _, body = web.raw(line).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 400")
    assert json.loads(body.decode())["error"].startswith("Invalid volume: ")


@each(
    ("allowed", "refused"),
    [
        ("&".join(["title=full"] * 64), "&".join(["title=full"] * 65)),
        ("title=" + "x" * 200, "title=" + "x" * 201),
        ("author=" + "x" * 200, "author=" + "x" * 201),
        ("artist=%C3%A9" + "x" * 194, "artist=%C3%A9" + "x" * 195),
        ("categories=" + ",".join(map(str, range(64))), "categories=" + ",".join(map(str, range(65)))),
        ("categories=" + ",-".join(map(str, range(64))), "categories=" + ",-".join(map(str, range(65)))),
        ("categories=" + "action,%2C" * 400, "categories=" + "%2c".join(map(str, range(65)))),
    ],
)
def test_query_beyond_a_limit_is_400(web: Web, catalog, allowed: str, refused: str) -> None:
    """The longest valid query returns the list. The error names the limit."""
    accepted = web.ask(f"/api/v2/series?{allowed}")
    assert reference_list.read(json.loads(accepted.body)) == reference_list.answer(catalog, allowed)
    assert reference_list.refusal(allowed) is None

    response = web.ask(f"/api/v2/series?{refused}")
    assert status_and_body(response) == (400, {"error": reference_list.refusal(refused)})
    assert response["cache-control"] == "no-store"
    # A condition and HEAD change nothing.
    assert web.ask(f"/api/v2/series?{refused}", If_None_Match="*").status == 400
    assert web.ask(f"/api/v2/series?{refused}", "HEAD").status == 400


@each(
    "path",
    [
        PAGES,
        "/api/v2/cubari/full-book",
        "/api/v2/categories",
        "/api/v1/series/full-book/1/1",
        "/api/series",
        "/",
        "/api/v2/chapters/11/read",
    ],
)
def test_route_without_parameters_ignores_queries(web: Web, path: str) -> None:
    """The bytes are the same for every query."""
    plain = web.ask(path)
    for value in HOSTILE.values():
        for query in (f"track={value}", f"{value[:999]}={value[:999]}"):
            response = web.ask(f"{path}?{query}")
            assert (response.status, response.body, response["etag"]) == (plain.status, plain.body, plain["etag"]), (
                query
            )


@each("value", HOSTILE)
@each("path", ["/api/v2/bookmarks", "/api/v2/chapters/31/pages"])
def test_malformed_key_is_401(web: Web, path: str, value: str) -> None:
    """nginx looks up the digest of a key, never the key."""
    assert status_and_body(web.ask(f"{path}?api_key={value}")) == (401, {"detail": "Invalid token."})


IN_PATHS = [
    "/api/v2/series/{}",
    "/api/v2/series/{}/chapters",
    "/api/v2/chapters/{}",
    "/api/v2/chapters/{}/pages",
    "/api/v2/chapters/{}/read",
    "/api/v2/categories/{}",
    "/api/v2/authors/{}",
    "/api/v2/cubari/{}",
]


@pytest.fixture(scope="module")
def public(asked_site: Site) -> set[bytes]:
    """The bodies that need no key."""
    bodies = asked_site.manifest.resources.values()
    return {(asked_site.folder / "dist" / body.file).read_bytes() for body in bodies if not body.restricted}


@each("path", IN_PATHS)
@each("value", HOSTILE)
def test_hostile_name_in_a_path_reaches_public_bodies_only(public: set[bytes], web: Web, path: str, value: str) -> None:
    """nginx normalizes dot segments, so the path can be that of another public resource."""
    response = web.ask(path.format(value))

    if response.status == 200:
        assert response.body in public
    else:
        assert status_and_body(response) in (
            (400, {"detail": "Bad request."}),
            (400, {"error": "Bad request", "status": 400}),
            (401, {"detail": "Authentication credentials were not provided."}),
            (404, {"detail": "Not found."}),
            (404, {"error": "Not found", "status": 404}),
        )
