"""The catalog as it lies on the disk -> what all series share, and the facts of each; or every problem of it.

A series whose files, and whatever they name, are as they were is not read at all. One that has to be looked at again
is read from what was parsed before, if the content of its files was parsed before.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from .. import encoding
from ..catalog import confined_folder, cross_checks, reader, snapshot
from ..catalog.confined_folder import ConfinedFolder, Folder
from ..catalog.cross_checks import RecordChecks
from ..catalog.layout import SITE, SeriesFiles
from ..catalog.linking import Linker
from ..catalog.problems import locate as places
from ..catalog.problems.cut_texts import CutText
from ..catalog.problems.locate import UnlocatedProblem
from ..catalog.reader import LISTS, VIEWS, SeriesEntry, Sources
from ..catalog.source_file import ParsedFile
from ..errors import CatalogError, Problem
from . import series_facts as facts
from .cache import Cache, CachedSeries
from .process_pool import ordered_map
from .series_facts import ReferenceDigests, SeriesFacts

_CUTS = "cut texts"


@dataclass(slots=True)
class CatalogScan:
    """A catalog without problems."""

    folder: ConfinedFolder
    as_of: int
    # Missing only while problems are looked for.
    _linker: Linker | None
    places: list[SeriesFiles]
    # When each file was changed, by git or by the file system.
    times: Mapping[str, int]
    facts: dict[str, SeriesFacts]
    # What the facts of a series hold for: its content, and what stands behind the names in it.
    checked: dict[str, str]
    digests: dict[str, str]
    # How many files of series were parsed.
    parsed: int = 0
    warnings: list[str] = field(default_factory=list)
    # Where comments cut texts short.
    located: list[Problem] = field(default_factory=list)

    @property
    def linker(self) -> Linker:
        assert self._linker, "a catalog with problems is not linked"
        return self._linker

    @property
    def next_publication(self) -> int | None:
        """When the next scheduled chapter is due."""
        return min((one for one in self._published() if one > self.as_of), default=None)

    @property
    def last_publication(self) -> int:
        """When the last chapter was due; before that, the catalog was another."""
        return max((one for one in self._published() if one <= self.as_of), default=0)

    @property
    def published(self) -> int:
        """How many chapters are published."""
        return sum(one <= self.as_of for one in self._published())

    @property
    def pages(self) -> int:
        """How many pages these have."""
        chapters = (one for found in self.facts.values() for one in zip(found.published, found.pages, strict=True))
        return sum(pages for published, pages in chapters if published <= self.as_of)

    def _published(self) -> Iterator[int]:
        return (one for found in self.facts.values() for one in found.published)

    def values_of(self, place: SeriesFiles, cache: Cache) -> dict[str, bytes]:
        """The value of each file of a series, as JSON."""
        return {file: cache.files.parsed(self.digests[file]) for file in place.files}

    def series_of(self, place: SeriesFiles, cache: Cache) -> SeriesEntry:
        """The records of a series."""
        return reader.series_from_values(place, parsed_values(self.values_of(place, cache)))


class CheckTask(NamedTuple):
    """A series to check, and the values of those of its files that an earlier build parsed, as JSON."""

    place: SeriesFiles
    known: dict[str, bytes]


class CheckedSeries(NamedTuple):
    """What came of it: a part without its records, the facts of what could be read, and what had to be parsed."""

    place: SeriesFiles
    part: Sources
    facts: SeriesFacts | None
    values: dict[str, tuple[str, bytes]]


def read(
    folder: Folder, as_of: int, jobs: int, cache: Cache, times: Mapping[str, int], base_url: str | None = None
) -> CatalogScan:
    """The catalog, or every problem of it; `times` are those that git knows, `base_url` replaces site.yaml's."""
    return _Scanner(confined_folder.of(folder), as_of, jobs, cache, times, base_url).reading()


