"""The feeds of a site: which entries each has, and its texts."""

from collections.abc import Callable
from functools import lru_cache
from heapq import nsmallest
from typing import Any, NamedTuple

from ...catalog.entities import Catalog, Group, RecentChapter, Series, SeriesSummary
from ..pages.context import PageContext
from ..resources import Body
from . import texts
from .entries import (
    Feed,
    FeedEntry,
    chapter_entries,
    chapter_entry,
    entry_root,
    first_published,
    last_update,
    series_entry,
)
from .formats import FORMATS

# The number of entries in the feeds of the whole catalog.
MOST_ENTRIES = 30
RecentChapters = tuple[tuple[SeriesSummary, RecentChapter], ...]


class GroupReleases(NamedTuple):
    """A group with its newest chapters."""

    group: Group
    chapters: RecentChapters


def written_as(format: str, feed: Callable[[PageContext, Any], Feed]) -> Callable[[PageContext, Any], Body]:
    """The payload of a route: a feed in the format `atom`, `rss` or `json`."""
    _, write = FORMATS[format]

    def payload(page: PageContext, value: Any) -> Body:
        made = feed(page, value)
        return Body(write(page, made), made.modified)

    return payload


def releases(page: PageContext, catalog: Catalog) -> Feed:
    """The newest chapters of the site."""
    recent = ((series, chapter) for series in catalog.series for chapter in series.recent)
    chapters = tuple(nsmallest(MOST_ENTRIES, recent, key=lambda pair: pair[1].newest_first))
    title = texts.RELEASES.format(site=page.title)
    url = f"{page.site.base_url}/"
    return _feed_of_chapters(page, "/releases", url, title, texts.RELEASES_SUBTITLE, chapters, catalog.site_modified)


def group(page: PageContext, releases: GroupReleases) -> Feed:
    """The newest chapters of a group."""
    name, path = releases.group.name, f"/groups/{releases.group.id}"
    title, subtitle = texts.TITLE.format(name=name, site=page.title), texts.GROUP_SUBTITLE.format(name=name)
    url = f"{page.site.base_url}{path}/"
    return _feed_of_chapters(page, path, url, title, subtitle, releases.chapters, releases.group.modified)


def library(page: PageContext, catalog: Catalog) -> Feed:
    """The newest series of the site."""
    shown = (series for series in catalog.series if series.is_in_lists)
    newest = nsmallest(MOST_ENTRIES, shown, key=lambda series: (-first_published(series), series.slug))
    entries = tuple(series_entry(page, series) for series in newest)
    url = page.site.base_url + page.site.reader
    return Feed(
        path="/library",
        id=url,
        url=url,
        title=texts.LIBRARY.format(site=page.title),
        subtitle=texts.LIBRARY_SUBTITLE,
        updated=last_update(entries, catalog.site_modified),
        modified=last_update(entries, catalog.site_modified),
        entries=entries,
    )


# Three formats need the same feed.
@lru_cache(maxsize=1)
def series(page: PageContext, series: Series) -> Feed:
    """The chapters of a series. Without any to show, the subtitle gives the reason."""
    subtitle = texts.SERIES_SUBTITLE.format(name=series.title)
    entries: tuple[FeedEntry, ...] = ()
    if series.licensed:
        subtitle = texts.LICENSED
    elif not series.shows_chapters or not page.visible.chapters:
        subtitle = texts.NEEDS_KEY
    else:
        entries = chapter_entries(page, series)
    return Feed(
        path=series.path.removesuffix("/"),
        id=entry_root(page, series),
        url=series.url,
        title=texts.TITLE.format(name=series.title, site=page.title),
        subtitle=subtitle,
        # Not the time of the build: an empty feed does not change, so caches can keep it.
        updated=last_update(entries, series.modified),
        modified=max(series.modified, last_update(entries, 0)),
        entries=entries,
    )


def _feed_of_chapters(
    page: PageContext, path: str, url: str, title: str, subtitle: str, chapters: RecentChapters, modified: int
) -> Feed:
    entries = tuple(chapter_entry(page, series, chapter, chapter.shares_number, True) for series, chapter in chapters)
    updated = last_update(entries, modified)
    newest = max((series.modified for series, _ in chapters), default=modified)
    return Feed(path, url, url, title, subtitle, updated, max(updated, newest), entries)
