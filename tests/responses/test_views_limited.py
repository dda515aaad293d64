"""`views_per_second`: how many views of one client are counted, whatever is answered, and what else they cost."""

import math
import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import Site, copy_of
from tests.nginx.test_quoting import temporary
from tests.support import nginx_client as server
from tests.support.documents import blocks
from tests.support.nginx_client import Answer, Web, receive, request

PAGES = "/api/v2/chapters/11/pages"
PLACE = "/api/v2/pages?series=full-book&volume=1&number=1"
SECRET = "/api/v2/chapters/31/pages"
TRACKED = f"{PAGES}?track=true"
# One view a second, and ten at once, so that a test needs few requests and most of a flood is too much.
RATE, BURST, FLOOD = 1, 10, 60

KINDS: dict[str, dict[str, str]] = {
    "200": {},
    "gzip": {"Accept_Encoding": "gzip"},
    "another tag": {"If_None_Match": '"other"'},
    "304": {"If_None_Match": "*"},
    "304 to gzip": {"If_None_Match": "*", "Accept_Encoding": "gzip"},
    "304 by date": {"If_Modified_Since": "Fri, 01 Jan 2100 00:00:00 GMT"},
    "condition that holds": {"If_Match": "*"},
    "condition that holds, gzip": {"If_Match": "*", "Accept_Encoding": "gzip"},
    "412": {"If_Match": '"other"'},
    "range": {"Range": "bytes=0-3"},
}


@contextmanager
def ours(folder: Path, rate: int, *, inside: str = "", around: str = "") -> Iterator[tuple[Site, Web]]:
    """The site `v2` in a server of somebody else, who has these lines in its http { } and its server { }."""
    site = copy_of("v2", folder)
    with (site.folder / "catalog_src/site.yaml").open("a") as settings:
        settings.write(f"views_per_second: {rate}\n")
    site.build()
    with server.listening() as listener:
        port = listener.getsockname()[1]
        (folder / "own.conf").write_text(
            f"pid dist/run/nginx.pid; error_log dist/run/error.log info; events {{ }}\n"
            f"http {{ {temporary()} access_log off; {around} include dist/current/http.conf;\n"
            f"server {{ listen {port}; {inside} include dist/current/server.conf; }} }}\n"
        )
        with server.running(folder, listener, "own.conf") as running:
            assert running.ask("/api", "OPTIONS").status == 204  # its logs are open, and no limit has seen a request
            yield site, running


def seen(site: Site, name: str = "views.log") -> list[str]:
    return (site.folder / "dist/run" / name).read_text().splitlines()


def flood(web: Web, path: str, count: int = FLOOD, source: str = "127.0.0.1", **headers: str) -> list[Answer]:
    """This request again and again over one connection, each after the answer to the one before."""
    answers = []
    with (
        socket.create_connection(("127.0.0.1", web.port), timeout=10, source_address=(source, 0)) as client,
        client.makefile("rb") as stream,
    ):
        for left in range(count, 0, -1):
            # nginx writes its logs before it closes a connection, but after it sends an answer.
            client.sendall(request(path, **headers, Connection="close" if left == 1 else "keep-alive"))
            answers.append(receive(stream))
        assert stream.read() == b""
    return answers


@pytest.fixture(scope="module")
def limited(tmp_path_factory) -> Iterator[tuple[Site, Web]]:
    """A server that counts one view a second of each address."""
    with ours(tmp_path_factory.mktemp("limited"), RATE) as running:
        yield running


@pytest.mark.parametrize(
    ("address", "path", "headers", "status"),
    [
        ("127.0.1.1", TRACKED, {}, 200),
        ("127.0.1.2", TRACKED, {"If_None_Match": "*"}, 304),
        ("127.0.1.3", TRACKED, {"If_Match": "*"}, 200),
        ("127.0.1.4", f"{PLACE}&track=true", {"If_None_Match": "*"}, 304),
        ("127.0.1.5", f"{SECRET}?track=true&api_key=key-one", {"If_None_Match": "*"}, 304),
    ],
)
def test_a_flood_counts_no_more_than_the_rate_and_its_burst(
    limited, address: str, path: str, headers: dict[str, str], status: int
) -> None:
    """Each request is answered as ever; of one address, what is counted depends on the time that the flood takes."""
    site, web = limited
    before, started = len(seen(site)), time.monotonic()
    answers = flood(web, path, source=address, **headers)
    allowed = 1 + BURST + RATE * math.ceil(time.monotonic() - started)
    counted = len(seen(site)) - before

    assert {answer.status for answer in answers} == {status}
    assert min(1 + BURST, FLOOD) <= counted <= min(allowed, FLOOD)


