"""Request the paths of a site that a catalog is made from, in order and through a cache.

Version 2 comes first and has most of the data; the older versions add fields that it lacks. A request shows whether a
version exists. `crawl` reads only the slugs, ids and names that lead to further paths.
"""

import re
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, NoReturn, TypeGuard
from urllib.parse import quote, urlsplit

from .. import encoding
from ..catalog import field_values
from ..catalog.patterns import MAX_SLUG
from ..errors import FlatpanelError
from . import sitemap
from .lenient import LargeArray, UnusableResponse, count, entries, fields, last_modified, seconds, volume
from .notes import Notes
from .response_cache import CachedResponse
from .responses import OLD, OPENAPI, V2, ParsedBodies, Responses, SiteResponse, filtered_chapters
from .site_client import BROKEN, MOVED, ServerFailed, SiteClient, TimedResponse

# One request after the other, through the cache

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
    # Whether JSON without the shape of its path is no data. A comparison of sites shows it.
    checks_shapes: bool = False
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
            value = self._value(name, path, cached.body) if cached.status == 200 else None
            understood = _has_shape(path, value) if self.checks_shapes else value is not None
        except UnusableResponse as error:
            self.notes.add(f"{error}; skipped", path)
            return SiteResponse(BROKEN if isinstance(error, ServerFailed) else 0)
        except ValueError:
            self.notes.add("not JSON; skipped", path)
            return SiteResponse(200, modified=last_modified(cached.headers), locked=locked)
        self.responses.is_original |= _is_original(path, cached)
        if cached.status == 401:
            self.notes.add(_KEY_REFUSED if self.key else _KEY_NEEDED, path)
        elif cached.status not in _EXPECTED:
            self.notes.add(f"status {cached.status}; skipped", path)
        elif cached.status == 200 and not understood:
            self.notes.add("not the JSON of this path; skipped", path)
        if not understood:
            return SiteResponse(cached.status, modified=last_modified(cached.headers), locked=locked)
        load = partial(self._value, name, path)
        return SiteResponse(cached.status, load, last_modified(cached.headers), locked, understood=True)

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


_LIST = "series|chapters|pages|categories|authors|artists|groups|members"
_V2_LIST = re.compile(rf"/api/v2/(?:{_LIST}|series/[^/]+/chapters|chapters/[0-9]+/pages)(?:\?.*)?")
_V2_RECORD = re.compile(r"/api/v2/(?:series|chapters)/[^/]+")


_OLD_LIST = re.compile(r"/api/(?:v1/)?(?:series|releases|authors|artists|categories|groups)")


def _has_shape(path: str, value: Any) -> bool:
    """Whether JSON has the shape of its path: an error may be JSON with status 200, too."""
    if _V2_LIST.fullmatch(path):
        return isinstance(fields(value).get("results"), list)
    if _V2_RECORD.fullmatch(path):
        return "title" in fields(value)
    return isinstance(value, list | LargeArray) if _OLD_LIST.fullmatch(path) else value is not None


def _is_original(path: str, response: CachedResponse) -> bool:
    """Whether a response shows the original service: its name, or a status of its API that others do not use."""
    if any(_ORIGINAL in response.headers.get(name, "") for name in _SOFTWARE):
        return True
    return path.startswith("/api/") and response.status in (GONE, NOT_IMPLEMENTED)


# The paths, in order

MAX_SERIES = 100_000
# Single chapters that may fail in a row before the rest of their series is skipped.
MAX_FAILURES = 3
NOT_FOUND = 404
_PEOPLE = ("authors", "artists", "groups", "members")
_LISTS = {
    "/api/v2": ("categories", *_PEOPLE),
    "/api/v1": ("authors", "artists", "categories", "groups"),
    "/api": ("authors", "artists"),
}


def _has_version(crawler: Crawler, version: str) -> bool:
    """Whether a site has an older version. `releases` exists if `series` does, and is much smaller."""
    releases = crawler.get(f"{version}/releases")
    if releases.status == GONE:
        crawler.notes.add("switched off by the site (status 410); its data is missing", version)
    if releases.status in (GONE, NOT_IMPLEMENTED):
        return False
    return releases.good or crawler.get(f"{version}/series").good


