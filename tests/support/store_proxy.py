"""A proxy in front of an object store: it counts requests, and a test decides what happens to each."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import NamedTuple

from tests.support import servers
from tests.support.object_stores import ObjectStore


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
    # Send another byte of the body to the store.
    garbles_request: bool = False
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

    class Handler(servers.Handler):
        def respond(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            answer = state.decide(state.add(self.command, self.path, len(body)))
            if answer.seconds:
                Event().wait(answer.seconds)
            if answer.status:
                self.reply(answer.status, {}, b"<Error><Code>SlowDown</Code><Message>Reduce.</Message></Error>")
                return
            self.close_connection = answer.drops or answer.cuts
            if not answer.drops:
                sent = bytes([body[0] ^ 1]) + body[1:] if answer.garbles_request and body else body
                status, headers, data = self.forward(store.endpoint.removeprefix("http://"), self.path, sent)
                if not answer.cuts:
                    self.reply(status, headers, data)

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = respond

    with servers.answering(Handler) as port:
        state.endpoint = f"http://127.0.0.1:{port}"
        yield state
