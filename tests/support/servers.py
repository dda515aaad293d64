"""Starts the servers of the tests. One that does not come up fails its test at once, with its log."""

import atexit
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from os import pread
from pathlib import Path
from signal import SIGTERM
from socket import SO_REUSEADDR, SOL_SOCKET, socket
from socketserver import BaseRequestHandler
from threading import Thread
from time import monotonic
from typing import Any, BinaryIO
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

# Seconds after which a server or a response counts as missing. A machine that is ten times slower needs fewer.
LIMIT = 300


def free_port() -> int:
    """A port for one server of a test, or for none.

    It is bound without a listener until this process ends: the system gives it to no other program.
    """
    holder = socket()
    atexit.register(holder.close)
    holder.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
    holder.bind(("", 0))
    port: int = holder.getsockname()[1]
    return port


class Server(subprocess.Popen[bytes]):
    """A server that writes what it prints to an open file."""

    def __init__(self, command: Sequence[object], log: BinaryIO, **options: Any) -> None:
        self.log = log
        words = [str(word) for word in command]
        super().__init__(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **options)

    def printed(self) -> str:
        """What it has printed until now, or until its end."""
        if not self.log.closed:
            # The server writes at the position of the file, which this does not move.
            self._printed = pread(self.log.fileno(), 1 << 24, 0).decode(errors="replace")
        return self._printed

    def fault(self) -> str:
        """Why a test cannot go on if the server is not there."""
        state = "does not come up" if self.returncode is None else f"ended with exit code {self.returncode}"
        return f"{self.args[0]} {state}; it printed:\n{self.printed()}"  # type: ignore[index]


@contextmanager
def running(
    command: Sequence[object],
    is_up: Callable[[str], object],
    *,
    listener: socket | None = None,
    log: Path | None = None,
    end: int = SIGTERM,
    **options: Any,
) -> Iterator[Server]:
    """Run a server during the block, which begins when `is_up` holds for what the server has printed.

    Only the server has a listener that it inherits: if it ends, clients are refused at once instead of waiting for it.
    """
    if listener:
        options["pass_fds"] = [listener.fileno()]
    with log.open("w+b") if log else tempfile.TemporaryFile() as output:
        server = Server(command, output, **options)
        try:
            if listener:
                listener.close()
            wait_for(server, is_up)
            yield server
            if server.poll() is not None:
                pytest.fail(server.fault())
        except Exception as error:
            if server.poll() is not None:
                error.add_note(server.fault())
            raise
        finally:
            server.send_signal(end)
            try:
                server.wait(LIMIT)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
            server.printed()


def wait_for(server: Server, is_up: Callable[[str], object]) -> None:
    """Wait until `is_up` holds for what a server has printed."""
    end = monotonic() + LIMIT
    while not is_up(server.printed()):
        with suppress(subprocess.TimeoutExpired):
            server.wait(0.02)
        if server.returncode is not None or monotonic() > end:
            pytest.fail(server.fault())


def answers(port: int) -> Callable[[str], bool]:
    """Whether a server that prints nothing when it is up answers HTTP requests, with any status."""

    def is_up(printed: str) -> bool:
        try:
            with urlopen(f"http://127.0.0.1:{port}/", timeout=LIMIT):
                return True
        except HTTPError as error:
            error.close()
            return True
        except OSError:
            return False

    return is_up


class Handler(BaseHTTPRequestHandler):
    """The base of servers that are written in Python: each response is one packet, and nothing is printed."""

    protocol_version = "HTTP/1.1"
    # A second packet would wait for the client's receipt of the first.
    wbufsize = 1 << 16
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: object) -> None:
        pass

    def reply(self, status: int, headers: Mapping[str, str | None], body: bytes = b"") -> None:
        """Send a response, with the length of its body unless `headers` have another one. None removes a header."""
        has_body = status not in (204, 304)
        fields = {"Content-Length": str(len(body)), **headers} if has_body else headers
        self.send_response_only(status)
        for name, value in fields.items():
            if value is not None:
                self.send_header(name, value)
        if "Content-Length" in fields and fields["Content-Length"] is None:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body if has_body and self.command != "HEAD" else b"")

    def forward(self, address: str, target: str, body: bytes = b"") -> tuple[int, dict[str, str], bytes]:
        """Send this request to another server; its answer without what only a connection needs."""
        with closing(HTTPConnection(address, timeout=LIMIT)) as connection:
            connection.putrequest(self.command, target, skip_host=True, skip_accept_encoding=True)
            for header in self.headers.items():
                connection.putheader(*header)
            connection.endheaders(body)
            response = connection.getresponse()
            own = {"connection", "transfer-encoding", *(() if self.command == "HEAD" else ("content-length",))}
            headers = {name: value for name, value in response.getheaders() if name.lower() not in own}
            return response.status, headers, response.read()


class _Threads(ThreadingHTTPServer):
    daemon_threads = True

    def process_request_thread(self, *request: Any) -> None:
        # These threads run no code of the program; under coverage they would take three times as long.
        sys.settrace(None)
        super().process_request_thread(*request)

    def handle_error(self, *request: Any) -> None:
        """Ignore clients that hang up: some tests do so."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(*request)


@contextmanager
def answering(handler: type[BaseRequestHandler]) -> Iterator[int]:
    """Answer requests in threads of this process, on a free loopback port; yields the port."""
    with _Threads(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()
