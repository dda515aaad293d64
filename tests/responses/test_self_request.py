"""The second request of a condition that holds: it must reach the same server at any URL of the server."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import copy_of
from tests.support import nginx_client as server
from tests.support.golden import bodies
from tests.support.nginx_client import Answer, receive, request
from tests.support.servers import LIMIT

SITE, URL = "minimal", "/api/series"
CONDITIONAL = request(URL, If_Match="*", Connection="close")


def conf(folder: Path, servers: str) -> None:
    """Write a main configuration with these servers beside the built site."""
    copy_of(SITE, folder).build()
    (folder / "own.conf").write_text(
        f"pid dist/run/nginx.pid; error_log dist/run/error.log; events {{ }}\n"
        f"http {{ {server.TEMPORARY_PATHS} access_log off; include dist/current/http.conf;\n{servers}\n}}\n"
    )


def assert_resource(response: Answer) -> None:
    """The response is the resource and not a page of another server."""
    assert (response.status, response.body) == (200, bodies(SITE)[URL])


@pytest.fixture
def ipv6() -> Iterator[socket.socket]:
    """A socket on the loopback address of IPv6."""
    with socket.socket(socket.AF_INET6) as listener:
        try:
            listener.bind(("::1", 0))
        except OSError:
            pytest.skip("this machine has no IPv6")
        listener.listen()
        listener.setblocking(False)
        yield listener


def test_second_request_to_an_ipv6_address(tmp_path: Path, ipv6: socket.socket) -> None:
    """The server sends it to the address of the first request, in brackets."""
    port = ipv6.getsockname()[1]
    conf(tmp_path, f"server {{ listen [::1]:{port}; include dist/current/server.conf; }}")
    with (
        server.running(tmp_path, ipv6, "own.conf"),
        socket.create_connection(("::1", port), timeout=LIMIT) as client,
        client.makefile("rb") as stream,
    ):
        client.sendall(CONDITIONAL)

        assert_resource(receive(stream))


def test_second_request_has_the_server_name(tmp_path: Path) -> None:
    """The Host header selects one of several servers on the same port."""
    with server.listening() as listener:
        port = listener.getsockname()[1]
        conf(
            tmp_path,
            f"server {{ listen {port} default_server; return 200 other; }}\n"
            f"server {{ listen {port}; server_name test; include dist/current/server.conf; }}",
        )
        with server.running(tmp_path, listener, "own.conf") as web:
            (response,) = web.converse(CONDITIONAL, "GET")

    assert_resource(response)
