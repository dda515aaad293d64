"""The second request of a condition that holds: it must reach the very server that was asked, however it is reached."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import copy_of
from tests.nginx.test_quoting import temporary
from tests.responses.test_golden import bodies
from tests.support import nginx_client as server
from tests.support.nginx_client import Answer, receive, request

SITE, URL = "minimal", "/api/series"
HOLDS = request(URL, If_Match="*", Connection="close")


def conf(folder: Path, servers: str) -> None:
    """A main file with these servers beside the built site."""
    copy_of(SITE, folder).build()
    (folder / "own.conf").write_text(
        f"pid dist/run/nginx.pid; error_log dist/run/error.log; events {{ }}\n"
        f"http {{ {temporary()} access_log off; include dist/current/http.conf;\n{servers}\n}}\n"
    )


def assert_ours(answer: Answer) -> None:
    """The answer is the resource and not somebody else's page."""
    assert (answer.status, answer.body) == (200, bodies(SITE)[URL])


@pytest.fixture
def six() -> Iterator[socket.socket]:
    """A socket on the loopback address of IPv6."""
    with socket.socket(socket.AF_INET6) as listener:
        try:
            listener.bind(("::1", 0))
        except OSError:
            pytest.skip("this machine has no IPv6")
        listener.listen()
        listener.setblocking(False)
        yield listener


def test_an_address_of_ipv6_is_put_in_brackets(tmp_path: Path, six: socket.socket) -> None:
    """The server asks itself on the address on which it was asked."""
    port = six.getsockname()[1]
    conf(tmp_path, f"server {{ listen [::1]:{port}; include dist/current/server.conf; }}")
    with (
        server.running(tmp_path, six, "own.conf"),
        socket.create_connection(("::1", port), timeout=30) as client,
        client.makefile("rb") as stream,
    ):
        client.sendall(HOLDS)

        assert_ours(receive(stream))


def test_one_of_several_servers_asks_itself_by_name(tmp_path: Path) -> None:
    """Where the name decides which server answers, the name is repeated."""
    with server.listening() as listener:
        port = listener.getsockname()[1]
        conf(
            tmp_path,
            f"server {{ listen {port} default_server; return 200 other; }}\n"
            f"server {{ listen {port}; server_name test; include dist/current/server.conf; }}",
        )
        with server.running(tmp_path, listener, "own.conf") as web:
            (answer,) = web.converse(HOLDS, "GET")

    assert_ours(answer)
