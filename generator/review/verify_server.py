"""Compare every response of a running server with the current release, promise by promise."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import LifoQueue
from typing import NamedTuple

from ..errors import FlatpanelError
from ..http_client import Client, Clock, LimitExceeded
from ..release.manifest import Published
from ..release.store import Store
from ..server_url import REQUEST_SECONDS, ServerUrl, without_password
from .promises.probe import BROKEN, CONNECTIONS, Probe, Subjects, Track
from .promises.table import HOSTS, PROMISES

# Differences of one promise that are printed for people.
_SHOWN = 10


class ServerResult(NamedTuple):
    """The number of requested URLs, and the differences of each promise that was checked."""

    urls: int
    host: str
    differences: Mapping[str, list[str]]

    @property
    def faults(self) -> list[str]:
        """A sentence for each difference that the host could avoid."""
        return [text for texts in self._avoidable() for text in texts]

    def lines(self) -> Iterator[str]:
        """The first of these sentences for each promise: a server of another release differs in thousands of URLs."""
        for texts in self._avoidable():
            yield from texts[:_SHOWN]
            if len(texts) > _SHOWN:
                yield f"and {len(texts) - _SHOWN:,} more of this kind"

    def _avoidable(self) -> list[list[str]]:
        missing = HOSTS[self.host].missing
        return [texts for promise, texts in self.differences.items() if promise not in missing]

    def outcome(self, promise: str) -> str:
        """Whether a promise is kept, as far as the release has URLs to check it."""
        documented = promise in HOSTS[self.host].missing
        if promise not in self.differences:
            return "not kept, not checked" if documented else "not checked"
        if self.differences[promise]:
            return "not kept" if documented else "broken"
        return "kept, documented as not kept" if documented else "kept"


def check_server(
    store: Store,
    url: str,
    clock: Clock,
    seconds: float = REQUEST_SECONDS,
    host: str = "nginx",
    api_key: str = "",
    track: Track = iter,
) -> ServerResult:
    """Request every URL of the current release and compare the responses with it.

    Bodies and gates are all compared; conditions, methods and spellings for a sample of URLs of every kind. Bodies that
    only the server reads have no URL of their own and are skipped.
    """
    clients = [Client(server_url(url), clock) for _ in range(CONNECTIONS)]
    idle: LifoQueue[Client] = LifoQueue()
    for client in clients:
        idle.put(client)
    subjects = Subjects.of(store, HOSTS[host].left_out, has_private=HOSTS[host].has_private)
    differences: dict[str, list[str]] = {}
    try:
        with ThreadPoolExecutor(CONNECTIONS) as threads:
            probe = Probe(idle, threads, url.rstrip("/"), seconds, api_key, track)
            try:
                if probe.get("/index.json") is BROKEN:
                    probe.first("/index.json")  # an error, since this is no server for HTTP
                for check in dict.fromkeys(promise.check for promise in PROMISES):
                    for observation in check(probe, subjects) if check else ():
                        texts = differences.setdefault(observation.promise, [])
                        if observation.difference:
                            texts.append(observation.difference)
            finally:
                # After an error or Ctrl-C, other threads may wait for a response; this one waits for them.
                for client in clients:
                    client.abort()
        return ServerResult(subjects.count, host, differences)
    except LimitExceeded as error:
        raise FlatpanelError(f"{url}: the response {error}") from None
    except OSError as error:
        raise FlatpanelError(f"{url}: no response: {error}") from None
    finally:
        for client in clients:
            client.close()


def server_url(url: str) -> ServerUrl:
    """The server of a URL, which has no folder."""
    with suppress(ValueError):
        parsed = ServerUrl.of(url)
        if not parsed.folder:
            return parsed
    shown = without_password(url)
    raise FlatpanelError(f"{shown}: is not the URL of a server; use one like http://localhost:8000")


# A wait until a server has loaded a release: nginx starts new workers some time after the signal

# While workers change places, both may answer: all of these requests have to get the new body.
_IN_A_ROW = 5
_PAUSE = 0.1


def wait_until_served(
    url: str, body: Published, clock: Clock, sleep: Callable[[float], None], seconds: float = 60
) -> bool:
    """Request a new body, each time over a new connection, until the server has it; False after `seconds`."""
    server, deadline, in_a_row = ServerUrl.of(url), clock() + seconds, 0
    while in_a_row < _IN_A_ROW:
        if clock() > deadline:
            return False
        in_a_row = in_a_row + 1 if _is_served(Client(server, clock), body, seconds) else 0
        sleep(_PAUSE)
    return True


def _is_served(client: Client, body: Published, seconds: float) -> bool:
    try:
        with suppress(OSError, FlatpanelError):
            response = client.get(body.url, {}, body.size, seconds)
            return response.headers.get("etag") == f'"{body.etag}"'
        return False
    finally:
        client.close()