def crawl(crawler: Crawler) -> None:
    """Request each path whose response has data of the catalog."""
    crawler.checks_shapes = True
    first = crawler.get("/api/v2/series")
    pages = list(_pages(crawler, first))
    # Three paths of version 2 for each series, and one of each older version.
    crawler.ahead = sum(1 for page in pages for _ in _results(page)) * (3 + len(OLD))
    old = [version for version in OLD if _has_version(crawler, version)]
    # The original service has a page at `/`, and so may a site of this program. Older versions have the index there.
    if not crawler.responses.is_original and not crawler.get("/index.json").good:
        crawler.get("/")
    crawler.get_all((OPENAPI,))
    new = [V2] if first.good or first.locked else []
    if not new and not old:
        site = crawler.client.site
        raise FlatpanelError(f"{site}: not a known API: /api/v2/series, /api/v1/series and /api/series do not exist")
    crawler.get_all(f"{version}/{name}" for version in (*new, *old) for name in _LISTS[version])
    # `series` contains all chapters, so it is requested for one version only.
    crawler.get_all(f"{version}/series" for version in old[:1])
    if crawler.responses.is_original:
        crawler.responses.sitemap = sitemap.listed(*map(crawler.text, (sitemap.SERIES, sitemap.CHAPTERS)))
    crawler.slugs = slugs(crawler, pages, old)
    if not crawler.slugs:
        _refuse_empty(crawler, old)
    stated = sum(count(series.get("chapters")) for page in pages for series in _results(page))
    # The original service needs a request for each chapter that no database has.
    chapters = max(0, stated - len(crawler.database)) if crawler.responses.is_original else 0
    each = 3 * len(new) + len(old) + chapters / max(1, len(crawler.slugs))
    crawler.expect(round(len(crawler.slugs) * each), stated)
    for left, slug in zip(range(len(crawler.slugs), 0, -1), crawler.slugs, strict=True):
        crawler.ahead = round((left - 1) * each)
        _series(crawler, slug, new, old)
    crawler.ahead = 0
    crawler.progress(1)


def _refuse_empty(crawler: Crawler, old: list[str]) -> NoReturn:
    """Refuse a site without series: all of them would seem removed, and no URL would show its `base_url`."""
    for path in ("/api/v2/series", *(f"{version}/{name}" for version in old for name in ("series", "releases"))):
        crawler.bodies.cache.forget(path)
    raise FlatpanelError(
        f"{crawler.client.site}: its lists have no series with a valid slug; nothing was written. Import again later, "
        "or with an API key of the site (--key-file)"
    )


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


def _results(response: SiteResponse) -> Iterator[dict[str, Any]]:
    return entries(fields(response.value).get("results"))


def slugs(crawler: Crawler, pages: list[SiteResponse], old: list[str]) -> list[str]:
    """Return the slugs of all series, each once. An invalid slug could name a file outside the catalog."""
    lists = [*pages, *(crawler.responses[f"{version}/{name}"] for name in ("series", "releases") for version in old)]
    by_lower_case: dict[str, str] = {}
    stated = (series.get("slug") for response in lists for series in _listed(response.value))
    # The list of version 1 may fail. Version 2 does not show the series without a published chapter.
    for slug in chain(stated, crawler.responses.sitemap.series if old else ()):
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
    series, listed = (crawler.responses[f"{V2}/series/{slug}{end}"] for end in ("", "/chapters"))
    if crawler.responses.failed(f"{V2}/series/{slug}/chapters"):
        _single_chapters(crawler, slug)
    elif series.good and listed.status in (NOT_FOUND, NOT_IMPLEMENTED):
        crawler.get_all([filtered_chapters(slug)])
    if not any(crawler.responses.chapters(slug)) and not listed.good:
        _old_chapters(crawler, slug, old)
    elif crawler.responses.is_original or not crawler.responses[f"{V2}/cubari/{slug}"].good:
        # The Cubari JSON has the pages, but not their numbers, which may have gaps in the original service.
        cubari = crawler.responses.cubari(slug)
        page_paths = crawler.responses.page_paths(slug).items()
        crawler.get_all(path for id, path in page_paths if not _in_database(crawler, id, cubari))


def _in_database(crawler: Crawler, id: int, cubari: dict[str, dict[str, Any]]) -> bool:
    """Whether a database has a chapter as it is now. The Cubari JSON rounds times up to the next second."""
    changed = seconds(cubari.get(str(id), {}).get("last_updated")) or 0
    return id in crawler.database and changed <= crawler.database[id] + 1


def _single_chapters(crawler: Crawler, slug: str) -> None:
    """Request each chapter of a series whose list of chapters fails: one chapter can break the whole list."""
    failures = 0
    for id in crawler.responses.cubari(slug):
        response = crawler.get(f"{V2}/chapters/{id}")
        failures = 0 if response.good else failures + 1
        if failures == MAX_FAILURES:
            return


def _old_chapters(crawler: Crawler, slug: str, old: list[str]) -> None:
    """Request each chapter of a series whose chapters version 2 does not show; some sites have no such route."""
    for version in old[-1:]:
        any_good = False
        for path in _chapter_paths(f"{version}/series/{slug}", crawler.responses):
            any_good |= crawler.get(path).good
            if not any_good:
                return


def _chapter_paths(series: str, responses: Responses) -> Iterator[str]:
    """The paths of the chapters of a series in an older version, where no volume is 0."""
    for stated_volume, chapters in fields(fields(responses[series].value).get("volumes")).items():
        for number in fields(chapters):
            with suppress(ValueError):
                yield f"{series}/{volume(stated_volume) or 0}/{quote(number, safe='')}"
