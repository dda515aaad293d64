"""Announce new chapters: write down what is sent, send it, and strike out what has arrived.

A run that is killed in between leaves chapters in the record that may not have arrived. They are listed, and sent again
only on request: a second announcement is worse than a late one.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ...release.manifest_reader import ManifestReader
from . import news
from .news import NewSeries
from .records import AnnouncementRecord, Place
from .services import Service


class Delivery(NamedTuple):
    """What a service got, or would get: counts of messages and chapters, faults, and what it may lack."""

    service: str
    messages: int
    chapters: int
    faults: list[str]
    unsure: list[NewSeries]


class Announced(NamedTuple):
    """The result of a run. The first one only writes down which chapters are public."""

    is_first: bool
    news: list[NewSeries]
    deliveries: list[Delivery]

    @property
    def ok(self) -> bool:
        return not any(delivery.faults for delivery in self.deliveries)


def announce(
    release: ManifestReader, root: Path, place: Place, services: Sequence[Service], *, repeat: bool, dry_run: bool
) -> Announced:
    """Announce the chapters of a release that the record does not have; with `repeat`, also what may be lacking."""
    public, record = set(news.public_chapters(release)), place.record()
    is_first = record is None
    record = record or AnnouncementRecord(set(public), {})
    new = public - record.public
    lacking = {service.name: record.unsure.get(service.name, set()) & public for service in services}
    # All bodies are read before the first write, since one can be damaged.
    series = news.series_with(release, root, new.union(*lacking.values()))
    wanted = {name: new | ids if repeat else new for name, ids in lacking.items()}
    messages = {
        service.name: list(service.messages(_part(series, wanted[service.name]))) if wanted[service.name] else []
        for service in services
    }
    record.public.update(new)
    for service in services:
        record.unsure.setdefault(service.name, set()).update(new)
    if (new or is_first) and not dry_run:
        place.write(record.dump())
    deliveries = []
    for service in services:
        sent, faults, unsure = 0, [], record.unsure[service.name]
        for message in messages[service.name]:
            if fault := "" if dry_run else service.send(message):
                faults.append(fault)
                continue
            sent += len(message.chapters)
            unsure -= message.chapters
            if not dry_run:
                place.write(record.dump())
        count = len(messages[service.name]) - len(faults)
        deliveries.append(Delivery(service.name, count, sent, faults, _part(series, unsure)))
    return Announced(is_first, _part(series, new.union(*wanted.values())), deliveries)


def _part(series: Sequence[NewSeries], ids: set[int]) -> list[NewSeries]:
    """The series with only these of their chapters."""
    parts = (
        each._replace(chapters=tuple(chapter for chapter in each.chapters if chapter.id in ids)) for each in series
    )
    return [each for each in parts if each.chapters]
