"""The responses of a site by path; their JSON is parsed when it is used."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .bounded_json import is_large, large_array, parsed
from .lenient import fields
from .response_cache import ResponseCache

V2 = "/api/v2"
# Newest first.
OLD = ("/api/v1", "/api")
# Bytes of the bodies whose values stay in memory.
_RECENT = 1 << 21


@dataclass(frozen=True, slots=True)
class SiteResponse:
    """The response for one path: its status, its JSON and its Last-Modified."""

    status: int = 0
    load: Callable[[], Any] = lambda: None
    modified: int | None = None
    # Whether the site responds with 401 without a key.
    locked: bool = False
    # Whether the body is JSON.
    understood: bool = False

    @property
    def good(self) -> bool:
        return self.status == 200

    @property
    def value(self) -> Any:
        return self.load()


class Responses(dict[str, SiteResponse]):
    """Responses by path; an empty response for a path that was not requested."""

    def __missing__(self, path: str) -> SiteResponse:
        return SiteResponse()

    def old_series(self, slug: str) -> dict[str, Any]:
        """Return a series as the newest of the older versions shows it; empty if none does."""
        values = (fields(self[f"{version}/series/{slug}"].value) for version in OLD)
        return next(filter(None, values), {})


@dataclass(slots=True)
class ParsedBodies:
    """The JSON values of cached bodies; the most recently used values stay in memory."""

    cache: ResponseCache
    limit: int
    _recent: dict[str, tuple[int, Any]] = field(default_factory=dict)

    def value(self, name: str, body: bytes | None = None, *, is_list: bool = False) -> Any:
        """Return the value of a body; a large list is a LargeArray.

        Raises ValueError if the body is not JSON and UnusableResponse if it is too large.
        """
        if name in self._recent:
            size, value = self._recent.pop(name)
        else:
            body = self._body(name) if body is None else body
            size = len(body)
            large = is_list and is_large(body, self.limit)
            value = large_array(body, lambda: self._body(name), self.limit) if large else parsed(body, self.limit)
        if size <= _RECENT:
            self._recent[name] = (size, value)
            while sum(size for size, _ in self._recent.values()) > _RECENT:
                del self._recent[next(iter(self._recent))]
        return value

    def _body(self, name: str) -> bytes:
        cached = self.cache.find(name)
        return cached.body if cached else b""
