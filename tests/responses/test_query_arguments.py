"""Arguments choose between answers that exist; none of them ever becomes part of a path, a header or a log."""

import json

import pytest

from tests.conftest import AS_OF, Site
from tests.support import reference_list
from tests.support.linked_catalog import read_catalog
from tests.support.nginx_client import Answer, Web

HOSTILE = {
    "traversal": "../../../../etc/passwd",
    "escaped traversal": "%2e%2e%2f%2e%2e%2fprivate",
    "half escaped traversal": "..%2f..%2fprivate/of/one/profile",
    "doubly escaped": "%252e%252e%252f",
    "another resource": "/api/v2/profile",
    "another resource below": "full-book/chapters",
    "a dot behind": "full-book/.",
    "out and in": "x/../full-book",
    "out and into what is restricted": "full-book/../members-only",
    "backslashes": "..\\..\\private",
    "escaped backslashes": "..%5C..%5Cprivate",
    "an address": "https://other.example/x",
    "an address without scheme": "//other.example/x",
    "NUL": "%00",
    "NUL behind": "full-book%00",
    "NUL and more": "full-book%00.json",
    "a line": "%0d%0aX-Injected:%201%0d%0a%0d%0a",
    "a line feed": "full-book%0a",
    "tab": "%09",
    "a variable": "$fp_tag",
    "a variable in braces": "${fp_last_modified}",
    "a pattern": "~.*",
    "anything": "*",
    "the list of nothing": "~",
    "quotes": "%22%27`;",
    "a template": "{{7*7}}",
    "markup": "<script>",
    "no UTF-8": "%ff%fe",
    "raw bytes": "\u00e9",
    "half an escape": "%",
    "a comma list": ",,,",
    "the index": "index",
    "an owner": "one",
    "a word of nginx": "default",
    "a prototype": "__proto__",
    "long": "x" * 3000,
    "long and escaped": "%2e" * 2000,
    "deep": "../" * 1500,
    "numbers": "9" * 400,
}
VALUES = [pytest.param(value, id=name) for name, value in HOSTILE.items()]
FILTERS = ("page", "limit", "sort", "slug", "status", "categories", "title", "author", "artist", "nonsense")
EMPTY = (200, {"results": []})


@pytest.fixture(scope="module")
def site(serve) -> Site:
    return serve("v2")[0]


@pytest.fixture(scope="module")
def web(serve) -> Web:
    return serve("v2")[1]


@pytest.fixture(scope="module")
def catalog(site: Site):
    return read_catalog(site.folder / "catalog_src", AS_OF)


def said(answer: Answer) -> tuple[int, object]:
    assert answer["x-injected"] is None
    assert answer["content-type"] == "application/json"
    return answer.status, json.loads(answer.body)


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("value", VALUES)
def test_a_filter_of_the_list_only_filters(web: Web, catalog, name: str, value: str) -> None:
    """Whatever it says, the answer is the list that the reference gives, no such page, or a refusal of its length."""
    query = f"{name}={value}"
    status, body = said(web.ask(f"/api/v2/series?{query}"))
    found = reference_list.read(body) if status == 200 else None

    if status == 400:
        assert body == {"error": reference_list.refusal(query)}
    else:
        assert (found, None) == (reference_list.answer(catalog, query), reference_list.refusal(query))
        assert found or (status, body) == (404, {"detail": "Invalid page."})


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(
    "path", ["/api/v2/chapters", "/api/v2/series/full-book/chapters", "/api/v2/chapters?series=war"]
)
def test_a_form_of_dates_is_known_or_refused(web: Web, path: str, value: str) -> None:
    """There are three, and no fourth can be spelt."""
    answer = web.ask(f"{path}{'&' if '?' in path else '?'}date_format={value}")

    assert said(answer) == (400, {"error": "date_format should be iso-8601, rfc-5322 or timestamp"})


@pytest.mark.parametrize("value", VALUES)
def test_a_series_of_chapters_is_known_or_has_none(web: Web, value: str) -> None:
    """A slug is looked up, never pasted."""
    answer = web.ask(f"/api/v2/chapters?series={value}")
    wanted = web.ask("/api/v2/series/__proto__/chapters").body if value == "__proto__" else b'{"results":[]}'

    assert (said(answer)[0], answer.body) == (200, wanted)
    if value != "__proto__":
        assert said(web.ask(f"/api/v2/chapters?series={value}&date_format=timestamp")) == EMPTY


@pytest.mark.parametrize("value", VALUES)
def test_pages_of_a_series_are_known_or_none(web: Web, value: str) -> None:
    """Alone and twice: of a repeated parameter the last counts."""
    query = f"series={value}&volume=1&number=1"

    assert said(web.ask(f"/api/v2/pages?{query}")) == EMPTY
    assert said(web.ask(f"/api/v2/pages?series=full-book&{query}&track=true")) == EMPTY


