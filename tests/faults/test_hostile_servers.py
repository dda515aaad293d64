"""Servers that try to delay an import or `verify --url` for ever, or to fill the memory: each request has a limit."""

import re
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from socketserver import BaseRequestHandler
from typing import Any

import pytest
from click.testing import Result

from generator import encoding, http_client
from generator.errors import FlatpanelError
from generator.http_client import Client, DeadlineExceeded, Unreachable, WrongCertificate
from generator.reading_sites.lenient import UnusableResponse
from generator.reading_sites.site_client import MAX_SLOW, SiteClient
from generator.review import verify_server
from generator.server_url import ServerUrl
from tests.conftest import Site
from tests.support import servers, tree_snapshot
from tests.support.fake_site import Reply, serving, small
from tests.support.paths import DATA
from tests.support.runs import sample

Send = Callable[[bytes], None]
Attack = Callable[[Send], None]
CERTIFICATE = DATA / "loopback.pem"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


@dataclass
class Clock:
    """Stands still until a server begins its attack; then each reading is a second later."""

    seconds: float = 0.0
    runs: bool = False

    def __call__(self) -> float:
        self.seconds += self.runs
        return self.seconds


@contextmanager
def attacking(attack: Attack, *, clock: Clock | None = None, tls: bool = False) -> Iterator[str]:
    """A server that attacks every client that sends a request, until the client hangs up."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)

    class Attacker(BaseRequestHandler):
        def handle(self) -> None:
            with context.wrap_socket(self.request, server_side=True) if tls else self.request as client:
                while client.recv(65536):
                    if clock:
                        clock.runs = True
                    attack(client.sendall)

    with servers.answering(Attacker) as port:
        yield f"http{'s' * tls}://127.0.0.1:{port}"


def endless(head: bytes, piece: bytes, *, in_batches: bool = False) -> Attack:
    """The same piece again and again; in batches for limits of size, which need many bytes."""
    part = piece * (32768 // len(piece) + 1) if in_batches else piece

    def attack(send: Send) -> None:
        send(head)
        while True:
            send(part)

    return attack


LINE = b"A: " + b"b" * 3000 + b"\r\n"
# Of a hundred short ones, newer versions of Python make an error of their own.
CONTINUE = b"HTTP/1.1 100 Continue\r\n" + LINE + b"\r\n"
# The head and the endless piece of each.
ENDLESS = {
    "100 Continue": (b"", CONTINUE),
    "headers of 100 Continue": (b"HTTP/1.1 100 Continue\r\n", LINE),
    "status line": (b"", b"H"),
    "header line": (HEAD, b"x"),
    "headers": (HEAD, LINE),
    "body": (HEAD + b"\r\n", b"x"),
    "body with a length": (HEAD + b"Content-Length: 99999999999999999999\r\n\r\n", b"x"),
    "chunks": (CHUNKED, b"1\r\nx\r\n"),
    "chunk extensions": (CHUNKED, b"1;" + b"e" * 9000 + b"\r\nx\r\n"),
    "chunk length": (CHUNKED, b"0"),
    "chunk trailers": (CHUNKED + b"0\r\n", LINE),
}


def wire(url: str, clock: Callable[[], float]) -> SiteClient:
    return SiteClient(ServerUrl.of(url), clock, lambda _: None, size=1 << 20)


@pytest.mark.parametrize("tls", [False, True], ids=["http", "https"])
@pytest.mark.parametrize("part", sample([*ENDLESS], 3))
def test_an_endless_response_has_a_size_limit(part: str, tls: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client closes the connection, also without a deadline."""
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    with attacking(endless(*ENDLESS[part], in_batches=True), tls=tls) as url:
        asker = wire(url, lambda: 0.0)
        with pytest.raises(FlatpanelError, match=r"larger than|has more than|got more than|connection lost"):
            asker.get("/x", {})
        assert asker.client.received < 32 << 20


