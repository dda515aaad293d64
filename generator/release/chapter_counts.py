"""The series and chapters of a release, counted by the lines of its manifest."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from .manifest_reader import ManifestReader

_CHAPTER = re.compile(rb'"/api/v2/chapters/(\d+)":\{|"/api/series/[^"/]+/([^"/]+)/([^"/]+)":')


class ChapterNames(NamedTuple):
    """The chapters of a series: volume and number of those in /api, ids of those in /api/v2."""

    numbers: list[tuple[str, str]]
    ids: list[int]

    @property
    def total(self) -> int:
        """The number of chapters: /api has chapters without an id, /api/v2 those that need an API key."""
        return max(len(self.numbers), len(self.ids))


def chapters(segment: bytes) -> ChapterNames:
    """The chapters in the lines of a series."""
    names = ChapterNames([], [])
    for match in _CHAPTER.finditer(segment):
        if match[1]:
            names.ids.append(int(match[1]))
        else:
            names.numbers.append((match[2].decode(), match[3].decode()))
    return names


def chapters_by_series(manifest: ManifestReader) -> Iterator[tuple[str, ChapterNames]]:
    return ((slug, chapters(manifest.segment(slug))) for slug in manifest.segments if slug)


def counts(manifest: ManifestReader) -> dict[str, int]:
    """The number of series, chapters and URLs with a body."""
    totals = [names.total for _, names in chapters_by_series(manifest)]
    return {
        "series": len(totals),
        "chapters": sum(totals),
        "resources": sum(map(manifest.count, manifest.segments)),
    }
