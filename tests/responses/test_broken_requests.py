"""Malformed and oversized requests: every response is JSON with the headers of the API, never a page of nginx.

The requests go to a server of this module, whose log is checked at the end.
"""

from generator import encoding
from tests.responses.conftest import OF_API, OF_V2
from tests.support.api_errors import assert_error
from tests.support.nginx_client import Answer, Web, receive
from tests.support.tables import each

SITE, SETTINGS = "minimal", ""  # a server of this module
# Faults of clients fill no log, except for two that nginx reports by itself.
COMPLAINTS = ("client intended to send too large body", "client sent invalid chunked body")


def send(web: Web, data: bytes, method: str = "GET") -> Answer:
    """Return the first response to `data`. The server may respond before it has read all of it."""
    with web.connect() as client, client.makefile("rb") as stream:
        client.sendall(data)
        return receive(stream, method)


@each(
    "line",
    [
        b"HELLO",
        b"GET /api/series HTTP",
        b"GET /api/series HTTP/0.9",
        b"GET /api/series FTP/1.1",
        b"GET /api/se ries HTTP/1.1",
        b"GET /api/\x00series HTTP/1.1",
        b"\x00",
        b"G\xc3\x89T /api/series HTTP/1.1",
        b"OPTIONS * HTTP/1.1",
        b"PRI * HTTP/2.0",
        # The first bytes of a TLS handshake.
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
)
def test_malformed_request_line_is_400(web: Web, line: bytes) -> None:
    assert_error(send(web, line + b"\r\nHost: a\r\n\r\n"), 400)


@each("version", [b"2", b"2.0", b"3.0", b"9.9", b"11.1"])
def test_unsupported_http_version_is_505(web: Web, version: bytes) -> None:
    """HTTP/2 and HTTP/3 do not begin with a request line."""
    assert_error(send(web, b"GET /api/series HTTP/" + version + b"\r\nHost: a\r\n\r\n"), 505)


@each(
    "headers",
    {
        "no Host": b"",
        "two Hosts": b"Host: a\r\nHost: a\r\n",
        "empty Host": b"Host:\r\n",
        "NUL in Host": b"Host: a\x00b\r\n",
        "NUL in a value": b"Host: a\r\nX: a\x00b\r\n",
        "no name": b"Host: a\r\n: a\r\n",
        "folded line": b"Host: a\r\n X: a\r\n",
        "long value": b"Host: a\r\nX: " + b"a" * 9000 + b"\r\n",
        "long name": b"Host: a\r\n" + b"X" * 9000 + b": a\r\n",
        "many fields": b"Host: a\r\n" + b"X: aaaaaaaaaaaaaaaaaaaa\r\n" * 2000,
        "list that exceeds the buffer": b"Host: a\r\nIf-None-Match: " + b'"",' * 3000 + b"\r\n",
        "two lengths": b"Host: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n",
        "length that is no number": b"Host: a\r\nContent-Length: abc\r\n",
        "length and coding": b"Host: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n",
    },
)
@each("method", [b"GET", b"POST"])
def test_malformed_header_is_400(web: Web, method: bytes, headers: bytes) -> None:
    """This includes headers that are too large, for which nginx has a status of its own."""
    assert_error(send(web, method + b" /api/series HTTP/1.1\r\n" + headers + b"\r\n"), 400)


@each("fields", [b"X\r\n", b"X\r\nY\r\n", b"\xff: a\r\n", b"X: \xff\r\n", b"X:\r\n", b"X_Y: a\r\n"])
def test_malformed_unused_header_is_ignored(web: Web, fields: bytes) -> None:
    """A header without a colon or a value, or with invalid characters, does not affect the response."""
    response = send(web, b"GET /api/series HTTP/1.1\r\nHost: a\r\n" + fields + b"\r\n")

    assert (response.status, response["content-type"]) == (200, "application/json")


@each("fields", [b'If-None-Match: "a"\r\n' * 2, b'If-Match: "a"\r\n' * 2, b"Accept-Encoding: gzip\r\n" * 2])
def test_duplicate_header_returns_json(web: Web, fields: bytes) -> None:
    """The status depends on the version of nginx; the content type does not."""
    response = send(web, b"GET /api/series HTTP/1.1\r\nHost: a\r\n" + fields + b"\r\n")

    assert (response["content-type"], response.body[:1]) in [("application/json", start) for start in (b"{", b"[")]


@each("size", [8200, 20_000, 200_000])
@each("start", [b"GET /", b"GET a", b"GET /api/series?", b"GET http://", b"POST /api/", b"OPTIONS /api/"])
def test_oversized_request_line_is_414(web: Web, start: bytes, size: int) -> None:
    """The limit is 8 kB. nginx does not read the line to its end."""
    with web.connect() as client, client.makefile("rb") as stream:
        client.sendall(start + b"a" * (size - len(start)))
        response = receive(stream)

    assert_error(response, 414)


@each("coding", [b"gzip", b"identity", b"chunked, chunked", b"xchunked", b""])
def test_unknown_transfer_coding_is_501(web: Web, coding: bytes) -> None:
    """The end of such a request is unknown, so the next request is not read."""
    assert_error(send(web, b"GET /api/series HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: " + coding + b"\r\n\r\n"), 501)


@each("body", [b"0\r\n\r\n", b"5\r\nhello\r\n0\r\n\r\n", b"x\r\n"])
def test_chunked_body_is_400(web: Web, body: bytes) -> None:
    """No request of the API needs a body; test_smuggling.py has more cases."""
    assert_error(send(web, b"GET /api/series HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + body), 400)


@each("method", [b"GET", b"POST", b"OPTIONS", b"DELETE"])
@each("path", [b"/api/series", b"/api/nothing", b"/nothing", b"/"])
def test_oversized_body_is_413(web: Web, method: bytes, path: bytes) -> None:
    """Content-Length alone causes the error."""
    response = send(web, method + b" " + path + b" HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n\r\n")

    assert_error(response, 413)


LARGE = b"Content-Length: 65537\r\n"
LONG = b"X: " + b"a" * 9000 + b"\r\n"
# nginx rejects each of these before it enters a location.
EARLY = {
    "trace": (b"TRACE %s HTTP/1.1\r\nHost: a\r\n\r\n", 405, 'Method "TRACE" not allowed.', "Method not allowed"),
    "large body": (b"GET %s HTTP/1.1\r\nHost: a\r\n" + LARGE + b"\r\n", 413, "Content too large.", "Content too large"),
    "posted": (b"POST %s HTTP/1.1\r\nHost: a\r\n" + LARGE + b"\r\n", 413, "Content too large.", "Content too large"),
    "long line": (b"GET %s?" + b"a" * 9000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414, "URI too long.", "URI too long"),
    "long head": (b"GET %s HTTP/1.1\r\nHost: a\r\n" + LONG + b"\r\n", 400, "Bad request.", "Bad request"),
    "no host": (b"GET %s HTTP/1.1\r\n\r\n", 400, "Bad request.", "Bad request"),
    "coding": (
        b"GET %s HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x\r\n\r\n",
        501,
        "Not implemented.",
        "Not implemented",
    ),
}


@each(("data", "status", "detail", "message"), EARLY)
@each(
    ("path", "is_v2"),
    [
        (b"/api/v2", True),
        (b"/api/v2/series", True),
        (b"/api/v2/nothing/", True),
        (b"//api//v2/series", True),
        (b"/api/v2/series?page=/api/v1", True),
        (b"http://other.example/api/v2/series", True),
        (b"/api", False),
        (b"/api/v1/series", False),
        (b"/api/v1/series?x=/api/v2/series", False),
        (b"/api/v20/series", False),
        (b"/", False),
        (b"/nothing/api/v2/series", False),
        (b"http://api/v2/api/series", False),
    ],
)
def test_path_selects_the_format_of_an_early_error(
    web: Web, path: bytes, is_v2: bool, data: bytes, status: int, detail: str, message: str
) -> None:
    """Below /api/v2 it has the format of v2, even if nginx rejects the request early."""
    response = send(web, data % path)
    body = {"detail": detail} if is_v2 else {"error": message, "status": status}
    text = encoding.json(body)

    assert (response.status, response.body) == (status, text)
    allow = {"allow": "GET, HEAD, OPTIONS"} if status == 405 else {}
    own = {"cache-control": "no-store", "content-length": str(len(text))}
    assert response.fields == OF_API | (OF_V2 if is_v2 else {}) | allow | own


@each("path", [b"/api/v2/../series/nothing", b"/api/v2/../../nothing", b"/api/v2/..//v1/nothing"])
def test_normalized_path_selects_the_error_format(web: Web, path: bytes) -> None:
    """The path as sent does not."""
    response = send(web, b"GET " + path + b" HTTP/1.1\r\nHost: a\r\n\r\n")

    assert (response.status, response.body) == (404, b'{"error":"Not found","status":404}')
    assert response["access-control-allow-methods"] is None
