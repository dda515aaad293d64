"""Sends the same requests to several servers and finds the ones that they answer differently."""

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from socket import create_connection
from typing import BinaryIO

from tests.support.nginx_client import Answer, receive
from tests.support.odd_requests import Request
from tests.support.servers import LIMIT

# What the connection decides, and not the site.
_OF_CONNECTION = {"date", "server", "connection", "keep-alive", "content-length", "transfer-encoding"}
_SOCKETS = 4


@dataclass(frozen=True)
class Reason:
    """Why servers answer some requests in another way; the answer is that of the second server."""

    text: str
    holds: Callable[[Request, Answer], bool]


@dataclass(frozen=True)
class Difference:
    """A request, and its answers by the name of the server."""

    request: Request
    answers: Mapping[str, Answer]

    def __str__(self) -> str:
        (first, expected), (second, found) = self.answers.items()
        lines = [self.request.encode().split(b"\r\n\r\n")[0].decode("latin-1")]
        if expected.status != found.status:
            lines.append(f"{first}: {expected.status}; {second}: {found.status}")
        sent, other = (sorted(_headers(answer)) for answer in (expected, found))
        lines += [f"only {first}: {name}: {value}" for name, value in sent if (name, value) not in other]
        lines += [f"only {second}: {name}: {value}" for name, value in other if (name, value) not in sent]
        if expected.body != found.body:
            lines += [f"body of {first}: {_short(expected.body)}", f"body of {second}: {_short(found.body)}"]
        return "\n    ".join(lines)

    def explained_by(self, reasons: Sequence[Reason]) -> list[Reason]:
        _, found = self.answers.values()
        return [reason for reason in reasons if reason.holds(self.request, found)]

    @property
    def kind(self) -> tuple[object, ...]:
        """Equal for differences that probably have the same cause."""
        expected, found = self.answers.values()
        names = {name for name, _ in set(_headers(expected)) ^ set(_headers(found))}
        return *self.answers, expected.status, found.status, frozenset(names), expected.body == found.body


def ask_all(port: int, requests: Sequence[Request]) -> list[Answer]:
    """The answers of a server, over several connections that stay open."""
    size = -(-len(requests) // _SOCKETS) or 1
    parts = [requests[at : at + size] for at in range(0, len(requests), size)]
    with ThreadPoolExecutor(_SOCKETS) as pool:
        return [answer for part in pool.map(lambda part: _ask_in_turn(port, part), parts) for answer in part]


def _ask_in_turn(port: int, requests: Sequence[Request]) -> list[Answer]:
    with ExitStack() as opened:
        connection = _Connection(port, opened)
        return [connection.ask(request) for request in requests]


@dataclass
class _Connection:
    """A connection that is opened again after the server closed it."""

    port: int
    opened: ExitStack
    stream: BinaryIO | None = None

    def ask(self, request: Request) -> Answer:
        is_new = self.stream is None
        if self.stream is None:
            self.socket = self.opened.enter_context(create_connection(("127.0.0.1", self.port), timeout=LIMIT))
            self.stream = self.opened.enter_context(self.socket.makefile("rb"))
        try:
            self.socket.sendall(request.encode())
            answer = receive(self.stream, request.method, has_length=False)
        except ConnectionError:
            # A server may close an idle connection at any time.
            self.close()
            return Answer(0, [], b"closed without an answer") if is_new else self.ask(request)
        if answer["connection"] == "close" or answer.status == 400 or request.version == "1.0":
            self.close()
        return answer

    def close(self) -> None:
        self.opened.close()
        self.stream = None


def differences(ports: Mapping[str, int], requests: Sequence[Request]) -> list[Difference]:
    """Where the second of two servers differs from the first."""
    answers = [ask_all(port, requests) for port in ports.values()]
    pairs = zip(requests, *answers, strict=True)
    return [Difference(request, dict(zip(ports, both, strict=True))) for request, *both in pairs if differ(*both)]


def differ(expected: Answer, found: Answer) -> bool:
    facts = ((answer.status, sorted(_headers(answer)), answer.body) for answer in (expected, found))
    return next(facts) != next(facts)


def _headers(answer: Answer) -> list[tuple[str, str]]:
    return [(name, value) for name, value in answer.headers if name not in _OF_CONNECTION]


def report(found: Sequence[Difference], kinds: int = 12) -> str:
    """The shortest request of each kind of difference."""
    groups: dict[tuple[object, ...], list[Difference]] = {}
    for difference in found:
        groups.setdefault(difference.kind, []).append(difference)
    largest = sorted(groups.values(), key=len, reverse=True)
    texts = [f"{len(group)} ×: {min(group, key=lambda one: len(one.request.encode()))}" for group in largest[:kinds]]
    return "\n".join([f"{len(found)} differences of {len(groups)} kinds", *texts])


def _short(body: bytes) -> str:
    text = body[:200].decode("utf-8", "replace")
    return re.sub(r"[\x00-\x1f]", "·", text) + ("…" if len(body) > 200 else "")
