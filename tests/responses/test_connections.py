"""Several requests on one connection, pipelined and sequential, and the versions of HTTP."""

from tests.support.golden import bodies, sidecar
from tests.support.nginx_client import Answer, Web, parse, receive, request
from tests.support.tables import each

SITE = "everything"
URL, OTHER = "/api/series/long-road", "/api/releases"
ETAG, DATE = sidecar(SITE, URL)["etag"], sidecar(SITE, URL)["last-modified"]

# A request of each kind with its method and the expected status.
KINDS = {
    "200": (request(URL), "GET", 200),
    "gzip": (request(URL, Accept_Encoding="gzip"), "GET", 200),
    "HEAD": (request(URL, "HEAD"), "HEAD", 200),
    "304 by ETag": (request(URL, If_None_Match=ETAG), "GET", 304),
    "304 by date": (request(URL, If_Modified_Since=DATE), "GET", 304),
    "304 to HEAD": (request(URL, "HEAD", If_None_Match=ETAG), "HEAD", 304),
    "304 to gzip": (request(URL, Accept_Encoding="gzip", If_None_Match=f"W/{ETAG}"), "GET", 304),
    "OPTIONS": (request(URL, "OPTIONS"), "OPTIONS", 204),
    "404": (request("/api/nothing"), "GET", 404),
    "404 to HEAD": (request("/api/nothing", "HEAD"), "HEAD", 404),
    "405": (request(URL, "DELETE"), "DELETE", 405),
    "412": (request(URL, If_Match='"other"'), "GET", 412),
    "412 to HEAD": (request(URL, "HEAD", If_Match='"other"'), "HEAD", 412),
    "condition that holds": (request(URL, If_Match=ETAG), "GET", 200),
    "condition that holds for HEAD": (request(URL, "HEAD", If_Unmodified_Since=DATE), "HEAD", 200),
    "range": (request(URL, Range="bytes=0-1"), "GET", 200),
    "outside": (request("/nothing"), "GET", 404),
}
LAST = request(OTHER, Connection="close")


def assert_last(response: Answer) -> None:
    """The last request got the response that it gets alone."""
    assert (response.status, response["connection"], response.body) == (200, "close", bodies(SITE)[OTHER])


@each(("data", "method", "status"), KINDS)
def test_connection_stays_open_after_every_kind_of_response(web: Web, data: bytes, method: str, status: int) -> None:
    """The next request gets its own response on the same connection."""
    with web.connect() as client, client.makefile("rb") as stream:
        client.sendall(data)
        first = receive(stream, method)
        client.sendall(LAST)
        second = receive(stream)
        rest = stream.read()

    assert (first.status, first["connection"], rest) == (status, "keep-alive", b"")
    assert_last(second)


def test_pipelined_requests_of_all_kinds(web: Web) -> None:
    """Responses have the order of the requests."""
    data = b"".join(data for data, _, _ in KINDS.values())
    responses = web.converse(data + LAST, *(method for _, method, _ in KINDS.values()), "GET")

    assert [response.status for response in responses] == [*(status for _, _, status in KINDS.values()), 200]
    assert_last(responses[-1])


def test_request_byte_by_byte(web: Web) -> None:
    """A slow client sends one byte at a time."""
    with web.connect() as client, client.makefile("rb") as stream:
        for byte in LAST:
            client.sendall(bytes([byte]))
        response = receive(stream)

    assert_last(response)


def test_bad_request_closes_the_connection(web: Web) -> None:
    """nginx does not read what follows a 400."""
    (response,) = web.converse(request("/api/authors/abc") + LAST, "GET")

    assert (response.status, response["connection"]) == (400, "close")


@each(("data", "method", "status"), KINDS)
def test_http_1_0_closes_the_connection(web: Web, data: bytes, method: str, status: int) -> None:
    """The responses are those of HTTP/1.1."""
    response = parse(web.raw(data.replace(b"HTTP/1.1\r\nHost: test", b"HTTP/1.0")), method)

    assert (response.status, response["connection"], response["transfer-encoding"]) == (status, "close", None)


@each(("data", "method", "status"), KINDS)
def test_http_1_0_with_keep_alive(web: Web, data: bytes, method: str, status: int) -> None:
    """Connection: keep-alive works after responses without a body, too."""
    old = data.replace(b"HTTP/1.1\r\nHost: test", b"HTTP/1.0\r\nConnection: keep-alive")
    first, second = web.converse(old + LAST, method, "GET")

    assert (first.status, first["connection"]) == (status, "keep-alive")
    assert_last(second)


@each(
    ("line", "body"), [(f"GET {URL}", bodies(SITE)[URL]), ("GET /api/nothing", b'{"error":"Not found","status":404}')]
)
def test_http_0_9_returns_the_body_only(web: Web, line: str, body: bytes) -> None:
    """HTTP/0.9 has no headers and no status."""
    assert web.raw(f"{line}\r\n".encode()) == body


@each("start", [b"\r\n", b"\r\n\r\n\r\n"])
def test_empty_lines_before_a_request_are_skipped(web: Web, start: bytes) -> None:
    """RFC 9112, section 2.2."""
    assert_last(parse(web.raw(start + LAST)))
