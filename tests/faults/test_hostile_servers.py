"""Servers that would hold an import or `verify --url` for ever, or fill the memory: each request has one end."""

import re
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import Result

from generator import encoding
from generator.authoring.site_import.bounded_json import UnusableResponse
from generator.authoring.site_import.site_client import MAX_SLOW, SiteClient
from generator.errors import FlatpanelError
from generator.http_client import Client, DeadlineExceeded, Unreachable, WrongCertificate
from generator.review import verify_server
from generator.server_url import ServerUrl
from tests.conftest import Site
from tests.support import tree_snapshot
from tests.support.fake_site import Elsewhere, Said, elsewhere, small
from tests.support.paths import DATA

Send = Callable[[bytes], None]
Attack = Callable[[Send], None]
CERTIFICATE = DATA / "loopback.pem"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


@dataclass
class Clock:
    """Stands still until a server begins its attack; then a second passes with every look at it."""

    seconds: float = 0.0
    runs: bool = False

    def __call__(self) -> float:
        self.seconds += self.runs
        return self.seconds


@contextmanager
def attacking(attack: Attack, *, clock: Clock | None = None, tls: bool = False, reads: bool = True) -> Iterator[str]:
    """A server that does this to every client that sends a request, until the client hangs up."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)

    def serve(client: socket.socket) -> None:
        with suppress(OSError), client:
            if tls:
                client = context.wrap_socket(client, server_side=True)
            with client:
                while not reads or client.recv(65536):
                    if clock:
                        clock.runs = True
                    attack(client.sendall)
                    if not reads:
                        return

    def listen(listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                threads.append(threading.Thread(target=serve, args=(listener.accept()[0],)))
                threads[-1].start()

    threads: list[threading.Thread] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        accepting = threading.Thread(target=listen, args=(listener,))
        accepting.start()
        try:
            yield f"http{'s' * tls}://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            accepting.join()
            for thread in threads:
                thread.join()


def endless(head: bytes, piece: bytes) -> Attack:
    """The piece again and again."""

    def attack(send: Send) -> None:
        send(head)
        while True:
            send(piece)

    return attack


LINE = b"A: " + b"b" * 3000 + b"\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
ENDLESS = {
    "100 Continue": endless(b"", CONTINUE),
    "headers of 100 Continue": endless(b"HTTP/1.1 100 Continue\r\n", LINE),
    "status line": endless(b"", b"H"),
    "header line": endless(HEAD, b"x"),
    "headers": endless(HEAD, LINE),
    "body": endless(HEAD + b"\r\n", b"x"),
    "body with a length": endless(HEAD + b"Content-Length: 99999999999999999999\r\n\r\n", b"x"),
    "chunks": endless(CHUNKED, b"1\r\nx\r\n"),
    "chunk extensions": endless(CHUNKED, b"1;" + b"e" * 9000 + b"\r\nx\r\n"),
    "chunk length": endless(CHUNKED, b"0"),
    "chunk trailers": endless(CHUNKED + b"0\r\n", LINE),
}


def wire(url: str, clock: Callable[[], float]) -> SiteClient:
    return SiteClient(ServerUrl.of(url), clock, lambda _: None, size=1 << 20)


@pytest.mark.parametrize("tls", [False, True], ids=["http", "https"])
@pytest.mark.parametrize("part", ENDLESS)
def test_an_endless_response_ends_by_its_size(part: str, tls: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever part of it is endless, the client hangs up; time does not matter."""
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    with attacking(ENDLESS[part], tls=tls) as url:
        asker = wire(url, lambda: 0.0)
        with pytest.raises(FlatpanelError, match=r"larger than|has more than|got more than|connection lost"):
            asker.get("/x", {})
        assert asker.client.received < 32 << 20


@pytest.mark.parametrize("tls", [False, True], ids=["http", "https"])
@pytest.mark.parametrize("part", ENDLESS)
def test_a_slow_response_ends_by_its_deadline(part: str, tls: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever part of it comes slowly: each piece is in time, all of them together are not."""
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    clock = Clock()
    with (
        attacking(ENDLESS[part], clock=clock, tls=tls) as url,
        pytest.raises(DeadlineExceeded, match="longer than 3 seconds"),
    ):
        Client(ServerUrl.of(url), clock).get("/x", {}, 1 << 30, 3)


def test_a_body_has_its_size_at_most() -> None:
    """One byte more is too much."""
    with elsewhere({"/x": Said(body=b"[1,2,3,4]")}) as site:
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


def test_a_site_that_is_always_slow_ends_the_import() -> None:
    """One slow response is passed over; after three in a row the import goes on another time."""
    clock = Clock()
    with attacking(ENDLESS["body"], clock=clock) as url:
        asker = wire(url, clock)
        for _ in range(MAX_SLOW - 1):
            clock.runs = False
            with pytest.raises(UnusableResponse, match="takes longer than 60 seconds \\(raise --timeout\\)"):
                asker.get("/x", {})
        clock.runs = False
        with pytest.raises(FlatpanelError, match="3 responses in a row took longer than 60 seconds; run again"):
            asker.get("/x", {})


def test_endless_handshake_is_no_connection() -> None:
    """A TLS record of 16 KiB arrives byte by byte, too slowly to be complete before the client's ten seconds end."""
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


def test_a_request_that_is_not_read_has_a_deadline() -> None:
    """The server accepts the connection and reads nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = Client(ServerUrl("http", "127.0.0.1", listener.getsockname()[1]), lambda: 0.0)
        with pytest.raises(DeadlineExceeded):
            client.get("/x", {"X": "y" * (64 << 20)}, 100, 0.1)


def test_an_answer_that_never_begins_has_a_deadline() -> None:
    """The server accepts the connection and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = Client(ServerUrl("http", "127.0.0.1", listener.getsockname()[1]), time.monotonic)
        with pytest.raises(DeadlineExceeded, match=r"takes longer than 0\.1 seconds"):
            client.get("/x", {}, 100, 0.1)


def test_a_name_server_that_never_answers_has_a_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's resolver knows none."""
    forever = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: forever.wait())
    with pytest.raises(Unreachable, match="no connection within"):
        Client(ServerUrl("http", "slow.example", 80), time.monotonic).get("/x", {}, 100, 0.1)
    forever.set()


