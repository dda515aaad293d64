"""No key in the error log: nginx quotes the request that it complains of, whatever is wrong and whoever is to blame."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.conftest import Site
from tests.support.nginx_client import Web, receive, request
from tests.support.site_variants import served, started

KEY = "key-one"
HOLDS = {"If_Match": "*"}


def quoted(site: Site) -> list[str]:
    """The lines with a key in whatever nginx has written so far."""
    texts = [path.read_text() for path in (site.folder / "dist/run").rglob("*") if path.is_file()]
    assert texts
    return [line for text in texts for line in text.splitlines() if KEY in line]


@pytest.fixture
def running(tmp_path: Path) -> Iterator[tuple[Site, Web]]:
    """A server that a test may spoil."""
    with served(tmp_path) as found:
        yield found


@pytest.mark.parametrize("headers", [{}, HOLDS, {"If_None_Match": "*"}, {"Accept_Encoding": "gzip"}], ids=str)
@pytest.mark.parametrize("url", ["/api/v2/chapters/32", "/api/v2/chapters/11", "/api/v2/profile#one"])
def test_a_body_that_cannot_be_read_is_a_404_and_no_line(running, url: str, headers: dict[str, str]) -> None:
    """Files lead in a circle here, which stops root as well; folders without rights stop everybody else."""
    site, web = running
    body = site.folder / "dist" / site.manifest.resources[url].file
    body.unlink()
    body.symlink_to(body.name)
    answer = web.ask(f"{url.partition('#')[0]}?api_key={KEY}", **headers)

    assert answer.status == 404
    assert quoted(site) == []


@pytest.fixture(scope="module")
def asked(tmp_path_factory) -> Iterator[tuple[Site, Web]]:
    """A server that nobody spoils."""
    with served(tmp_path_factory.mktemp("asked")) as found:
        yield found


@pytest.mark.parametrize(
    "path", ["/API/v2/profile", "/", "/nothing", "/apis", "/_flatpanel/again", "/_flatpanel/error"]
)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_a_path_outside_the_api_may_hold_a_key(asked, path: str, method: str) -> None:
    """Somebody mistypes an address and sends a large body to it."""
    site, web = asked
    for headers in ({}, HOLDS):
        data = request(f"{path}?api_key={KEY}", method, Connection="close", Content_Length="100000", **headers)
        web.raw(data + b"x" * 100_000)

    assert quoted(site) == []


def test_a_worker_that_may_open_no_more_files_quotes_no_request(tmp_path: Path) -> None:
    """It says why, but not whom it could not answer: of new connections, which have said nothing yet."""
    with started(tmp_path, "v2", worker_processes="1", worker_rlimit_nofile="30") as (site, web):
        clients = [web.connect() for _ in range(40)]
        try:
            held = exhausted(clients)
            for path in ("/api/v2/profile", "/api/v2/bookmarks", "/api/v2/chapters/31"):
                for headers in (HOLDS, {}, {"If_Unmodified_Since": "Fri, 01 Jan 2100 00:00:00 GMT"}):
                    held.sendall(request(f"{path}?api_key={KEY}", **headers))
                    with held.makefile("rb") as stream:
                        assert receive(stream).status in (404, 500, 502)
        finally:
            for client in clients:
                client.close()

        assert quoted(site) == []
        assert "accept4() failed (24: Too many open files)" in web.errors()


HALF = request(f"/api/v2/profile?api_key={KEY}", **HOLDS)[:-2]


def test_a_worker_without_room_for_a_second_request_quotes_no_first(tmp_path: Path) -> None:
    """A condition is asked about once more, which takes a connection, and all are taken by half-open heads."""
    with ExitStack() as stack:
        site, web = stack.enter_context(started(tmp_path, "v2", worker_processes="1", worker_connections="32"))
        held = stack.enter_context(web.connect())
        held.sendall(HALF)
        for _ in range(64):
            client = stack.enter_context(web.connect())
            if not begun(client):
                break
        held.sendall(b"\r\n")
        with held.makefile("rb") as stream:
            assert receive(stream).status == 500

        assert quoted(site) == []
        assert "worker_connections are not enough" in web.errors()


def begun(client: socket.socket) -> bool:
    """Whether a client was let in, whose next request is half there now."""
    try:
        client.sendall(request("/api/v2/nothing"))
        with client.makefile("rb") as stream:
            found = stream.readline()
        client.sendall(HALF)
    except ConnectionError:
        return False
    return bool(found)


def exhausted(clients):
    """The first of the clients, when not all of them were let in."""
    for client in clients:
        client.settimeout(2)
        client.sendall(request("/api/v2/nothing"))
        try:
            with client.makefile("rb") as stream:
                receive(stream)
        except TimeoutError:
            return clients[0]
    raise AssertionError("the worker may open more files than that")