@pytest.mark.parametrize("name", ["volume", "number"])
@pytest.mark.parametrize("series", ["full-book", "nobody", "in-shops", "%2F"])
@pytest.mark.parametrize("value", VALUES)
def test_a_volume_or_number_of_pages_is_a_number(web: Web, series: str, name: str, value: str) -> None:
    """Anything else is a bad request that names it, whether or not there is such a series."""
    place = {"volume": "1", "number": "1"} | {name: value}
    answer = web.ask(f"/api/v2/pages?{name}=1&series={series}&volume={place['volume']}&number={place['number']}")

    if value.isdigit():
        assert said(answer) == EMPTY
    else:
        error = {"error": f"Invalid {name}: {reference_list.decoded(value)[:100]}"}
        assert said(answer) == (400, error)
        assert answer["cache-control"] == "no-store"
        assert answer["access-control-allow-origin"] == "*"


@pytest.mark.parametrize("date_format", ["ISO-8601", "TIMESTAMP", "epoch", "bad", "timestamp,iso-8601", "../x", "%00"])
@pytest.mark.parametrize("path", ["/api/v2/chapters", "/api/v2/series/full-book/chapters"])
def test_another_form_of_dates_is_a_bad_request(web: Web, path: str, date_format: str) -> None:
    """What it should have been is said."""
    answer = web.ask(f"{path}?date_format={date_format}")

    assert answer.status == 400
    assert json.loads(answer.body) == {"error": "date_format should be iso-8601, rfc-5322 or timestamp"}


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?",
        "?series=full-book",
        "?series=full-book&volume=1",
        "?volume=1&number=1",
        "?series=&volume=1&number=1",
        "?series=full-book&volume=1&number=",
        "?series=full-book&volume=1&Number=1",
        "?track=true",
    ],
)
def test_pages_by_place_need_all_of_a_place(web: Web, query: str) -> None:
    """Series, volume and number, none of them empty."""
    answer = web.ask(f"/api/v2/pages{query}")

    assert (answer.status, json.loads(answer.body)) == (400, {"error": "series, volume and number are required"})


@pytest.mark.parametrize("series", ["full-book", "FULL-Book", "full%2Dbook"])
@pytest.mark.parametrize(
    ("volume", "number"),
    [
        ("1", "1"),
        ("01", "1"),
        ("1", "01"),
        ("1", "1.0"),
        ("1", "1e0"),
        ("1.0", "1"),
        ("0.1e1", "0.10E01"),
        ("10e00", ""),
    ],
)
def test_a_number_of_pages_has_many_spellings(web: Web, series: str, volume: str, number: str) -> None:
    """1, 01, 1.0 and 1e0 are one number, and the slug has any case."""
    answer = web.ask(f"/api/v2/pages?series={series}&volume={volume}&number={number or 1}")

    pages = web.ask("/api/v2/chapters/11/pages")
    assert (answer.status, answer.body) == (200, pages.body if number else b'{"results":[]}')


@pytest.mark.parametrize(
    ("volume", "number"),
    [("0", "1"), ("2", "1"), ("1", "999"), ("1", "1.00001"), ("1", "1e99"), ("9" * 99, "9" * 4000)],
)
def test_a_number_that_no_chapter_has_finds_nothing(web: Web, volume: str, number: str) -> None:
    """A list of nothing, of any length of the number."""
    assert said(web.ask(f"/api/v2/pages?series=full-book&volume={volume}&number={number}")) == EMPTY


@pytest.mark.parametrize(
    ("volume", "number", "error"),
    [
        ("x", "1", "Invalid volume: x"),
        ("x", "y", "Invalid volume: x"),
        ("1.5", "1", "Invalid volume: 1.5"),
        ("1e-0", "1", "Invalid volume: 1e-0"),
        ("-1", "1", "Invalid volume: -1"),
        ("1%0A", "1", "Invalid volume: 1\n"),
        ("1", "1e0%0A", "Invalid number: 1e0\n"),
        ("%2B1", "1", "Invalid volume: +1"),
        ("+1", "1", "Invalid volume:  1"),
        ("1", "1%20", "Invalid number: 1 "),
        ("1", "1.", "Invalid number: 1."),
        ("1", ".1", "Invalid number: .1"),
        ("1", "1e100", "Invalid number: 1e100"),
        ("null", "1", "Invalid volume: null"),
        ("1", "0x1", "Invalid number: 0x1"),
        ("%D9%A1", "1", "Invalid volume: \u0661"),
        ("1", "1,", "Invalid number: 1,"),
        ("1", "%22%5C%0A%00", 'Invalid number: "\\\n\0'),
        ("1", "x%26api_key=secret", "Invalid number: x&"),
        ("1", "x&api_key=secret", "Invalid number: x"),
    ],
)
def test_an_invalid_number_of_pages_is_named(web: Web, volume: str, number: str, error: str) -> None:
    """The value is quoted as JSON, and no key with it."""
    answer = web.ask(f"/api/v2/pages?series=nobody&volume={volume}&number={number}")

    assert said(answer) == (400, {"error": error})


