"""Thousands of connections that send nothing, or send slowly: other clients still get responses."""

import re
import resource
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.conftest import Serve, Site
from tests.support.golden import bodies
from tests.support.nginx_client import Web, receive, request
from tests.support.paths import ROOT
from tests.support.servers import LIMIT
from tests.support.site_variants import started

pytestmark = pytest.mark.serves
CROWD = 5000
URL = "/api/series/first"
LARGE = "/api/v2/docs/swagger-ui-bundle.js"
# The bytes that a connection has sent before it stops sending.
KINDS = (
    b"",
    b"G",
    f"GET {URL} HTTP/1.1\r\nHost: a\r\nX: ".encode(),
    f"GET {URL} HTTP/1.1\r\nHost: a\r\n".encode() + b"X: " + b"x" * 7000,
    f"POST {URL} HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n".encode() + b"x",
    f"GET {URL} HTTP/1.1\r\nHost: a\r\nIf-Match: *\r\nContent-Length: 60000\r\n\r\n".encode() + b"x",
    f"GET {URL} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nf".encode(),
    request(URL),
    request("/api/nothing"),
    request(LARGE) * 8,
)


@pytest.fixture
def crowd() -> Iterator[Callable[[Web, int, tuple[bytes, ...]], list[socket.socket]]]:
    """Open this many connections, each of which has sent one text; the process may open as many files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with ExitStack() as stack:

        def gather(web: Web, size: int, kinds: tuple[bytes, ...]) -> list[socket.socket]:
            if size + 500 > hard > 0:
                pytest.skip(f"this account may open {hard} files only")
            clients = []
            for number in range(size):
                # A small buffer, so that the server cannot send to a client that does not read.
                client = stack.enter_context(socket.socket())
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                client.settimeout(LIMIT)
                client.connect(("127.0.0.1", web.port))
                client.sendall(kinds[number % len(kinds)])
                clients.append(client)
            return clients

        yield gather
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def assert_answered(web: Web) -> None:
    """New clients, all kinds of requests, and two requests for which the server sends requests to itself."""
    body = bodies("minimal")[URL]
    plain, fresh, missing = web.ask(URL), web.ask(URL, If_None_Match="*"), web.ask("/api/nothing")
    revalidated, listed = web.ask(URL, If_Match="*"), web.ask("/api/v2/series?limit=1")

    assert [one.status for one in (plain, fresh, missing, revalidated, listed)] == [200, 304, 404, 200, 200]
    assert plain.body == revalidated.body == body
    assert listed.body.startswith(b'{"total":')
    assert web.converse(request(URL) * 20 + request(URL, Connection="close"), *["GET"] * 21)[20].body == body


@pytest.mark.load
def test_thousands_of_idle_and_slow_connections_do_not_block_others(tmp_path: Path, crowd) -> None:
    """5000 at once: half-sent heads, slow bodies, clients that do not read, idle ones; then a client comes."""
    with started(tmp_path, keepalive_timeout="1h") as (_, web):
        held = crowd(web, CROWD, KINDS)
        for _ in range(10):
            assert_answered(web)
        # A waiting client continues.
        waiting = held[KINDS.index(request(URL))]
        waiting.sendall(request(URL, Connection="close"))
        with waiting.makefile("rb") as stream:
            assert [receive(stream).body, receive(stream).body] == [bodies("minimal")[URL]] * 2

        assert web.complaints() == []


@pytest.mark.load
def test_idle_connections_are_closed_for_new_ones(tmp_path: Path, crowd) -> None:
    """With more connections than a worker may have: those without a request, or after one, are closed."""
    with started(tmp_path, worker_processes="1", worker_connections="64") as (_, web):
        crowd(web, 400, (b"", request(URL)))
        assert_answered(web)

        assert web.complaints() == []


@pytest.mark.load
def test_a_client_that_does_not_read_keeps_no_old_worker(tmp_path: Path, crowd) -> None:
    """Otherwise each reload would leave a worker with all maps of its release."""
    limits = {"worker_shutdown_timeout": "1s", "send_timeout": "1h"}
    with started(tmp_path, worker_processes="1", **limits) as (_, web):
        assert_answered(web)
        (slow,) = crowd(web, 1, (request(LARGE) * 8,))
        assert slow.recv(12) == b"HTTP/1.1 200"
        web.reload()
        assert_answered(web)


def test_every_limit_is_set_and_documented(site: Site) -> None:
    """With the reason for its value. No limit depends on the default of an nginx version.

    tests/nginx/test_directives.py notices one that is no longer set.
    """
    site.build()
    conf = (site.folder / "nginx.conf").read_text()
    text = (ROOT / "docs/serving-reference.md").read_text(encoding="utf-8")
    section = text.partition("## Limits and timeouts")[2].partition("## Accounts and permissions")[0]
    rows = re.findall(r"^\| (`.+`) \| (.+) \| .+ \|$", section, re.MULTILINE)
    values = {name: re.sub(" ([sh])$", r"\1", value) for names, value in rows for name in re.findall("`(.+?)`", names)}
    limits = {name: re.findall(rf"^ *{name} ([^;]+);", conf, re.MULTILINE) for name in values}

    assert {name: [value] for name, value in values.items()} == limits
    assert len(limits) > 14


def test_a_request_body_is_not_written_to_the_disk(tmp_path: Path) -> None:
    """A body of the allowed size stays in memory."""
    with started(tmp_path) as (site, web):
        assert_answered(web)
        folder = site.folder / "dist/run/body"
        before = folder.stat().st_mtime_ns
        data = request(URL, If_Match="*", Content_Length="65536", Connection="close") + b"x" * 65536

        assert web.raw(data).startswith(b"HTTP/1.1 200 ")
        assert (list(folder.rglob("*")), folder.stat().st_mtime_ns) == ([], before)


LONG = {
    "empty elements": "," * 8000,
    "elements": '"a",' * 2000,
    "weak elements": 'W/"a", ' * 1100,
    "quotes": '"' * 8000,
    "an odd number of quotes": '"' * 7999,
    "blanks": '"a"' + " " * 7990 + "x",
    "nearly right": '"' + "0" * 32 + '"' + ', "0' * 1900,
    "letters": "a" * 8000,
    "digits": "0" * 8000,
    "qualities": "gzip;q=" + "0" * 7900,
    "codings": "gzip;q=0," * 800,
    "a date and more": "Sun, 06 Nov 1994 08:49:37 GMT" + " " * 7900,
    "dates": "Sun, 06 Nov 1994 08:49:37 GMT, " * 250,
    "bytes": "\xff" * 3900,
}
FIELDS = ("If_None_Match", "If_Match", "If_Modified_Since", "If_Unmodified_Since", "Accept_Encoding", "X_API_Key")


@pytest.mark.parametrize("text", LONG)
def test_patterns_match_long_fields_quickly(serve: Serve, text: str) -> None:
    """The longest allowed header fields, without a match until their end, do not cause a 500."""
    web = serve("v2")[1]
    paths = ("/api/v2/series", "/api/v2/profile", "/api/releases", "/api/v2/series?limit=1")
    statuses = {(path, name): web.ask(path, **{name: LONG[text]}).status for path in paths for name in FIELDS}

    assert {one: status for one, status in statuses.items() if status >= 500} == {}
    assert set(statuses.values()) <= {200, 304, 401, 412}
