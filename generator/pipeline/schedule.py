"""What is written and not published yet: which chapters, and when each of them is due."""

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import NamedTuple

from ..catalog import field_values
from ..catalog.reader import SeriesEntry
from .cache import Cache
from .scan import CatalogScan

# In so many seconds, 400 years, every date comes back.
_CALENDAR = 146_097 * 86_400


class Scheduled(NamedTuple):
    """A chapter before its time."""

    due: int
    slug: str
    series: str
    # As in addresses: 0 without one.
    volume: int
    number: str
    title: str
    id: int | None

    @property
    def address(self) -> str:
        """What stands in the addresses of the chapter, once it has some."""
        return f"{self.slug}/{self.volume}/{self.number}"

    def plain(self) -> dict[str, object]:
        """For programs."""
        return {
            **moment(self.due),
            "series": {"slug": self.slug, "title": self.series},
            "volume": self.volume,
            "number": self.number,
            "title": self.title,
            "id": self.id,
        }


class Schedule(NamedTuple):
    """When the next chapter is due, and all that are scheduled, if somebody asked for them."""

    next: int | None
    chapters: list[Scheduled]
    warnings: list[str]


def scheduled(found: CatalogScan, cache: Cache) -> list[Scheduled]:
    """All of them, in the order in which they are due; only series that have some are read."""
    chapters: list[Scheduled] = []
    for place in found.places:
        if max(found.facts[place.slug].published, default=0) > found.as_of:
            entry = found.series_of(place, cache)
            chapters += _of_series(entry, found.as_of)
    return sorted(chapters, key=lambda one: (one.due, one.slug, one.volume, Decimal(one.number)))


def _of_series(series: SeriesEntry, as_of: int) -> list[Scheduled]:
    records = [entry.record for entry in series.chapters if entry.record.published > as_of]
    title = series.entry.record.title
    return [
        Scheduled(one.published, series.slug, title, one.volume or 0, one.number, one.title, one.id) for one in records
    ]


def moment(due: int | None) -> dict[str, object]:
    """An instant in each form that a program may want; nothing in all of them where there is none."""
    forms: dict[str, Callable[[int], object]] = {"due": field_values.iso, "epoch": int, "cron": cron}
    return {name: None if due is None else form(due) for name, form in forms.items()}


def cron(due: int) -> str:
    """The first minute in which it is due, in UTC, as cron writes it, which has neither seconds nor years."""
    minute = -(-due // 60) * 60
    # The last minute of the year 9999 may end in the next year, which has no date.
    at = datetime.fromtimestamp(minute % _CALENDAR, UTC)
    return f"{at.minute} {at.hour} {at.day} {at.month} *"
