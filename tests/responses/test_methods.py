"""GET and HEAD answer, OPTIONS says so, everything else is refused, on paths that exist and on paths that do not."""

import pytest

from tests.conftest import Serve
from tests.responses.test_golden import bodies
from tests.support.nginx_client import Web, request

SITE = "everything"
KNOWN = "/api/series/long-road"
PATHS = [
    "/",
    "/api",
    "/api/series",
    KNOWN,
    f"{KNOWN}/",
    "/api/v1/groups/5",
    "/api/nothing",
    "/api/authors/abc",
    "/api//x",
]
REFUSED = b'{"error":"Method not allowed","status":405}'


@pytest.fixture
def web(serve: Serve) -> Web:
    return serve(SITE)[1]


@pytest.mark.parametrize("path", PATHS)
def test_options_says_what_may_be_asked(web: Web, path: str) -> None:
    """204 with Allow and the CORS headers, which let a page send conditions and a key, and no body."""
    answer = web.ask(path, "OPTIONS")

    assert (answer.status, answer.body) == (204, b"")
    assert answer.fields == {
        "server": "nginx",
        "connection": "close",
        "allow": "GET, HEAD, OPTIONS",
        "access-control-allow-origin": "*",
        "access-control-allow-methods": "GET, HEAD, OPTIONS",
        "access-control-allow-headers": "X-API-Key, If-None-Match, If-Modified-Since",
        "access-control-max-age": "86400",
        "cache-control": "public, max-age=86400",
    }


def test_options_is_what_a_browser_asks_before_it_dares(web: Web) -> None:
    """A preflight request is answered like any OPTIONS."""
    preflight = {
        "Origin": "https://reader.example",
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "x-api-key, if-none-match",
    }
    plain = web.ask(KNOWN, "OPTIONS")
    answer = web.ask(KNOWN, "OPTIONS", **preflight)

    assert (answer.status, answer.fields) == (204, plain.fields)


@pytest.mark.parametrize(
    "path", [*PATHS, "/api/v2/series", "/api/v2/series?limit=1", "/api/v2/profile", "/api/v2/docs/"]
)
@pytest.mark.parametrize("condition", [{}, {"If-None-Match": "*"}, {"If-Match": "*"}], ids=str)
def test_other_sites_may_read_and_nothing_else(web: Web, path: str, condition: dict[str, str]) -> None:
    """Whoever asks and with whichever cookie: every site, no credentials, no cookie, and no frame around it."""
    answer = web.ask(path, Origin="https://other.example", Cookie="a=b", **condition)

    assert answer["access-control-allow-origin"] == "*"
    assert answer["access-control-allow-methods"] in (None, "GET, HEAD, OPTIONS")
    assert answer["access-control-allow-headers"] in (None, "X-API-Key, If-None-Match, If-Modified-Since")
    assert (answer["access-control-allow-credentials"], answer["set-cookie"]) == (None, None)
    assert answer["x-frame-options"] == "SAMEORIGIN"


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "method", ["POST", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "PROPFIND", "PURGE", "FOO", "GETS", "GE", "X-Y_Z"]
)
def test_any_other_method_is_refused(web: Web, path: str, method: str) -> None:
    """405 with Allow, our JSON and our headers, whether or not there is such a path."""
    answer = web.ask(path, method)

    assert (answer.status, answer.body) == (405, REFUSED)
    assert answer.fields == {
        "server": "nginx",
        "connection": "close",
        "content-type": "application/json",
        "content-length": str(len(REFUSED)),
        "allow": "GET, HEAD, OPTIONS",
        "cache-control": "no-store",
        "x-frame-options": "SAMEORIGIN",
        "x-content-type-options": "nosniff",
        "access-control-allow-origin": "*",
        "access-control-expose-headers": "ETag",
    }


@pytest.mark.parametrize("method", ["get", "Get", "head", "options", "post"])
def test_a_method_in_small_letters_is_none(web: Web, method: str) -> None:
    """Methods are in capitals; anything else is no request at all."""
    answer = web.ask(KNOWN, method)

    assert (answer.status, answer.body) == (400, b'{"error":"Bad request","status":400}')


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"Content-Length": "5"}, b"hello"),
        ({"Content-Length": "0"}, b""),
        ({"Content-Length": "60000", "Content-Type": "application/json"}, b" " * 60000),
        ({"Content-Length": "5", "Expect": "100-continue"}, b"hello"),
    ],
)
def test_a_body_does_not_disturb_what_comes_after_it(
    web: Web, method: str, headers: dict[str, str], body: bytes
) -> None:
    """A refused request is refused whole, and the next one on the connection is answered."""
    data = request(KNOWN, method, **headers) + body + request(KNOWN, Connection="close")
    refused, answered = web.converse(data, method, "GET")

    assert (refused.status, refused.body) == (405, REFUSED)
    assert (answered.status, answered.body) == (200, bodies(SITE)[KNOWN])


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_a_body_in_chunks_ends_the_connection(web: Web, method: str) -> None:
    """Where it ends is not certain enough to go on behind it; what was asked for does not matter any more."""
    data = request(KNOWN, method, Transfer_Encoding="chunked") + b"5\r\nhello\r\n0\r\n\r\n" + request(KNOWN)
    (refused,) = web.converse(data, method)

    assert (refused.status, refused["connection"]) == (400, "close")


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
@pytest.mark.parametrize("condition", [{}, {"If-None-Match": "*"}, {"If-Match": "*"}, {"If-Match": '"other"'}], ids=str)
def test_a_body_on_what_has_none_is_read_and_forgotten(web: Web, method: str, condition: dict[str, str]) -> None:
    """A client that sends one all the same gets the usual answer, and may go on."""
    alone = web.ask(KNOWN, method, **condition)
    data = (
        request(KNOWN, method, Content_Length="14", **condition) + b"GET / HTTP/1.1" + request("/", Connection="close")
    )
    first, second = web.converse(data, method, "GET")

    assert (first.status, first.body, first["etag"]) == (alone.status, alone.body, alone["etag"])
    assert (second.status, second.body) == (200, bodies(SITE)["/"])


def test_head_of_a_refused_kind_has_no_body_either(web: Web) -> None:
    """HEAD never has a body, errors included, and says how long it would have been."""
    answer = web.ask("/api/nothing", "HEAD")

    assert (answer.status, answer.body, answer["content-length"]) == (404, b"", "34")


@pytest.mark.parametrize("value", ["POST", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("header", ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"])
def test_the_method_is_the_one_in_the_request_line(web: Web, header: str, value: str) -> None:
    """No header makes another request out of a GET."""
    answer = web.ask(KNOWN, **{header: value})

    assert (answer.status, answer.body) == (200, bodies(SITE)[KNOWN])
