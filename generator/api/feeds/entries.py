"""Feeds as values, before they are written in a format."""

from collections import Counter
from collections.abc import Iterable
from html import escape
from typing import NamedTuple

from ...catalog.entities import Chapter, RecentChapter, Series, SeriesSummary, with_url
from ..pages.context import PageContext

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
    )


def first_published(series: SeriesSummary) -> int:
    """The instant from which a series is in the library, as far as the catalog has one.

    When the chapters of other series were published needs an API key, or is not told at all.
    """
    since = series.since if series.is_open or series.shows_chapters else 0
    return since or series.updated or series.modified


def chapter_entry(
    page: PageContext, series: SeriesSummary, chapter: Chapter | RecentChapter, shares_number: bool, with_cover: bool
) -> FeedEntry:
    """The entry of a chapter. `shares_number`: another chapter has the same URL."""
    base = page.site.base_url
    id = entry_root(page, series) + chapter.path.removeprefix(series.path)
    url = base + chapter.path if page.visible.chapter else series.url
    return FeedEntry(
        id=f"{id}#{chapter.id}" if shares_number and chapter.id else id,
        url=url,
        title=chapter.heading,
        published=chapter.published,
        updated=chapter.modified,
        html=_with_cover(url, series.cover, series.title) if with_cover else _link(url, chapter.heading),
        image=series.cover if with_cover else "",
        is_series=False,
        tags=(),
    )


def chapter_entries(page: PageContext, series: Series) -> tuple[FeedEntry, ...]:
    """The newest chapters of a series, in reading order."""
    versions = Counter((chapter.volume, chapter.number) for chapter in series.chapters)
    chapters: Iterable[Chapter] = with_url(series.chapters)
    if len(series.chapters) > MOST_CHAPTERS:
        newest = sorted(chapters, key=lambda chapter: chapter.newest_first)[:MOST_CHAPTERS]
        chapters = sorted(newest, key=lambda chapter: chapter.order)
    return tuple(
        chapter_entry(page, series, chapter, versions[chapter.volume, chapter.number] > 1, False)
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
