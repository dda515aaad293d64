"""The responses of a site by path; their JSON is parsed when it is used."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ..api.openapi.document import TITLE
from .lenient import entries, fields, is_large, large_array, number, parsed, volume, whole
from .response_cache import ResponseCache
from .sitemap import Sitemap

V2 = "/api/v2"
OPENAPI = f"{V2}/openapi.json"
# Newest first.
OLD = ("/api/v1", "/api")
# Statuses that state that nothing is available, or not for this client.
NOTHING = (401, 404, 410, 451, 501)
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


def filtered_chapters(slug: str) -> str:
    """Return the path with the chapters of a series up to release 0.8 of the original service."""
    return f"{V2}/chapters?series={slug}"


class Responses(dict[str, SiteResponse]):
    """Responses by path; an empty response for a path that was not requested.

    All paths are without a final slash, regardless of the spelling that the site needs.
    """

    # Whether the site runs the original service, whose Last-Modified has another meaning.
    is_original = False

    def __init__(self, responses: Mapping[str, SiteResponse] | None = None) -> None:
        super().__init__(responses or {})
        # Of the original service.
        self.sitemap = Sitemap()

    def __missing__(self, path: str) -> SiteResponse:
        return SiteResponse()

    @property
    def is_flatpanel(self) -> bool:
        """Whether a site of this program responds."""
        return fields(fields(self[OPENAPI].value).get("info")).get("title") == TITLE

    def failed(self, path: str) -> bool:
        """Whether a path was requested and its response shows neither data nor that there is none."""
        return path in self and not self[path].understood and self[path].status not in NOTHING

    def chapters(self, slug: str) -> Iterator[dict[str, Any]]:
        """Yield the chapters of a series in version 2. Where their list fails, each may have a response of its own."""
        path, filtered = f"{V2}/series/{slug}/chapters", filtered_chapters(slug)
        if self.failed(path):
            yield from filter(None, (fields(self[f"{V2}/chapters/{id}"].value) for id in self.cubari(slug)))
        else:
            yield from entries(fields(self[filtered if filtered in self else path].value).get("results"))

    def page_paths(self, slug: str) -> dict[int, str]:
        """Return the path of the pages of each chapter of a series in version 2, by id.

        Up to release 0.8 of the original service, it has the number: chapters that share one have no path of their own.
        """
        chapters = {id: chapter for chapter in self.chapters(slug) if (id := whole(chapter.get("id"))) is not None}
        if filtered_chapters(slug) not in self:
            return {id: f"{V2}/chapters/{id}/pages" for id in chapters}
        queries: dict[int, str] = {}
        for id, chapter in chapters.items():
            with suppress(ValueError):
                queries[id] = f"volume={volume(chapter.get('volume')) or 0}&number={number(chapter.get('number'))}"
        uses = Counter(queries.values())
        return {id: f"{V2}/pages?series={slug}&{query}" for id, query in queries.items() if uses[query] == 1}

    def cubari(self, slug: str) -> dict[str, dict[str, Any]]:
        """Return the chapters of a series in its Cubari JSON, by id."""
        chapters = self._cubari(slug)
        return {id: chapter for id, chapter in chapters if whole(id) is not None and "number" in chapter}

    def cubari_by_number(self, slug: str) -> dict[str, dict[str, Any]]:
        """Return the Cubari JSON of release 0.8 of the original service and before: one chapter for each number."""
        return {number: chapter for number, chapter in self._cubari(slug) if "number" not in chapter}

    def _cubari(self, slug: str) -> Iterator[tuple[str, dict[str, Any]]]:
        chapters = fields(fields(self[f"{V2}/cubari/{slug}"].value).get("chapters"))
        return ((key, fields(chapter)) for key, chapter in chapters.items())

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
