"""Read and check the catalog: the records that all series share, and the facts of each series; or every problem.

A series is skipped if its files and the entries that it references are unchanged. A changed series is checked from
the cached values of those of its files that are unchanged; in worker processes, or in the first one for up to eight
series.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice, pairwise
from typing import Any, NamedTuple, TypeAlias

from .. import encoding
from ..catalog import confined_folder, cross_checks, reader, unfinished_import
from ..catalog.confined_folder import ConfinedFolder, Folder
from ..catalog.cross_checks import NameIndex, RecordChecks
from ..catalog.cut_texts import CutText
from ..catalog.layout import SeriesFiles
from ..catalog.linking import Linker, needs_allocated_ids
from ..catalog.problems import locate
from ..catalog.reader import SHARED, SeriesEntry, Sources
from ..errors import MAX_LISTED, CatalogError, Problem, UnlocatedProblem, listed
from . import parsed_files, theme_check
from .cache import CUTS, FACTS, Cache
from .parsed_files import ParsedFiles
from .process_pool import ordered_map
from .theme_check import Sample

# The cached facts of a series: enough to decide without parsing it whether it is unchanged and fits the others


class SeriesFacts(NamedTuple):
    """Facts of a series and all its chapters, also scheduled ones. Arrays save memory: all series are in memory."""

    ids: "array[int]"
    # Publication time and number of pages of each chapter, in the order of these times.
    published: "array[int]"
    pages: "array[int]"
    # Publication time of each chapter without an id, in order.
    without_id: "array[int]"
    # The references to people, categories and groups as they are written, by kind.
    names: dict[str, list[str | int]]
    # Whether every record has a `modified` field, so that the times of files do not matter.
    dated: bool
    # Id, number of pages and publication time of each chapter whose page ids are allocated.
    allocated: list[tuple[int, int, int]]
    # The slugs that the series had before.
    formerly: list[str]


def facts_of(series: SeriesEntry) -> SeriesFacts:
    record, chapters = series.entry.record, [entry.record for entry in series.chapters]
    with_id = [(chapter.id, len(chapter.pages), chapter.published) for chapter in chapters if chapter.id is not None]
    by_time = sorted((chapter.published, len(chapter.pages)) for chapter in chapters)
    return SeriesFacts(
        ids=array("q", (number for number, _, _ in with_id)),
        published=array("q", (published for published, _ in by_time)),
        pages=array("q", (pages for _, pages in by_time)),
        without_id=array("q", sorted(chapter.published for chapter in chapters if chapter.id is None)),
        names={
            "authors": list(dict.fromkeys(record.authors)),
            "artists": list(dict.fromkeys(record.artists)),
            "categories": list(dict.fromkeys(record.categories)),
            "groups": list(dict.fromkeys(group for chapter in chapters for group in chapter.groups)),
        },
        dated=all(item.modified is not None for item in (record, *chapters)),
        allocated=[chapter for chapter in with_id if needs_allocated_ids(*chapter[:2])],
        formerly=record.formerly,
    )


def load_facts(text: bytes) -> SeriesFacts:
    *numbers, names, dated, allocated, formerly = encoding.parse(text)
    return SeriesFacts._make([*(array("q", values) for values in numbers), names, dated, allocated, formerly])


# A digest of the entry behind each reference, by kind; it changes when any field of the entry does.
References: TypeAlias = Mapping[str, Mapping[Any, str]]


def reference_digests(linker: Linker) -> References:
    return {
        "authors": _digests(linker.authors),
        "artists": _digests(linker.artists),
        "groups": _digests(linker.groups),
        "categories": {name: encoding.digest(repr(entry).encode()) for name, entry in linker.categories.items()},
    }


def _digests(index: NameIndex[Any]) -> dict[Any, str]:
    digests = {entry: encoding.digest(repr(entry).encode()) for entry in index.by_id.values()}
    by_name = {name: digests[entries[0]] for name, entries in index.by_name.items() if len(entries) == 1}
    return {**by_name, **{number: digests[entry] for number, entry in index.by_id.items()}}


# The series whose pages show mistakes of a theme.
_LONGEST, _OTHERS = 2, 18


@dataclass(slots=True)
class CatalogScan:
    """A catalog without problems."""

    folder: ConfinedFolder
    as_of: int
    linker: Linker
    series_files: list[SeriesFiles]
    # The time at which each file changed, from git or from the file system.
    times: Mapping[str, int]
    facts: dict[str, SeriesFacts]
    # A digest of the files of each series and of the entries that it references.
    check_keys: dict[str, str]
    # The digest of each file's content.
    digests: dict[str, str]
    # The number of parsed files of series.
    parsed: int = 0
    warnings: list[str] = field(default_factory=list)
    # Warnings with a place in a file.
    located: list[Problem] = field(default_factory=list)

    @property
    def next_publication(self) -> int | None:
        """The time at which the next scheduled chapter is due."""
        return min((times[count] for times, count in self._published(self.as_of) if count < len(times)), default=None)

    @property
    def shown_until(self) -> int:
        """Chapters that are published later are not in the release."""
        return self.linker.shown_until

    @property
    def last_publication(self) -> int:
        """The time at which the latest chapter was due; before that, the release was another."""
        return max((times[count - 1] for times, count in self._published(self.as_of) if count), default=0)

    @property
    def published(self) -> int:
        """The number of published chapters; in a preview, with scheduled ones."""
        return sum(count for _, count in self._published(self.shown_until))

    @property
    def pages(self) -> int:
        """The number of pages of the published chapters."""
        chapters = (pair for facts in self.facts.values() for pair in zip(facts.published, facts.pages, strict=True))
        return sum(pages for published, pages in chapters if published <= self.shown_until)

    def id_warnings(self) -> Iterator[str]:
        """A warning if published chapters have no id: API version 2 cannot have them."""
        count = sum(bisect_right(facts.without_id, self.shown_until) for facts in self.facts.values())
        if count:
            chapters = "1 chapter has no id and is" if count == 1 else f"{count} chapters have no id and are"
            yield f"{self.folder}: {chapters} missing from /api/v2; `python build.py ids` changes that"

    def _published(self, until: int) -> Iterator[tuple["array[int]", int]]:
        """The publication times of each series in ascending order, and how many of them are not after `until`."""
        return ((facts.published, bisect_right(facts.published, until)) for facts in self.facts.values())

    def values_of(self, files: SeriesFiles, cache: Cache) -> dict[str, bytes]:
        """The value of each file of a series, as JSON."""
        return {file: parsed_files.value_of(self.digests[file], cache) for file in files.files}

    def series_of(self, files: SeriesFiles, cache: Cache) -> SeriesEntry:
        """The records of a series."""
        return reader.series_from_values(files, parsed_files.from_json(self.values_of(files, cache)))


def read(
    folder: Folder,
    as_of: int,
    jobs: int,
    cache: Cache,
    times: Mapping[str, int],
    base_url: str | None = None,
    preview: bool = False,
) -> CatalogScan:
    """Read and check the catalog. Raises every problem, or that an import is unfinished.

    `times` has the commit times of files; `base_url` replaces that of site.yaml.
    """
    unfinished_import.refuse(folder)
    catalog_scan = _Scanner(confined_folder.of(folder), as_of, jobs, cache, base_url, preview).scan(times)
    theme_check.fill_in_sample(catalog_scan.linker, partial(_sample, catalog_scan, cache), cache)
    return catalog_scan


def _sample(scan: CatalogScan, cache: Cache) -> Sample:
    """The series with the most chapters, and others from the whole catalog."""
    by_length = sorted(scan.series_files, key=lambda files: -len(scan.facts[files.slug].published))
    longest, others = by_length[:_LONGEST], by_length[_LONGEST:]
    chosen = longest + others[:: len(others) // _OTHERS + 1]
    return [(files, scan.values_of(files, cache)) for files in chosen]


class CheckTask(NamedTuple):
    """A series to check, and the values of those of its files that an earlier build parsed, as JSON."""

    files: SeriesFiles
    values: dict[str, bytes]


class CheckedSeries(NamedTuple):
    """The result for one series. The records are not part of it: passing them between processes is slow."""

    files: SeriesFiles
    # The problems, the unreadable files and the cut texts.
    sources: Sources
    # None if the file of the series could not be read.
    facts: SeriesFacts | None
    # Digest and value, as JSON, of each file that was parsed without problems.
    parsed: dict[str, tuple[str, bytes]]


class _Scanner:
    def __init__(
        self, folder: ConfinedFolder, as_of: int, jobs: int, cache: Cache, base_url: str | None, preview: bool
    ) -> None:
        self.folder, self.as_of, self.jobs, self.cache = folder, as_of, jobs, cache
        self.base_url, self.preview = base_url, preview
        self.files = ParsedFiles(folder, cache)
        self.facts: dict[str, SeriesFacts] = {}
        self.check_keys: dict[str, str] = {}
        self.parsed = 0
        # By digest of the file, so that a file that is not parsed again gets its warnings too.
        self.cuts = {digest: [CutText(*cut) for cut in cuts] for digest, cuts in (cache.recall(CUTS) or {}).items()}

    def scan(self, committed: Mapping[str, int]) -> CatalogScan:
        lists, series_files = self._read_lists()
        self.files.look_at(file for files in series_files for file in files.files)
        checks = RecordChecks(lists)
        slugs = ((files.slug, files.file) for files in series_files)
        problems = [*lists.problems, *checks.lists(), *cross_checks.slug_problems(slugs)]
        times = {**lists.mtimes, **self.files.modified_times(), **committed}
        lists.theme, theme_problems = theme_check.read(self.folder, lists.site, self.cache)
        # With a problem in the lists, the references of series cannot be resolved.
        linker = None if problems else Linker(lists, times, self.as_of, preview=self.preview)
        problems += listed(self._check_series(series_files, checks, linker, lists.unreadable))
        problems += _old_slug_problems(series_files, self.facts)
        problems += cross_checks.bookmark_problems(lists, {files.slug for files in series_files})
        problems += self._repeated_ids(series_files)
        self.cuts |= lists.cuts
        cuts = self._keep_cuts()
        if problems or theme_problems or not linker:
            self.cache.commit()  # keeps the values of files without problems
            raise CatalogError([*locate.locate(self.folder, problems), *theme_problems])
        self.files.save()
        return CatalogScan(
            self.folder,
            self.as_of,
            linker,
            series_files,
            times,
            self.facts,
            self.check_keys,
            self.files.digests,
            self.parsed,
            located=[*locate.locate(self.folder, lists.warnings), *cuts, *theme_check.warnings(lists.theme)],
        )

    def _read_lists(self) -> tuple[Sources, list[SeriesFiles]]:
        """Read the records that all series share, and list the files of each series."""
        self.files.look_at(SHARED)
        cached = self.files.parsed(SHARED)
        lists, series_files = reader.read_lists(self.folder, cached)
        for file in () if lists.problems else lists.parsed.keys() - cached.keys():
            self.files.keep(file, lists.parsed[file].digest, encoding.json_of_yaml(lists.parsed[file].value))
        if lists.site and self.base_url:
            lists.site = lists.site.model_copy(update={"base_url": self.base_url})
        if lists.site and self.preview:
            lists.site = lists.site.for_preview()
        return lists, series_files

    def _check_series(
        self, series_files: Sequence[SeriesFiles], checks: RecordChecks, linker: Linker | None, unreadable: set[str]
    ) -> Iterator[UnlocatedProblem]:
        """Take the facts of unchanged series from the cache, and check all others."""
        references = reference_digests(linker) if linker else None
        changed = list(self._changed_series(series_files, references))
        tasks = (CheckTask(files, self.files.values(files.files)) for files in changed)
        for checked in ordered_map(self.jobs, partial(partial, check_series, self.folder, checks), tasks):
            yield from checked.sources.problems
            unreadable |= checked.sources.unreadable
            self.cuts |= checked.sources.cuts
            self.parsed += len(checked.parsed)
            for file, (digest, value) in checked.parsed.items():
                self.files.keep(file, digest, value)
            if checked.facts:
                slug = checked.files.slug
                self.facts[slug] = checked.facts
                if references and not checked.sources.problems:
                    self.check_keys[slug] = self._check_key(checked.files, references, checked.facts)
                    self.cache.put(FACTS, slug, self.check_keys[slug], encoding.json_of_tuples(checked.facts))

    def _changed_series(
        self, series_files: Sequence[SeriesFiles], references: References | None
    ) -> Iterator[SeriesFiles]:
        cached_facts = {row.item: row for row in self.cache.rows(FACTS)}
        for files in series_files:
            cached = cached_facts.get(files.slug)
            if references and cached:
                facts = load_facts(cached.value)
                if cached.key == self._check_key(files, references, facts):
                    self.facts[files.slug], self.check_keys[files.slug] = facts, cached.key
                    continue
            yield files

    def _check_key(self, files: SeriesFiles, references: References, facts: SeriesFacts) -> str:
        """A digest of everything that the check of a series depends on. The cache has none with a missing file or
        entry, or with a name of several entries: such a series does not pass the check."""
        contents = [self.files.digests.get(file) for file in files.files]
        entries = [references[kind].get(name) for kind, names in facts.names.items() for name in names]
        return encoding.digest(encoding.json([ascii(files.files), contents, entries]))

    def _repeated_ids(self, series_files: Sequence[SeriesFiles]) -> Iterator[UnlocatedProblem]:
        """Find chapter ids that are used twice, and read the series with these ids again to locate them."""
        # A Counter would take six times as much memory.
        ids = sorted(chain.from_iterable(facts.ids for facts in self.facts.values()))
        repeated = {number for number, following in pairwise(ids) if number == following}
        sources = Sources()
        for files in series_files if repeated else ():
            if files.slug in self.facts and repeated.intersection(self.facts[files.slug].ids):
                sources.add(reader.read_series(self.folder, files))
        yield from cross_checks.chapter_id_problems(sources)

    def _keep_cuts(self) -> list[Problem]:
        """Store the cut texts of the files that exist, and return a warning for each."""
        digests = self.files.digests
        cuts = {digest: self.cuts[digest] for digest in digests.values() if digest in self.cuts}
        self.cache.remember(CUTS, {digest: list(map(list, file_cuts)) for digest, file_cuts in cuts.items()})
        return [
            Problem(str(self.folder / file), *cut)
            for file, digest in sorted(digests.items())
            for cut in cuts.get(digest, ())
        ]


def _old_slug_problems(
    series_files: Sequence[SeriesFiles], facts: Mapping[str, SeriesFacts]
) -> Iterator[UnlocatedProblem]:
    slugs = ((files.slug, files.file) for files in series_files)
    formerly = {files.file: facts[files.slug].formerly for files in series_files if files.slug in facts}
    return cross_checks.old_slug_problems(slugs, formerly)


def check_series(folder: ConfinedFolder, checks: RecordChecks, task: CheckTask) -> CheckedSeries:
    """Parse and check a series; in worker processes."""
    sources = reader.read_series(folder, task.files, parsed_files.from_json(task.values))
    facts, parsed = None, {}
    for series in sources.series:
        sources.problems += islice(checks.series(series), MAX_LISTED)
        facts = facts_of(series)
        records = {entry.file: entry.record for entry in (series.entry, *series.chapters) if not entry.path}
        if not sources.problems:
            parsed = {
                file: (sources.parsed[file].digest, encoding.json(records[file].to_values()))
                for file in task.files.files
                if file in sources.parsed
            }
    sources.series.clear()
    sources.parsed.clear()
    return CheckedSeries(task.files, sources, facts, parsed)
