"""Conditions of requests, evaluated by nginx as RFC 9110, section 13 requires."""

from email.utils import parsedate_to_datetime

import pytest

from generator.encoding import http_date
from tests.conftest import Site, serving
from tests.support.api_errors import BODIES, assert_error
from tests.support.golden import bodies, sidecar
from tests.support.nginx_client import Web, parse
from tests.support.tables import each

SITE = "everything"
URL = "/api/series/long-road/2/10.5"
# 10 Feb 2026, 13:45:27: all parts differ.
MODIFIED = sidecar(SITE, URL)["last-modified"]
ETAG = sidecar(SITE, URL)["etag"]
# A resource with a compressed form.
LARGE = "/api/v1/series/long-road"
OTHER = '"00000000000000000000000000000000"'
FUTURE = 3_000_000_000  # the year 2065


@each("method", ["GET", "HEAD"])
@each(
    ("value", "none_match", "match"),
    {
        "lone": (ETAG, 304, 200),
        "weak": (f"W/{ETAG}", 304, 412),
        "last in a list": (f"{OTHER}, {ETAG}", 304, 200),
        "first in a list, without blanks": (f"{ETAG},{OTHER}", 304, 200),
        "weak in a list": (f'"a", W/{ETAG}, "b"', 304, 412),
        "weak and strong": (f"W/{ETAG}, {ETAG}", 304, 200),
        "many blanks": (f"  {OTHER}  ,   {ETAG}  ", 304, 200),
        "empty elements": (f",, ,{ETAG},,", 304, 200),
        "between commas inside ETags": (f'W/"a, b, ", {ETAG}, "c,"', 304, 200),
        "after ETags that look like prefixes": (f'"/", "W/", {ETAG}', 304, 200),
        "after an ETag beyond ASCII": (f'"\xfc\xff", {ETAG}', 304, 200),
        "star": ("*", 304, 200),
        "star with blanks": ("  * ", 304, 200),
        "other": (OTHER, 200, 412),
        "without quotes": (ETAG.strip('"'), 200, 412),
        "never opened": (ETAG[1:], 200, 412),
        "capitals": (ETAG.upper(), 200, 412),
        "small w": (f"w/{ETAG}", 200, 412),
        "a blank behind the prefix": (f"W/ {ETAG}", 200, 412),
        "text after the ETag": (f"{ETAG}x", 200, 412),
        "text before the ETag": (f"x{ETAG}", 200, 412),
        "no comma": (f"{OTHER} {ETAG}", 200, 412),
        "inside another ETag": (f'"a, {ETAG[1:-1]}, b"', 200, 412),
        "between two other ETags": (f'"a,{ETAG},b"', 200, 412),
        "after a quote that is never closed": ('"' * 7901 + f", {ETAG}", 200, 412),
        "star in a list": ('*, "a"', 200, 412),
        "an ETag that looks like a status": ('"304"', 200, 412),
        "only a comma": (",", 200, 412),
        "no UTF-8": ("\xff\xfe", 200, 412),
    },
)
def test_lists_of_etags(web: Web, method: str, value: str, none_match: int, match: int) -> None:
    """If-None-Match compares weakly, If-Match strongly. A star matches every resource, a malformed ETag nothing."""
    fresh, matched = web.ask(URL, method, If_None_Match=value), web.ask(URL, method, If_Match=value)

    assert (fresh.status, matched.status) == (none_match, match)
    if match == 200:
        assert (matched["etag"], matched.body) == (ETAG, b"" if method == "HEAD" else bodies(SITE)[URL])


def test_default_etag_of_nginx_does_not_match(web: Web) -> None:
    """It consists of the file's time and size, which differ between copies of a site."""
    size = len(bodies(SITE)[URL])
    seconds = int(parsedate_to_datetime(MODIFIED).timestamp())
    etag = f'"{seconds:x}-{size:x}"'

    assert [web.ask(URL, If_None_Match=etag).status, web.ask(URL, If_Match=etag).status] == [200, 412]


LONG_LISTS = {
    "ETags": ", ".join(f'"{number:032x}"' for number in range(220)),
    "quotes": '"' * 7900,
    "blanks and commas": ", " * 3950,
    "empty ETags": '"",' * 2600,
    "one ETag": f'"{"a" * 7900}"',
    "almost the ETag": f'"{ETAG[1:-2]}",' * 225,
}


