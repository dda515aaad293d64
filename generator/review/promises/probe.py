"""Requests to a server, the observations about a promise, and the URLs that promises are about."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from queue import LifoQueue
from types import MappingProxyType
from typing import NamedTuple, TypeAlias, TypeVar

from ... import encoding
from ...api.payloads.resources import SEARCHED, Alias, Gate
from ...http_client import Client, Response, Unreachable
from ...release.manifest import Published
from ...release.rules import Rules
from ...release.store import Store

# The size limit of responses that are no body of the release, such as errors; hosts have longer ones of their own.
MAX_OTHER = 1 << 16
# The gzip form that a host makes of a short body may be longer than the body.
_GZIP_MARGIN = 1024

# What the browser of an app on another site sends; some hosts send CORS headers only then.
_ORIGIN = "https://app.example"
_ALLOWED = "access-control-allow-origin"
# Stands for a response that ends before its end.
BROKEN = Response(0, {}, None)
# Connections to the server: most of the time of a request to a host far away is a wait for its response.
CONNECTIONS = 8
# The results that wait for those before them need little memory.
_BATCH = 32 * CONNECTIONS

T = TypeVar("T")
Headers = Mapping[str, str | None]
Track: TypeAlias = Callable[[Collection[Published]], Iterable[Published]]


class Observation(NamedTuple):
    """The result of one comparison: a promise, and how the response differs; kept without a difference."""

    promise: str
    difference: str = ""


class Probe(NamedTuple):
    """A server, the deadline of a request to it, and an API key that it knows, if there is one.

    `idle` has the clients that wait for a request, `threads` sends as many at once, and `track` sees the bodies as they
    are compared.
    """

    idle: LifoQueue[Client]
    threads: ThreadPoolExecutor
    base: str
    seconds: float
    api_key: str = ""
    track: Track = iter

    def each(
        self,
        subjects: Sequence[T],
        check: Callable[[T], Iterable[Observation]],
        track: Callable[[Sequence[T]], Iterable[T]] = iter,
    ) -> Iterator[Observation]:
        """What `check` observes about each subject, in their order; some are checked at once."""
        batches = (subjects[start : start + _BATCH] for start in range(0, len(subjects), _BATCH))
        results = (self.threads.map(lambda subject: list(check(subject)), batch) for batch in batches)
        for _, observations in zip(track(subjects), chain.from_iterable(results), strict=True):
            yield from observations

    def get(
        self, target: str, headers: Mapping[str, str] | None = None, *, method: str = "GET", size: int = MAX_OTHER
    ) -> Response:
        """The response to a request; BROKEN if the server closes the connection twice before a response is complete."""
        with self._client() as client:  # the same for both: its second connection is a new one
            for _ in range(2):  # a server may close a connection while the next request is on its way
                try:
                    return self._request(client, target, headers, method, size)
                except Unreachable:
                    raise
                except OSError:
                    continue
        return BROKEN

    def served(self, body: Published) -> Response | None:
        """The response with a body of the release; None if the server sends another, which `urls.bodies` reports."""
        response = self.get(body.url, {"Accept-Encoding": "identity"}, size=body.size)
        return response if response.status == 200 and has_body(response, body) else None

    def first(self, target: str) -> Response:
        """Like `get`; a broken connection is an OSError."""
        with self._client() as client:
            return self._request(client, target)

    @contextmanager
    def _client(self) -> Iterator[Client]:
        client = self.idle.get()
        try:
            yield client
        finally:
            self.idle.put(client)

    def _request(
        self,
        client: Client,
        target: str,
        headers: Mapping[str, str] | None = None,
        method: str = "GET",
        size: int = MAX_OTHER,
    ) -> Response:
        sent = {"Origin": _ORIGIN, **(headers or {})}
        response = client.get(target, sent, size + _GZIP_MARGIN, self.seconds, method)
        if response.headers.get(_ALLOWED) != _ORIGIN:
            return response
        return replace(response, headers={**response.headers, _ALLOWED: "*"})  # it allows the same

    def expect(
        self,
        promise: str,
        url: str,
        status: int,
        body: bytes | Published | None = None,
        expected: Headers = MappingProxyType({}),
        *,
        sent: Mapping[str, str] | None = None,
        method: str = "GET",
        note: str = "",
    ) -> Iterator[Observation]:
        """Request a URL, and compare the status; if it is right, also the body and these headers."""
        size = body.size if isinstance(body, Published) else MAX_OTHER
        response = self.get(url, sent, method=method, size=size)
        label = f"{self.base}{url} ({note})" if note else f"{self.base}{url}"
        yield from response_observations(promise, label, response, status, body, expected)


def response_observations(
    promise: str, label: str, response: Response, status: int, body: bytes | Published | None, expected: Headers
) -> Iterator[Observation]:
    yield status_observation(promise, label, response, status)
    if response.status == status:
        if body is not None:
            yield body_observation(promise, label, has_body(response, body))
        yield from header_observations(promise, label, response.headers, expected)


def status_observation(promise: str, label: str, response: Response, expected: int) -> Observation:
    actual = "the response is broken" if response is BROKEN else f"status is {response.status}"
    difference = f"{label}: {actual} instead of {expected}"
    return Observation(promise, "" if response.status == expected else difference)


def header_observations(
    promise: str, label: str, headers: Mapping[str, str], expected: Headers
) -> Iterator[Observation]:
    """Compare headers; None means absent. `headers` has names in lower case."""
    for name, value in expected.items():
        actual = headers.get(name.lower()) or None
        difference = f"{label}: {name} is {actual or 'absent'} instead of {value or 'absent'}"
        yield Observation(promise, "" if actual == value else difference)


def body_observation(promise: str, label: str, is_equal: bool) -> Observation:
    return Observation(promise, "" if is_equal else f"{label}: has another body")


def content(response: Response, size: int) -> bytes | None:
    """The body of a response, decompressed; None if it is damaged or longer than `size`."""
    body = response.body
    if body and response.headers.get("content-encoding") == "gzip":
        body = encoding.gunzip(body, size)
    return body


def has_body(response: Response, body: bytes | Published) -> bool:
    """Whether a response has this body, or a body of the release."""
    if isinstance(body, bytes):
        return content(response, len(body)) == body
    received = content(response, body.size)
    return received is not None and encoding.sha256(received) == body.sha256


# What the promises are about: the URLs of a release, and a sample of them for checks that cost many requests


# Lists whose order needs the index of searches.
_SORTED = r"^/api/v2/series\?.*sort="


@dataclass(frozen=True)
class Subjects:
    """The URLs of a release, and its rules."""

    store: Store
    release: str
    rules: Rules
    # By URL; with bodies that only the server reads.
    bodies: Mapping[str, Published]
    gates: tuple[Gate, ...]
    aliases: tuple[Alias, ...]
    # A pattern of the public URLs that the host does not have.
    left_out: str
    # Whether the host has the index of searches.
    has_index: bool

    @classmethod
    def of(cls, store: Store, left_out: str, *, has_private: bool) -> "Subjects":
        with store.table() as table:
            entries = [entry for slug in table.segments for entry in table.entries(slug)]
            has_index = has_private or SEARCHED.isdisjoint(table.rules.restricted)
            return cls(
                store,
                table.id,
                table.rules,
                {entry.url: entry for entry in entries if isinstance(entry, Published)},
                tuple(entry for entry in entries if isinstance(entry, Gate)),
                tuple(entry for entry in entries if isinstance(entry, Alias)),
                left_out if has_index else _SORTED,
                has_index,
            )

    @property
    def redirects(self) -> Mapping[str, str]:
        """The present path of each path with an old slug."""
        return self.rules.redirected_paths()

    @cached_property
    def public(self) -> list[Published]:
        bodies = [body for body in self.bodies.values() if not body.restricted and "#" not in body.url]
        return [body for body in bodies if not re.search(self.left_out, body.url)]

    @cached_property
    def restricted(self) -> list[Published]:
        """Bodies that need an API key, without those that depend on its account."""
        return [body for body in self.bodies.values() if body.restricted and "#" not in body.url]

    @cached_property
    def sample(self) -> list[Published]:
        """The first and the last public body of each kind."""
        return sample_of(self.public)

    def is_on_restricted_route(self, url: str) -> bool:
        """Whether site.yaml restricts the route of a URL of /api/v2 without variable parts."""
        return url.partition("?")[0].removeprefix("/api/v2") in self.rules.restricted

    @property
    def count(self) -> int:
        """The number of URLs; each path with an old slug counts once."""
        bodies = len(self.public) + len(self.restricted)
        return bodies + len(self.gates) + len(self.aliases) + len(self.redirects)

    def body(self, url: str) -> bytes:
        return (self.store.root / self.bodies[url].file).read_bytes()


def sample_of(bodies: Iterable[Published]) -> list[Published]:
    """The first and the last body of each kind: route, content type, gzip form, max-age."""
    kinds: dict[object, list[Published]] = {}
    for body in bodies:
        path, _, query = body.url.partition("?")
        segments = path.split("/")
        kind = (segments[1:4], len(segments), query.partition("=")[0], body.type, body.gzip, body.max_age)
        kinds.setdefault(repr(kind) if segments[1] == "api" else repr(kind[1:]), []).append(body)
    return [body for group in kinds.values() for body in dict.fromkeys((group[0], group[-1]))]