@dataclass(slots=True)
class _Scanner:
    folder: ConfinedFolder
    as_of: int
    jobs: int
    cache: Cache
    committed: Mapping[str, int]
    base_url: str | None
    before: dict[str, tuple[str, str]] = field(default_factory=dict)
    stats: dict[str, str] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    values: set[str] = field(default_factory=set)
    # By the digests of files, so that a file that is not parsed again is warned of all the same.
    cuts: dict[str, list[CutText]] = field(default_factory=dict)
    # Whether anything was parsed before this build.
    remembers: bool = False
    parsed: int = 0

    def reading(self) -> CatalogScan:
        self.before, self.values = self.cache.files.load(), self.cache.files.parsed_digests()
        self.remembers = bool(self.values)
        self.cuts = {
            digest: [CutText(*one) for one in cuts] for digest, cuts in (self.cache.recall(_CUTS) or {}).items()
        }
        lists, everywhere = self.lists()
        self.look(file for place in everywhere for file in place.files)
        checked = RecordChecks(lists)
        complaints = [
            *lists.problems,
            *checked.lists(),
            *cross_checks.slug_problems((one.slug, one.file) for one in everywhere),
        ]
        times = lists.mtimes | {file: snapshot.modified(stat) for file, stat in self.stats.items()}
        times |= self.committed
        # What is wrong with the lists leaves open what a series means by them.
        linker = None if complaints else Linker(lists, times, self.as_of)
        result = CatalogScan(self.folder, self.as_of, linker, everywhere, times, {}, {}, self.digests)
        complaints += self.series(result, ReferenceDigests(linker) if linker else None, checked, lists)
        complaints += cross_checks.bookmark_problems(lists, {one.slug for one in everywhere})
        complaints += self.repeated_ids(result)
        self.cuts |= lists.cuts
        cuts = {digest: self.cuts[digest] for digest in self.digests.values() if digest in self.cuts}
        self.cache.remember(_CUTS, {digest: list(map(list, found)) for digest, found in cuts.items()})
        if complaints:
            self.cache.commit()  # whatever is right need not be parsed again
            raise CatalogError(places.locate(self.folder, complaints))
        self.cache.files.store((file, self.stats[file], digest) for file, digest in sorted(self.digests.items()))
        result.parsed = self.parsed
        result.located = [
            Problem(str(self.folder / file), *cut)
            for file, digest in sorted(self.digests.items())
            for cut in cuts.get(digest, ())
        ]
        return result

    def lists(self) -> tuple[Sources, list[SeriesFiles]]:
        """What all series share; of what it says nothing has to be parsed that was parsed before."""
        known = {}
        shared_by_all = (SITE, VIEWS, *LISTS)
        self.look(shared_by_all)
        for file in shared_by_all:
            if self.digests.get(file) in self.values:
                known[file] = _remembered(
                    self.digests[file], self.cache.files.parsed(self.digests[file]), self.stats[file]
                )
        found, everywhere = reader.read_lists(self.folder, known)
        for file in () if found.problems else found.parsed.keys() - known.keys():
            self.keep(file, found.parsed[file])
        if found.site and self.base_url:
            found.site = found.site.model_copy(update={"base_url": self.base_url})
        return found, everywhere

    def look(self, files: Iterable[str]) -> None:
        """Take the digest of each file; one that looks from outside as it did is not read for it."""
        for file, status in snapshot.statuses(self.folder, files):
            before, digest = self.before.get(file, ("", ""))
            if not status:
                continue  # reading it says why
            self.stats[file] = status
            if status == before:
                self.digests[file] = digest
            elif self.remembers:  # or else its content is parsed, whatever it is
                with suppress(OSError):
                    self.digests[file] = encoding.digest(self.folder.content(file)[0])

    def keep(self, file: str, parsed: ParsedFile) -> None:
        """What was parsed, by its content, which may have changed since it was looked at."""
        self.digests[file] = parsed.digest
        if parsed.digest not in self.values:
            self.cache.files.keep_parsed(parsed.digest, encoding.json(parsed.value))
            self.values.add(parsed.digest)

    def series(
        self, result: CatalogScan, meanings: ReferenceDigests | None, checked: RecordChecks, lists: Sources
    ) -> Iterator[UnlocatedProblem]:
        """Look at every series that is not known to be right."""
        known = self.cache.series.load()
        doubtful = []
        for place in result.places:
            found, right = self.remembered(place, known.get(place.slug), meanings)
            if found:
                result.facts[place.slug], result.checked[place.slug] = found, right
            else:
                doubtful.append(place)
        tasks = (CheckTask(place, self.known_values(place)) for place in doubtful)
        for one in ordered_map(self.jobs, partial(_Checker, self.folder, checked), tasks):
            yield from one.part.problems
            lists.unreadable |= one.part.unreadable
            self.cuts |= one.part.cuts
            for file, (digest, value) in one.values.items():
                self.parsed += 1
                self.digests[file] = digest
                self.cache.files.keep_parsed(digest, value)
            if one.facts:
                result.facts[one.place.slug] = one.facts
            if one.facts and meanings and not one.part.problems:
                key = str(self.key(one.place, meanings, one.facts))
                result.checked[one.place.slug] = key
                self.cache.series.keep_facts(one.place.slug, key, facts.dump(one.facts))

    def remembered(
        self, place: SeriesFiles, known: CachedSeries | None, meanings: ReferenceDigests | None
    ) -> tuple[SeriesFacts | None, str]:
        if not (meanings and known and known.facts and known.check_key):
            return None, ""
        found = facts.load(known.facts)
        return (found, known.check_key) if known.check_key == self.key(place, meanings, found) else (None, "")

    def key(self, place: SeriesFiles, meanings: ReferenceDigests, found: SeriesFacts) -> str | None:
        contents = [self.digests.get(file) for file in place.files]
        meant = meanings.of(found.names)
        if None in contents or meant is None:
            return None
        return encoding.digest(encoding.json([ascii(place.files), contents, meant]))

    def known_values(self, place: SeriesFiles) -> dict[str, bytes]:
        """What was parsed before of the contents that the files of a series have."""
        digests = {file: self.digests[file] for file in place.files if self.digests.get(file) in self.values}
        return {file: self.cache.files.parsed(digest) for file, digest in digests.items()}

    def repeated_ids(self, result: CatalogScan) -> Iterator[UnlocatedProblem]:
        """Read those series once more in which an id stands that stands twice."""
        # Counting them would take six times as much memory.
        ids = sorted(one for found in result.facts.values() for one in found.ids)
        repeated = {one for one, after in pairwise(ids) if one == after}
        part = Sources()
        for place in result.places if repeated else ():
            if place.slug in result.facts and repeated.intersection(result.facts[place.slug].ids):
                part.add(reader.read_series(self.folder, place))
        yield from cross_checks.chapter_id_problems(part)


class _Checker:
    """Reads series and looks for what is wrong in each of them."""

    def __init__(self, folder: ConfinedFolder, checked: RecordChecks) -> None:
        self.folder, self.checks = folder, checked

    def __call__(self, task: CheckTask) -> CheckedSeries:
        part = reader.read_series(self.folder, task.place, parsed_values(task.known))
        found, values = None, {}
        for one in part.series:
            part.problems += self.checks.series(one)
            found = facts.facts_of(one)
            records = {entry.file: entry.record for entry in (one.entry, *one.chapters) if not entry.path}
            if not part.problems:
                new = ((file, part.parsed[file].digest) for file in task.place.files if file in part.parsed)
                values = {file: (digest, encoding.json(records[file].to_values())) for file, digest in new}
        part.series.clear()
        part.parsed.clear()
        return CheckedSeries(task.place, part, found, values)


def parsed_values(values: Mapping[str, bytes]) -> dict[str, Any]:
    return {file: encoding.parse(value) for file, value in values.items()}


def _remembered(digest: str, value: bytes, stat: str) -> ParsedFile:
    return ParsedFile(encoding.parse(value), snapshot.modified(stat), digest)
