"""HTTP client for one server, with a deadline and a size limit for each request. The only importer of http.client.

http.client parses responses. It reads through `_Connection`, which sets the remaining time before every read and counts
every byte. So no slow or endless part of a response can block a request: name server, connection, TLS handshake,
interim response, header, chunk, chunk extension or trailer.
"""

import errno
import io
import socket
import ssl
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from .errors import FlatpanelError
from .server_url import REQUEST_SECONDS, ServerUrl

# The part of it for the name server, the connection and the TLS handshake.
_CONNECT_SECONDS = 10.0
# The size limit of everything before the body, interim responses included.
_MAX_HEAD = 1 << 18
_BLOCK = 1 << 16
_BUFFER = 1 << 13

Clock = Callable[[], float]


class LimitExceeded(FlatpanelError):
    """A response exceeded a limit. The message continues "the response"."""


class DeadlineExceeded(LimitExceeded):
    """The deadline of a request has passed."""


class Unreachable(OSError):
    """The connection failed: host name, IP address, port or TLS handshake."""


class WrongCertificate(Unreachable):
    """The TLS certificate does not belong to the host."""


class _SizeExceeded(LimitExceeded):
    """The response has too many bytes."""


@dataclass(frozen=True, slots=True)
class Response:
    """A response. Header names are in lower case; repeated headers are joined by commas."""

    status: int
    headers: Mapping[str, str]
    # None if it is larger than the limit.
    body: bytes | None


class _Budget:
    """The time and the bytes that remain for a request."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock, self._allowed, self._end = clock, seconds, clock() + seconds
        self.bytes = _MAX_HEAD

    def seconds(self) -> float:
        remaining = self._end - self._clock()
        if remaining <= 0:
            raise self.deadline_exceeded()
        return remaining

    def spend(self, count: int) -> None:
        self.bytes -= count
        if self.bytes < 0:
            raise _SizeExceeded(f"has more than {_MAX_HEAD >> 10} KiB before its body")

    def deadline_exceeded(self) -> DeadlineExceeded:
        return DeadlineExceeded(f"takes longer than {self._allowed:g} seconds")


class _Connection:
    """A connection that stays within the budget of its current request. http.client uses it as a socket."""

    def __init__(self, connected: socket.socket, budget: _Budget) -> None:
        self._socket, self.budget = connected, budget
        self.received = 0

    def recv(self, count: int) -> bytes:
        self._socket.settimeout(self.budget.seconds())
        try:
            data = self._socket.recv(count)
        except TimeoutError:
            raise self.budget.deadline_exceeded() from None
        self.received += len(data)
        self.budget.spend(len(data))
        return data

    def sendall(self, data: bytes) -> None:
        self._socket.settimeout(self.budget.seconds())
        try:
            self._socket.sendall(data)
        except TimeoutError:
            raise self.budget.deadline_exceeded() from None

    def makefile(self, mode: str) -> io.BufferedReader:
        # The default differs between versions of Python. What is read ahead counts as a part of the head.
        return io.BufferedReader(_ConnectionStream(self), _BUFFER)

    def close(self) -> None:
        """Do nothing: http.client calls this before it reads the body. `close_socket` closes the socket."""

    def abort(self) -> None:
        """End a read or a write of another thread."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close_socket(self) -> None:
        self._socket.close()


class _ConnectionStream(io.RawIOBase):
    """A connection as a raw stream, for io.BufferedReader."""

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._connection.recv(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class _ConnectionEnded(OSError):
    """The server closed the connection."""


class _TlsConnection(_Connection):
    """A TLS connection; the reads and writes of TLS itself stay within the budget, too."""

    def __init__(self, connected: socket.socket, budget: _Budget, host: str) -> None:
        super().__init__(connected, budget)
        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._in, self._out, server_hostname=host)

    def do_handshake(self) -> None:
        self._run(self._tls.do_handshake)

    def recv(self, count: int) -> bytes:
        try:
            data: bytes = self._run(lambda: self._tls.read(count))
        except (ssl.SSLZeroReturnError, _ConnectionEnded):
            return b""
        return data

    def sendall(self, data: bytes) -> None:
        self._run(lambda: self._tls.write(data))

    def _run(self, action: Callable[[], Any]) -> Any:
        """Run an action of OpenSSL; send its output and receive its input until it is finished."""
        while True:
            try:
                finished, result = True, action()
            except ssl.SSLWantReadError:
                finished, result = False, None
            if output := self._out.read():
                super().sendall(output)
            if finished:
                return result
            if not (data := super().recv(_BLOCK)):
                # The error of OpenSSL would differ between versions of Python.
                raise _ConnectionEnded(errno.ECONNRESET, "the server closed the connection")
            self._in.write(data)


