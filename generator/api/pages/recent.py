"""The newest chapters of several series."""

import heapq
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from ...catalog.chapter_fields import RecentChapter
from ...catalog.entities import Group, SeriesSummary


class SeriesChapter(NamedTuple):
    """A chapter in a list of the latest ones, with its series."""

    series: SeriesSummary
    chapter: RecentChapter


def newest(all_series: Iterable[SeriesSummary], count: int, group: Group | None = None) -> list[SeriesChapter]:
    """The newest chapters, of all groups or of one. Each series has its own newest first."""
    by_series = [_of_series(series, group) for series in all_series if series.recent]
    return list(islice(heapq.merge(*by_series, key=lambda item: item.chapter.newest_first), count))


def _of_series(series: SeriesSummary, group: Group | None) -> Iterator[SeriesChapter]:
    for chapter in series.recent:
        if group is None or group.id in chapter.groups:
            yield SeriesChapter(series, chapter)
