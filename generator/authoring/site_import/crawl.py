"""Request the paths of a site that a catalog is made from, in order; return the responses by path.

Version 2 comes first and has most of the data; the older versions add fields that it lacks. A request shows whether a
version exists. This module reads only the slugs, ids and names that lead to further paths.
"""

import reprlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, TypeGuard
from urllib.parse import quote

from ... import encoding
from ...api.payloads.series_list import DEFAULT_ORDER, ORDERS
from ...catalog import field_values
from ...catalog.records import MAX_SLUG
from ...errors import FlatpanelError
from .bounded_json import UnusableResponse
from .lenient import entries, fields, http_date, seconds, text, texts, whole
from .notes import Notes
from .response_cache import CachedResponse
from .responses import OLD, V2, ParsedBodies, Responses, SiteResponse
from .site_client import SiteClient

MAX_SERIES = 100_000
# Statuses that need no note.
_EXPECTED = (200, 404, 410, 451)
_PEOPLE = ("authors", "artists", "groups", "members")
_LISTS = {
    "/api/v2": ("categories", *_PEOPLE),
    "/api/v1": ("authors", "artists", "categories", "groups"),
    "/api": ("authors", "artists"),
}
_CONDITIONS = {"If-None-Match": "etag", "If-Modified-Since": "last-modified"}
_KEY_NEEDED = "needs an API key; skipped (use --key-file)"
_KEY_REFUSED = "the API key is not accepted; skipped"
# Called with the share of requests that is done, from 0 to 1.
Progress = Callable[[float], None]


@dataclass(slots=True)
class Crawler:
    """Requests one path after the other, through the cache."""

    client: SiteClient
    bodies: ParsedBodies
    notes: Notes
    key: str | None = None
    progress: Progress = lambda share: None
    responses: Responses = field(default_factory=Responses)
    # Estimated number of paths after those that are passed to `get_all`.
    ahead: int = 0
    # Last progress. The estimate may grow; progress never decreases.
    share: float = 0
    slugs: list[str] = field(default_factory=list)

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
            return SiteResponse()
        except ValueError:
            self.notes.add("not JSON; skipped", path)
            return SiteResponse(200, modified=_last_modified(cached), locked=locked)
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
        conditions = {}
        if cached and cached.status == 200:
            validators = {condition: cached.headers.get(header, "\n") for condition, header in _CONDITIONS.items()}
            conditions = {condition: value for condition, value in validators.items() if value.isprintable()}
        response = self.client.get(path, headers | conditions)
        if response.status == 304 and cached and conditions:
            return self.bodies.cache.keep(name, cached.status, cached.headers | dict(response.headers), cached.body)
        return self.bodies.cache.keep(name, response.status, dict(response.headers), response.body)


def _last_modified(response: CachedResponse) -> int | None:
    modified = http_date(response.headers.get("last-modified", ""))
    return modified if modified is not None and 0 <= modified <= encoding.LAST_INSTANT else None


def crawl(crawler: Crawler) -> None:
    """Request each path whose response has data of the catalog."""
    first = crawler.get("/api/v2/series")
    pages = list(_pages(crawler, first))
    # Three paths of version 2 for each series, and one of each older version.
    crawler.ahead = sum(1 for page in pages for _ in _results(page)) * (3 + len(OLD))
    if first.modified is not None:
        crawler.get_all(
            f"/api/v2/series?sort={order}&page={page}" for order in _orders() for page in range(1, len(pages) + 1)
        )
    crawler.get_all(("/", "/api/v2/openapi.json"))
    # `releases` exists if `series` does. `series` contains all chapters, so it is requested for one version only.
    old = [version for version in OLD if any(crawler.get(f"{version}/{name}").good for name in ("releases", "series"))]
    new = [V2] if first.good or first.locked else []
    if not new and not old:
        site = crawler.client.site
        raise FlatpanelError(f"{site}: not a known API: /api/v2/series, /api/v1/series and /api/series do not exist")
    crawler.get_all(f"{version}/{name}" for version in (*new, *old) for name in _LISTS[version])
    crawler.get_all(f"{version}/series" for version in old[:1])
    crawler.get_all(_single_entries(crawler, new + old[:1]))
    crawler.slugs = slugs(crawler, pages, old)
    # `_first_changed` yields about one chapter for each group.
    groups = sum(1 for _ in _results(crawler.responses[f"{V2}/groups"]))
    for left, slug in zip(range(len(crawler.slugs), 0, -1), crawler.slugs, strict=True):
        crawler.ahead = (left - 1) * (3 * len(new) + len(old)) + groups
        _series(crawler, slug, new, old)
    crawler.ahead = 0
    crawler.get_all(_first_changed(crawler, new))
    crawler.progress(1)


def _pages(crawler: Crawler, page: SiteResponse) -> Iterator[SiteResponse]:
    """Yield each page of the list of series; a page without new series is the end, regardless of `last`."""
    slugs: set[str] = set()
    number = 1
    while new := set(filter(_is_slug, (series.get("slug") for series in _results(page)))) - slugs:
        slugs |= new
        yield page
        if fields(page.value).get("last") is True:
            return
        if len(slugs) > MAX_SERIES:
            crawler.notes.add(f"more than {MAX_SERIES} series; the rest is skipped")
            return
        number += 1
        page = crawler.get(f"/api/v2/series?page={number}")


