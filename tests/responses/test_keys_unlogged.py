"""No API key in the error log, although nginx quotes the requests that it reports."""

import select
import socket
from contextlib import ExitStack
from pathlib import Path

from tests.conftest import Site
from tests.support.nginx_client import Web, receive, request
from tests.support.site_variants import SMALL, started
from tests.support.tables import each

KEY = "key-one"
FULL = "accept4() failed (24: Too many open files)"
CONDITION = {"If_Match": "*"}
SETTINGS = ""  # a server of this module, whose bodies a test damages
COMPLAINTS = ("client intended to send too large body",)


def lines_with_key(site: Site) -> list[str]:
    """All lines with a key that nginx has written so far."""
    texts = [path.read_text() for path in (site.folder / "dist/run").rglob("*") if path.is_file()]
    assert texts
    return [line for text in texts for line in text.splitlines() if KEY in line]


@each("url", ["/api/v2/chapters/32", "/api/v2/chapters/11", "/api/v2/profile#one"])
def test_unreadable_body_is_404_without_a_log_line(running, url: str) -> None:
    """A symlink to itself is unreadable even for root."""
    site, web = running
    body = site.folder / "dist" / site.manifest.resources[url].file
    body.unlink()
    body.symlink_to(body.name)

    for headers in ({}, CONDITION, {"Accept_Encoding": "gzip"}):
        assert web.ask(f"{url.partition('#')[0]}?api_key={KEY}", **headers).status == 404
    assert lines_with_key(site) == []


@each("path", ["/API/v2/profile", "/", "/nothing", "/apis", "/_flatpanel/again", "/_flatpanel/error"])
@each("method", ["GET", "POST", "OPTIONS"])
def test_key_in_a_path_outside_the_api_is_not_logged(running, path: str, method: str) -> None:
    """The request has a mistyped path and an oversized body."""
    site, web = running
    for headers in ({}, CONDITION):
        data = request(f"{path}?api_key={KEY}", method, Connection="close", Content_Length="100000", **headers)
        web.raw(data + b"x" * 100_000)

    assert lines_with_key(site) == []


def test_worker_without_file_descriptors_logs_no_request(tmp_path: Path) -> None:
    """The log has the reason, and only for new connections without a request."""
    with started(tmp_path, SMALL, worker_processes="1", worker_rlimit_nofile="30") as (site, web):
        for path, headers in (
            ("/api/v2/profile", {}),
            ("/api/v2/bookmarks", CONDITION),
            ("/api/v2/chapters/31", {"If_Unmodified_Since": "Fri, 01 Jan 2100 00:00:00 GMT"}),
        ):
            with ExitStack() as stack:
                held = first_client_of_a_full_worker(web, stack)
                held.sendall(request(f"{path}?api_key={KEY}", **headers))
                assert receive(stack.enter_context(held.makefile("rb"))).status == 500

        assert lines_with_key(site) == []
        assert FULL in web.errors()


HALF_REQUEST = request(f"/api/v2/profile?api_key={KEY}", **CONDITION)[:-2]


def test_worker_without_connections_logs_no_request(tmp_path: Path) -> None:
    """A condition needs a second connection, and half-open requests occupy all of them."""
    with ExitStack() as stack:
        site, web = stack.enter_context(started(tmp_path, SMALL, worker_processes="1", worker_connections="32"))
        held = stack.enter_context(web.connect())
        held.sendall(HALF_REQUEST)
        for _ in range(64):
            client = stack.enter_context(web.connect())
            if not accepted(client):
                break
        held.sendall(b"\r\n")
        with held.makefile("rb") as stream:
            assert receive(stream).status == 500

        assert lines_with_key(site) == []
        assert "worker_connections are not enough" in web.errors()


def accepted(client: socket.socket) -> bool:
    """Check whether the worker accepts a client. Its next request is then half sent."""
    try:
        client.sendall(request("/api/v2/nothing"))
        with client.makefile("rb") as stream:
            line = stream.readline()
        client.sendall(HALF_REQUEST)
    except ConnectionError:
        return False
    return bool(line)


def first_client_of_a_full_worker(web: Web, stack: ExitStack) -> socket.socket:
    """The first client, when the worker accepts no more clients. Each has a response, or the log has the reason."""
    logged = web.errors().count(FULL)
    clients: list[socket.socket] = []
    for _ in range(40):
        clients.append(client := stack.enter_context(web.connect()))
        client.sendall(request("/api/v2/nothing"))
        while not select.select([client], [], [], 0.01)[0]:
            if web.errors().count(FULL) > logged:
                return clients[0]
        with client.makefile("rb") as stream:
            receive(stream)
    raise AssertionError("the worker may open more files than that")
