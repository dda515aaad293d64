"""One request after the other, through the cache: the client of an import and the responses that it has."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from .. import encoding
from .bounded_json import UnusableResponse
from .lenient import http_date
from .notes import Notes
from .response_cache import CachedResponse
from .responses import OLD, ParsedBodies, Responses, SiteResponse
from .site_client import BROKEN, MOVED, ServerFailed, SiteClient, TimedResponse

# Some sites have the paths of the older versions with a final slash only. The original service answers 501 or a
# redirect to a path of version 1 without it. All other modules have paths without it.

OK, NOT_IMPLEMENTED = 200, 501
# An older version and a path in it.
_OLD = re.compile(r"(/api(?:/v1)?)/(?!v[12]/)[^?]*[^?/]")


@dataclass(slots=True)
class SpelledClient:
    """Requests each path in the spelling of the site; a response shows it once for each version."""

    client: SiteClient
    _has_final_slash: dict[str, bool] = field(default_factory=dict)

    def get(self, path: str, headers: Mapping[str, str]) -> TimedResponse:
        old = _OLD.fullmatch(path)
        if not old:
            return self.client.get(path, headers)
        version = old[1]
        if version in self._has_final_slash:
            return self.client.get(f"{path}/" if self._has_final_slash[version] else path, headers)
        response = self.client.get(path, headers, follows=False)
        adds_slash = urlsplit(response.headers.get("location", "")).path.endswith(f"{path}/")
        if response.status in MOVED and not adds_slash:
            response = self.client.get(path, headers)
        if response.status == OK:
            self._has_final_slash[version] = False
        elif response.status in (NOT_IMPLEMENTED, *MOVED):
            response = self.client.get(f"{path}/", headers)
            if response.status != NOT_IMPLEMENTED:
                self._has_final_slash[version] = True
        return response


# 410 to a list of version 1: the owner switched this version off.
GONE = 410
# Statuses that need no note.
_EXPECTED = (200, 404, GONE, 451, NOT_IMPLEMENTED)
# Part of a header of the original service, and the names of the headers that may have it.
_ORIGINAL, _SOFTWARE = "MangAdventure", ("warning", "x-powered-by")
_KEY_NEEDED = "needs an API key; skipped (use --key-file)"
_KEY_REFUSED = "the API key is not accepted; skipped"
# Called with the share of requests that is done, from 0 to 1.
Progress = Callable[[float], None]
# Called before the requests for each series with their number, and with the number of chapters, or 0 if it is unknown.
Expect = Callable[[int, int], None]


@dataclass(slots=True)
class Crawler:
    """Requests one path after the other, through the cache."""

    client: SiteClient
    bodies: ParsedBodies
    notes: Notes
    key: str | None = None
    progress: Progress = lambda share: None
    # The last change of each chapter that the database of the site has, by id.
    database: Mapping[int, int] = field(default_factory=dict)
    expect: Expect = lambda requests, chapters: None
    responses: Responses = field(default_factory=Responses)
    # Estimated number of paths after those that are passed to `get_all`.
    ahead: int = 0
    # Last progress. The estimate may grow; progress never decreases.
    share: float = 0
    slugs: list[str] = field(default_factory=list)
    spelled: SpelledClient = field(init=False)

    def __post_init__(self) -> None:
        self.spelled = SpelledClient(self.client)

    def get_all(self, paths: Iterable[str]) -> None:
        """Request paths that have no response yet. `paths` is consumed before the first request."""
        missing = [path for path in dict.fromkeys(paths) if path not in self.responses]
        for left, path in zip(range(len(missing), 0, -1), missing, strict=True):
            done = len(self.responses)
            self.share = max(self.share, done / (done + left + self.ahead))
            self.progress(self.share)
            self.get(path)

    def get(self, path: str) -> SiteResponse:
        response = self.responses[path] = self._get(path)
        return response

    def text(self, path: str) -> bytes:
        """Request a path whose body is not JSON; return its body, empty if there is none."""
        try:
            cached = self._request(path, {}, path)
        except UnusableResponse as error:
            self.notes.add(f"{error}; skipped", path)
            return b""
        return cached.body if cached.status == 200 else b""

    def _get(self, path: str) -> SiteResponse:
        name = path
        try:
            cached = self._request(path, {}, name)
            locked = cached.status == 401
            if locked and self.key:
                name = f"{path} {encoding.sha256(self.key.encode())}"
                cached = self._request(path, {"X-API-Key": self.key}, name)
            understood = cached.status == 200 and self._value(name, path, cached.body) is not None
        except UnusableResponse as error:
            self.notes.add(f"{error}; skipped", path)
            return SiteResponse(BROKEN if isinstance(error, ServerFailed) else 0)
        except ValueError:
            self.notes.add("not JSON; skipped", path)
            return SiteResponse(200, modified=_last_modified(cached), locked=locked)
        self.responses.is_original |= _is_original(path, cached)
        if cached.status == 401:
            self.notes.add(_KEY_REFUSED if self.key else _KEY_NEEDED, path)
        elif cached.status not in _EXPECTED:
            self.notes.add(f"status {cached.status}; skipped", path)
        if not understood:
            return SiteResponse(cached.status, modified=_last_modified(cached), locked=locked)
        load = partial(self._value, name, path)
        return SiteResponse(cached.status, load, _last_modified(cached), locked, understood=True)

    def _value(self, name: str, path: str, body: bytes | None = None) -> Any:
        """Return the JSON of a body. The old lists of series may be large: they contain all chapters."""
        is_list = path in [f"{version}/{name}" for version in OLD for name in ("series", "releases")]
        return self.bodies.value(name, body, is_list=is_list)

    def _request(self, path: str, headers: dict[str, str], name: str) -> CachedResponse:
        cached = self.bodies.cache.find(name)
        if cached and cached.run == self.bodies.cache.run:
            return cached
        conditions = _conditions(cached) if cached and cached.status == 200 else {}
        response = self.spelled.get(path, headers | conditions)
        if response.status == 304 and cached and conditions:
            return self.bodies.cache.keep(name, cached.status, cached.headers | dict(response.headers), cached.body)
        return self.bodies.cache.keep(name, response.status, dict(response.headers), response.body)


def _conditions(cached: CachedResponse) -> dict[str, str]:
    """Return the headers of a conditional request. A date alone is not sent: the original service ignores changes."""
    etag, modified = (cached.headers.get(name, "") for name in ("etag", "last-modified"))
    if not (etag and etag.isprintable()):
        return {}
    dated = bool(modified) and modified.isprintable()
    return {"If-None-Match": etag} | ({"If-Modified-Since": modified} if dated else {})


def _last_modified(response: CachedResponse) -> int | None:
    modified = http_date(response.headers.get("last-modified", ""))
    return modified if modified is not None and 0 <= modified <= encoding.LAST_INSTANT else None


def _is_original(path: str, response: CachedResponse) -> bool:
    """Whether a response shows the original service: its name, or a status of its API that others do not use."""
    if any(_ORIGINAL in response.headers.get(name, "") for name in _SOFTWARE):
        return True
    return path.startswith("/api/") and response.status in (GONE, NOT_IMPLEMENTED)
