"""Requests to one server, each within one deadline and one limit of size. The only importer of http.client.

http.client decides what a response means; what it reads goes through `_Line`, which sets the time that is left before
every read and counts every byte. So neither a slow nor an endless part of a response holds a request: no name server,
connection, TLS handshake, interim response, header, chunk, chunk extension or trailer.
"""

import errno
import io
import socket
import ssl
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from .errors import FlatpanelError
from .server_url import ServerUrl

# For one request as a whole.
REQUEST_SECONDS = 60.0
# For finding the server, connecting to it and the TLS handshake, as a part of that.
_CONNECT_SECONDS = 10.0
# For everything before the body, interim responses included.
_MAX_HEAD = 1 << 18
_BLOCK = 1 << 16

Clock = Callable[[], float]


class LimitExceeded(FlatpanelError):
    """A response went beyond a limit. The message continues the words "the response"."""


class DeadlineExceeded(LimitExceeded):
    """The deadline of a request has passed."""


class Unreachable(OSError):
    """There is no connection: the name, the address, the port or the TLS handshake failed."""


class WrongCertificate(Unreachable):
    """The server is not the one that the address names."""


class _SizeExceeded(LimitExceeded):
    """More bytes came than a response may have."""


@dataclass(frozen=True, slots=True)
class Response:
    """A response as it came; header names in lower case, values of one name joined by commas."""

    status: int
    headers: Mapping[str, str]
    # None if it has more bytes than were asked for.
    body: bytes | None


