"""Request the paths of a site that a catalog is made from, in order; return the responses by path.

Version 2 comes first and has most of the data; the older versions add fields that it lacks. A request shows whether a
version exists. This module reads only the slugs, ids and names that lead to further paths.
"""

import reprlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from typing import Any, TypeGuard
from urllib.parse import quote

from ..catalog import field_values
from ..catalog.patterns import MAX_SLUG
from ..errors import FlatpanelError
from . import sitemap
from .crawler import GONE, NOT_IMPLEMENTED, Crawler
from .lenient import count, entries, fields, seconds, volume, whole
from .responses import OLD, OPENAPI, V2, SiteResponse, filtered_chapters

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


def _ids(objects: Iterable[dict[str, Any]]) -> Iterator[int]:
    return (id for entry in objects if (id := whole(entry.get("id"))) is not None)


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
        path = f"{version}/series/{slug}"
        any_good = False
        for chapter_path, _ in _chapters_in(path, crawler.responses[path]):
            any_good |= crawler.get(chapter_path).good
            if not any_good:
                return


def _chapters_in(path: str, series: SiteResponse) -> Iterator[tuple[str, dict[str, Any]]]:
    """The chapters of a series in an older version, each with its path, where no volume is 0."""
    for stated_volume, chapters in fields(fields(series.value).get("volumes")).items():
        for number, chapter in fields(chapters).items():
            with suppress(ValueError):
                yield f"{path}/{volume(stated_volume) or 0}/{quote(number, safe='')}", fields(chapter)