@pytest.mark.parametrize("tls", [False, True], ids=["http", "https"])
@pytest.mark.parametrize("part", ENDLESS)
def test_a_slow_response_has_a_deadline(part: str, tls: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each piece of the slow part is in time, all of them together are not."""
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    clock = Clock()
    with (
        attacking(endless(*ENDLESS[part]), clock=clock, tls=tls) as url,
        pytest.raises(DeadlineExceeded, match="longer than 3 seconds"),
    ):
        Client(ServerUrl.of(url), clock).get("/x", {}, 1 << 30, 3)


def test_a_body_has_a_size_limit() -> None:
    """One byte more is too much."""
    with serving({"/x": Reply(body=b"[1,2,3,4]")}) as site:
        client = Client(ServerUrl.of(site.url), lambda: 0.0)
        assert [client.get("/x", {}, size).body for size in (9, 8, 10)] == [b"[1,2,3,4]", None, b"[1,2,3,4]"]
        client.close()


def test_redirects_have_one_deadline_together() -> None:
    """Each takes a second more than the one before, and none takes long."""
    clock = Clock()
    attack = lambda send: send(b"HTTP/1.1 302 Found\r\nLocation: /y\r\nContent-Length: 0\r\n\r\n")  # noqa: E731
    with attacking(attack, clock=clock) as url:
        asker = wire(url, clock)
        asker.seconds = 12
        with pytest.raises(UnusableResponse, match="takes longer than"):
            asker.get("/x", {})
        asker.close()


def test_three_slow_responses_end_the_import() -> None:
    """One slow response is skipped; after three in a row the import stops."""
    clock = Clock()
    with attacking(endless(*ENDLESS["body"]), clock=clock) as url:
        asker = wire(url, clock)
        for _ in range(MAX_SLOW - 1):
            clock.runs = False
            with pytest.raises(UnusableResponse, match="takes longer than 60 seconds \\(raise --timeout\\)"):
                asker.get("/x", {})
        clock.runs = False
        with pytest.raises(FlatpanelError, match="3 responses in a row took longer than 60 seconds; run again"):
            asker.get("/x", {})


def test_an_endless_tls_handshake_has_a_deadline() -> None:
    """A TLS record of 16 KiB arrives byte by byte, and is not complete after ten seconds."""
    clock = Clock()

    def attack(send: Send) -> None:
        send(b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc")
        while True:
            send(b"\0")
            time.sleep(0.001)

    with attacking(attack, clock=clock) as url:
        server = ServerUrl.of(url.replace("http:", "https:"))
        with pytest.raises(Unreachable, match="no connection within 10 seconds"):
            Client(server, clock).get("/x", {}, 100)


@pytest.mark.parametrize("headers", [{"X": "y" * (64 << 20)}, {}], ids=["reads", "sends"])
def test_a_server_that_only_connects_has_a_deadline(headers: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """It accepts the connection, and reads nothing or sends nothing. The connection itself may take ten seconds."""
    clock, connect = Clock(), http_client._connect

    def late(*given: Any) -> socket.socket:
        connected = connect(*given)
        clock.seconds = 10.9
        return connected

    monkeypatch.setattr(http_client, "_connect", late)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = Client(ServerUrl("http", "127.0.0.1", listener.getsockname()[1]), clock)
        with pytest.raises(DeadlineExceeded, match="takes longer than 11 seconds"):
            client.get("/x", headers, 100, 11)


def test_a_name_server_that_never_responds_has_a_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's resolver has none."""
    forever = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: forever.wait())
    with pytest.raises(Unreachable, match="no connection within"):
        Client(ServerUrl("http", "slow.example", 80), time.monotonic).get("/x", {}, 100, 0.1)
    forever.set()


def test_an_unknown_host_is_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not looked up seven times."""

    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(FlatpanelError, match=r"^http://no\.example: cannot be reached: Name or service not known$"):
        wire("http://no.example", lambda: 0.0).get("/x", {})


def test_every_ip_address_of_a_host_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host may have an IP address that does not respond; a host without any is a message."""
    answer = HEAD + b"Content-Length: 2\r\n\r\n{}"
    with attacking(lambda send: send(answer)) as url, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        kind = (socket.AF_INET, socket.SOCK_STREAM, 0, "")
        ports = [taken.getsockname()[1], ServerUrl.of(url).port]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(*kind, ("127.0.0.1", port)) for port in ports])
        client = Client(ServerUrl("http", "two.example", 80), lambda: 0.0)
        assert client.get("/x", {}, 100).body == b"{}"
        client.close()
        ports.clear()
        with pytest.raises(Unreachable, match="the host has no IP address"):
            client.get("/x", {}, 100)


