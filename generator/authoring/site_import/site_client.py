"""HTTP client of an import: a rate limit, retries, redirects and limits on top of `generator/http_client.py`.

The clock and the function that sleeps are parameters.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urljoin, urlsplit

from ... import __version__
from ...errors import FlatpanelError
from ...http_client import REQUEST_SECONDS, Client, DeadlineExceeded, LimitExceeded, Unreachable, WrongCertificate
from ...server_url import URL_CHARACTERS, ServerUrl
from .bounded_json import UnusableResponse
from .lenient import http_date

AGENT = f"flatpanel/{__version__} (imports a catalog; asks slowly)"
# MiB of one response.
MAX_RESPONSE = 64
# Limits of one run; the next run resumes. 2,000 series with 50,000 chapters take 200 MB in 10,000 requests, or in
# 120,000 requests if each chapter needs its own.
MAX_REQUESTS = 200_000
MAX_BYTES = 2 << 30
MAX_TARGET = 8000
TRIES = 7
# Tries for status 500: the other responses of the site may be fine.
TRIES_IF_BROKEN = 3
# Consecutive requests that may time out before the import ends.
MAX_SLOW = 3
# Seconds in which an unreachable site may come back.
MAX_AWAY = 10
MAX_REDIRECTS = 5
# Longest Retry-After, in seconds, that an import waits for.
MAX_WAIT = 900
_BROKEN = 500
_BUSY = (429, _BROKEN, 502, 503, 504)
_MOVED = (301, 302, 303, 307, 308)
_API = re.compile(r"/api(?:/v[12](?:/.*)?)?$")


@dataclass(frozen=True, slots=True)
class TimedResponse:
    """A response and the seconds that it took; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float = 0.0


def site_address(url: str) -> ServerUrl:
    """Return the site's address from the URL of any of its API pages; ValueError says what is wrong with the URL."""
    address = ServerUrl.of(url)
    return replace(address, folder=_API.sub("", address.folder))


@dataclass(slots=True)
class SiteClient:
    """Requests to one site over one persistent connection."""

    address: ServerUrl
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    # Seconds between the starts of two requests.
    pause: float = 0.25
    # Deadline of one response.
    seconds: float = REQUEST_SECONDS
    size: int = MAX_RESPONSE << 20
    requests: int = 0
    client: Client = field(init=False)
    _next: float = field(default=0.0)
    _slow: int = 0

    def __post_init__(self) -> None:
        self.client = Client(self.address, self.clock)

    def get(self, path: str, headers: Mapping[str, str]) -> TimedResponse:
        """Request a path below the site's address, with retries and redirects.

        All redirects share one deadline. Waiting between requests does not count.
        """
        target, seconds_left = self.address.folder + path, self.seconds
        for _ in range(MAX_REDIRECTS + 1):
            response = self._retrying(target, headers, seconds_left)
            seconds_left -= response.seconds
            if response.status not in _MOVED:
                return response
            target = _redirect_target(self.address.origin, target, response.headers.get("location", ""))
        raise UnusableResponse("is a circle of redirects")

    def close(self) -> None:
        self.client.close()

    def _retrying(self, target: str, headers: Mapping[str, str], seconds: float) -> TimedResponse:
        reason, unreachable_since = "", None
        for attempt in range(TRIES):
            wait = float(2**attempt)
            try:
                response = self._request(target, headers, seconds)
                if response.status not in _BUSY:
                    return response
                if response.status == _BROKEN and attempt + 1 == TRIES_IF_BROKEN:
                    raise UnusableResponse(f"is an error, also the {TRIES_IF_BROKEN}rd time")
                reason = f"answers {response.status}"
                wait = max(wait, _retry_after(response.headers))
            except WrongCertificate as error:
                raise FlatpanelError(f"{self.address}: is not who it says: {error}") from None
            except Unreachable as error:
                reason = f"cannot be reached: {error}"
                unreachable_since = self.clock() if unreachable_since is None else unreachable_since
                if self.clock() + wait - unreachable_since > MAX_AWAY:
                    raise FlatpanelError(f"{self.address.origin}: {reason}") from None
            except OSError as error:
                reason = f"breaks off: {error.strerror or error}"
            if wait > MAX_WAIT:
                raise FlatpanelError(f"{self.address}: asks to be left alone for {wait:.0f} seconds; go on later")
            if attempt + 1 < TRIES:
                self.sleep(wait)
        raise FlatpanelError(f"{self.address.origin}{target}: {reason}, also the {TRIES}th time; go on later")

    def _request(self, target: str, headers: Mapping[str, str], seconds: float) -> TimedResponse:
        if len(target) > MAX_TARGET:
            raise UnusableResponse(f"has a path of more than {MAX_TARGET} letters")
        self._check_limits()
        self.sleep(max(0.0, self._next - self.clock()))
        start = self.clock()
        self._next = start + self.pause
        self.requests += 1
        fields = {"User-Agent": AGENT, "Accept": "application/json", "Accept-Encoding": "identity", **headers}
        try:
            response = self.client.get(target, fields, self.size, seconds)
        except DeadlineExceeded as error:
            self._count_slow()
            raise UnusableResponse(f"{error}; --timeout allows more") from None
        except LimitExceeded as error:
            raise UnusableResponse(str(error)) from None
        self._slow = 0
        if response.body is None:
            raise UnusableResponse(f"has more than {self.size >> 20} MiB; --max-response allows more")
        if response.headers.get("content-encoding", "identity") != "identity":
            raise UnusableResponse("is compressed, which nobody asked for")
        return TimedResponse(response.status, response.headers, response.body, self.clock() - start)

    def _count_slow(self) -> None:
        self._slow += 1
        if self._slow == MAX_SLOW:
            raise FlatpanelError(
                f"{self.address}: {MAX_SLOW} responses in a row take longer than {self.seconds:g} seconds; "
                "go on later, or allow more with --timeout"
            ) from None

    def _check_limits(self) -> None:
        for used, limit, label in (
            (self.requests, MAX_REQUESTS, f"{MAX_REQUESTS} requests"),
            (self.client.received, MAX_BYTES, f"{MAX_BYTES >> 20} MiB"),
        ):
            if used >= limit:
                raise FlatpanelError(f"{self.address}: {label} were asked for in one run; run it again to go on")


def _redirect_target(origin: str, target: str, location: str) -> str:
    """Return the path and query that a redirect names. Another server is refused: it must not receive the key."""
    try:
        url = urljoin(origin + target, location)
        parts, address = urlsplit(url), ServerUrl.of(url.partition("?")[0].partition("#")[0])
    except ValueError:
        raise UnusableResponse("is a redirect that leads nowhere") from None
    if parts.query and not URL_CHARACTERS.fullmatch(parts.query):
        raise UnusableResponse("is a redirect that leads nowhere")
    if address.origin != origin:
        raise UnusableResponse(f"is a redirect to {address.origin}; if that is the site, import it from there")
    return parts.path + (f"?{parts.query}" if parts.query else "")


def _retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds in Retry-After; a date is compared with the site's own Date."""
    text = headers.get("retry-after", "")
    if text.isascii() and text.isdecimal():
        return float(text[:9])
    retry, now = http_date(text), http_date(headers.get("date", ""))
    return 0.0 if retry is None or now is None else float(retry - now)
