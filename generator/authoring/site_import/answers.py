"""What paths of a site answered: kept on the disk, parsed when it is needed, and only if it fits into memory."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .bounded_json import is_large, items, parsed
from .response_cache import ResponseCache

# Bytes of bodies whose values stay in memory.
_RECENT = 1 << 21


@dataclass(frozen=True, slots=True)
class Response:
    """One answer: its JSON, if it was any, and since when it has been so."""

    status: int = 0
    load: Callable[[], Any] = lambda: None
    modified: int | None = None
    # Whether it took a key.
    locked: bool = False
    # Whether it was JSON.
    understood: bool = False

    @property
    def good(self) -> bool:
        return self.status == 200

    @property
    def value(self) -> Any:
        return self.load()


class Responses(dict[str, Response]):
    """Answers by path; one that was not asked for has told nothing."""

    def __missing__(self, path: str) -> Response:
        return Response()


@dataclass(slots=True)
class Bodies:
    """The values of what lies on a shelf; those asked for last stay in memory."""

    shelf: ResponseCache
    limit: int
    _recent: dict[str, tuple[int, Any]] = field(default_factory=dict)

    def value(self, name: str, body: bytes | None = None, *, is_list: bool = False) -> Any:
        """ValueError for what is no JSON, Unusable for what is too large. A large list comes as Items."""
        if name in self._recent:
            size, value = self._recent.pop(name)
        else:
            body = self._body(name) if body is None else body
            size = len(body)
            large = is_list and is_large(body, self.limit)
            value = items(body, lambda: self._body(name), self.limit) if large else parsed(body, self.limit)
        if size <= _RECENT:
            self._recent[name] = (size, value)
            while sum(size for size, _ in self._recent.values()) > _RECENT:
                del self._recent[next(iter(self._recent))]
        return value

    def _body(self, name: str) -> bytes:
        kept = self.shelf.find(name)
        return kept.body if kept else b""