@each("text", LONG_LISTS.values())
def test_etag_at_the_end_of_a_long_list_matches(web: Web, text: str) -> None:
    """The list has 8 kB."""
    assert web.ask(URL, If_None_Match=text).status == 200
    assert web.ask(URL, If_None_Match=f"{text}, {ETAG}").status == 304


EQUAL_OR_LATER, EARLIER, IGNORED = (304, 200), (200, 412), (200, 200)


@each("method", ["GET", "HEAD"])
@each(
    ("date", "statuses"),
    [
        (MODIFIED, EQUAL_OR_LATER),
        ("Tue, 10 Feb 2026 13:45:28 GMT", EQUAL_OR_LATER),
        ("Tue, 10 Feb 2026 13:45:26 GMT", EARLIER),
        # One part is earlier and another one later.
        ("Wed, 11 Feb 2026 00:00:00 GMT", EQUAL_OR_LATER),
        ("Mon, 09 Feb 2026 23:59:59 GMT", EARLIER),
        ("Fri, 01 Jan 2027 00:00:00 GMT", EQUAL_OR_LATER),
        ("Wed, 31 Dec 2025 23:59:59 GMT", EARLIER),
        ("Thu, 01 Jan 1970 00:00:00 GMT", EARLIER),
        # RFC 850: years below 70 are in the 21st century.
        ("Tuesday, 10-Feb-26 13:45:27 GMT", EQUAL_OR_LATER),
        ("Tuesday, 31-Dec-69 23:59:59 GMT", EQUAL_OR_LATER),
        ("Thursday, 01-Jan-70 00:00:00 GMT", EARLIER),
        # asctime.
        ("Tue Feb 10 13:45:27 2026", EQUAL_OR_LATER),
        ("Tue Feb 10 13:45:26 2026", EARLIER),
        # Other values are ignored.
        ("garbage", IGNORED),
        ("Sat, 29 Feb 2025 00:00:00 GMT", IGNORED),
        (f"{MODIFIED}, {MODIFIED}", IGNORED),
        (ETAG, IGNORED),
        ("9" * 7900, IGNORED),
    ],
)
def test_dates(web: Web, method: str, date: str, statuses: tuple[int, int]) -> None:
    """By If-Modified-Since and If-Unmodified-Since; tests/nginx/test_date_patterns.py has all forms of dates."""
    since = web.ask(URL, method, If_Modified_Since=date).status, web.ask(URL, method, If_Unmodified_Since=date).status

    assert since == statuses


@each("method", ["GET", "HEAD"])
@each(
    "condition",
    [
        {"If-None-Match": "*"},
        {"If-Match": "*"},
        {"If-Modified-Since": "Fri, 31 Dec 9999 23:59:59 GMT"},
        {"If-Unmodified-Since": "Thu, 01 Jan 1970 00:00:00 GMT"},
    ],
)
@each(("path", "status"), [("/api/nothing", 404), ("/api/v1/groups/999", 404), ("/api/authors/abc", 400)])
def test_conditions_are_evaluated_last(
    web: Web, path: str, status: int, condition: dict[str, str], method: str
) -> None:
    """test_letter_case.py has paths that differ in case only."""
    assert web.ask(path, method, **condition).status == status


def test_a_change_is_sent_to_clients_with_a_date_of_the_future(site: Site) -> None:
    """One build ran with a wrong clock, and the next one changed a body: no date is later than the response, and a date
    of the former body is no match.
    """
    site.write("series/first.yaml", "title: First\ncover: c.png\nmodified: 2090-01-01\n")
    site.build(FUTURE)
    former = http_date(site.manifest.resources["/api/series/first"].modified)
    site.write("series/first.yaml", "title: Changed\ncover: c.png\nmodified: 2090-01-01\n")
    with serving(site) as web:
        for url in ("/api/series/first", "/api/v1/series/first", "/api/series/second"):
            answer = web.ask(url, If_Modified_Since=former)
            sent = dict(answer.headers)
            modified = parsedate_to_datetime(sent.get("last-modified", sent["date"]))
            assert modified <= parsedate_to_datetime(sent["date"])
            assert answer.status == (304 if "second" in url else 200), url
            assert web.ask(url, If_None_Match=sent["etag"]).status == 304


# The order of conditions, and the second request that nginx sends if a strong one holds

EARLIER_DATE, LATER_DATE = "Tue, 10 Feb 2026 13:45:26 GMT", "Tue, 10 Feb 2026 13:45:28 GMT"


