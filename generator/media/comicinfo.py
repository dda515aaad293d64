"""A chapter -> the ComicInfo.xml of its archive, version 2.1 of the Anansi Project.

`authoring.comicinfo` reads such files. The elements are a sequence: a reader that checks the schema refuses another
order.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat

from ..catalog.entities import Chapter, PageSize, Series
from ..catalog.field_values import day
from ..encoding import xml_text

FILE = "ComicInfo.xml"
_DECLARATION = '<?xml version="1.0" encoding="utf-8"?>\n'
_ROOT = "ComicInfo"
_AGE_RATINGS = {"safe": "Everyone", "suggestive": "Teen", "explicit": "Adults Only 18+"}


def document(series: Series, chapter: Chapter, web: str, sizes: Sequence[int]) -> bytes:
    """Return the file. `web` is the URL of the chapter's page, `sizes` are the bytes of each page."""
    elements = "".join(
        f"  <{name}>{xml_text(text)}</{name}>\n" for name, text in _elements(series, chapter, web) if text
    )
    pages = "".join(_pages(chapter, sizes))
    return f"{_DECLARATION}<{_ROOT}>\n{elements}  <Pages>\n{pages}  </Pages>\n</{_ROOT}>\n".encode()


def _elements(series: Series, chapter: Chapter, web: str) -> Iterator[tuple[str, str]]:
    year, month, date = day(chapter.published).split("-")
    yield "Title", chapter.title
    yield "Series", series.title
    yield "Number", chapter.number
    # Known once the last chapter is there.
    yield "Count", str(len(series.numbered_chapters)) if _is_finished(series) else ""
    yield "Volume", str(chapter.volume or "")
    yield "Year", year
    yield "Month", str(int(month))
    yield "Day", str(int(date))
    yield "Writer", _joined(person.name for person in series.authors)
    yield "Penciller", _joined(person.name for person in series.artists)
    yield "Translator", _joined(group.name for group in chapter.groups)
    yield "Genre", _joined(category.name for category in series.categories)
    yield "Web", web
    yield "PageCount", str(len(chapter.pages))
    yield "LanguageISO", series.language or ""
    yield "Manga", "YesAndRightToLeft" if series.direction == "rtl" else ""
    yield "AgeRating", _AGE_RATINGS[series.rating] if series.rating else ""


def _is_finished(series: Series) -> bool:
    return max(series.numbered_chapters, key=lambda chapter: chapter.reading_order).final


def _joined(names: Iterable[str]) -> str:
    return ", ".join(names)


def _pages(chapter: Chapter, sizes: Sequence[int]) -> Iterator[str]:
    pixels: Iterable[PageSize | None] = chapter.sizes or repeat(None)
    for image, (size, page) in enumerate(zip(sizes, pixels, strict=False)):
        measured = f' ImageWidth="{page[0]}" ImageHeight="{page[1]}"' if page else ""
        yield f'    <Page Image="{image}" ImageSize="{size}"{measured}/>\n'
