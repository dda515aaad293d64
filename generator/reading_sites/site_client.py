"""HTTP client of an import: a rate limit, retries, redirects and limits on top of `generator/http_client.py`.

The clock and the function that sleeps are parameters.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urljoin, urlsplit

from .. import __version__
from ..errors import FlatpanelError, counted
from ..http_client import Client, DeadlineExceeded, LimitExceeded, Unreachable, WrongCertificate
from ..server_url import REQUEST_SECONDS, URL_CHARACTERS, ServerUrl
from .lenient import UnusableResponse, http_date

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
BROKEN = 500
_BUSY = (429, BROKEN, 502, 503, 504)
MOVED = (301, 302, 303, 307, 308)
_API = re.compile(r"/api(?:/v[12](?:/.*)?)?$")


@dataclass(frozen=True, slots=True)
class TimedResponse:
    """A response and the seconds that it took; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float = 0.0


class ServerFailed(UnusableResponse):
    """The site answers a request with status 500 each time."""


def site_url(url: str) -> ServerUrl:
    """Return the site's URL from the URL of any of its API pages; ValueError for an invalid URL."""
    server = ServerUrl.of(url)
    return replace(server, folder=_API.sub("", server.folder))


@dataclass(slots=True)
class SiteClient:
    """Requests to one site over one persistent connection."""

    site: ServerUrl
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    # Seconds between the starts of two requests.
    pause: float = 0.4
    # Deadline of one response.
    seconds: float = REQUEST_SECONDS
    size: int = MAX_RESPONSE << 20
    agent: str = AGENT
    accept: str = "application/json"
    # Limits of one run; None: those of an import.
    max_requests: int | None = None
    max_bytes: int | None = None
    requests: int = 0
    client: Client = field(init=False)
    _next: float = field(default=0.0)
    _slow: int = 0

    def __post_init__(self) -> None:
        self.client = Client(self.site, self.clock)

    def get(self, path: str, headers: Mapping[str, str], *, follows: bool = True) -> TimedResponse:
        return self.request("GET", path, headers, follows=follows)

    def request(self, method: str, path: str, headers: Mapping[str, str], *, follows: bool = True) -> TimedResponse:
        """Request a path below the site's URL, with retries and redirects, unless `follows` is false.

        All redirects share one deadline. Waiting between requests does not count.
        """
        target, seconds_left = self.site.folder + path, self.seconds
        for _ in range(MAX_REDIRECTS + 1):
            response = self._retrying(method, target, headers, seconds_left)
            seconds_left -= response.seconds
            if response.status not in MOVED or not follows:
                return response
            target = _redirect_target(self.site.origin, target, response.headers.get("location", ""))
        raise UnusableResponse("redirect loop")

    def close(self) -> None:
        self.client.close()

    def _retrying(self, method: str, target: str, headers: Mapping[str, str], seconds: float) -> TimedResponse:
        reason, unreachable_since = "", None
        for attempt in range(TRIES):
            wait = float(2**attempt)
            try:
                response = self._request(method, target, headers, seconds)
                if response.status not in _BUSY:
                    return response
                if response.status == BROKEN and attempt + 1 == TRIES_IF_BROKEN:
                    raise ServerFailed(f"server error after {TRIES_IF_BROKEN} attempts")
                reason = f"status {response.status}"
                wait = max(wait, _retry_after(response.headers))
            except WrongCertificate as error:
                raise FlatpanelError(f"{self.site}: invalid TLS certificate: {error}") from None
            except Unreachable as error:
                reason = f"cannot be reached: {error}"
                unreachable_since = self.clock() if unreachable_since is None else unreachable_since
                if self.clock() + wait - unreachable_since > MAX_AWAY:
                    raise FlatpanelError(f"{self.site.origin}: {reason}") from None
            except OSError as error:
                reason = f"connection lost: {error.strerror or error}"
            if wait > MAX_WAIT:
                raise FlatpanelError(
                    f"{self.site}: asks to wait {wait:.0f} seconds (Retry-After); run again later to resume"
                )
            if attempt + 1 < TRIES:
                self.sleep(wait)
        raise FlatpanelError(f"{self.site.origin}{target}: {reason}; gave up after {TRIES} tries; run again to resume")

    def _request(self, method: str, target: str, headers: Mapping[str, str], seconds: float) -> TimedResponse:
        if len(target) > MAX_TARGET:
            raise UnusableResponse(f"path is longer than {MAX_TARGET} characters")
        self._check_limits()
        self.sleep(max(0.0, self._next - self.clock()))
        start = self.clock()
        self._next = start + self.pause
        self.requests += 1
        fields = {"User-Agent": self.agent, "Accept": self.accept, "Accept-Encoding": "identity", **headers}
        try:
            response = self.client.get(target, fields, self.size, seconds, method)
        except DeadlineExceeded as error:
            self._count_slow()
            raise UnusableResponse(f"response {error} (raise --timeout)") from None
        except LimitExceeded as error:
            raise UnusableResponse(f"response {error}") from None
        self._slow = 0
        if response.body is None:
            raise UnusableResponse(f"response is larger than {self.size >> 20} MiB (raise --max-response)")
        if response.headers.get("content-encoding", "identity") != "identity":
            raise UnusableResponse("response is compressed, although the request excludes that")
        return TimedResponse(response.status, response.headers, response.body, self.clock() - start)

    def _count_slow(self) -> None:
        self._slow += 1
        if self._slow == MAX_SLOW:
            raise FlatpanelError(
                f"{self.site}: {MAX_SLOW} responses in a row took longer than {self.seconds:g} seconds; "
                "run again to resume, or raise --timeout"
            ) from None

    def _check_limits(self) -> None:
        max_requests = MAX_REQUESTS if self.max_requests is None else self.max_requests
        max_bytes = MAX_BYTES if self.max_bytes is None else self.max_bytes
        for used, limit, label in (
            (self.requests, max_requests, counted(max_requests, "request")),
            (self.client.received, max_bytes, f"{max_bytes >> 20} MiB"),
        ):
            if used >= limit:
                raise FlatpanelError(f"{self.site}: limit of {label} in one run reached; run again to resume")


def _redirect_target(origin: str, target: str, location: str) -> str:
    """Return the path and query that a redirect names. Another server is refused: it must not receive the key."""
    try:
        url = urljoin(origin + target, location)
        parts, server = urlsplit(url), ServerUrl.of(url.partition("?")[0].partition("#")[0])
    except ValueError:
        raise UnusableResponse("invalid redirect") from None
    if parts.query and not URL_CHARACTERS.fullmatch(parts.query):
        raise UnusableResponse("invalid redirect")
    if server.origin != origin:
        raise UnusableResponse(f"redirect to {server.origin}; if the site has moved, use that URL")
    return parts.path + (f"?{parts.query}" if parts.query else "")


def _retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds in Retry-After; a date is compared with the site's own Date."""
    text = headers.get("retry-after", "")
    if text.isascii() and text.isdecimal():
        return float(text[:9])
    retry, now = http_date(text), http_date(headers.get("date", ""))
    return 0.0 if retry is None or now is None else float(retry - now)
