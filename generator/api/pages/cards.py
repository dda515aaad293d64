"""Series and chapters in lists: a grid of covers, and rows of the latest chapters of several series."""

import heapq
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import NamedTuple

from ...catalog.entities import Chapter, Group, RecentChapter, SeriesSummary
from ...templating import Html
from . import values
from .context import PageContext

# The images of the first row of a list load at once.
_FIRST_ROW = 6


class SeriesChapter(NamedTuple):
    """A chapter in a list of the latest ones, with its series."""

    series: SeriesSummary
    chapter: RecentChapter


class LatestRow(NamedTuple):
    """A chapter in a list of the latest ones."""

    path: str
    title: str
    published: Html
    series: SeriesSummary
    cover: str
    copies: str


def cards(page: PageContext, all_series: Iterable[SeriesSummary]) -> list[Html]:
    """The series of a list, each as a cover with its title."""
    return [_card(page, series, position < _FIRST_ROW) for position, series in enumerate(all_series)]


def latest(page: PageContext, chapters: Iterable[SeriesChapter]) -> list[LatestRow]:
    """Rows of the latest chapters. Without pages of chapters, they lead to their series."""
    return [
        LatestRow(
            page.page_of(chapter) or series.path,
            chapter.heading,
            publication(page, chapter),
            series,
            page.image(series.cover),
            page.copies(series.cover, series.cover_variants),
        )
        for series, chapter in chapters
    ]


def _card(page: PageContext, series: SeriesSummary, first: bool) -> Html:
    card = page.rendered.get((series, first))
    if card is None:
        cover, note = page.image(series.cover), _note(page, series)
        values = {"series": series, "cover": cover, "note": note, "first": first}
        copies = page.copies(series.cover, series.cover_variants)
        card = Html(page.render("card.html", copies=copies, **values).decode())
        page.rendered[series, first] = card
    return card


def _note(page: PageContext, series: SeriesSummary) -> str:
    if series.licensed or series.restricted:
        return str(page.text.licensed if series.licensed else page.text.restricted)
    return page.text.count("chapter", series.identified + series.unidentified)


def newest_chapters(all_series: Iterable[SeriesSummary], count: int, group: Group | None = None) -> list[SeriesChapter]:
    """The newest chapters, of all groups or of one. Each series has its own newest first."""
    by_series = [_of_series(series, group) for series in all_series if series.recent]
    return list(islice(heapq.merge(*by_series, key=lambda item: item.chapter.newest_first), count))


def _of_series(series: SeriesSummary, group: Group | None) -> Iterator[SeriesChapter]:
    for chapter in series.recent:
        if group is None or group.id in chapter.groups:
            yield SeriesChapter(series, chapter)


def publication(page: PageContext, chapter: Chapter | RecentChapter) -> Html:
    """The date of a chapter, or when it will be published."""
    if not chapter.scheduled:
        return values.time(chapter.published)
    date = datetime.fromtimestamp(chapter.published, UTC).strftime("%Y-%m-%d %H:%M UTC")
    mark = page.text.fill(page.text.preview_scheduled, date=date)
    return Html(page.render("mark.html", mark=mark).decode())