class _Budget:
    """The time and the bytes that a request has left."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock, self._allowed, self._end = clock, seconds, clock() + seconds
        self.bytes = _MAX_HEAD

    def seconds(self) -> float:
        left = self._end - self._clock()
        if left <= 0:
            raise self.too_slow()
        return left

    def take(self, count: int) -> None:
        self.bytes -= count
        if self.bytes < 0:
            raise _SizeExceeded(f"has more than {_MAX_HEAD >> 10} KiB before its body")

    def too_slow(self) -> DeadlineExceeded:
        return DeadlineExceeded(f"takes longer than {self._allowed:g} seconds")


class _Connection:
    """The bytes of a connection, within the budget of the request that uses it. http.client takes it for a socket."""

    def __init__(self, connected: socket.socket, budget: _Budget) -> None:
        self._socket, self.budget = connected, budget
        self.received = 0

    def recv(self, count: int) -> bytes:
        self._socket.settimeout(self.budget.seconds())
        try:
            data = self._socket.recv(count)
        except TimeoutError:
            raise self.budget.too_slow() from None
        self.received += len(data)
        self.budget.take(len(data))
        return data

    def sendall(self, data: bytes) -> None:
        self._socket.settimeout(self.budget.seconds())
        try:
            self._socket.sendall(data)
        except TimeoutError:
            raise self.budget.too_slow() from None

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_ConnectionStream(self))

    def close(self) -> None:
        """http.client does so before the body is read; `hang_up` closes the socket."""

    def close_socket(self) -> None:
        self._socket.close()


class _ConnectionStream(io.RawIOBase):
    """A line as the buffers of Python read it."""

    def __init__(self, line: _Connection) -> None:
        self._line = line

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._line.recv(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class _ConnectionEnded(OSError):
    """The server sent its last byte."""


class _TlsConnection(_Connection):
    """A line with TLS, whose own reads and writes are bounded like all others."""

    def __init__(self, connected: socket.socket, budget: _Budget, host: str) -> None:
        super().__init__(connected, budget)
        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._in, self._out, server_hostname=host)

    def do_handshake(self) -> None:
        self._do(self._tls.do_handshake)

    def recv(self, count: int) -> bytes:
        try:
            data: bytes = self._do(lambda: self._tls.read(count))
        except (ssl.SSLZeroReturnError, _ConnectionEnded):
            return b""
        return data

    def sendall(self, data: bytes) -> None:
        self._do(lambda: self._tls.write(data))

    def _do(self, action: Callable[[], Any]) -> Any:
        """Let OpenSSL work on what is there, and bring what it waits for."""
        while True:
            try:
                done, result = True, action()
            except ssl.SSLWantReadError:
                done, result = False, None
            if waiting := self._out.read():
                super().sendall(waiting)
            if done:
                return result
            if not (data := super().recv(_BLOCK)):
                # OpenSSL would raise another error for it on each version of Python.
                raise _ConnectionEnded(errno.ECONNRESET, "the server closed the connection")
            self._in.write(data)


class Client:
    """One connection to a server, opened when it is needed and kept for as long as the server keeps it."""

    def __init__(self, address: ServerUrl, clock: Clock) -> None:
        self.address = address
        self._clock, self._received = clock, 0
        self._line: _Connection | None = None

    @property
    def received(self) -> int:
        """All bytes that ever came."""
        return self._received + (self._line.received if self._line else 0)

    def get(self, target: str, headers: Mapping[str, str], size: int, seconds: float = REQUEST_SECONDS) -> Response:
        """The response to one request, with a body of at most `size` bytes; no redirect is followed.

        Raises Exceeded, Unreachable, and any other OSError for a connection that breaks off or a response that is no
        HTTP.
        """
        keep = False
        try:
            budget = _Budget(self._clock, seconds)
            line = self._line = self._line or self._connected(budget)
            line.budget = budget
            connection = HTTPConnection(self.address.host)
            connection.sock = line
            connection.request("GET", target, headers={"Host": self.address.authority, **headers})
            with connection.getresponse() as response:
                budget.bytes = _MAX_HEAD + 2 * size  # as much again for the lengths of chunks
                body = _body(response, size)
            keep = body is not None and not response.will_close
            found: dict[str, str] = {}
            for name, value in response.getheaders():
                name = name.lower()
                found[name] = f"{found[name]}, {value}" if name in found else value
            return Response(response.status, found, body)
        except HTTPException as error:
            raise OSError(str(error) or type(error).__name__) from None
        finally:
            if not keep:
                self.close()

    def close(self) -> None:
        if self._line:
            self._received += self._line.received
            self._line.close_socket()
        self._line = None

    def _connected(self, budget: _Budget) -> _Connection:
        within = _Budget(self._clock, min(_CONNECT_SECONDS, budget.seconds()))
        try:
            return self._open(within)
        except DeadlineExceeded:
            raise Unreachable(f"no connection within {_CONNECT_SECONDS:g} seconds") from None
        except ssl.SSLCertVerificationError as error:
            raise WrongCertificate(error.verify_message) from None
        except OSError as error:
            raise Unreachable(error.strerror or str(error) or type(error).__name__) from None

    def _open(self, budget: _Budget) -> _Connection:
        host = self.address.host.strip("[]")
        with ExitStack() as opened:
            connected = _connect(_addresses(host, self.address.port, budget), budget)
            opened.callback(connected.close)
            line = _Connection(connected, budget)
            if self.address.scheme == "https":
                line = _TlsConnection(connected, budget, host)
                line.do_handshake()
            opened.pop_all()
        return line


def _addresses(host: str, port: int, budget: _Budget) -> list[Any]:
    """All addresses of a host. The system's resolver knows no deadline, so it works in a thread that may be left."""
    answers: SimpleQueue[list[Any] | OSError] = SimpleQueue()

    def look_up() -> None:
        try:
            answers.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except OSError as error:
            answers.put(error)

    Thread(target=look_up, daemon=True).start()
    try:
        found = answers.get(timeout=budget.seconds())
    except Empty:
        raise budget.too_slow() from None
    if isinstance(found, OSError):
        raise found
    return found


def _connect(addresses: list[Any], budget: _Budget) -> socket.socket:
    """A connection to the first address that accepts one; each gets its share of the time."""
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
