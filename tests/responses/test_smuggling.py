"""Request smuggling: no byte of a body is ever read as a request.

Each case is one connection: a request whose body contains a whole request, then an ordinary request. A server that
uses the wrong length responds to the body. The expected statuses are those of a strict server.
"""

import re

from tests.support.nginx_client import Web, request
from tests.support.tables import each

SETTINGS = ""  # a server of this module
COMPLAINTS = ("client intended to send too large body", "client sent invalid chunked body")
# A response to this request shows that the body was read as a request.
BODY = b"GET /api/v2/series/smuggled HTTP/1.1\r\nHost: smuggled\r\n\r\n"
LAST = request("/api/v2/groups", Connection="close")
CHUNK = b"%x\r\n%s\r\n" % (len(BODY), BODY)
END = b"0\r\n\r\n"
LENGTH = b"Content-Length: %d\r\n" % len(BODY)
CHUNKED = b"Transfer-Encoding: chunked\r\n"


def statuses(web: Web, data: bytes) -> list[int]:
    """The statuses of all responses on one connection, until the server closes it."""
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", web.raw(data))]


def request_with(fields: bytes, line: bytes = b"GET /api/releases") -> bytes:
    return line + b" HTTP/1.1\r\nHost: a\r\n" + fields + b"\r\n"


@each(
    ("line", "fields", "status"),
    [
        (b"GET /api/releases", b"", 200),
        (b"GET /api/releases", b"If-None-Match: *\r\n", 304),
        (b"GET /api/releases", b"If-Match: *\r\n", 200),
        (b"GET /api/releases", b'If-Match: "other"\r\n', 412),
        (b"GET /api/releases", b"Connection: content-length, keep-alive\r\n", 200),
        (b"GET /api/releases", b"Upgrade: h2c\r\nConnection: upgrade, http2-settings\r\n", 200),
        (b"HEAD /api/releases", b"", 200),
        (b"OPTIONS /api/releases", b"", 204),
        (b"POST /api/releases", b"", 405),
        (b"GET /api/v2/series?limit=2", b"", 200),
        (b"GET /api/v2/profile", b"", 401),
        (b"GET /api/nothing", b"", 404),
        (b"GET /", b"", 200),
    ],
)
def test_body_with_a_length_is_skipped(web: Web, line: bytes, fields: bytes, status: int) -> None:
    """The next request begins after the body, for every kind of response."""
    assert statuses(web, request_with(LENGTH + fields, line) + BODY + LAST) == [status, 200]


def test_longest_body_is_skipped(web: Web) -> None:
    """It consists of requests."""
    body = (BODY * 1400)[:65536]

    assert statuses(web, request_with(b"Content-Length: 65536\r\n") + body + LAST) == [200, 200]


def test_expect_100_continue(web: Web) -> None:
    assert statuses(web, request_with(LENGTH + b"Expect: 100-continue\r\n") + BODY + LAST) == [100, 200, 200]


@each(
    "fields",
    {
        "one length twice": LENGTH * 2,
        "two lengths": LENGTH + b"Content-Length: 0\r\n",
        "list of lengths": b"Content-Length: %d, %d\r\n" % (len(BODY), len(BODY)),
        "sign": b"Content-Length: +%d\r\n" % len(BODY),
        "hexadecimal": b"Content-Length: 0x%x\r\n" % len(BODY),
        "more than 64 bits": b"Content-Length: 18446744073709551616\r\n",
        "blank before the colon": b"Content-Length : %d\r\n" % len(BODY),
        "length in a folded line": b"X: a\r\n Content-Length: %d\r\n" % len(BODY),
        "bare CR before a length": b"X: a\r" + LENGTH,
        "NUL": b"X: a\x00\r\n" + LENGTH,
        "length and chunks": LENGTH + CHUNKED,
        "chunks and length": CHUNKED + LENGTH,
        "chunks twice": CHUNKED * 2,
        "chunks, then identity": CHUNKED + b"Transfer-Encoding: identity\r\n",
        "blank before the colon of a coding": b"Transfer-Encoding : chunked\r\n",
        "coding in a folded line": b"X: a\r\n Transfer-Encoding: chunked\r\n",
        "NUL in a coding": b"Transfer-Encoding: chunked\x00\r\n",
        "list of codings": b"Transfer-Encoding: identity, chunked\r\n",
        "quoted": b'Transfer-Encoding: "chunked"\r\n',
        "unknown coding": b"Transfer-Encoding: x\r\n",
    },
)
@each("body", [BODY, CHUNK + END])
def test_ambiguous_length_closes_the_connection(web: Web, fields: bytes, body: bytes) -> None:
    """There is one response, and nothing after the request is read."""
    (status,) = statuses(web, request_with(fields) + body + LAST)

    assert status in (400, 501)


