"""Requests to a server that is not ours: slowly, again when it is busy, and never trusting what it sends.

The only room that opens connections. The clock, and how to wait, are handed in.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from ssl import SSLCertVerificationError
from urllib.parse import urljoin, urlsplit

from .. import __version__
from ..errors import FlatpanelError
from .loose import http_date

AGENT = f"flatpanel/{__version__} (imports a catalog; asks slowly)"
TIMEOUT = 30
# How long a body may take as a whole, however many small pieces it comes in.
PATIENCE = 600
MAX_BODY = 64 << 20
TRIES = 7
# Of an answer that is always wrong; the rest of the site may be right.
TRIES_IF_BROKEN = 3
MAX_REDIRECTS = 5
# Nobody sits and waits longer than this for a server that asks to be left alone.
MAX_WAIT = 900
_BROKEN = 500
_BUSY = (429, _BROKEN, 502, 503, 504)
_MOVED = (301, 302, 303, 307, 308)
_BLOCK = 1 << 16
# A name of parts that can be looked up, or an address in brackets.
_HOST = re.compile(r"(?:[-A-Za-z0-9_~]{1,63}\.)*[-A-Za-z0-9_~]{1,63}\.?|\[[0-9A-Fa-f:.]+\]")
_API = re.compile(r"/api(?:/v[12](?:/.*)?)?$")
# What has another meaning in a request than as a part of a path.
_IN_PATH = re.compile(r"[\x21-\x7e]+")


class Unusable(FlatpanelError):
    """One answer cannot be used, and asking again would not help."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Address:
    """A server, and the folder on it below which `api` lies."""

    scheme: str
    host: str
    port: int
    folder: str = ""

    @classmethod
    def of(cls, url: str) -> "Address":
        """The address of a site, whichever of its pages it names; ValueError says what is wrong with it."""
        if not _IN_PATH.fullmatch(url):
            raise ValueError("should be an address in plain letters, without blanks")
        try:
            parts = urlsplit(url)
            told = parts.port
        except ValueError:
            raise ValueError("should be an address like https://comics.example, with a port up to 65535") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("should be an address like https://comics.example")
        if "@" in parts.netloc:
            raise ValueError("should hold neither a name nor a password")
        if parts.query or parts.fragment:
            raise ValueError("should end before ? and #")
        host = parts.netloc.rpartition(":")[0] if told is not None else parts.netloc.removesuffix(":")
        if not _HOST.fullmatch(host):
            raise ValueError("should name a host in plain letters, at most 63 of them between two points")
        port = told or (443 if parts.scheme == "https" else 80)
        return cls(parts.scheme, host.lower(), port, _API.sub("", parts.path.rstrip("/")))

    @property
    def origin(self) -> str:
        usual = {"http": 80, "https": 443}[self.scheme]
        return f"{self.scheme}://{self.host}" + (f":{self.port}" if self.port != usual else "")

    def __str__(self) -> str:
        return self.origin + self.folder


@dataclass(slots=True)
class Wire:
    """One connection that is kept for as long as the server keeps it."""

    address: Address
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    # Seconds between the beginnings of two requests.
    pause: float = 0.25
    requests: int = 0
    _connection: HTTPConnection | None = None
    _next: float = field(default=0.0)

    def get(self, path: str, headers: Mapping[str, str]) -> Answer:
        """The answer for a path below the address, after as many tries as it takes, and redirects to where it moved."""
        target = self.address.folder + path
        for _ in range(MAX_REDIRECTS + 1):
            answer = self._patiently(target, headers)
            if answer.status not in _MOVED:
                return answer
            target = self._elsewhere(target, answer.headers.get("location", ""))
        raise Unusable("is a circle of redirects")

    def close(self) -> None:
        if self._connection:
            self._connection.close()
        self._connection = None

    def _elsewhere(self, target: str, location: str) -> str:
        """Where a redirect leads, on the same server only: what is sent to it is meant for nobody else."""
        try:
            found = urljoin(self.address.origin + target, location)
            parts, there = urlsplit(found), Address.of(found.partition("?")[0].partition("#")[0])
        except ValueError:
            raise Unusable("is a redirect that leads nowhere") from None
        if parts.query and not _IN_PATH.fullmatch(parts.query):
            raise Unusable("is a redirect that leads nowhere")
        if there.origin != self.address.origin:
            raise Unusable(f"is a redirect to {there.origin}; if that is the site, import it from there")
        return parts.path + (f"?{parts.query}" if parts.query else "")

    def _patiently(self, target: str, headers: Mapping[str, str]) -> Answer:
        reason = ""
        for attempt in range(TRIES):
            wait = float(2**attempt)
            try:
                answer = self._once(target, headers)
                if answer.status not in _BUSY:
                    return answer
                if answer.status == _BROKEN and attempt + 1 == TRIES_IF_BROKEN:
                    raise Unusable(f"is an error, also the {TRIES_IF_BROKEN}rd time")
                reason = f"answers {answer.status}"
                wait = max(wait, self._asked_to_wait(answer.headers))
            except SSLCertVerificationError as error:
                raise FlatpanelError(f"{self.address}: is not who it says: {error.verify_message}") from None
            except (OSError, HTTPException) as error:
                self.close()
                reason = f"cannot be reached: {getattr(error, 'strerror', None) or error or type(error).__name__}"
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

    def _once(self, target: str, headers: Mapping[str, str]) -> Answer:
        self.sleep(max(0.0, self._next - self.clock()))
        self._next = self.clock() + self.pause
        self.requests += 1
        if self._connection is None:
            kind = HTTPSConnection if self.address.scheme == "https" else HTTPConnection
            self._connection = kind(self.address.host.strip("[]"), self.address.port, timeout=TIMEOUT)
        fields = {"User-Agent": AGENT, "Accept": "application/json", "Accept-Encoding": "identity", **headers}
        self._connection.request("GET", target, headers=fields)
        with self._connection.getresponse() as response:
            found = {name.lower(): value for name, value in response.getheaders()}
            body = self._body(response, found)
        if response.will_close:
            self.close()
        return Answer(response.status, found, body)

    def _body(self, response: HTTPResponse, headers: Mapping[str, str]) -> bytes:
        if headers.get("content-encoding", "identity") != "identity":
            self.close()
            raise Unusable("is compressed, which nobody asked for")
        parts, size, started = [], 0, self.clock()
        while part := response.read1(_BLOCK):
            parts.append(part)
            size += len(part)
            if size > MAX_BODY or self.clock() - started > PATIENCE:
                self.close()
                raise Unusable(f"has more than {MAX_BODY >> 20} MiB, or takes longer than {PATIENCE} seconds")
        if response.length:
            raise HTTPException("the answer breaks off")
        return b"".join(parts)
