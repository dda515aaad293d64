"""One function per kind of feed and sitemap, as in `route_items`."""

from functools import lru_cache
from heapq import nsmallest

from ...catalog.entities import Catalog, RecentChapter, Series, SeriesSummary
from ..route_items import InSeries, RouteItem, RouteItems
from .payloads import MOST_ENTRIES, GroupReleases, RecentChapters


def group(catalog: Catalog) -> RouteItems:
    """Each group, with its newest chapters."""
    by_group = _newest_by_group(catalog)
    return (RouteItem({"id": group.id}, GroupReleases(group, by_group.get(group.id, ()))) for group in catalog.groups)


# Three formats need the same list.
@lru_cache(maxsize=1)
def _newest_by_group(catalog: Catalog) -> dict[int, RecentChapters]:
    by_group: dict[int, list[tuple[SeriesSummary, RecentChapter]]] = {}
    for series in catalog.series:
        for chapter in series.recent:
            for number in chapter.groups:
                by_group.setdefault(number, []).append((series, chapter))
    return {
        number: tuple(nsmallest(MOST_ENTRIES, chapters, key=lambda pair: pair[1].newest_first))
        for number, chapters in by_group.items()
    }


@InSeries
def series(series: Series) -> RouteItems:
    if series.is_in_lists:
        # A series that /api and /api/v1 omit is only in lists and details of /api/v2.
        yield RouteItem({"slug": series.slug}, series, not series.is_open)


@InSeries
def series_with_chapters(series: Series) -> RouteItems:
    if series.recent:
        yield RouteItem({"slug": series.slug}, series)
