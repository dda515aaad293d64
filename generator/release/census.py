"""The series and chapters that a release publishes, as the lines of its manifest name them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from .manifest_reader import ManifestReader

_CHAPTER = re.compile(rb'"/api/v2/chapters/(\d+)":|"/api/series/[^"/]+/([^"/]+)/([^"/]+)":')


class ChapterNames(NamedTuple):
    """The chapters of one series: by volume and number where the older families have it, and by id where v2 does."""

    numbers: list[tuple[str, str]]
    ids: list[int]

    @property
    def total(self) -> int:
        """The older families know chapters without an id, v2 knows chapters that need a key."""
        return max(len(self.numbers), len(self.ids))


def chapters(run: bytes) -> ChapterNames:
    """The chapters in the lines of a series."""
    found = ChapterNames([], [])
    for one in _CHAPTER.finditer(run):
        if one[1]:
            found.ids.append(int(one[1]))
        else:
            found.numbers.append((one[2].decode(), one[3].decode()))
    return found


def chapters_by_series(ledger: ManifestReader) -> Iterator[tuple[str, ChapterNames]]:
    """The series of a release with their chapters."""
    return ((slug, chapters(ledger.segment(slug))) for slug in ledger.segments if slug)


def counts(ledger: ManifestReader) -> dict[str, int]:
    """How many series, chapters and URLs with a body a release has."""
    found = [one.total for _, one in chapters_by_series(ledger)]
    return {"series": len(found), "chapters": sum(found), "resources": sum(map(ledger.count, ledger.segments))}
