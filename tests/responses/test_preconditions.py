"""If-Match and If-Unmodified-Since, which answer 412, and the second request that nginx makes when they hold."""

import pytest

from tests.conftest import Serve
from tests.responses.test_conditional_requests import MODIFIED, OTHER, SITE, TAG, URL
from tests.responses.test_golden import bodies, sidecar
from tests.support.nginx_client import Web, parse

# A resource with a gzip form.
LARGE = "/api/v1/series/long-road"
EARLIER, LATER = "Tue, 10 Feb 2026 13:45:26 GMT", "Tue, 10 Feb 2026 13:45:28 GMT"
FAILED = b'{"error":"Precondition failed","status":412}'


@pytest.fixture
def web(serve: Serve) -> Web:
    return serve(SITE)[1]


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    "value",
    [
        pytest.param(TAG, id="lone"),
        pytest.param("*", id="star"),
        pytest.param(f"{OTHER}, {TAG}", id="last in a list"),
        pytest.param(f"{TAG},{OTHER}", id="first in a list"),
        pytest.param(f',, "a,b" , {TAG}, W/{OTHER}', id="between others"),
        pytest.param(f"W/{TAG}, {TAG}", id="weak and strong"),
    ],
)
def test_a_strong_tag_that_matches_is_a_200(web: Web, method: str, value: str) -> None:
    """The condition holds, and the answer is the usual one."""
    answer = web.ask(URL, method, If_Match=value)

    assert (answer.status, answer["etag"]) == (200, TAG)
    assert answer.body == (b"" if method == "HEAD" else bodies(SITE)[URL])


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    "value",
    [
        pytest.param(OTHER, id="other"),
        pytest.param(f"W/{TAG}", id="weak"),
        pytest.param(f"W/{TAG}, {OTHER}", id="weak in a list"),
        pytest.param(f'"a, {TAG[1:-1]}"', id="inside another tag"),
        pytest.param(f'"a,{TAG},b"', id="between two other tags"),
        pytest.param(TAG.strip('"'), id="without quotes"),
        pytest.param(TAG.upper(), id="capitals"),
        pytest.param("garbage", id="garbage"),
        pytest.param("**", id="two stars"),
        pytest.param('*, "a"', id="star in a list"),
        pytest.param(f"{TAG}x", id="text behind the tag"),
        pytest.param(f"x{TAG}", id="text before the tag"),
        pytest.param(f"{OTHER} {TAG}", id="no comma"),
        pytest.param('"304"', id="a tag that looks like a verdict"),
        pytest.param(",", id="only a comma"),
        pytest.param('"', id="half a tag"),
        pytest.param('"",' * 2600, id="8 kB"),
    ],
)
def test_no_strong_tag_that_matches_is_a_412(web: Web, method: str, value: str) -> None:
    """Strong comparison: a weak tag never matches, and what is no tag neither."""
    assert web.ask(URL, method, If_Match=value).status == 412