def test_tls_certificates_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A trusted certificate is accepted, any other ends the import at the first try."""
    answer = HEAD + b"Connection: close\r\n\r\n{}"

    def attack(send: Send) -> None:
        send(answer)
        raise OSError

    with attacking(attack, tls=True) as url:
        with pytest.raises(FlatpanelError, match="invalid TLS certificate: self-signed certificate"):
            wire(url, lambda: 0.0).get("/x", {})
        with pytest.raises(WrongCertificate):
            Client(ServerUrl.of(url), lambda: 0.0).get("/x", {}, 100)
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
        assert wire(url, lambda: 0.0).get("/x", {}).body == b"{}"


@pytest.fixture
def built(site: Site) -> Site:
    tree_snapshot.first_version(site)
    site.build()
    return site


@pytest.mark.bounds
def test_verify_limits_the_size_of_responses(
    without_sync_and_docs: None, built: Site, run: Callable[..., Result]
) -> None:
    """A body to the size in the manifest, everything else to a fixed size; never a traceback.

    The client is the one that other tests attack in each way.
    """
    for parts in [*ENDLESS.values()][::3]:
        with attacking(endless(*parts, in_batches=True)) as url:
            result = run("verify", "--out", built.folder / "dist", "--url", url)

        assert result.exit_code == 1 and isinstance(result.exception, SystemExit)
        assert re.search("has another body|the response |no response: ", result.stderr)


def test_verify_limits_the_time_of_responses(built: Site) -> None:
    """The deadline is that of one response. Others of the eight connections may only be opening meanwhile."""
    clock = Clock()
    sentence = "(the response takes longer than 3 seconds|no response: no connection within 10 seconds)"
    with (
        attacking(endless(*ENDLESS["100 Continue"]), clock=clock) as url,
        pytest.raises(FlatpanelError, match=f"^{url}: {sentence}$"),
    ):
        verify_server.check_server(built.store, url, clock, 3)


def test_verify_limits_the_size_of_uncompressed_bodies(built: Site) -> None:
    """A compressed body of the right size may expand to a thousand times as much."""
    body = next(body for body in built.manifest.resources.values() if body.gzip)
    bomb = encoding.gzip(bytes(body.size * 100)) or b""
    assert len(bomb) <= body.size
    answer = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s" % (len(bomb), bomb)
    with attacking(lambda send: send(answer)) as url:
        faults = verify_server.check_server(built.store, url, lambda: 0.0).faults

    assert f"{url}{body.url} (gzip): has another body" in faults
    assert (encoding.gunzip(bomb, body.size * 100), encoding.gunzip(bomb, body.size)) == (bytes(body.size * 100), None)


def peak(code: str, *arguments: object) -> tuple[int, str]:
    """The peak memory of a separate process in MB, and its output."""
    measured = "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
    command = [sys.executable, "-c", f"import sys\n{code}\n{measured}", *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
    output, _, kilobytes = done.stdout.strip().rpartition("\n")
    return int(kilobytes) // 1024, output


IMPORT = """
from click.testing import CliRunner
from generator.commands.cli import main
from tests.support.paths import DATA
options = ["--catalog", sys.argv[2], "--rate", "100", "--allow-missing-ids"]
result = CliRunner().invoke(main, ["import", sys.argv[1], *options])
print(result.exit_code, result.output, result.exception)
"""
# Made by the tests that send them: each worker of a run reads this module.
EMPTY, NESTED = b"{},", b'{"a":' * 400 + b"1" + b"}" * 400
MANY: dict[str, Callable[[], bytes]] = {
    "empty objects": lambda: b'{"results":[' + EMPTY * 21_999_999 + b"{}]}",
    "empty objects that are parsed at once": lambda: b'{"results":[' + EMPTY * 5_333_333 + b"{}]}",
    "an array of empty objects": lambda: b"[" + EMPTY * 21_999_999 + b"{}]",
    "as many objects in each other as may be": lambda: b"[" + b",".join([NESTED] * 2000) + b"]",
    "as much wide text as may be": lambda: b'{"results":["' + b"x" * 16_700_000 + "\U0001f600".encode() + b'"]}',
    "more wide text": lambda: b'{"results":["' + b"x" * 66_000_000 + "\U0001f600".encode() + b'"]}',
}


@pytest.mark.bounds
@pytest.mark.parametrize(
    ("kind", "path"),
    [*((kind, "/api/v2/series") for kind in MANY), ("an array of empty objects", "/api/v1/series")],
)
def test_an_import_needs_little_memory_for_large_responses(kind: str, path: str, tmp_path: Path) -> None:
    """63 MiB of empty objects would be gigabytes of values; an import stays below 300 MB."""
    with serving(small() | {path: Reply(body=MANY[kind]())}) as site:
        most, output = peak(IMPORT, site.url, tmp_path / "catalog_src")

    assert most < 300
    assert output.startswith("0 ")
    assert f"{path}: JSON " in output or kind.startswith("as m") or path == "/api/v1/series"