CHUNKS = {
    "usual": CHUNK + END,
    "extension": CHUNK.replace(b"\r\n", b";a=b\r\n", 1) + END,
    "extension that a bare LF ends": CHUNK.replace(b"\r\n", b";a\n", 1) + END,
    "bare LFs": CHUNK.replace(b"\r\n", b"\n", 1)[:-2] + b"\n0\n\n",
    "minus": b"-1\r\n" + BODY + END,
    "more than 64 bits": b"f" * 17 + b"\r\n" + BODY + END,
    "too short": b"5\r\n" + BODY + b"\r\n" + END,
    "last chunk first": END + CHUNK + END,
    "trailers": CHUNK + b"0\r\nContent-Length: 50\r\nHost: b\r\n\r\n",
    "no end": CHUNK,
    "more than is allowed": b"8000\r\n" + b"a" * 0x8000 + b"\r\n" + b"8001\r\n" + b"a" * 0x8001 + b"\r\n" + END,
}


@each("chunks", CHUNKS)
@each(
    "line",
    [
        b"GET /api/releases",
        b"OPTIONS /api/v2/series",
        b"GET /api/v2/profile",
        b"GET /api/v2/series?limit=1",
        b"GET /",
    ],
)
def test_chunked_body_closes_the_connection(web: Web, line: bytes, chunks: bytes) -> None:
    """Servers disagree about the end of a chunked body, so nothing after it is read."""
    for fields in (CHUNKED, b"transfer-encoding: CHUNKED \r\n", CHUNKED + b"If-Match: *\r\n"):
        assert statuses(web, request_with(fields, line) + chunks + LAST) == [400]


@each("name", [b"Content_Length", b"Transfer_Encoding", b"Content-Lengths", b"XContent-Length"])
def test_similar_header_name_is_no_length(web: Web, name: bytes) -> None:
    """The request has no body, and the next bytes are a request."""
    second = request("/api/v2/nothing")

    assert statuses(web, request_with(name + b": %d\r\n" % len(second)) + second + LAST) == [200, 404, 200]


@each(
    ("data", "expected"),
    {
        "bare LFs": (request_with(b"").replace(b"\r\n", b"\n"), [200]),
        "one bare LF": (request_with(b"X: a\n"), [200]),
        "no body": (request_with(b"Content-Length: 0\r\n"), [200]),
        "no body to post": (request_with(b"Content-Length: 0\r\n", b"POST /api/releases"), [405]),
        "line break in a path": (request_with(b"", b"GET /api/releases%0d%0aX:%20a"), [404]),
        "line break in a query": (request_with(b"", b"GET /api/releases?%0d%0aContent-Length:%2050"), [200]),
        "line break in a value": (request_with(b"X: %0d%0aContent-Length: 50\r\n"), [200]),
        "1200 ranges": (request_with(b"Range: bytes=" + b",".join([b"0-0"] * 1200) + b"\r\n"), [200]),
        "90 ranges apart": (request_with(b"Range: bytes=0-\r\n" * 90), [200]),
        "a hundred": (request_with(b"") * 60 + request("/api/v2/nothing") * 40, [200] * 60 + [404] * 40),
        "heads of 900 lines": (request_with(b"X: a\r\n" * 900) * 5, [200] * 5),
    },
)
def test_unambiguous_requests_keep_the_connection(web: Web, data: bytes, expected: list[int]) -> None:
    """Responses have the order of the requests."""
    assert statuses(web, data + LAST) == [*expected, 200]