def test_a_412_is_an_error_like_any_other(web: Web) -> None:
    """Our JSON, our headers, nothing of the resource, and nothing that a cache may keep."""
    answer = web.ask(URL, If_Match=OTHER)

    assert answer.body == FAILED
    assert answer.fields == {
        "server": "nginx",
        "connection": "close",
        "content-type": "application/json",
        "content-length": str(len(FAILED)),
        "cache-control": "no-store",
        "x-frame-options": "SAMEORIGIN",
        "x-content-type-options": "nosniff",
        "access-control-allow-origin": "*",
        "access-control-expose-headers": "ETag",
    }


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    ("date", "status"),
    [
        (MODIFIED, 200),
        (LATER, 200),
        (EARLIER, 412),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 200),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 412),
        ("Tuesday, 10-Feb-26 13:45:27 GMT", 200),
        ("Tuesday, 10-Feb-26 13:45:26 GMT", 412),
        ("Friday, 31-Dec-99 23:59:59 GMT", 412),
        ("Tue Feb 10 13:45:27 2026", 200),
        ("Tue Feb 10 13:45:26 2026", 412),
        ("Sun Feb  1 00:00:00 2026", 412),
        # What is no date is ignored.
        ("garbage", 200),
        ("0", 200),
        ("Wed, 31 Apr 2025 00:00:00 GMT", 200),
        ("Sat, 29 Feb 2025 00:00:00 GMT", 200),
        ("Tue, 01 Apr 2025 25:61:61 GMT", 200),
        ("tue, 01 apr 2025 00:00:00 gmt", 200),
        (f"{EARLIER}, {EARLIER}", 200),
        ("2025-04-01T00:00:00Z", 200),
        ("*", 200),
        (TAG, 200),
    ],
)
def test_a_date_that_is_earlier_is_a_412(web: Web, method: str, date: str, status: int) -> None:
    """If-Unmodified-Since in any of the three forms, and ignored in any other."""
    assert web.ask(URL, method, If_Unmodified_Since=date).status == status


@pytest.mark.xfail(reason="nginx obeys an empty field itself, and no variable of it tells one from an absent field")
def test_an_empty_date_is_ignored(web: Web) -> None:
    """A field without a value holds no date, and so no condition."""
    assert web.ask(URL, If_Unmodified_Since="").status == 200


def test_an_empty_list_of_tags_holds_none_that_matches(web: Web) -> None:
    """If-Match without a tag asks for one of no tags at all."""
    assert web.ask(URL, If_Match="").body == FAILED


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    ("match", "unmodified", "none", "modified", "status"),
    [
        # If-Match first, and If-Unmodified-Since only in its absence.
        (TAG, EARLIER, None, None, 200),
        ("*", EARLIER, None, None, 200),
        (OTHER, LATER, None, None, 412),
        ("", EARLIER, None, None, 412),
        # Then If-None-Match.
        (TAG, None, TAG, None, 304),
        (TAG, None, OTHER, None, 200),
        (TAG, None, "*", None, 304),
        ("*", None, f"W/{TAG}", None, 304),
        (OTHER, None, TAG, None, 412),
        (f"W/{TAG}", None, TAG, None, 412),
        (None, EARLIER, TAG, None, 412),
        (None, LATER, TAG, None, 304),
        (None, LATER, OTHER, None, 200),
        (None, "garbage", TAG, None, 304),
        # Then, in the absence of that, If-Modified-Since.
        (TAG, None, None, MODIFIED, 304),
        (TAG, None, None, EARLIER, 200),
        (OTHER, None, None, MODIFIED, 412),
        (None, MODIFIED, None, MODIFIED, 304),
        (None, LATER, None, EARLIER, 200),
        (None, EARLIER, None, LATER, 412),
        (None, "garbage", None, MODIFIED, 304),
        (None, "garbage", None, "garbage", 200),
        # All four.
        (TAG, EARLIER, TAG, EARLIER, 304),
        (TAG, EARLIER, OTHER, LATER, 200),
        (OTHER, LATER, TAG, LATER, 412),
    ],
)
def test_conditions_are_judged_in_their_order(
    web: Web, method: str, match: str, unmodified: str, none: str, modified: str, status: int
) -> None:
    """The order of RFC 9110 section 13.2.2, for every pair of them."""
    headers = {
        "If-Match": match,
        "If-Unmodified-Since": unmodified,
        "If-None-Match": none,
        "If-Modified-Since": modified,
    }

    assert (
        web.ask(URL, method, **{name: value for name, value in headers.items() if value is not None}).status == status
    )


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("condition", ["If-Match", "If-Unmodified-Since"])
def test_a_strong_condition_gets_the_strong_form(web: Web, method: str, condition: str) -> None:
    """Who asks for these very bytes gets them as they are, also when gzip would do."""
    tag, date = sidecar(SITE, LARGE)["etag"], sidecar(SITE, LARGE)["last-modified"]
    value = {"If-Match": tag, "If-Unmodified-Since": date}[condition]
    answer = web.ask(LARGE, method, Accept_Encoding="gzip", **{condition: value})

    assert (answer.status, answer["etag"], answer["content-encoding"], answer["vary"]) == (
        200,
        tag,
        None,
        "Accept-Encoding",
    )
    assert answer.body == (b"" if method == "HEAD" else bodies(SITE)[LARGE])


