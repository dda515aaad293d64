"""`views_per_second`: how many views of a client count. The responses do not depend on it."""

import math
import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import Site
from tests.responses.conftest import visible
from tests.responses.test_included_in_other_server import REQUESTS
from tests.support import nginx_client as server
from tests.support.documents import blocks
from tests.support.nginx_client import Answer, Web, receive, request
from tests.support.servers import LIMIT
from tests.support.site_variants import SMALL, variant_of
from tests.support.tables import each

PAGES = "/api/v2/chapters/11/pages"
PLACE = "/api/v2/pages?series=full-book&volume=1&number=1"
SECRET = "/api/v2/chapters/31/pages"
TRACKED = f"{PAGES}?track=true"
# A low rate, so that a test needs few requests to exceed it.
RATE, BURST, FLOOD = 1, 10, 60


@contextmanager
def served_with(folder: Path, rate: int, *, inside: str = "", around: str = "") -> Iterator[tuple[Site, Web]]:
    """The site `v2` in another server, with these lines in its http { } and its server { }."""
    site = variant_of(SMALL, folder)
    with (site.folder / "catalog_src/site.yaml").open("a") as settings:
        settings.write(f"views_per_second: {rate}\n")
    site.build()
    with server.listening() as listener:
        port = listener.getsockname()[1]
        (folder / "own.conf").write_text(
            f"pid dist/run/nginx.pid; error_log dist/run/error.log info; events {{ }}\n"
            f"http {{ {server.TEMPORARY_PATHS} access_log off; {around} include dist/current/http.conf;\n"
            f"server {{ listen {port}; {inside} include dist/current/server.conf; }} }}\n"
        )
        with server.running(folder, listener, "own.conf") as running:
            assert running.ask("/api", "OPTIONS").status == 204  # its logs are open, and no limit has counted a request
            yield site, running


def logged(site: Site, name: str = "views.log") -> list[str]:
    return (site.folder / "dist/run" / name).read_text().splitlines()


def flood(web: Web, path: str, count: int = FLOOD, source: str = "127.0.0.1", **headers: str) -> list[Answer]:
    """Send the same request repeatedly on one connection, each after the response to the one before."""
    responses = []
    with (
        socket.create_connection(("127.0.0.1", web.port), timeout=LIMIT, source_address=(source, 0)) as client,
        client.makefile("rb") as stream,
    ):
        for remaining in range(count, 0, -1):
            # nginx writes its logs after it sends a response, but before it closes the connection.
            client.sendall(request(path, **headers, Connection="close" if remaining == 1 else "keep-alive"))
            responses.append(receive(stream))
        assert stream.read() == b""
    return responses


@pytest.fixture(scope="module")
def limited(tmp_path_factory) -> Iterator[tuple[Site, Web]]:
    """A server that counts one view a second for each IP address."""
    with served_with(tmp_path_factory.mktemp("limited"), RATE) as running:
        yield running


@each(
    ("address", "path", "headers", "status"),
    [
        ("127.0.1.1", TRACKED, {}, 200),
        ("127.0.1.3", TRACKED, {"If_Match": "*"}, 200),
        ("127.0.1.5", f"{SECRET}?track=true&api_key=key-one", {"If_None_Match": "*"}, 304),
    ],
)
def test_flood_counts_up_to_rate_and_burst(
    limited, address: str, path: str, headers: dict[str, str], status: int
) -> None:
    """Every request gets its usual response. The number of counted views depends on the duration of the flood."""
    site, web = limited
    before, started = len(logged(site)), time.monotonic()
    responses = flood(web, path, source=address, **headers)
    allowed = 1 + BURST + RATE * math.ceil(time.monotonic() - started)
    counted = len(logged(site)) - before

    assert {response.status for response in responses} == {status}
    assert min(1 + BURST, FLOOD) <= counted <= min(allowed, FLOOD)


def test_limit_applies_to_counted_requests_only(tmp_path: Path) -> None:
    """`limit_req` sees only tracked requests for existing pages."""
    log = "log_format judged '$request $limit_req_status';"
    uncounted = [(method, path) for method in ("GET", "HEAD") for path in (PAGES, PLACE, f"{PAGES}/", "/api/v2/series")]
    uncounted += [("HEAD", TRACKED), ("OPTIONS", TRACKED), ("POST", TRACKED), ("GET", f"{PAGES}?track=1")]
    uncounted += [("GET", "/api/v2/series?title=x&track=true"), ("GET", "/api/v2/chapters/99/pages?track=true")]
    uncounted += [("GET", f"{SECRET}?track=true"), ("GET", "/api/v2//view?track=true"), ("GET", "/nothing?track=true")]
    with served_with(tmp_path, RATE, around=log, inside="access_log dist/run/own.log judged;") as (site, web):
        for method, path in uncounted:
            web.ask(path, method)
        web.ask(TRACKED, If_Match='"other"')
        web.ask(TRACKED)

        assert logged(site, "own.log") == [
            "OPTIONS /api HTTP/1.1 -",
            *(f"{method} {path} HTTP/1.1 -" for method, path in uncounted),
            f"GET {TRACKED} HTTP/1.1 -",
            f"GET {TRACKED} HTTP/1.1 PASSED",
        ]


