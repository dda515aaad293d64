"""Requests to a site that is not ours: slowly, again when it is busy, and never beyond the limits of an import.

The clock, and how to wait, are handed in.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urljoin, urlsplit

from ... import __version__
from ...address import IN_PATH, Address
from ...errors import FlatpanelError
from ...http_client import SECONDS, Client, Exceeded, TooSlow, Unreachable, WrongCertificate
from .bounded_json import Unusable
from .lenient import http_date

AGENT = f"flatpanel/{__version__} (imports a catalog; asks slowly)"
# MiB of one response.
MAX_RESPONSE = 64
# Of one run, which the next one goes on from. 2,000 series with 50,000 chapters take 200 MB in 10,000 requests, or in
# 120,000 where every chapter has to be asked for.
MAX_REQUESTS = 200_000
MAX_BYTES = 2 << 30
MAX_TARGET = 8000
TRIES = 7
# Of a response that is always wrong; the rest of the site may be right.
TRIES_IF_BROKEN = 3
# Requests in a row that pass the deadline before the import ends.
MAX_SLOW = 3
# Seconds in which a site that cannot be reached may come back.
MAX_AWAY = 10
MAX_REDIRECTS = 5
# Seconds that an import waits for a server that asks to be left alone.
MAX_WAIT = 900
_BROKEN = 500
_BUSY = (429, _BROKEN, 502, 503, 504)
_MOVED = (301, 302, 303, 307, 308)
_API = re.compile(r"/api(?:/v[12](?:/.*)?)?$")


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, and how long it took; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float = 0.0


def site(url: str) -> Address:
    """The address of a site, whichever of its pages the URL names; ValueError says what is wrong with it."""
    address = Address.of(url)
    return replace(address, folder=_API.sub("", address.folder))


@dataclass(slots=True)
class Wire:
    """One connection that is kept for as long as the server keeps it."""

    address: Address
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    # Seconds between the beginnings of two requests.
    pause: float = 0.25
    # Of one response.
    seconds: float = SECONDS
    size: int = MAX_RESPONSE << 20
    requests: int = 0
    client: Client = field(init=False)
    _next: float = field(default=0.0)
    _slow: int = 0

    def __post_init__(self) -> None:
        self.client = Client(self.address, self.clock)

    def get(self, path: str, headers: Mapping[str, str]) -> Answer:
        """The answer for a path below the address, after as many tries as it takes, and redirects to where it moved.

        All redirects together have one deadline; waiting between requests does not count.
        """
        target, left = self.address.folder + path, self.seconds
        for _ in range(MAX_REDIRECTS + 1):
            answer = self._patiently(target, headers, left)
            left -= answer.seconds
            if answer.status not in _MOVED:
                return answer
            target = self._elsewhere(target, answer.headers.get("location", ""))
        raise Unusable("is a circle of redirects")

    def close(self) -> None:
        self.client.close()

    def _elsewhere(self, target: str, location: str) -> str:
        """Where a redirect leads, on the same server only: what is sent to it is meant for nobody else."""
        try:
            found = urljoin(self.address.origin + target, location)
            parts, there = urlsplit(found), Address.of(found.partition("?")[0].partition("#")[0])
        except ValueError:
            raise Unusable("is a redirect that leads nowhere") from None
        if parts.query and not IN_PATH.fullmatch(parts.query):
            raise Unusable("is a redirect that leads nowhere")
        if there.origin != self.address.origin:
            raise Unusable(f"is a redirect to {there.origin}; if that is the site, import it from there")
        return parts.path + (f"?{parts.query}" if parts.query else "")

    def _patiently(self, target: str, headers: Mapping[str, str], seconds: float) -> Answer:
        reason, away_at = "", None
        for attempt in range(TRIES):
            wait = float(2**attempt)
            try:
                answer = self._once(target, headers, seconds)
                if answer.status not in _BUSY:
                    return answer
                if answer.status == _BROKEN and attempt + 1 == TRIES_IF_BROKEN:
                    raise Unusable(f"is an error, also the {TRIES_IF_BROKEN}rd time")
                reason = f"answers {answer.status}"
                wait = max(wait, self._asked_to_wait(answer.headers))
            except WrongCertificate as error:
                raise FlatpanelError(f"{self.address}: is not who it says: {error}") from None
            except Unreachable as error:
                away_at, reason = self.clock() if away_at is None else away_at, f"cannot be reached: {error}"
                if self.clock() + wait - away_at > MAX_AWAY:
                    raise FlatpanelError(f"{self.address.origin}: {reason}") from None
            except OSError as error:
                reason = f"breaks off: {error.strerror or error}"
            if wait > MAX_WAIT:
                raise FlatpanelError(f"{self.address}: asks to be left alone for {wait:.0f} seconds; go on later")
            if attempt + 1 < TRIES:
                self.sleep(wait)
        raise FlatpanelError(f"{self.address.origin}{target}: {reason}, also the {TRIES}th time; go on later")

    def _asked_to_wait(self, headers: Mapping[str, str]) -> float:
        """The seconds that Retry-After asks for, written as such or as a date by the clock of the site."""
        text = headers.get("retry-after", "")
        if text.isascii() and text.isdecimal():
            return float(text[:9])
        moment, here = http_date(text), http_date(headers.get("date", ""))
        return 0.0 if moment is None or here is None else float(moment - here)

    def _once(self, target: str, headers: Mapping[str, str], seconds: float) -> Answer:
        if len(target) > MAX_TARGET:
            raise Unusable(f"has a path of more than {MAX_TARGET} letters")
        self._refuse_more()
        self.sleep(max(0.0, self._next - self.clock()))
        began = self.clock()
        self._next = began + self.pause
        self.requests += 1
        fields = {"User-Agent": AGENT, "Accept": "application/json", "Accept-Encoding": "identity", **headers}
        try:
            response = self.client.get(target, fields, self.size, seconds)
        except TooSlow as error:
            self._slow += 1
            if self._slow == MAX_SLOW:
                raise FlatpanelError(
                    f"{self.address}: {MAX_SLOW} responses in a row take longer than {self.seconds:g} seconds; "
                    "go on later, or allow more with --timeout"
                ) from None
            raise Unusable(f"{error}; --timeout allows more") from None
        except Exceeded as error:
            raise Unusable(str(error)) from None
        self._slow = 0
        if response.body is None:
            raise Unusable(f"has more than {self.size >> 20} MiB; --max-response allows more")
        if response.headers.get("content-encoding", "identity") != "identity":
            raise Unusable("is compressed, which nobody asked for")
        return Answer(response.status, response.headers, response.body, self.clock() - began)

    def _refuse_more(self) -> None:
        """What a run may take from a site has an end, and the next run goes on from there."""
        for taken, limit, shown in (
            (self.requests, MAX_REQUESTS, f"{MAX_REQUESTS} requests"),
            (self.client.received, MAX_BYTES, f"{MAX_BYTES >> 20} MiB"),
        ):
            if taken >= limit:
                raise FlatpanelError(f"{self.address}: {shown} were asked for in one run; run it again to go on")