def test_a_weak_tag_fails_for_who_takes_gzip_too(web: Web) -> None:
    """The tag of the gzip form is weak, and so good for nothing here."""
    answer = web.ask(LARGE, Accept_Encoding="gzip", If_Match=f"W/{sidecar(SITE, LARGE)['etag']}")

    assert (answer.status, answer.body) == (412, FAILED)


@pytest.mark.parametrize(
    "query", ["", "?", "?a=b&c", "?%2F%00%zz", "?q='\"<>{}|\\^`", "?x=$host;#f", "?\xe9", "??//.."]
)
@pytest.mark.parametrize(
    "path", [URL, f"{URL}/", f"/{URL}", f"/api/./x/..{URL.removeprefix('/api')}", URL.replace("s", "%73")]
)
def test_the_second_request_is_for_the_same_resource(web: Web, path: str, query: str) -> None:
    """However odd the path and the query string are, they mean the same when nginx asks itself."""
    answer = web.ask(path + query, If_Match=TAG)

    assert (answer.status, answer["etag"], answer.body) == (200, TAG, bodies(SITE)[URL])


@pytest.mark.parametrize("target", ["http://other.example", "http://other.example:1", "HTTP://other.example"])
@pytest.mark.parametrize("path", [URL, f"{URL}?a=http://b/"])
def test_the_second_request_stays_on_this_server(web: Web, target: str, path: str) -> None:
    """A request line with a whole address changes nothing of where the answer comes from."""
    answer = web.ask(target + path, If_Match=TAG)

    assert (answer.status, answer.body) == (200, bodies(SITE)[URL])


@pytest.mark.parametrize("target", ["http://other.example", "http://other.example/", "http://other.example?a=b"])
def test_an_address_without_a_path_is_the_index(web: Web, target: str) -> None:
    """With and without a condition that holds."""
    found = [web.ask(target), web.ask(target, If_Match="*")]

    assert [(one.status, one.body) for one in found] == [(200, bodies(SITE)["/"])] * 2


@pytest.mark.parametrize("headers", ["", "Host: a\r\n", "Host: a.example:1\r\n", "Connection: close\r\n"])
def test_the_second_request_needs_no_host(web: Web, headers: str) -> None:
    """HTTP/1.0 knows no Host, and a condition that holds is answered all the same."""
    answer = parse(web.raw(f"GET {URL} HTTP/1.0\r\n{headers}If-Match: {TAG}\r\n\r\n".encode()))

    assert (answer.status, answer["etag"], answer.body) == (200, TAG, bodies(SITE)[URL])


def test_the_second_request_has_no_body(web: Web) -> None:
    """A body on a GET is read and forgotten, whoever asks."""
    request = f"GET {URL} HTTP/1.1\r\nHost: a\r\nIf-Match: {TAG}\r\nContent-Length: 5\r\n\r\nhello"
    again = f"GET {URL} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    first, second = web.converse((request + again).encode(), "GET", "GET")

    assert (first.status, first.body) == (second.status, second.body) == (200, bodies(SITE)[URL])


@pytest.mark.parametrize("method", ["POST", "OPTIONS", "DELETE"])
def test_a_method_is_refused_before_its_condition(web: Web, method: str) -> None:
    """No condition is judged for what is no GET."""
    assert web.ask(URL, method, If_Match=OTHER).status == {"OPTIONS": 204}.get(method, 405)
