"""The feeds of a site as values, before they are written in a format.

Titles and subtitles are those of the original service, but for the name of the series in feeds of several.
"""

from collections.abc import Iterable
from functools import lru_cache
from heapq import nsmallest
from html import escape
from typing import NamedTuple

from ...catalog.entities import (
    Catalog,
    Chapter,
    OpdsChapter,
    PublishingGroup,
    RecentChapter,
    Series,
    SeriesSummary,
)
from ..pages.cards import SeriesChapter, newest_chapters
from ..pages.context import PageContext

# The number of entries in the feeds of the whole catalog.
MOST_ENTRIES = 30
# The number of chapters in the feed of a series: the newest ones. A subscriber loads the feed many times a day.
MOST_CHAPTERS = 100


class FeedEntry(NamedTuple):
    """An entry of a feed. `html` is its content; everything else is text."""

    id: str
    url: str
    title: str
    published: int
    updated: int
    html: str
    # The cover of the series; empty in the feed of one series.
    image: str
    # Whether the entry is a series, and the image belongs to it.
    is_series: bool
    tags: tuple[str, ...]
    # The language and the rating of the series; None if unknown.
    language: str | None
    rating: str | None


class Feed(NamedTuple):
    """A feed: `path` has no format, `url` is the page with the same content.

    `updated` is that of its newest entry; `modified` that of the newest part, titles and covers included.
    """

    path: str
    id: str
    url: str
    title: str
    subtitle: str
    updated: int
    modified: int
    entries: tuple[FeedEntry, ...]
    # Of most entries; None if unknown.
    language: str | None


# Feeds


def releases(page: PageContext, catalog: Catalog) -> Feed:
    """The newest chapters of the site."""
    chapters = newest_chapters(catalog.series, MOST_ENTRIES)
    title, subtitle = f"Releases - {page.title}", "Updates when a new chapter is added"
    url = f"{page.site.base_url}/"
    return _feed_of_chapters(page, "/releases", url, title, subtitle, chapters, catalog.site_modified)


def group(page: PageContext, publisher: PublishingGroup) -> Feed:
    """The newest chapters of a group."""
    group = publisher.group
    chapters = newest_chapters(publisher.series, MOST_ENTRIES, group)
    name, path = group.name, f"/groups/{group.id}"
    title, subtitle = f"{name} - {page.title}", f"Updates when a new chapter is added by {name}"
    url = f"{page.site.base_url}{path}/"
    return _feed_of_chapters(page, path, url, title, subtitle, chapters, group.modified)


def library(page: PageContext, catalog: Catalog) -> Feed:
    """The newest series of the site."""
    newest = nsmallest(MOST_ENTRIES, catalog.shown_series, key=lambda series: (-first_published(series), series.slug))
    entries = tuple(series_entry(page, series) for series in newest)
    url = page.site.base_url + page.site.reader
    return Feed(
        path="/library",
        id=url,
        url=url,
        title=f"Library - {page.title}",
        subtitle="Updates when a new series is added",
        updated=last_update(entries, catalog.site_modified),
        modified=last_update(entries, catalog.site_modified),
        entries=entries,
        language=page.site.language,
    )


# Three formats need the same feed.
@lru_cache(maxsize=1)
def series(page: PageContext, series: Series) -> Feed:
    """The chapters of a series. Without any to show, the subtitle gives the reason."""
    subtitle = f"Updates when a new chapter of {series.title} is added"
    entries: tuple[FeedEntry, ...] = ()
    if series.licensed:
        subtitle = "This series is licensed."
    elif not series.shows_chapters or not page.visible.chapters:
        subtitle = "The chapters of this series need an API key."
    else:
        entries = chapter_entries(page, series)
    return Feed(
        path=series.path.removesuffix("/"),
        id=entry_root(page, series),
        url=series.url,
        title=f"{series.title} - {page.title}",
        subtitle=subtitle,
        # Not the time of the build: an empty feed does not change, so caches can keep it.
        updated=last_update(entries, series.modified),
        modified=max(series.modified, last_update(entries, 0)),
        entries=entries,
        language=series.language,
    )


