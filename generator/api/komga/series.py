"""A series and its chapters as Komga has them: a series and its books.

An app decodes strictly: each field is always present, and null only where Komga's own type allows it.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import groupby, pairwise
from typing import NamedTuple

from ...catalog.entities import Chapter, Series
from ...catalog.field_values import iso
from ...encoding import Number, decimal
from ..pages.context import PageContext
from ..payloads import komga_search
from ..payloads.resources import Body, newest_of
from .lists import LIBRARY, KomgaAuthor, KomgaPage, whole

_STATUSES = {"ongoing": "ONGOING", "completed": "ENDED", "canceled": "ABANDONED", "hiatus": "HIATUS"}
# The youngest readers, as archives of chapters name them.
_AGES = {"safe": 0, "suggestive": 13, "explicit": 18}


class Book(NamedTuple):
    """A chapter with its place in the series: from 1, and the number that apps sort and show."""

    series: Series
    chapter: Chapter
    place: int
    sort_number: Number
    # Whether the number alone tells which chapter it is.
    is_numbered: bool


def books(series: Series) -> Sequence[Book]:
    """The books of a series in reading order.

    Apps sort by number only. So where volumes share numbers, the place of a number is sent instead.
    """
    chapters = sorted(series.identified_chapters, key=lambda chapter: chapter.reading_order)
    numbered = [list(versions) for _, versions in groupby(chapters, key=lambda chapter: chapter.reading_order)]
    is_numbered = all(
        Decimal(before.number) < Decimal(after.number) for (before, *_), (after, *_) in pairwise(numbered)
    )
    books: list[Book] = []
    for place, versions in enumerate(numbered, 1):
        for chapter in versions:
            number = decimal(chapter.number if is_numbered else str(place))
            books.append(Book(series, chapter, len(books) + 1, number, is_numbered))
    return books


def series(page: PageContext, series: Series) -> Body[Mapping[str, object]]:
    created, latest = iso(series.since), iso(series.updated)
    chapters = series.identified_chapters
    parts = (series.authors, series.artists, series.categories, series.groups, chapters)
    value = {
        "id": series.slug,
        "libraryId": LIBRARY,
        "name": series.title,
        "created": created,
        "lastModified": latest,
        "fileLastModified": latest,
        "booksCount": len(chapters),
        "metadata": {
            "status": _STATUSES[series.status],
            "created": created,
            "lastModified": latest,
            "title": series.title,
            "titleSort": series.title,
            **_unlocked(
                summary=series.description,
                readingDirection=_direction(series),
                publisher=", ".join(group.name for group in series.groups),
                ageRating=_AGES[series.rating] if series.rating else None,
                language=series.language or str(page.text.lang),
                genres=list(dict.fromkeys(genre.name for genre in series.categories)),
                tags=komga_search.tags(series),
            ),
            # Known when the last chapter is published.
            "totalBookCount": len(chapters) if any(chapter.final for chapter in chapters) else None,
        },
        "booksMetadata": {
            "authors": _people(series),
            "tags": [],
            "releaseDate": None,
            "summary": "",
            "summaryNumber": "",
            "created": created,
            "lastModified": latest,
        },
    }
    return Body(value, newest_of(max(series.modified, series.updated), *parts))


def books_of_series(page: PageContext, series: Series) -> Body[KomgaPage]:
    bodies = [book(page, item) for item in books(series)]
    return Body(whole([body.value for body in bodies], len(bodies)), max(body.last_modified for body in bodies))


def book(_: PageContext, book: Book) -> Body[Mapping[str, object]]:
    series, chapter = book.series, book.chapter
    published, count = iso(chapter.published), len(chapter.pages)
    # Apps show translators as the groups of a chapter.
    groups = [{"name": group.name, "role": "translator"} for group in chapter.groups]
    value = {
        "id": str(chapter.id),
        "seriesId": series.slug,
        "seriesTitle": series.title,
        "name": chapter.heading,
        "number": book.place,
        "created": published,
        "lastModified": iso(chapter.modified),
        "fileLastModified": published,
        "sizeBytes": 0,
        # Apps show this text in the name of a chapter.
        "size": "1 page" if count == 1 else f"{count} pages",
        "media": {
            "status": "READY",
            "mediaType": "application/zip",
            "pagesCount": count,
            "mediaProfile": "DIVINA",
        },
        "metadata": _unlocked(
            # Apps show the number before it.
            title=(book.is_numbered and chapter.title.strip()) or chapter.heading,
            summary="",
            number=chapter.number,
            numberSort=book.sort_number,
            # A date without a time: apps show `created` instead.
            releaseDate=None,
            authors=[*_people(series), *groups],
            tags=[],
        ),
    }
    return Body(value, newest_of(series.modified, [chapter], series.authors, series.artists, chapter.groups))


def _unlocked(**fields: object) -> dict[str, object]:
    """Fields with their locks, which keep a field when Komga reads a file again."""
    return {name: value for field in fields for name, value in ((field, fields[field]), (f"{field}Lock", False))}


def _direction(series: Series) -> str:
    if series.kind == "webtoon":
        return "WEBTOON"
    return "RIGHT_TO_LEFT" if series.direction == "rtl" else "LEFT_TO_RIGHT"


def _people(series: Series) -> list[KomgaAuthor]:
    return [{"name": name, "role": role} for name, role in dict.fromkeys(komga_search.people(series))]