class Client:
    """A connection to one server, opened for the first request and reused while the server keeps it open."""

    def __init__(self, server: ServerUrl, clock: Clock) -> None:
        self.server = server
        self._clock, self._received = clock, 0
        self._connection: _Connection | None = None
        self._is_aborted = False

    @property
    def received(self) -> int:
        """The number of bytes received over all connections."""
        return self._received + (self._connection.received if self._connection else 0)

    def get(
        self,
        target: str,
        headers: Mapping[str, str],
        size: int,
        seconds: float = REQUEST_SECONDS,
        method: str = "GET",
        data: bytes | None = None,
    ) -> Response:
        """The response to a GET request (or HEAD, or POST with `data`), with a body of at most `size` bytes.

        Redirects are not followed.

        Raises LimitExceeded, Unreachable, and OSError for a broken connection or an invalid response.
        """
        keep = False
        try:
            budget = _Budget(self._clock, seconds)
            connection = self._connection = self._connection or self._connect(budget)
            connection.budget = budget
            exchange = HTTPConnection(self.server.host)
            exchange.sock = connection
            exchange.request(method, target, data, headers={"Host": self.server.authority, **headers})
            with exchange.getresponse() as response:
                budget.bytes = _MAX_HEAD + 2 * size  # twice: chunks have lengths, too
                body = _body(response, size)
            keep = body is not None and not response.will_close
            joined: dict[str, str] = {}
            for name, value in response.getheaders():
                name = name.lower()
                joined[name] = f"{joined[name]}, {value}" if name in joined else value
            return Response(response.status, joined, body)
        except HTTPException as error:
            raise OSError(str(error) or type(error).__name__) from None
        finally:
            if not keep:
                self.close()

    def close(self) -> None:
        if self._connection:
            self._received += self._connection.received
            self._connection.close_socket()
        self._connection = None

    def abort(self) -> None:
        """End the request that another thread sends; the next one is Unreachable."""
        self._is_aborted = True
        if connection := self._connection:
            connection.abort()

    def _connect(self, budget: _Budget) -> _Connection:
        if self._is_aborted:
            raise Unreachable("the request was aborted")
        connect_budget = _Budget(self._clock, min(_CONNECT_SECONDS, budget.seconds()))
        try:
            return self._open(connect_budget)
        except DeadlineExceeded:
            raise Unreachable(f"no connection within {_CONNECT_SECONDS:g} seconds") from None
        except ssl.SSLCertVerificationError as error:
            raise WrongCertificate(error.verify_message) from None
        except OSError as error:
            raise Unreachable(error.strerror or str(error) or type(error).__name__) from None

    def _open(self, budget: _Budget) -> _Connection:
        host = self.server.host.strip("[]")
        with ExitStack() as on_error:
            connected = _connect(_addresses(host, self.server.port, budget), budget)
            on_error.callback(connected.close)
            connection = _Connection(connected, budget)
            if self.server.scheme == "https":
                connection = _TlsConnection(connected, budget, host)
                connection.do_handshake()
            on_error.pop_all()
        return connection


def _addresses(host: str, port: int, budget: _Budget) -> list[Any]:
    """The IP addresses of a host. The resolver has no deadline, so it runs in a thread that can be abandoned."""
    results: SimpleQueue[list[Any] | OSError] = SimpleQueue()

    def look_up() -> None:
        try:
            results.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except OSError as error:
            results.put(error)

    Thread(target=look_up, daemon=True).start()
    try:
        addresses = results.get(timeout=budget.seconds())
    except Empty:
        raise budget.deadline_exceeded() from None
    if isinstance(addresses, OSError):
        raise addresses
    return addresses


def _connect(addresses: list[Any], budget: _Budget) -> socket.socket:
    """A connection to the first address that accepts one; each gets an equal share of the remaining time."""
    failure = OSError("the host has no IP address")
    for number, (family, kind, protocol, _, address) in enumerate(addresses):
        seconds = budget.seconds() / (len(addresses) - number)
        attempt = socket.socket(family, kind, protocol)
        try:
            attempt.settimeout(seconds)
            attempt.connect(address)
            attempt.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return attempt
        except OSError as error:
            attempt.close()
            failure = error
    raise failure


def _body(response: HTTPResponse, size: int) -> bytes | None:
    body = bytearray()
    try:
        while part := response.read1(_BLOCK):
            body += part
            if len(body) > size:
                return None
    except _SizeExceeded:
        return None
    if response.length:
        raise HTTPException("the response is incomplete")
    return bytes(body)
