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
@each("unmodified", [None, LATER, "garbage", EARLIER])
@each("none", [None, "", "*", OTHER])
@each("modified", [None, "garbage", EARLIER, MODIFIED])
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
    if match == OTHER or (match is None and unmodified == EARLIER):
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
