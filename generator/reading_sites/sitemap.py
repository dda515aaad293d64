"""Series and chapters that only the sitemaps of the original service list: they are counted, never written.

They have the URL of each series and chapter, scheduled and licensed ones included, without the time of publication.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from ..errors import counted
from .lenient import Fields
from .notes import Notes

SERIES, CHAPTERS = "/reader/series-sitemap.xml", "/reader/chapters-sitemap.xml"
_SERIES = re.compile(rb"<loc>[^<]{0,500}/reader/([\w-]{1,100})/</loc>")
_CHAPTER = re.compile(rb"<loc>[^<]{0,500}/reader/([\w-]{1,100})/([0-9]{1,9})/([0-9]{1,9}(?:\.[0-9]{1,4})?)/</loc>")
_HIDDEN, _SHARED = "scheduled or licensed", "with the number of another chapter"
# Bounds the memory that a hostile sitemap takes.
_MOST = 200_000


@dataclass(frozen=True, slots=True)
class Sitemap:
    """The slugs of series, and the number of URLs for each slug, volume and number: chapters may share a number."""

    series: list[str] = field(default_factory=list)
    chapters: Counter[tuple[str, int, str]] = field(default_factory=Counter)


def listed(series: bytes, chapters: bytes) -> Sitemap:
    slugs = (match[1].decode() for match in _SERIES.finditer(series))
    return Sitemap([*islice(slugs, _MOST)], Counter(islice(_parts(chapters), _MOST)))


def _parts(chapters: bytes) -> Iterator[tuple[str, int, str]]:
    for match in _CHAPTER.finditer(chapters):
        slug, volume, number = (part.decode("ascii", "replace") for part in match.groups())
        yield slug, int(volume), _rounded(number)


def note_missing(sitemap: Sitemap, chapters: Mapping[str, list[Fields]], notes: Notes) -> None:
    """Note the series of a sitemap that the import does not have, and the number of chapters of each series."""
    for slug in sitemap.series:
        if slug not in chapters:
            notes.add("only in the sitemap: no response describes the series; not written", slug)
    missing = Counter(sitemap.chapters)
    missing.subtract(
        (slug, chapter.get("volume") or 0, _rounded(str(chapter["number"])))
        for slug, imported in chapters.items()
        for chapter in imported
    )
    for reason, shares_number in ((_HIDDEN, False), (_SHARED, True)):
        counts: Counter[str] = Counter()
        for key, count in missing.items():
            # Of some there is another one with this number.
            counts[key[0]] += max(count, 0) * ((count < sitemap.chapters[key]) == shares_number)
        total = counts.total()
        for slug, count in sorted(counts.items()):
            if count:
                notes.add(_sentence(count, reason), slug, _sentence(total, reason))


def _sentence(count: int, reason: str) -> str:
    return f"{counted(count, 'chapter')} only in the sitemap ({reason}): publication time unknown; not written"


def _rounded(number: str) -> str:
    return f"{float(number):.6g}"
