"""Scheduled chapters: which ones the catalog has, and when each is due."""

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import NamedTuple

from ..catalog import field_values
from ..catalog.reader import SeriesEntry
from .cache import Cache
from .scan import CatalogScan

# The Gregorian calendar repeats after this many seconds: 400 years.
_CALENDAR = 146_097 * 86_400


class Scheduled(NamedTuple):
    """A chapter that is not published yet."""

    due: int
    slug: str
    series: str
    # As in URLs: 0 without a volume.
    volume: int
    number: str
    title: str
    id: int | None

    @property
    def path(self) -> str:
        """The part of the chapter's URLs that names it."""
        return f"{self.slug}/{self.volume}/{self.number}"

    def plain(self) -> dict[str, object]:
        """The chapter as JSON."""
        return {
            **moment(self.due),
            "series": {"slug": self.slug, "title": self.series},
            "volume": self.volume,
            "number": self.number,
            "title": self.title,
            "id": self.id,
        }


class Schedule(NamedTuple):
    """When the next chapter is due, and the scheduled chapters if they were requested."""

    next: int | None
    chapters: list[Scheduled]
    warnings: list[str]


def scheduled(scan: CatalogScan, cache: Cache) -> list[Scheduled]:
    """All scheduled chapters, in the order in which they are due. Only series with such chapters are parsed."""
    chapters: list[Scheduled] = []
    for files in scan.series_files:
        if max(scan.facts[files.slug].published, default=0) > scan.as_of:
            chapters += _of_series(scan.series_of(files, cache), scan.as_of)
    return sorted(chapters, key=lambda chapter: (chapter.due, chapter.slug, chapter.volume, Decimal(chapter.number)))


def _of_series(series: SeriesEntry, as_of: int) -> list[Scheduled]:
    records = (entry.record for entry in series.chapters)
    return [
        Scheduled(
            due=chapter.published,
            slug=series.slug,
            series=series.entry.record.title,
            volume=chapter.volume or 0,
            number=chapter.number,
            title=chapter.title,
            id=chapter.id,
        )
        for chapter in records
        if chapter.published > as_of
    ]


def moment(due: int | None) -> dict[str, object]:
    """A time in each form of the JSON output; null in all of them without one."""
    forms: dict[str, Callable[[int], object]] = {"due": field_values.iso, "epoch": int, "cron": cron}
    return {name: None if due is None else form(due) for name, form in forms.items()}


def cron(due: int) -> str:
    """The crontab schedule of the first minute at or after a time, in UTC. It has neither seconds nor years."""
    # At the start of its minute the chapter is not due yet, and the next match is a year later.
    minute = -(-due // 60) * 60
    # The last minute of the year 9999 may be rounded up to the year 10000, which datetime cannot represent.
    at = datetime.fromtimestamp(minute % _CALENDAR, UTC)
    return f"{at.minute} {at.hour} {at.day} {at.month} *"
