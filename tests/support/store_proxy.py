"""A proxy in front of an object store: it counts requests, and a test decides what happens to each."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from threading import Event, Lock
from typing import NamedTuple

from tests.support import servers
from tests.support.object_stores import ObjectStore
from tests.support.servers import LIMIT


class Seen(NamedTuple):
    """A request that the proxy received, and its number, counted from 1."""

    number: int
    method: str
    target: str
    size: int


class Answer(NamedTuple):
    """What the proxy does instead of passing a request on unchanged."""

    # Answer with this status; 0 passes the request on.
    status: int = 0
    # Send another byte of the body to the store, or another one of the response to the client.
    garbles_request: bool = False
    garbles_response: bool = False
    # Close the connection without a response, after the store has got the request.
    cuts: bool = False
    # Close it before.
    drops: bool = False
    seconds: float = 0


PASS = Answer()


@dataclass
class StoreProxy:
    """A running proxy. `decide` may be replaced at any time."""

    store: ObjectStore
    endpoint: str = ""
    decide: Callable[[Seen], Answer] = lambda seen: PASS
    seen: list[Seen] = field(default_factory=list)
    mutex: Lock = field(default_factory=Lock)

    @property
    def as_store(self) -> ObjectStore:
        return ObjectStore(self.endpoint, self.store.key, self.store.secret)

    def reset(self, decide: Callable[[Seen], Answer] = lambda seen: PASS) -> None:
        self.seen, self.decide = [], decide

    def add(self, method: str, target: str, size: int) -> Seen:
        with self.mutex:
            self.seen.append(Seen(len(self.seen) + 1, method, target, size))
            return self.seen[-1]


@contextmanager
def proxy(store: ObjectStore) -> Iterator[StoreProxy]:
    state = StoreProxy(store)

    class Handler(_Handler):
        proxied = state

    with servers.answering(Handler) as port:
        state.endpoint = f"http://127.0.0.1:{port}"
        yield state


class _Handler(servers.Handler):
    proxied: StoreProxy

    def handle_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        seen = self.proxied.add(self.command, self.path, len(body))
        answer = self.proxied.decide(seen)
        if answer.seconds:
            Event().wait(answer.seconds)
        if answer.drops:
            self.close_connection = True
            return
        if answer.status:
            self._respond(answer.status, [], b"<Error><Code>SlowDown</Code><Message>Reduce.</Message></Error>")
            return
        if answer.garbles_request and body:
            body = bytes([body[0] ^ 1]) + body[1:]
        connection = HTTPConnection(self.proxied.store.endpoint.removeprefix("http://"), timeout=LIMIT)
        try:
            connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            response = connection.getresponse()
            data = response.read()
        finally:
            connection.close()
        if answer.cuts:
            self.close_connection = True
            return
        if answer.garbles_response and data:
            data = bytes([data[0] ^ 1]) + data[1:]
        self._respond(response.status, response.getheaders(), data)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_any

    def _respond(self, status: int, headers: list[tuple[str, str]], data: bytes) -> None:
        self.send_response_only(status)
        length = next((value for name, value in headers if name.lower() == "content-length"), str(len(data)))
        for name, value in headers:
            if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                self.send_header(name, value)
        self.send_header("Content-Length", length if self.command == "HEAD" else str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
