"""If-Match and If-Unmodified-Since, which can return 412, and the second request that nginx sends when they hold."""

import pytest

from tests.responses.test_conditional_requests import ETAG, MODIFIED, OTHER, SITE, URL
from tests.support.api_errors import BODIES, assert_error
from tests.support.golden import bodies, sidecar
from tests.support.nginx_client import Web, parse
from tests.support.tables import each

# A resource with a compressed form.
LARGE = "/api/v1/series/long-road"
EARLIER, LATER = "Tue, 10 Feb 2026 13:45:26 GMT", "Tue, 10 Feb 2026 13:45:28 GMT"


@each("method", ["GET", "HEAD"])
@each(
    "value",
    {
        "lone": ETAG,
        "star": "*",
        "last in a list": f"{OTHER}, {ETAG}",
        "first in a list": f"{ETAG},{OTHER}",
        "between others": f',, "a,b" , {ETAG}, W/{OTHER}',
        "weak and strong": f"W/{ETAG}, {ETAG}",
    },
)
def test_matching_strong_etag_is_200(web: Web, method: str, value: str) -> None:
    """The condition holds, and the response is the usual one."""
    response = web.ask(URL, method, If_Match=value)

    assert (response.status, response["etag"]) == (200, ETAG)
    assert response.body == (b"" if method == "HEAD" else bodies(SITE)[URL])


@each("method", ["GET", "HEAD"])
@each(
    "value",
    {
        "other": OTHER,
        "weak": f"W/{ETAG}",
        "between two other ETags": f'"a,{ETAG},b"',
        "without quotes": ETAG.strip('"'),
        "garbage": "garbage",
        "star in a list": '*, "a"',
        "text after the ETag": f"{ETAG}x",
        "no comma": f"{OTHER} {ETAG}",
        "an ETag that looks like a status": '"304"',
        "8 kB": '"",' * 2600,
    },
)
def test_etag_that_does_not_match_strongly_is_412(web: Web, method: str, value: str) -> None:
    """A weak or malformed ETag never matches."""
    assert web.ask(URL, method, If_Match=value).status == 412


def test_412_has_json_body_and_all_headers(web: Web) -> None:
    """It contains nothing of the resource, and caches may not keep it."""
    assert_error(web.ask(URL, If_Match=OTHER), 412)


@each("method", ["GET", "HEAD"])
@each(
    ("date", "status"),
    [
        (MODIFIED, 200),
        (LATER, 200),
        (EARLIER, 412),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 412),
        ("Tuesday, 10-Feb-26 13:45:27 GMT", 200),
        ("Tuesday, 10-Feb-26 13:45:26 GMT", 412),
        ("Tue Feb 10 13:45:27 2026", 200),
        ("Tue Feb 10 13:45:26 2026", 412),
        # Invalid dates are ignored.
        ("garbage", 200),
        ("Sat, 29 Feb 2025 00:00:00 GMT", 200),
        (ETAG, 200),
    ],
)
def test_earlier_date_is_412(web: Web, method: str, date: str, status: int) -> None:
    """If-Unmodified-Since may have any of the three HTTP date formats. Other values are ignored."""
    assert web.ask(URL, method, If_Unmodified_Since=date).status == status


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
@each(
    ("match", "unmodified", "none", "modified", "status"),
    [
        # If-Match takes precedence over If-Unmodified-Since.
        (ETAG, EARLIER, None, None, 200),
        ("*", EARLIER, None, None, 200),
        (OTHER, LATER, None, None, 412),
        ("", EARLIER, None, None, 412),
        # Then If-None-Match.
        (ETAG, None, ETAG, None, 304),
        (ETAG, None, OTHER, None, 200),
        (ETAG, None, "*", None, 304),
        ("*", None, f"W/{ETAG}", None, 304),
        (OTHER, None, ETAG, None, 412),
        (f"W/{ETAG}", None, ETAG, None, 412),
        (None, EARLIER, ETAG, None, 412),
        (None, LATER, ETAG, None, 304),
        (None, LATER, OTHER, None, 200),
        (None, "garbage", ETAG, None, 304),
        # Then If-Modified-Since, if If-None-Match is absent.
        (ETAG, None, None, MODIFIED, 304),
        (ETAG, None, None, EARLIER, 200),
        (OTHER, None, None, MODIFIED, 412),
        (None, MODIFIED, None, MODIFIED, 304),
        (None, LATER, None, EARLIER, 200),
        (None, EARLIER, None, LATER, 412),
        (None, "garbage", None, MODIFIED, 304),
        (None, "garbage", None, "garbage", 200),
        # All four.
        (ETAG, EARLIER, ETAG, EARLIER, 304),
        (ETAG, EARLIER, OTHER, LATER, 200),
        (OTHER, LATER, ETAG, LATER, 412),
    ],
)
def test_conditions_are_evaluated_in_order(
    web: Web, method: str, match: str, unmodified: str, none: str, modified: str, status: int
) -> None:
    """The order is that of RFC 9110, section 13.2.2."""
    headers = {
        "If-Match": match,
        "If-Unmodified-Since": unmodified,
        "If-None-Match": none,
        "If-Modified-Since": modified,
    }

    assert (
        web.ask(URL, method, **{name: value for name, value in headers.items() if value is not None}).status == status
    )


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


def test_weak_etag_is_412_with_gzip_too(web: Web) -> None:
    """The ETag of the compressed body never matches strongly."""
    response = web.ask(LARGE, Accept_Encoding="gzip", If_Match=f"W/{sidecar(SITE, LARGE)['etag']}")

    assert (response.status, response.body) == (412, BODIES[412])


@each("query", ["", "?", "?a=b&c", "?%2F%00%zz", "?q='\"<>{}|\\^`", "?x=$host;#f", "?\xe9", "??//.."])
@each("path", [URL, f"{URL}/", f"/{URL}", f"/api/./x/..{URL.removeprefix('/api')}", URL.replace("s", "%73")])
def test_second_request_has_the_same_path_and_query(web: Web, path: str, query: str) -> None:
    """nginx sends unusual paths and queries to itself unchanged."""
    response = web.ask(path + query, If_Match=ETAG)

    assert (response.status, response["etag"], response.body) == (200, ETAG, bodies(SITE)[URL])


@each("target", ["http://other.example", "http://other.example:1", "HTTP://other.example"])
@each("path", [URL, f"{URL}?a=http://b/"])
def test_second_request_goes_to_the_same_server(web: Web, target: str, path: str) -> None:
    """The host of an absolute request target is ignored."""
    response = web.ask(target + path, If_Match=ETAG)

    assert (response.status, response.body) == (200, bodies(SITE)[URL])


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
