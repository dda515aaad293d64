"""Series and chapters in lists: a grid of covers, and rows of the latest chapters."""

from collections.abc import Iterable
from typing import NamedTuple

from ...catalog.entities import SeriesSummary
from ...templating import Html
from . import preview_marks
from .context import PageContext
from .recent import SeriesChapter

# The images of the first row of a list load at once.
_FIRST_ROW = 6


class LatestRow(NamedTuple):
    """A chapter in a list of the latest ones."""

    path: str
    title: str
    published: Html
    series: SeriesSummary
    cover: str


def cards(page: PageContext, all_series: Iterable[SeriesSummary]) -> list[Html]:
    """The series of a list, each as a cover with its title."""
    return [_card(page, series, position < _FIRST_ROW) for position, series in enumerate(all_series)]


def latest(page: PageContext, chapters: Iterable[SeriesChapter]) -> list[LatestRow]:
    """Rows of the latest chapters. Without pages of chapters, they lead to their series."""
    linked = page.visible.chapter
    return [
        LatestRow(
            chapter.path if linked else series.path,
            chapter.heading,
            preview_marks.published(page, chapter),
            series,
            page.image(series.cover),
        )
        for series, chapter in chapters
    ]


def _card(page: PageContext, series: SeriesSummary, first: bool) -> Html:
    card = page.rendered.get((series, first))
    if card is None:
        cover, note = page.image(series.cover), _note(page, series)
        card = Html(page.render("card.html", series=series, cover=cover, note=note, first=first).decode())
        page.rendered[series, first] = card
    return card


def _note(page: PageContext, series: SeriesSummary) -> str:
    if series.licensed or series.restricted:
        return str(page.text.licensed if series.licensed else page.text.restricted)
    return page.text.count("chapter", series.identified + series.unidentified)
