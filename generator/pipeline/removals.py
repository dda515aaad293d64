"""Series and chapters that the release before published and this catalog does not publish any more.

A series that becomes licensed or restricted is still published, and so is a chapter that gets another number and keeps
its id, or that moves to another series with it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from ..catalog.layout import SeriesFiles
from ..errors import FlatpanelError
from ..release import census
from ..release.census import ChapterNames
from ..release.manifest_reader import ManifestReader
from .cache import Cache
from .scan import CatalogScan

# How many series and how many chapters are named; the others are counted.
NAMED = 20
# Fewer removals than this are refused at no percentage.
FEWEST = 3


@dataclass(slots=True)
class Removals:
    """What is no longer published."""

    # By slug, with the number of chapters that went with the series.
    series: dict[str, int] = field(default_factory=dict)
    # Of series that are still there, as addresses name them: series/volume/number, or series and id.
    chapters: list[str] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        return {"series": len(self.series), "chapters": len(self.chapters) + sum(self.series.values())}

    def __bool__(self) -> bool:
        return bool(self.series or self.chapters)

    def plain(self) -> dict[str, object]:
        """For programs."""
        series = [{"series": slug, "chapters": count} for slug, count in islice(self.series.items(), NAMED)]
        return {"counts": self.counts, "series": series, "chapters": self.chapters[:NAMED]}

    def lines(self) -> list[str]:
        """For people: a bounded list, then how many more there are."""
        named = [f"  {slug}, with {_number(count, 'chapter')}" for slug, count in islice(self.series.items(), NAMED)]
        named += [f"  {one}" for one in self.chapters[:NAMED]]
        more = len(self.series) + len(self.chapters) - len(named)
        return [*named, *([f"  and {more} more"] if more else [])]

    @property
    def sentence(self) -> str:
        counts = self.counts
        return f"{_number(counts['series'], 'series')} and {_number(counts['chapters'], 'chapter')}"


class TooManyRemoved(FlatpanelError):
    """More is no longer published than was allowed; nothing was written."""


class _Now(NamedTuple):
    """The chapters of a series that the catalog publishes."""

    ids: set[int | None]
    numbers: set[tuple[str, str]]


def removals(found: CatalogScan, cache: Cache, before: ManifestReader, places: Iterable[SeriesFiles]) -> Removals:
    """Compare a release with the catalog: series that are gone, and chapters that are gone from the series `places`."""
    present = {place.slug for place in found.places}
    now = {place.slug: place for place in places}
    gone: dict[str, list[tuple[str, int | None]]] = {}
    for slug in before.segments:
        if slug and (slug in now or slug not in present):
            chapters = census.chapters(before.segment(slug))
            gone[slug] = list(_gone(slug, chapters, _now(found, cache, now[slug]) if slug in now else None))
    elsewhere = _elsewhere(found, {number: slug for slug, named in gone.items() for _, number in named if number})
    left = {slug: [name for name, number in named if number not in elsewhere] for slug, named in gone.items()}
    return Removals(
        {slug: len(names) for slug, names in left.items() if slug not in present},
        [name for slug, names in left.items() if slug in present for name in names],
    )


def allowed(
    found: CatalogScan, cache: Cache, before: ManifestReader, places: Iterable[SeriesFiles], percent: int | None
) -> Removals:
    """The removals, unless they are more than this share of the series and chapters of the release before."""
    result = removals(found, cache, before, places)
    _refuse(result, before, percent, str(found.folder))
    return result


def _refuse(found: Removals, before: ManifestReader, percent: int | None, catalog: str) -> None:
    count = sum(found.counts.values())
    if percent is None or count < FEWEST:
        return
    total = sum(1 + chapters.total for _, chapters in census.chapters_by_series(before))
    if count * 100 > percent * total:
        raise TooManyRemoved(
            f"{catalog}: {found.sentence} would no longer be published: {100 * count / total:.1f} % of all that the "
            f"release before has, and --max-removed allows {percent} %; nothing was written",
            *found.lines(),
            "restore them, or allow it with a higher --max-removed",
        )


def _now(found: CatalogScan, cache: Cache, place: SeriesFiles) -> _Now:
    series = found.series_of(place, cache)
    chapters = [one.record for one in series.chapters if one.record.published <= found.as_of]
    return _Now({one.id for one in chapters}, {(str(one.volume or 0), one.number) for one in chapters})


def _gone(slug: str, chapters: ChapterNames, now: _Now | None) -> Iterator[tuple[str, int | None]]:
    """The chapters that are gone, by name and, where it is certain, by id."""
    numbers, ids = chapters
    if len(ids) == len(numbers):
        for (volume, number), one in zip(numbers, ids, strict=True):
            if not now or (one not in now.ids and (volume, number) not in now.numbers):
                yield f"{slug}/{volume}/{number}", one
    elif numbers:  # some have no id, and which ones is not known
        for volume, number in numbers:
            if not now or (volume, number) not in now.numbers:
                yield f"{slug}/{volume}/{number}", None
    else:
        for one in ids:
            if not now or one not in now.ids:
                yield f"{slug}, id {one}", one


def _elsewhere(found: CatalogScan, owners: Mapping[int, str]) -> set[int | None]:
    """The ids that chapters of another series have now."""
    facts = found.facts.items() if owners else ()
    return {one for slug, known in facts for one in known.ids if owners.get(one, slug) != slug}


def _number(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'s' * (count != 1 and thing != 'series')}"