def _orders() -> Iterator[str]:
    """The other orders of the list. Their pages group the series differently, which narrows their dates."""
    return (f"{sign}{order}" for order in ORDERS for sign in ("", "-") if f"{sign}{order}" != DEFAULT_ORDER)


def _results(response: SiteResponse) -> Iterator[dict[str, Any]]:
    return entries(fields(response.value).get("results"))


def _ids(objects: Iterable[dict[str, Any]]) -> Iterator[int]:
    return (id for entry in objects if (id := whole(entry.get("id"))) is not None)


def _single_entries(crawler: Crawler, versions: list[str]) -> Iterator[str]:
    """The path of each person, category and group: its response has the entry's own Last-Modified."""
    for path in [f"{version}/{name}" for version in versions for name in _PEOPLE]:
        response = crawler.responses[path]
        objects = _results(response) if path.startswith(V2) else entries(response.value)
        yield from (f"{path}/{id}" for id in _ids(objects))
    if V2 in versions:
        names = [text(category.get("name")) for category in _results(crawler.responses[f"{V2}/categories"])]
        # A name with a slash is not a path segment; no site has such a route.
        yield from (f"{V2}/categories/{quote(name, safe='')}" for name in names if name and "/" not in name)


def slugs(crawler: Crawler, pages: list[SiteResponse], old: list[str]) -> list[str]:
    """Return the slugs of all series, each once. An invalid slug could name a file outside the catalog."""
    lists = [*pages, *(crawler.responses[f"{version}/{name}"] for name in ("series", "releases") for version in old)]
    by_lower_case: dict[str, str] = {}
    for slug in (series.get("slug") for response in lists for series in _listed(response.value)):
        if not _is_slug(slug):
            crawler.notes.add("invalid slug; series skipped", reprlib.repr(slug))
        elif len(by_lower_case) == MAX_SERIES and slug.lower() not in by_lower_case:
            crawler.notes.add(f"more than {MAX_SERIES} series; the rest is skipped")
            break
        elif by_lower_case.setdefault(slug.lower(), slug) != slug:
            first = by_lower_case[slug.lower()]
            crawler.notes.add(f"differs from {first} only in case; series skipped", slug)
    return list(by_lower_case.values())


def _listed(value: Any) -> Iterator[dict[str, Any]]:
    """The objects in a list of any version."""
    return chain(entries(value), entries(fields(value).get("results")))


def _is_slug(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and len(value) <= MAX_SLUG and field_values.is_slug(value)


def _series(crawler: Crawler, slug: str, new: list[str], old: list[str]) -> None:
    for version in new:
        crawler.get_all(f"{version}/{name}" for name in (f"series/{slug}", f"series/{slug}/chapters", f"cubari/{slug}"))
    crawler.get_all(f"{version}/series/{slug}" for version in old)
    chapters = crawler.responses[f"{V2}/series/{slug}/chapters"]
    if not chapters.good:
        _old_chapters(crawler, slug, old)
    elif not crawler.responses[f"{V2}/cubari/{slug}"].good:
        crawler.get_all(f"{V2}/chapters/{id}/pages" for id in _ids(_results(chapters)))


def _old_chapters(crawler: Crawler, slug: str, old: list[str]) -> None:
    """Request each chapter of a series whose chapters version 2 does not show; some sites have no such route."""
    for version in old[-1:]:
        path = f"{version}/series/{slug}"
        for chapter_path, _ in _chapters_in(path, crawler.responses[path]):
            if not crawler.get(chapter_path).good:
                return


def _first_changed(crawler: Crawler, new: list[str]) -> Iterator[str]:
    """The path of the chapter that changed first, for each set of groups: if it is newer, a group has changed."""
    oldest: dict[frozenset[object], tuple[int, str]] = {}
    for changed, groups, path in _new_chapters(crawler) if new else _old_chapters_of_groups(crawler):
        oldest[groups] = min(oldest.get(groups, (changed, path)), (changed, path))
    return (path for groups, (_, path) in oldest.items() if groups)


def _new_chapters(crawler: Crawler) -> Iterator[tuple[int, frozenset[object], str]]:
    for slug in crawler.slugs:
        cubari = fields(fields(crawler.responses[f"{V2}/cubari/{slug}"].value).get("chapters"))
        for chapter in _results(crawler.responses[f"{V2}/series/{slug}/chapters"]):
            for id in _ids([chapter]):
                changed = seconds(fields(cubari.get(str(id))).get("last_updated")) or 0
                yield changed, frozenset(texts(chapter.get("groups"))), f"{V2}/chapters/{id}"


def _old_chapters_of_groups(crawler: Crawler) -> Iterator[tuple[int, frozenset[object], str]]:
    """Version 1 has the groups of a chapter, and the oldest version has its Last-Modified."""
    first, oldest = OLD
    for slug in crawler.slugs:
        path = f"{first}/series/{slug}"
        for chapter_path, chapter in _chapters_in(path, crawler.responses[path]):
            changed = crawler.responses[oldest + chapter_path.removeprefix(first)].modified or 0
            yield changed, frozenset(_ids(entries(chapter.get("groups")))), chapter_path


def _chapters_in(path: str, series: SiteResponse) -> Iterator[tuple[str, dict[str, Any]]]:
    """The chapters of a series in an older version, each with its path."""
    for volume, chapters in fields(fields(series.value).get("volumes")).items():
        for number, chapter in fields(chapters).items():
            yield f"{path}/{quote(volume, safe='')}/{quote(number, safe='')}", fields(chapter)