def test_zero_disables_the_limit(tmp_path: Path) -> None:
    """`views_per_second: 0` counts every view and emits no `limit_req`."""
    with served_with(tmp_path, 0) as (site, web):
        for headers in ({}, {"If_None_Match": "*"}, {"If_Match": "*"}):
            flood(web, TRACKED, **headers)

        assert len(logged(site)) == 3 * FLOOD
    conf = "".join(path.read_text() for path in (site.folder / "dist/current").glob("*.conf"))
    assert re.findall(r"^\s*limit_req.*", conf, re.MULTILINE) == []


@pytest.mark.parametrize("place", ["around", "inside"])
def test_limit_of_the_other_server_applies(tmp_path: Path, place: str) -> None:
    """`track=true` does not bypass it, and rejected requests do not count."""
    zone = "limit_req_zone $remote_addr zone=other:1m rate=1r/s; limit_req_status 429;"
    lines = {"around": zone, "inside": ""}
    lines[place] += " limit_req zone=other burst=3 nodelay;"
    with served_with(tmp_path, 5, **lines) as (site, web):
        for path, address in ((PAGES, "127.0.0.2"), (TRACKED, "127.0.0.3")):
            started = time.monotonic()
            statuses = [response.status for response in flood(web, path, source=address)]
            passed = 4 + math.ceil(time.monotonic() - started)

            assert set(statuses) == {200, 429}
            assert 4 <= statuses.count(200) <= passed
            assert len(logged(site)) == (statuses.count(200) if path == TRACKED else 0)


def test_delayed_request_counts(tmp_path: Path) -> None:
    """The limit of the other server delays the request."""
    zone = "limit_req_zone $server_port zone=other:1m rate=100r/s; limit_req zone=other burst=50;"
    with served_with(tmp_path, 5, around=zone) as (site, web):
        assert {response.status for response in flood(web, TRACKED, 5)} == {200}
        assert len(logged(site)) == 5


def test_log_of_an_excess_contains_no_key(tmp_path: Path) -> None:
    """nginx reports each excess with the query; the configuration discards this line."""
    zone = "limit_req_zone $server_port zone=other:1m rate=100r/s;"
    inside = "limit_req zone=other burst=20 nodelay;"
    for number, lines in enumerate(({}, {"around": zone, "inside": inside})):
        folder = tmp_path / str(number)
        folder.mkdir()
        with served_with(folder, RATE, **lines) as (site, web):
            for headers in ({}, {"If_None_Match": "*"}, {"If_Match": "*"}):
                flood(web, f"{SECRET}?track=true&api_key=key-one", 100, **headers)
        texts = [path.read_text() for path in (site.folder / "dist/run").rglob("*") if path.is_file()]

        assert logged(site)
        assert [line for text in texts for line in text.splitlines() if "key-one" in line] == []


@each("method", ["GET", "HEAD"])
@each("headers", REQUESTS)
@each(("plain", "tracked"), [(PAGES, TRACKED), (PLACE, f"{PLACE}&track=true")])
def test_tracked_request_has_the_same_response(
    limited, plain: str, tracked: str, headers: dict[str, str], method: str
) -> None:
    """Every header and every byte are the same."""
    _, web = limited
    untracked, counted = (web.ask(path, method, **headers) for path in (plain, tracked))

    assert visible(untracked) == visible(counted)


def test_header_of_the_second_request_only_uncounts_its_own_view(limited) -> None:
    """A client that sends the internal header affects no other client."""
    site, web = limited
    before = len(logged(site))
    assert web.ask(TRACKED, Flatpanel_Again="1").status == 200
    assert web.ask(TRACKED, Flatpanel_Again="1", If_Match="*").status == 200
    assert len(logged(site)) == before


@pytest.fixture(scope="module")
def behind(tmp_path_factory) -> Iterator[tuple[Site, Web]]:
    """A server behind a proxy, with the lines from the documentation."""
    (block,) = blocks("docs/keys-and-views.md", "nginx")
    assert "192.0.2.0/24" in block.text
    lines = block.text.replace("192.0.2.0/24", "127.0.0.0/8")
    with served_with(tmp_path_factory.mktemp("behind"), RATE, around=lines) as running:
        yield running


@each(
    ("flooding", "second", "separate"),
    [
        ("198.51.100.1", "198.51.100.2", True),
        ("198.51.100.3, 198.51.100.4", "198.51.100.5", True),
        ("198.51.100.6, 198.51.100.7", "203.0.113.9, 198.51.100.7", False),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", True),
        ("2001:db8:0:3::1", "2001:db8:0:3:ffff::1", False),
        ("::ffff:198.51.100.8", "::ffff:198.51.100.9", True),
        ("::ffff:198.51.100.10", "198.51.100.10", False),
    ],
)
def test_proxied_clients_have_separate_limits(behind, flooding: str, second: str, separate: bool) -> None:
    """The last address that the proxy names counts. An IPv6 client is a /64 network."""
    site, web = behind
    started = time.monotonic()
    flood(web, TRACKED, X_Forwarded_For=flooding)
    before = len(logged(site))
    flood(web, TRACKED, 1 + BURST, X_Forwarded_For=second)
    counted = len(logged(site)) - before

    assert counted == 1 + BURST if separate else counted <= RATE * math.ceil(time.monotonic() - started) + 1
