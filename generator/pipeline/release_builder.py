"""From the facts of a catalog to a release: renders what is not as it was, and lists of everything."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import chain

from .. import encoding
from ..api import routes
from ..api.resources import JSON, SERIES_INDEX_URL
from ..catalog import page_ids
from ..catalog.entities import Catalog, SeriesSummary
from ..catalog.layout import SeriesFiles
from ..catalog.linking import Linker
from ..catalog.site_settings import Site
from ..nginx import config
from ..release import journal
from ..release.bodies import WriteTotals, rewrite_damaged
from ..release.manifest import ID_PLACEHOLDER, SEPARATOR, Published, files
from ..release.manifest_reader import ManifestReader, refuse_damaged
from ..release.transaction import FilesByRelease, NextRelease, Transaction
from . import long_lists, publish, removals, series_renderer
from .cache import Cache, CachedSeries
from .long_lists import LongListBuilder
from .process_pool import ordered_map
from .publish import Publisher, Segment, SegmentChange
from .removals import Removals
from .scan import CatalogScan
from .segments import PreparedRelease, Segments, seal
from .series_facts import SeriesFacts
from .series_renderer import Before, Part, RenderedSeries, RenderTask

Lookup = Callable[[str, SeriesFacts], Before]
# Gets series one after the other as they are rendered, and how many there are in all; hands them on.
Progress = Callable[[Iterator[RenderedSeries], int], Iterator[RenderedSeries]]


def unwatched(rendered: Iterator[RenderedSeries], count: int) -> Iterator[RenderedSeries]:
    """Progress that is shown to no one."""
    return rendered


@dataclass(slots=True)
class ReleaseBuilder:
    """One build."""

    found: CatalogScan
    cache: Cache
    session: Transaction
    runs: Segments
    # How the configuration calls the folder that is built.
    dist: str
    jobs: int
    # The release whose validators are continued, if it is not the one that is served.
    previous: ManifestReader | None = None
    counts: Counter[str] = field(default_factory=lambda: Counter(added=0, changed=0, removed=0, unchanged=0))
    late: list[Published] = field(default_factory=list)
    # Files that the release that is served has, and this one has not; those that another series has now; and those
    # of the release before that are taken up again.
    gone: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)
    returned: set[str] = field(default_factory=set)
    written: int = 0
    # Series with a body that was added, changed or removed.
    changed_series: set[str] = field(default_factory=set)
    # Series and chapters that are no longer published, and how many percent of all they may be.
    removals: Removals = field(default_factory=Removals)
    max_removed: int | None = None
    # Chapters that v2 cannot name.
    unknown: int = 0
    # Whether what the cache says of bodies is about the release that is served.
    current: bool = False
    left: FilesByRelease = field(default_factory=dict)

    def seal(self, progress: Progress) -> PreparedRelease:
        """Render whatever has to be, and give the release its name."""
        release, before = self.cache.recall("release"), self.session.current
        self.current = bool(release) and release == before and not (self.previous or self.session.needs_sweep)
        if self.current:
            self.runs.remembered(self.session.root / "releases" / release, self.cache.recall("runs"))
        else:
            refuse_damaged(self.session.root)
        odd = self.odd_ids()
        keys = self.keys(odd)
        if not self.previous:  # or else it was compared with before
            places = (place for place in self.found.places if place.slug in keys)
            self.removals = removals.allowed(
                self.found, self.cache, self.session.current_manifest, places, self.max_removed
            )
        self.left = self.session.retained_files(self.cache.recall("gone") if self.current else None)
        self.series(keys, odd, progress)
        cards, parts = self.cards()
        self.unknown = sum(one.unidentified for one in cards)
        small = self.lists(self.linker.catalog(cards), parts)
        return seal(self.runs, small, self.highest_id(), odd, self.session.write_ahead())

    def commit(self, sealed: PreparedRelease) -> None:
        """Make the release the one that is served, and remember it."""
        before, same = self.session.current, sealed.release == self.session.current
        left = {release: sorted(set(paths) - self.returned) for release, paths in self.left.items()}
        if not self.current and sealed.release in (before, *self.session.older):
            rewrite_damaged(self.session.root / "releases" / sealed.release, sealed.files)
        entry = journal.build_entry(self.session.journal, sealed.release, self.found.as_of)
        keep = self.linker.site.keep_releases
        self.session.commit(NextRelease(sealed.release, sealed.files, entry, self.late, left, keep))
        if not (same and self.current):
            if before and not same:
                left[before] = sorted(self.gone)
            self.cache.remember("release", sealed.release)
            self.cache.remember("runs", self.runs.dump(sealed.head))
            self.cache.remember("gone", {release: left[release] for release in self.session.store.older()})
        self.cache.commit()

    @property
    def linker(self) -> Linker:
        return self.found.linker

    @property
    def taboo(self) -> frozenset[str]:
        """What nobody may overwrite."""
        return frozenset(chain.from_iterable(self.left.values()))

    @property
    def older(self) -> ManifestReader:
        """The release whose validators are continued."""
        return self.previous or self.session.current_manifest

    def odd_ids(self) -> dict[str, int]:
        chapters = (one for found in self.found.facts.values() for one in self.odd_chapters(found))
        known = {name: number for one in self.ledgers for name, number in one.page_ids.items()}
        return page_ids.allocate_page_ids(chapters, known)

    def highest_id(self) -> int:
        """Of all ids that were ever published; a release that was taken back had been."""
        ids = (one for found in self.found.facts.values() for one in found.ids)
        return max(chain(ids, (one.highest_id for one in self.ledgers)), default=0)

    @property
    def ledgers(self) -> list[ManifestReader]:
        """All releases that are known, the one that is continued last."""
        return [*reversed(self.session.older_manifests), self.session.current_manifest, self.older]

    # Series

    def before(self, ledger: ManifestReader) -> Lookup:
        """What a release says of a series, which may have chapters that were another series' then."""
        if self.current:
            owners = {chapter: slug for slug, kept in self.runs.kept.items() for chapter in kept.counted.chapters}
        else:
            owners = ledger.chapter_owners()

        def of(slug: str, facts: SeriesFacts) -> Before:
            others = {owners[one] for one in facts.ids if one in owners} - {slug}
            return Before(ledger.segment(slug), SEPARATOR.join(map(ledger.segment, sorted(others))))

        return of

    def keys(self, odd: Mapping[str, int]) -> dict[str, str]:
        """The series to render, each with its key."""
        known = self.cache.series.load()
        site = encoding.digest(self.linker.site.model_dump_json().encode())
        keys = {place.slug: self.key(place, site, odd) for place in self.found.places}
        return {slug: key for slug, key in keys.items() if not self.is_there(slug) or known[slug].render_key != key}

    def series(self, keys: Mapping[str, str], odd: Mapping[str, int], progress: Progress) -> None:
        tasks = [place for place in self.found.places if place.slug in keys]
        root = self.session.root
        make = partial(series_renderer.make, self.linker, root, self.taboo, self.current)
        older = self.before(self.older)
        served = self.before(self.session.current_manifest) if self.previous else None
        rendered = ordered_map(self.jobs, make, (self.task(place, odd, older, served) for place in tasks))
        for one in progress(rendered, len(tasks)):
            self.take(one.slug, one.run, one.change, one.output)
            self.cache.series.keep_summary(one.slug, keys[one.slug], one.card)
            self.cache.chapters.keep(one.slug, one.rows)
        self.unchanged(set(keys))
        self.removed({place.slug for place in self.found.places}, self.cache.series.load())
        self.gone -= self.kept

    def is_there(self, slug: str) -> bool:
        """Whether the release that is served has a series."""
        return self.current and slug in self.runs.kept and self.runs.is_there(slug, self.session.root)

    def key(self, place: SeriesFiles, site: str, odd: Mapping[str, int]) -> str:
        """Changes whenever anything does that the bodies of a series depend on."""
        facts = self.found.facts[place.slug]
        return encoding.digest(
            encoding.json(
                [
                    site,
                    self.found.checked[place.slug],
                    [] if facts.dated else [self.found.times[file] for file in place.files],
                    bisect_right(facts.published, self.linker.as_of),
                    self.views(facts),
                    self.odd_of(facts, odd),
                ]
            )
        )

    def views(self, facts: SeriesFacts) -> dict[str, int]:
        counted = self.linker.lists.views
        return {str(one): counted[str(one)] for one in facts.ids if str(one) in counted} if counted else {}

    def odd_of(self, facts: SeriesFacts, odd: Mapping[str, int]) -> dict[str, int]:
        return {name: odd[name] for one in self.odd_chapters(facts) for name in page_ids.allocated_page_names(*one)}

    def odd_chapters(self, facts: SeriesFacts) -> Iterator[tuple[int, int]]:
        """Of what is not published yet nothing may show."""
        return ((one, pages) for one, pages, published in facts.odd if published <= self.linker.as_of)

    def task(self, place: SeriesFiles, odd: Mapping[str, int], older: Lookup, served: Lookup | None) -> RenderTask:
        facts = self.found.facts[place.slug]
        return RenderTask(
            place=place,
            values=self.found.values_of(place, self.cache),
            times={file: self.found.times[file] for file in place.files},
            odd=self.odd_of(facts, odd),
            older=older(place.slug, facts),
            served=served(place.slug, facts) if served else None,
        )

    def take(self, slug: str, run: Segment, change: SegmentChange, output: WriteTotals) -> None:
        self.runs.put(slug, run)
        self.counts.update(change.counts)
        if slug and set(+change.counts) - {"unchanged"}:
            self.changed_series.add(slug)
        # What moved was counted as removed where it had been.
        self.counts["removed"] -= change.taken
        self.gone.update(change.gone)
        self.kept.update(change.kept)
        self.wrote(output)

    def wrote(self, output: WriteTotals) -> None:
        self.late += output.redate_after_commit
        self.returned |= output.reused_files
        self.written += output.written_bytes

    def unchanged(self, rendered: Set[str]) -> None:
        """Count what did not have to be looked at."""
        slugs = {place.slug for place in self.found.places}
        found = (kept for slug, kept in self.runs.kept.items() if slug in slugs and slug not in rendered)
        self.counts["unchanged"] += sum(kept.counted.resources for kept in found)

    def removed(self, present: Set[str], known: Mapping[str, CachedSeries]) -> None:
        for slug in self.session.current_manifest.segments.keys() - present - {""}:
            found = self.session.current_manifest.bodies(slug)
            self.changed_series.add(slug)
            self.counts["removed"] += len(found)
            self.gone.update(file for one in found.values() for file in files(one))
        for slug in self.runs.kept.keys() - present - {""}:
            del self.runs.kept[slug]
        for slug in known.keys() - present:
            self.cache.series.forget(slug)
            self.cache.chapters.keep(slug, ())

    def press(self) -> Publisher:
        return Publisher(self.session.body_writer(self.taboo), self.linker.site, self.linker.as_of, self.current)

    def cards(self) -> tuple[list[SeriesSummary], dict[str, Part]]:
        cards: list[SeriesSummary] = []
        parts: dict[str, Part] = {}
        for known in self.cache.series.load().values():
            assert known.summary, "every series has been rendered"
            card, found = series_renderer.load(known.summary, self.linker)
            cards.append(card)
            parts |= found
        return cards, parts

    def lists(self, catalog: Catalog, parts: Mapping[str, Part]) -> dict[str, bytes]:
        """Everything that is about the catalog as a whole; answers with the files of the release that name it."""
        older = self.older.bodies("")
        served = self.session.current_manifest.bodies("") if self.previous else older
        printing, beside = self.press(), self.press()
        with ThreadPoolExecutor(1) as thread:
            assembling = LongListBuilder(
                printing, beside, thread, self.cache, parts, catalog.site_modified, self.current
            )
            found = [
                (assembling if long_lists.is_long(one) else printing).publish(one, older, served)
                for one in routes.resources(catalog)
            ]
            published = [one.result() if isinstance(one, Future) else one for one in found]
        self.cache.chapters.forget_unused()
        self.take("", printing.run(published), publish.change(served, published), printing.bodies.take_totals())
        self.wrote(beside.bodies.take_totals())
        counted = [kept.counted for kept in self.runs.kept.values()]
        answers = config.ConfigData(
            index=next(one for one in published if one.url == SERIES_INDEX_URL),
            pages=[one for one in published if one.type != JSON],
            keys=catalog.keys,
            days=sorted({day for one in counted for day in one.days}),
            most_lines=max(map(sum, zip(*(one.lines for one in counted), strict=True))),
            longest_line=max(one.longest for one in counted),
        )
        return self.small_files(answers, catalog.site)

    def small_files(self, answers: config.ConfigData, site: Site) -> dict[str, bytes]:
        """They rarely change, and rendering them takes longer than a small edit should."""
        asked = encoding.digest(repr((answers, site, self.dist)).encode())
        known = self.cache.recall("configuration")
        if not known or known["asked"] != asked:
            folder = f"{self.dist}/releases/{ID_PLACEHOLDER}"
            found = config.release_files(answers, site, dist=self.dist, folder=folder)
            known = {"asked": asked, "files": {one.path: one.text.decode() for one in found}}
            self.cache.remember("configuration", known)
        return {path: text.encode() for path, text in known["files"].items()}