@pytest.mark.parametrize("raw", [b"\xff", b"\xc3\xa9", b"\xed\xa0\x80", b"x" * 99 + b"\xc3\xa9\xc3\xa9", b"\xff%2B"])
def test_an_invalid_number_in_raw_bytes_is_named_in_utf8(web: Web, raw: bytes) -> None:
    """Bytes that no client should send are no reason for a body that is not JSON."""
    line = b"GET /api/v2/pages?series=a&number=1&volume=" + raw + b" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    head, _, body = web.raw(line).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 400")
    assert json.loads(body.decode())["error"].startswith("Invalid volume: ")


@pytest.mark.parametrize(
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
def test_the_bounds_of_a_list_hold(web: Web, catalog, allowed: str, refused: str) -> None:
    """The last query within each bound is answered; one more of anything is a 400 that says the bound."""
    answered = web.ask(f"/api/v2/series?{allowed}")
    assert reference_list.read(json.loads(answered.body)) == reference_list.answer(catalog, allowed)
    assert reference_list.refusal(allowed) is None

    answer = web.ask(f"/api/v2/series?{refused}")
    assert said(answer) == (400, {"error": reference_list.refusal(refused)})
    assert answer["cache-control"] == "no-store"
    # A condition does not make it fresh, and HEAD says the same.
    assert web.ask(f"/api/v2/series?{refused}", If_None_Match="*").status == 400
    assert web.ask(f"/api/v2/series?{refused}", "HEAD").status == 400


@pytest.mark.parametrize(
    "path",
    [
        "/api/v2/chapters/11/pages",
        "/api/v2/chapters/11",
        "/api/v2/cubari/full-book",
        "/api/v2/series/full-book",
        "/api/v2/categories",
        "/api/v2/authors/1",
        "/api/v1/series/full-book/1/1",
        "/api/series",
        "/api/v2/chapters/11/read",
    ],
)
def test_a_path_without_parameters_ignores_them_all(web: Web, path: str) -> None:
    """The same bytes whatever stands behind the question mark."""
    plain = web.ask(path)
    for value in HOSTILE.values():
        for query in (f"track={value}", f"{value[:999]}={value[:999]}"):
            answer = web.ask(f"{path}?{query}")
            assert (answer.status, answer.body, answer["etag"]) == (plain.status, plain.body, plain["etag"]), query


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("path", ["/api/v2/bookmarks", "/api/v2/chapters/31/pages"])
def test_a_key_of_any_text_is_only_a_wrong_key(web: Web, path: str, value: str) -> None:
    """Its digest is looked up, never itself."""
    assert said(web.ask(f"{path}?api_key={value}")) == (401, {"detail": "Invalid token."})


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


@pytest.mark.parametrize("path", IN_PATHS)
@pytest.mark.parametrize("value", VALUES)
def test_a_name_in_a_path_is_known_or_not_found(site: Site, web: Web, path: str, value: str) -> None:
    """nginx folds dots, and then it is the address of something else that is public, or of nothing."""
    answer = web.ask(path.format(value))

    if answer.status == 200:
        known = {
            (site.folder / "dist" / one.file).read_bytes()
            for one in site.manifest.resources.values()
            if not one.restricted
        }
        assert answer.body in known
    else:
        assert said(answer) in (
            (400, {"detail": "Bad request."}),
            (400, {"error": "Bad request", "status": 400}),
            (401, {"detail": "Authentication credentials were not provided."}),
            (404, {"detail": "Not found."}),
            (404, {"error": "Not found", "status": 404}),
        )


@pytest.mark.parametrize(
    "path", ["/api/v2/series?title=", "/api/v2/pages?series=", "/api/v2/series/", "/api/v2/bookmarks?api_key="]
)
def test_a_hundred_kilobytes_are_too_long(web: Web, path: str) -> None:
    """A 414 as JSON, before anything looks at it."""
    answer = web.ask(path + "x" * 100_000)

    assert said(answer) == (414, {"detail": "URI too long."})


@pytest.mark.parametrize("value", [b"a b", b"a\x00b", b"a\x01b", b"a\x7fb", b"a\rb", b"a\tb"])
@pytest.mark.parametrize("path", [b"/api/v2/series?title=", b"/api/v2/pages?series=", b"/api/v2/series/"])
def test_what_no_request_line_may_hold_is_a_bad_request(web: Web, path: bytes, value: bytes) -> None:
    """Control characters and blanks that are not escaped never reach a map."""
    answer = web.raw(b"GET " + path + value + b" HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")

    assert answer.split(b" ")[1] == b"400"
    assert b"\r\nContent-Type: application/json\r\n" in answer
    assert b"results" not in answer


def test_no_argument_was_worth_a_line_in_the_error_log(web: Web) -> None:
    """Names that are too long for a file, say, must not be tried."""
    for value in HOSTILE.values():
        for path in (*IN_PATHS, "/api/v2/series?title={}&limit={}", "/api/v2/chapters?series={}"):
            web.ask(path.replace("{}", value))

    assert [line for line in web.errors().splitlines() if "[notice]" not in line] == []