def test_412_has_json_body_and_all_headers(web: Web) -> None:
    """It contains nothing of the resource, and caches may not keep it."""
    assert_error(web.ask(URL, If_Match=OTHER), 412)


@pytest.mark.xfail(
    reason="nginx evaluates an empty header itself, and its variables do not distinguish it from an absent one"
)
def test_empty_if_unmodified_since_is_ignored(web: Web) -> None:
    """An empty header is no condition."""
    assert web.ask(URL, If_Unmodified_Since="").status == 200


def test_empty_if_match_is_412(web: Web) -> None:
    """An empty list contains no matching ETag."""
    assert web.ask(URL, If_Match="").body == BODIES[412]


@each("method", ["GET", "HEAD"])
@each("match", [None, ETAG, "*", OTHER])
@each("unmodified", [None, LATER_DATE, "garbage", EARLIER_DATE])
@each("none", [None, "", "*", OTHER])
@each("modified", [None, "garbage", EARLIER_DATE, MODIFIED])
def test_conditions_are_evaluated_in_order(
    web: Web, method: str, match: str | None, unmodified: str | None, none: str | None, modified: str | None
) -> None:
    """The order is that of RFC 9110, section 13.2.2. Dates count only if the header with ETags is absent or empty."""
    headers = {
        "If-Match": match,
        "If-Unmodified-Since": unmodified,
        "If-None-Match": none,
        "If-Modified-Since": modified,
    }
    sent = {name: value for name, value in headers.items() if value is not None}
    expected = 200
    if match == OTHER or (match is None and unmodified == EARLIER_DATE):
        expected = 412
    elif none == "*" or (not none and modified == MODIFIED):
        expected = 304

    assert web.ask(URL, method, **sent).status == expected


@each("method", ["GET", "HEAD"])
@each("condition", ["If-Match", "If-Unmodified-Since"])
def test_strong_condition_returns_the_uncompressed_body(web: Web, method: str, condition: str) -> None:
    """The ETag of the compressed body is weak, so gzip is ignored."""
    etag, date = sidecar(SITE, LARGE)["etag"], sidecar(SITE, LARGE)["last-modified"]
    value = {"If-Match": etag, "If-Unmodified-Since": date}[condition]
    response = web.ask(LARGE, method, Accept_Encoding="gzip", **{condition: value})

    assert (response.status, response["etag"], response["content-encoding"], response["vary"]) == (
        200,
        etag,
        None,
        "Accept-Encoding",
    )
    assert response.body == (b"" if method == "HEAD" else bodies(SITE)[LARGE])


@each("query", ["", "?", "?a=b&c", "?%2F%00%zz", "?q='\"<>{}|\\^`", "?x=$host;#f", "?\xe9", "??//.."])
@each(
    "path",
    [
        *(URL, f"{URL}/", f"/{URL}", f"/api/./x/..{URL.removeprefix('/api')}", URL.replace("s", "%73")),
        *(f"http://other.example{URL}", f"HTTP://other.example:1{URL}"),
    ],
)
def test_second_request_has_the_same_path_and_query(web: Web, path: str, query: str) -> None:
    """nginx sends unusual paths and queries to itself unchanged. The host of an absolute request target is ignored."""
    response = web.ask(path + query, If_Match=ETAG)

    assert (response.status, response["etag"], response.body) == (200, ETAG, bodies(SITE)[URL])


@each("target", ["http://other.example", "http://other.example/", "http://other.example?a=b"])
def test_absolute_url_without_path_is_the_index(web: Web, target: str) -> None:
    """This holds with and without a condition."""
    responses = [web.ask(target), web.ask(target, If_Match="*")]

    assert [(response.status, response.body) for response in responses] == [(200, bodies(SITE)["/index.json"])] * 2


@each("headers", ["", "Host: a\r\n", "Host: a.example:1\r\n", "Connection: close\r\n"])
def test_second_request_works_without_host(web: Web, headers: str) -> None:
    """HTTP/1.0 requests need no Host header."""
    response = parse(web.raw(f"GET {URL} HTTP/1.0\r\n{headers}If-Match: {ETAG}\r\n\r\n".encode()))

    assert (response.status, response["etag"], response.body) == (200, ETAG, bodies(SITE)[URL])


@each("method", ["POST", "OPTIONS", "DELETE"])
def test_method_is_checked_before_conditions(web: Web, method: str) -> None:
    """Conditions apply only to GET and HEAD."""
    assert web.ask(URL, method, If_Match=OTHER).status == {"OPTIONS": 204}.get(method, 405)