def test_a_name_that_does_not_exist_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not looked up seven times."""

    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(FlatpanelError, match=r"^http://no\.example: cannot be reached: Name or service not known$"):
        waiting = Elsewhere({})
        SiteClient(ServerUrl.of("http://no.example"), lambda: waiting.time, waiting.sleep).get("/x", {})


def test_every_address_of_a_name_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name may have an address that nobody answers at; without any, that is said."""
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


def test_https_is_another_connection() -> None:
    """A server that speaks no TLS cannot be asked in it, and is not asked in the clear."""
    waiting = Elsewhere({})
    with attacking(lambda send: send(b"no TLS\r\n")) as url, pytest.raises(FlatpanelError, match="cannot be reached"):
        SiteClient(ServerUrl.of(url.replace("http:", "https:")), lambda: waiting.time, waiting.sleep).get("/x", {})


def test_tls_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A certificate that the system trusts opens the way, any other ends it at the first try."""
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


def test_verify_ends_where_a_response_is_endless(built: Site, run: Callable[..., Result]) -> None:
    """A body is read to the size that the release promises; everything else to a fixed size. Never a traceback."""
    for attack in ENDLESS.values():
        with attacking(attack) as url:
            result = run("verify", "--out", built.folder / "dist", "--url", url)

        assert result.exit_code == 1 and isinstance(result.exception, SystemExit)
        assert re.search("has another body|the response |no response: ", result.stderr)


def test_verify_ends_where_a_response_is_slow(built: Site) -> None:
    """The deadline is that of one response."""
    clock = Clock()
    with (
        attacking(ENDLESS["100 Continue"], clock=clock) as url,
        pytest.raises(FlatpanelError, match=f"^{url}: the response takes longer than 3 seconds$"),
    ):
        verify_server.check_server(built.store, url, clock, 3)


def test_verify_unpacks_no_more_than_a_body(built: Site) -> None:
    """A compressed form that fits, and unpacks to a thousand times as much."""
    one = next(one for one in built.manifest.resources.values() if one.gzip)
    bomb = encoding.gzip(bytes(one.size * 100)) or b""
    assert len(bomb) <= one.size
    answer = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s" % (len(bomb), bomb)
    with attacking(lambda send: send(answer)) as url:
        told = verify_server.check_server(built.store, url, lambda: 0.0).faults

    assert f"{url}{one.url} (gzip): has another body" in told
    assert (encoding.gunzip(bomb, one.size * 100), encoding.gunzip(bomb, one.size)) == (bytes(one.size * 100), None)


def peak(code: str, *arguments: object) -> tuple[int, str]:
    """The most memory that a process of its own needed, in MB, and what it said."""
    measured = "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
    command = [sys.executable, "-c", f"import sys\n{code}\n{measured}", *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
    said, _, kilobytes = done.stdout.strip().rpartition("\n")
    return int(kilobytes) // 1024, said


IMPORT = """
from click.testing import CliRunner
from generator.cli import main
from tests.support.paths import DATA
result = CliRunner().invoke(main, ["import", sys.argv[1], "--catalog", sys.argv[2], "--rate", "100"])
print(result.exit_code, result.output, result.exception)
"""
EMPTY = b"{}," * 22_000_000
MANY = {
    "empty objects": b'{"results":[' + EMPTY[:-1] + b"]}",
    "empty objects that are parsed at once": b'{"results":[' + EMPTY[:15_999_999] + b"{}]}",
    "an array of empty objects": b"[" + EMPTY[:-1] + b"]",
    "as many objects in each other as may be": b"[" + b",".join([b'{"a":' * 400 + b"1" + b"}" * 400] * 2000) + b"]",
    "as much wide text as may be": b'{"results":["' + b"x" * 16_700_000 + "\U0001f600".encode() + b'"]}',
    "more wide text": b'{"results":["' + b"x" * 66_000_000 + "\U0001f600".encode() + b'"]}',
}


@pytest.mark.parametrize("path", ["/api/v2/series", "/api/v1/series"])
@pytest.mark.parametrize("kind", MANY)
def test_an_import_needs_little_memory_for_what_is_large(kind: str, path: str, tmp_path: Path) -> None:
    """63 MiB of empty objects would be gigabytes of values; an import stays below 300 MB whatever comes."""
    with elsewhere(small() | {path: Said(body=MANY[kind])}) as site:
        most, said = peak(IMPORT, site.url, tmp_path / "catalog_src")

    assert most < 300
    assert said.startswith("0 ")
    assert f"{path}: JSON " in said or kind.startswith("as m") or path == "/api/v1/series"