def test_each_address_has_a_limit_of_its_own(limited) -> None:
    """A flood from one address takes no view from another."""
    site, web = limited
    flood(web, TRACKED, source="127.0.2.1")
    before = len(seen(site))
    flood(web, TRACKED, 5, source="127.0.2.2")

    assert len(seen(site)) == before + 5


def test_what_is_not_tracked_takes_nothing_from_the_limit(limited) -> None:
    """Other requests of the same address, however many, leave all of its burst."""
    site, web = limited
    for path in (PAGES, f"{PAGES}?track=false", PLACE, "/api/v2/series?track=true", f"{SECRET}?track=true"):
        flood(web, path, source="127.0.3.1")
    before = len(seen(site))
    flood(web, TRACKED, 1 + BURST, source="127.0.3.1")

    assert len(seen(site)) == before + 1 + BURST


def test_a_request_that_does_not_count_reaches_no_limit(tmp_path: Path) -> None:
    """Only tracked requests for pages that are there are looked at by `limit_req`."""
    log = "log_format judged '$request $limit_req_status';"
    other = [(method, path) for method in ("GET", "HEAD") for path in (PAGES, PLACE, f"{PAGES}/", "/api/v2/series")]
    other += [("HEAD", TRACKED), ("OPTIONS", TRACKED), ("POST", TRACKED), ("GET", f"{PAGES}?track=1")]
    other += [("GET", "/api/v2/series?title=x&track=true"), ("GET", "/api/v2/chapters/99/pages?track=true")]
    other += [("GET", f"{SECRET}?track=true"), ("GET", "/api/v2//view?track=true"), ("GET", "/nothing?track=true")]
    with ours(tmp_path, RATE, around=log, inside="access_log dist/run/own.log judged;") as (site, web):
        for method, path in other:
            web.ask(path, method)
        web.ask(TRACKED, If_Match='"other"')
        web.ask(TRACKED)

        assert seen(site, "own.log") == [
            "OPTIONS /api HTTP/1.1 -",
            *(f"{method} {path} HTTP/1.1 -" for method, path in other),
            f"GET {TRACKED} HTTP/1.1 -",
            f"GET {TRACKED} HTTP/1.1 PASSED",
        ]


def test_without_a_limit_everything_counts(tmp_path: Path) -> None:
    """`views_per_second: 0` counts every view, and emits no limit at all."""
    with ours(tmp_path, 0) as (site, web):
        for headers in ({}, {"If_None_Match": "*"}, {"If_Match": "*"}):
            flood(web, TRACKED, **headers)

        assert len(seen(site)) == 3 * FLOOD
    conf = "".join(path.read_text() for path in (site.folder / "dist/current").glob("*.conf"))
    assert re.findall(r"^\s*limit_req.*", conf, re.MULTILINE) == []


@pytest.mark.parametrize("place", ["around", "inside"])
@pytest.mark.parametrize("path", [TRACKED, PAGES])
def test_a_limit_of_the_server_around_still_refuses(tmp_path: Path, place: str, path: str) -> None:
    """`track=true` is no way past the limit of somebody's server, and what it refuses is not counted."""
    zone = "limit_req_zone $server_port zone=house:1m rate=1r/s; limit_req_status 429;"
    house = {"around": zone, "inside": ""}
    house[place] += " limit_req zone=house burst=3 nodelay;"
    with ours(tmp_path, 5, **house) as (site, web):
        started = time.monotonic()
        statuses = [answer.status for answer in flood(web, path)]
        passed = 4 + math.ceil(time.monotonic() - started)

        assert set(statuses) == {200, 429}
        assert 4 <= statuses.count(200) <= passed
        assert len(seen(site)) == (statuses.count(200) if path == TRACKED else 0)