def _feed_of_chapters(
    page: PageContext, path: str, url: str, title: str, subtitle: str, chapters: list[SeriesChapter], modified: int
) -> Feed:
    entries = tuple(chapter_entry(page, series, chapter, True) for series, chapter in chapters)
    updated = last_update(entries, modified)
    newest = max((series.modified for series, _ in chapters), default=modified)
    return Feed(path, url, url, title, subtitle, updated, max(updated, newest), entries, page.site.language)


# Entries


def entry_root(page: PageContext, series: SeriesSummary) -> str:
    """The URL of a series for ids: that of the first slug that it had, so ids stay when it is renamed."""
    slug = series.formerly[0] if series.formerly else series.slug
    return f"{page.site.base_url}{page.site.reader}{slug}/"


def series_entry(page: PageContext, series: SeriesSummary) -> FeedEntry:
    """The entry of a series in the library."""
    shows_details = page.visible.details
    return FeedEntry(
        id=entry_root(page, series),
        url=series.url,
        title=series.title,
        published=first_published(series),
        updated=series.modified,
        html=_with_cover(series.url, series.cover, series.description if shows_details else ""),
        image=series.cover,
        is_series=True,
        tags=tuple(category.name for category in series.categories) if shows_details else (),
        language=series.language,
        rating=series.rating if shows_details else None,
    )


def first_published(series: SeriesSummary) -> int:
    """The instant from which a series is in the library, as far as the catalog has one.

    When the chapters of other series were published needs an API key, or is not told at all.
    """
    since = series.since if series.is_open or series.shows_chapters else 0
    return since or series.updated or series.modified


def chapter_entry(
    page: PageContext, series: SeriesSummary, chapter: Chapter | RecentChapter, with_cover: bool
) -> FeedEntry:
    url = page.site.base_url + (page.page_of(chapter) or series.path)
    return FeedEntry(
        id=chapter_id(page, series, chapter),
        url=url,
        title=with_series(series, chapter.heading) if with_cover else chapter.heading,
        published=chapter.published,
        updated=chapter.modified,
        html=_with_cover(url, series.cover, series.title) if with_cover else _link(url, chapter.heading),
        image=series.cover if with_cover else "",
        is_series=False,
        tags=(),
        language=series.language,
        rating=series.rating if page.visible.details else None,
    )


def with_series(series: SeriesSummary, heading: str) -> str:
    """The title of a chapter beside those of other series. Some begin with that of the series already."""
    rest = heading.removeprefix(series.title)
    # A series can be called "C", and its chapters "Ch. 1". Scripts without cases write no blanks.
    goes_on = rest[:1].isdigit() or rest[:1].lower() != rest[:1].upper()
    return f"{series.title} – {heading}" if goes_on or rest == heading else heading


def chapter_id(page: PageContext, series: SeriesSummary, chapter: Chapter | RecentChapter | OpdsChapter) -> str:
    """The id of a chapter: the URL of its number, which later versions extend. Another version changes none."""
    id = entry_root(page, series) + chapter.path.removeprefix(series.path)
    return f"{id}#{chapter.id}" if chapter.is_later_version and chapter.id else id


def chapter_entries(page: PageContext, series: Series) -> tuple[FeedEntry, ...]:
    """The newest chapters of a series, in reading order."""
    chapters = [chapter for chapter in series.chapters if chapter.page_path]
    if len(chapters) > MOST_CHAPTERS:
        newest = sorted(chapters, key=lambda chapter: chapter.newest_first)[:MOST_CHAPTERS]
        chapters = sorted(newest, key=lambda chapter: chapter.order)
    return tuple(
        chapter_entry(page, series, chapter, False)
        for chapter in sorted(chapters, key=lambda chapter: chapter.reading_order)
    )


def last_update(entries: Iterable[FeedEntry], otherwise: int) -> int:
    """The instant of the last update of entries."""
    return max((entry.updated for entry in entries), default=otherwise)


def _with_cover(url: str, cover: str, text: str) -> str:
    """A cover that links to the page of the entry, and a text."""
    paragraphs = "".join(f"<p>{escape(part)}</p>" for part in text.splitlines() if part.strip())
    return f'<p><a href="{escape(url)}"><img src="{escape(cover)}" alt=""></a></p>{paragraphs}'


def _link(url: str, text: str) -> str:
    return f'<p><a href="{escape(url)}">{escape(text)}</a></p>'
