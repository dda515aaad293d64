"""Several requests on one connection, together and one after the other, and the versions of HTTP."""

import pytest

from tests.conftest import Serve
from tests.responses.test_golden import bodies, sidecar
from tests.support.nginx_client import Answer, Web, parse, receive, request

SITE = "everything"
URL, OTHER = "/api/series/long-road", "/api/releases"
TAG, DATE = sidecar(SITE, URL)["etag"], sidecar(SITE, URL)["last-modified"]

# One request of each kind, its method, and the status that answers it.
KINDS = {
    "200": (request(URL), "GET", 200),
    "gzip": (request(URL, Accept_Encoding="gzip"), "GET", 200),
    "HEAD": (request(URL, "HEAD"), "HEAD", 200),
    "304 by tag": (request(URL, If_None_Match=TAG), "GET", 304),
    "304 by date": (request(URL, If_Modified_Since=DATE), "GET", 304),
    "304 to HEAD": (request(URL, "HEAD", If_None_Match=TAG), "HEAD", 304),
    "304 to gzip": (request(URL, Accept_Encoding="gzip", If_None_Match=f"W/{TAG}"), "GET", 304),
    "OPTIONS": (request(URL, "OPTIONS"), "OPTIONS", 204),
    "404": (request("/api/nothing"), "GET", 404),
    "404 to HEAD": (request("/api/nothing", "HEAD"), "HEAD", 404),
    "405": (request(URL, "DELETE"), "DELETE", 405),
    "412": (request(URL, If_Match='"other"'), "GET", 412),
    "412 to HEAD": (request(URL, "HEAD", If_Match='"other"'), "HEAD", 412),
    "condition that holds": (request(URL, If_Match=TAG), "GET", 200),
    "condition that holds for HEAD": (request(URL, "HEAD", If_Unmodified_Since=DATE), "HEAD", 200),
    "range": (request(URL, Range="bytes=0-1"), "GET", 200),
    "outside": (request("/nothing"), "GET", 404),
}
LAST = request(OTHER, Connection="close")


@pytest.fixture
def web(serve: Serve) -> Web:
    return serve(SITE)[1]


def assert_last(answer: Answer) -> None:
    """The request after the one that a test is about was answered as if it were alone."""
    assert (answer.status, answer["connection"], answer.body) == (200, "close", bodies(SITE)[OTHER])


@pytest.mark.parametrize("kind", KINDS)
def test_a_connection_goes_on_after_every_kind_of_answer(web: Web, kind: str) -> None:
    """The next request is answered on the same connection, and by the right bytes."""
    data, method, status = KINDS[kind]
    with web.connect() as client, client.makefile("rb") as stream:
        client.sendall(data)
        first = receive(stream, method)
        client.sendall(LAST)
        second = receive(stream)
        rest = stream.read()

    assert (first.status, first["connection"], rest) == (status, "keep-alive", b"")
    assert_last(second)


@pytest.mark.parametrize("kind", KINDS)
def test_a_pair_of_requests_may_come_in_one_packet(web: Web, kind: str) -> None:
    """Nothing of the second is taken for a body of the first, and no answer has more bytes than it says."""
    data, method, status = KINDS[kind]
    first, second = web.converse(data + LAST, method, "GET")

    assert first.status == status
    assert_last(second)


def test_requests_of_all_kinds_may_come_in_one_packet(web: Web) -> None:
    """Pipelined requests are answered in their order, each as if it were alone."""
    data = b"".join(data for data, _, _ in KINDS.values())
    found = web.converse(data + LAST, *(method for _, method, _ in KINDS.values()), "GET")

    assert [one.status for one in found] == [*(status for _, _, status in KINDS.values()), 200]
    assert_last(found[-1])


def test_a_hundred_requests_may_come_in_one_packet(web: Web) -> None:
    """As many as a client likes to send at once."""
    found = web.converse(request(URL) * 100 + LAST, *["GET"] * 101)

    assert {(one.status, one.body) for one in found[:-1]} == {(200, bodies(SITE)[URL])}
    assert_last(found[-1])


def test_a_request_may_come_in_pieces(web: Web) -> None:
    """Byte by byte, as a slow line brings them."""
    with web.connect() as client, client.makefile("rb") as stream:
        for byte in LAST:
            client.sendall(bytes([byte]))
        answer = receive(stream)

    assert_last(answer)


def test_a_bad_request_ends_the_connection(web: Web) -> None:
    """nginx trusts nothing that comes after one, and says so."""
    (answer,) = web.converse(request("/api/authors/abc") + LAST, "GET")

    assert (answer.status, answer["connection"]) == (400, "close")


@pytest.mark.parametrize("kind", KINDS)
def test_close_is_obeyed(web: Web, kind: str) -> None:
    """Who asks for the connection to be closed sees it closed, after a whole answer."""
    data, method, status = KINDS[kind]
    answer = parse(web.raw(data.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")), method)

    assert (answer.status, answer["connection"]) == (status, "close")


@pytest.mark.parametrize("kind", KINDS)
def test_http_1_0_closes_by_itself(web: Web, kind: str) -> None:
    """The old protocol has one request a connection, and its answers are the same."""
    data, method, status = KINDS[kind]
    answer = parse(web.raw(data.replace(b"HTTP/1.1\r\nHost: test", b"HTTP/1.0")), method)

    assert (answer.status, answer["connection"], answer["transfer-encoding"]) == (status, "close", None)


@pytest.mark.parametrize("kind", KINDS)
def test_http_1_0_goes_on_when_asked(web: Web, kind: str) -> None:
    """With Connection: keep-alive, after an answer without a body and a length too."""
    data, method, status = KINDS[kind]
    old = data.replace(b"HTTP/1.1\r\nHost: test", b"HTTP/1.0\r\nConnection: keep-alive")
    first, second = web.converse(old + LAST, method, "GET")

    assert (first.status, first["connection"]) == (status, "keep-alive")
    assert_last(second)


@pytest.mark.parametrize(
    ("line", "body"),
    [(f"GET {URL}", bodies(SITE)[URL]), ("GET /api/nothing", b'{"error":"Not found","status":404}')],
)
def test_http_0_9_gets_the_bare_body(web: Web, line: str, body: bytes) -> None:
    """The oldest protocol knows neither headers nor a status, but JSON is what it gets."""
    assert web.raw(f"{line}\r\n".encode()) == body


@pytest.mark.parametrize("start", [b"\r\n", b"\r\n\r\n\r\n"])
def test_blank_lines_before_a_request_are_skipped(web: Web, start: bytes) -> None:
    """As RFC 9112 section 2.2 wants it."""
    assert_last(parse(web.raw(start + LAST)))


def test_line_feeds_alone_end_lines(web: Web) -> None:
    """As RFC 9112 section 2.2 allows it."""
    assert_last(parse(web.raw(LAST.replace(b"\r\n", b"\n"))))