def test_a_delay_of_the_server_around_changes_no_count(tmp_path: Path) -> None:
    """A request that somebody's limit makes wait is answered, and counts."""
    zone = "limit_req_zone $server_port zone=house:1m rate=100r/s; limit_req zone=house burst=50;"
    with ours(tmp_path, 5, around=zone) as (site, web):
        assert {answer.status for answer in flood(web, TRACKED, 5)} == {200}
        assert len(seen(site)) == 5


def test_no_log_shows_the_key_of_a_request_that_is_too_much(tmp_path: Path) -> None:
    """nginx writes a line about each excess, with the query; it is written nowhere."""
    house = "limit_req_zone $server_port zone=house:1m rate=100r/s;"
    inside = "limit_req zone=house burst=20 nodelay;"
    for number, lines in enumerate(({}, {"around": house, "inside": inside})):
        folder = tmp_path / str(number)
        folder.mkdir()
        with ours(folder, RATE, **lines) as (site, web):
            for headers in ({}, {"If_None_Match": "*"}, {"If_Match": "*"}):
                flood(web, f"{SECRET}?track=true&api_key=key-one", 100, **headers)
        texts = [path.read_text() for path in (site.folder / "dist/run").rglob("*") if path.is_file()]

        assert seen(site)
        assert [line for text in texts for line in text.splitlines() if "key-one" in line] == []


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("plain", "tracked"), [(PAGES, TRACKED), (PLACE, f"{PLACE}&track=true")])
def test_a_view_is_answered_as_any_other_request(limited, plain: str, tracked: str, kind: str, method: str) -> None:
    """Header for header and byte for byte."""
    _, web = limited
    one, other = (web.ask(path, method, **KINDS[kind]) for path in (plain, tracked))

    assert (one.status, one.fields, one.body) == (other.status, other.fields, other.body)


@pytest.mark.parametrize("path", ["/api/v2//view", "/api/v2//counted", "/api/v2/view", "/api/v2/counted"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "POST"])
def test_no_client_reaches_the_locations_of_views(limited, path: str, method: str) -> None:
    """To a client they are paths that do not exist, like any other."""
    _, web = limited
    one, other = (web.ask(asked, method) for asked in (path, "/api/v2/nothing"))

    assert (one.status, one.fields, one.body) == (other.status, other.fields, other.body)


def test_a_client_cannot_take_a_view_from_another(limited) -> None:
    """The field by which the server knows its own second request keeps only the request that has it from counting."""
    site, web = limited
    before = len(seen(site))
    assert web.ask(TRACKED, Flatpanel_Again="1").status == 200
    assert web.ask(TRACKED, Flatpanel_Again="1", If_Match="*").status == 200
    assert len(seen(site)) == before


@pytest.fixture(scope="module")
def behind(tmp_path_factory) -> Iterator[tuple[Site, Web]]:
    """A server behind a proxy, with the lines that the document has for one."""
    (block,) = blocks("docs/keys-and-views.md", "nginx")
    assert "192.0.2.0/24" in block.text
    lines = block.text.replace("192.0.2.0/24", "127.0.0.0/8")
    with ours(tmp_path_factory.mktemp("behind"), RATE, around=lines) as running:
        yield running


@pytest.mark.parametrize(
    ("flooding", "others", "apart"),
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
def test_behind_a_proxy_the_clients_are_told_apart(behind, flooding: str, others: str, apart: bool) -> None:
    """By the address that the proxy names last; all addresses that one client with IPv6 has are one client."""
    site, web = behind
    flood(web, TRACKED, X_Forwarded_For=flooding)
    before, started = len(seen(site)), time.monotonic()
    flood(web, TRACKED, 1 + BURST, X_Forwarded_For=others)
    counted = len(seen(site)) - before

    assert counted == 1 + BURST if apart else counted <= RATE * math.ceil(time.monotonic() - started) + 1


def test_the_limit_in_the_configuration_is_that_of_the_site(site: Site) -> None:
    """Five views a second and fifty at once, if site.yaml says nothing."""
    site.build()
    texts = {name: (site.folder / "dist/current" / name).read_text() for name in ("views.conf", "server.conf")}

    assert "rate=5r/s;" in texts["views.conf"]
    assert "burst=50 nodelay;" in texts["server.conf"]
