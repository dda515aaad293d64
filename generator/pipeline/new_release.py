"""Scan the catalog, make a release of it, and keep the result: all steps of a build, in the order in which they run.

`NewRelease.build` is the whole build. `build_release` makes the release of a scan: a `ReleaseBuilder` prepares it from
the series that `RenderKeys` finds stale, and commits it. `ReleaseTotals` collects counts and files on the way.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from .. import encoding, filesystem, server_url
from ..catalog import git, layout, linking
from ..catalog.layout import SeriesFiles
from ..nginx.config import MediaConf
from ..release import journal, manifest, transaction
from ..release.bodies import WriteTotals, rewrite_damaged
from ..release.changes import ADDED, CHANGED, REMOVED, differences
from ..release.manifest import SEPARATOR, Published
from ..release.manifest_reader import ManifestReader, refuse_damaged
from ..release.rules import Rules
from ..release.store import Store
from ..release.transaction import FilesByRelease, NextRelease, Transaction
from . import build_result, scan, segments, series_renderer, up_to_date
from .build_options import Options
from .build_result import BuildResult
from .cache import FACTS, RELEASE, SUMMARIES, Cache
from .catalog_lists import CatalogLists
from .main_conf import cached_main_conf, dist_in_conf, media_in_conf, refuse_foreign
from .open_cache import Waiting
from .process_pool import ordered_map
from .publish import ResourcePublisher
from .removals import Removals, checked_removals
from .scan import CatalogScan, SeriesFacts, SiteChanges
from .segments import PreparedRelease, Segments
from .series_renderer import RenderedSeries, RenderTask

# Passes on the rendered series, whose number is the second parameter, and may show progress.
Progress = Callable[[Iterator[RenderedSeries], int], Iterator[RenderedSeries]]

# Called with the catalog and the release that was built, for example to collect the data of a report.
Inspect = Callable[[CatalogScan, Cache, Transaction], None]


def no_progress(rendered: Iterator[RenderedSeries], count: int) -> Iterator[RenderedSeries]:
    return rendered


@dataclass(frozen=True, slots=True)
class NewRelease:
    """One build with an open cache, and the commit times of the files."""

    options: Options
    store: Store
    past: git.FileTimes
    # The fingerprint of the catalog before anything of it was read.
    inputs: Mapping[str, Any]
    cache: Cache
    waiting: Waiting
    progress: Progress | None
    inspect: Inspect | None

    def build(self) -> BuildResult:
        """Bring `out` and the main configuration file up to date:

        1. Read and check the catalog.
        2. Refuse what can be refused, before a file is changed, and before `out` is created.
        3. Lock `out`, render the stale series and the lists, and make the release the current one.
        4. Write the main configuration file, while `out` is locked.
        5. Keep the result for the next build.
        """
        options = self.options
        catalog_scan = self._scan()
        conf = cached_main_conf(options, catalog_scan.linker.site, self.cache)
        if not self._serves_elsewhere(catalog_scan):
            refuse_foreign(options.nginx, options.out)
        removed = self._removed_since_previous(catalog_scan)
        with (
            ManifestReader(options.previous) as previous,
            transaction.begin(self.store, self.waiting) as opened,
        ):
            progress = self.progress or no_progress
            builder, prepared = build_release(options, catalog_scan, self.cache, opened, previous, progress)
            result = self._result(builder, prepared, conf)
            result.removed = removed or builder.totals.removals
            if self.inspect:
                self.inspect(catalog_scan, self.cache, opened)
        if not options.previous:
            up_to_date.keep_result(options, self.inputs, catalog_scan, build_result.dump(result), self.cache)
        return result

    def inspect_unchanged(self, inspect: Inspect) -> None:
        """Call `inspect` with the release of the last build, to which nothing changed."""
        catalog_scan = self._scan()
        with transaction.begin(self.store, self.waiting) as opened:
            inspect(catalog_scan, self.cache, opened)

    def _scan(self) -> CatalogScan:
        options = self.options
        changes = SiteChanges(options.base_url, options.preview)
        return scan.read(options.catalog, options.as_of, options.jobs, self.cache, self.past.times, changes)

    def _removed_since_previous(self, catalog_scan: CatalogScan) -> Removals | None:
        """The removals since the release of `--previous`, if that is given. Raises if they are too many."""
        if not self.options.previous:
            return None
        with ManifestReader(self.options.previous) as previous:
            files, limit = catalog_scan.series_files, self.options.max_removed
            return checked_removals(catalog_scan, self.cache, previous, files, limit)

    def _serves_elsewhere(self, catalog_scan: CatalogScan) -> bool:
        """Whether the main file is for another server: it is not replaced by one for this machine."""
        return self.options.local and bool(catalog_scan.linker.site.server_folder)

    def _result(self, builder: "ReleaseBuilder", prepared: PreparedRelease, conf: bytes) -> BuildResult:
        """Write the main configuration file, while `out` is locked, and describe what the build did."""
        options, totals, catalog_scan = self.options, builder.totals, builder.scan
        site = catalog_scan.linker.site
        return BuildResult(
            site_values=site.to_values(),
            dist=dist_in_conf(options, site),
            release=prepared.id,
            changes=dict(totals.counts),
            changed_series=sorted(totals.changed_series),
            resources=totals.counts.total() - totals.counts[REMOVED],
            written=totals.written,
            parsed=catalog_scan.parsed,
            next_publication=catalog_scan.next_publication,
            warnings=[*_site_warnings(options, builder), *_store_warnings(options, builder)],
            located=catalog_scan.located,
            conf_written=not self._serves_elsewhere(catalog_scan) and filesystem.write_if_changed(options.nginx, conf),
        )


def _site_warnings(options: Options, builder: "ReleaseBuilder") -> Iterator[str]:
    """Warnings about the settings and the bodies of the new release."""
    site, chapters_without_id = builder.scan.linker.site, builder.totals.chapters_without_id
    if not options.local and server_url.is_loopback(site.base_url):
        yield (
            f"{options.catalog / layout.SITE}: base_url is {site.base_url}, which works only on this machine; "
            "set it to the public URL of the site before you publish it"
        )
    if chapters_without_id:
        some = f"{chapters_without_id} chapters have no id and are"
        chapters = "1 chapter has no id and is" if chapters_without_id == 1 else some
        yield f"{options.catalog}: {chapters} missing from /api/v2; `python build.py ids` changes that"
    limit = f"body_budget ({site.body_budget} MiB) in {options.catalog / layout.SITE}"
    for _, summary in builder.segments.in_order():
        for url, size in summary.oversized:
            yield f"{url}: {size / (1 << 20):.1f} MiB exceed {limit}"


def _store_warnings(options: Options, builder: "ReleaseBuilder") -> Iterator[str]:
    """Warnings about `out` and the cache."""
    if journal.is_later(builder.transaction.journal, options.as_of):
        yield (
            f"{options.out}: its release was built for a later time, so the clock was wrong, or is now; responses "
            "with a later date have no Last-Modified until they change"
        )
    if options.cache and builder.cache.folder != options.cache:
        yield f"{options.cache}: cannot be used as cache; building without one"


def build_release(
    options: Options,
    catalog_scan: CatalogScan,
    cache: Cache,
    opened: Transaction,
    previous: ManifestReader,
    progress: Progress,
    older: Sequence[ManifestReader] = (),
) -> tuple["ReleaseBuilder", PreparedRelease]:
    """Build a release and make it the current one; `older`: see `ReleaseBuilder`."""
    builder = ReleaseBuilder(
        scan=catalog_scan,
        cache=cache,
        transaction=opened,
        segments=Segments(cache),
        dist=dist_in_conf(options, catalog_scan.linker.site),
        media=media_in_conf(options, catalog_scan.linker.site),
        jobs=options.jobs,
        previous=previous if options.previous else None,
        max_removed=options.max_removed,
        older=older,
    )
    prepared = builder.prepare(progress)
    builder.commit(prepared)
    return builder, prepared


@dataclass(slots=True)
class ReleaseTotals:
    """Counts and files of the new release, compared with the current release. The commit and the result use them."""

    # The number of URLs that were added, changed, removed and left unchanged.
    counts: Counter[str] = field(default_factory=lambda: Counter(added=0, changed=0, removed=0, unchanged=0))
    # The slugs of the series with an added, changed or removed URL.
    changed_series: set[str] = field(default_factory=set)
    # The number of bytes written to bodies, sidecars and compressed forms.
    written: int = 0
    # The number of published chapters without an id; API version 2 cannot have them.
    chapters_without_id: int = 0
    # The series and chapters that the release before published and this one does not.
    removals: Removals = field(default_factory=Removals)
    # Files of the current release that the new one does not have.
    dropped_files: list[str] = field(default_factory=list)
    # Files that only older releases have, by the newest release that has them.
    retained_files: FilesByRelease = field(default_factory=dict)
    # Files among `retained_files` that the new release has again.
    returned_files: set[str] = field(default_factory=set)
    # Bodies of the current release whose Last-Modified changes when the new release becomes visible.
    redate_after_commit: list[Published] = field(default_factory=list)

    @property
    def protected_files(self) -> frozenset[str]:
        """The files that must not be overwritten, although the current release does not have them."""
        return frozenset(chain.from_iterable(self.retained_files.values()))

    def compare(self, current: ManifestReader, new: Segments, slugs: Iterable[str]) -> None:
        """Add the differences in the series that can differ."""
        resources = {slug: summary.resources for slug, summary in new.summaries.items()}
        if not current.segments:
            # Of a first release everything is new, so no line needs to be parsed.
            self.counts[ADDED] = sum(resources.values())
            self.changed_series = {slug for slug, count in resources.items() if slug and count}
            return
        for difference in differences(current, new, slugs):
            if kind := difference.kind:
                self.counts[kind] += 1
                self.changed_series.add(difference.slug)
            before, after = difference.bodies
            if before:
                kept = manifest.files(after) if after else ()
                self.dropped_files += [file for file in manifest.files(before) if file not in kept]
        self.changed_series.discard("")
        self.counts["unchanged"] = sum(resources.values()) - self.counts[ADDED] - self.counts[CHANGED]

    def add_output(self, output: WriteTotals) -> None:
        """Add what a process wrote."""
        self.redate_after_commit += output.redate_after_commit
        self.returned_files |= output.returned_files
        self.written += output.written_bytes

    def still_retained_files(self) -> dict[str, list[str]]:
        """`retained_files` without those that the new release has again."""
        return {release: sorted(set(files) - self.returned_files) for release, files in self.retained_files.items()}


@dataclass(slots=True)
class ReleaseBuilder:
    """Make a release from a scan of the catalog. Call `prepare`, then `commit`."""

    scan: CatalogScan
    cache: Cache
    transaction: Transaction
    segments: Segments
    # In the nginx configuration: the path of `dist`, and the images that nginx serves, if any.
    dist: str
    media: MediaConf | None
    jobs: int
    # The release whose dates are continued, if it is not the current one.
    previous: ManifestReader | None = None
    # The share of series and chapters that may be removed, in percent; None allows all.
    max_removed: int | None = None
    # Releases of another store, from the oldest on, whose ids are continued too.
    older: Sequence[ManifestReader] = ()
    totals: ReleaseTotals = field(default_factory=ReleaseTotals)
    # Id and retained files of the release that the segments and render keys in the cache are about, and whether it is
    # the current one.
    described: dict[str, Any] = field(default_factory=dict)
    cache_is_current: bool = False

    def prepare(self, progress: Progress) -> PreparedRelease:
        """Write the bodies that changed, first of series, then of lists, and determine all files of the release."""
        self._load_segments()
        page_ids = allocate_page_ids(self.scan, self._manifests)
        keys = RenderKeys(self.scan, page_ids)
        stale = keys.stale(self.cache, self.segments, self.transaction.root)
        files = [files for files in self.scan.series_files if files.slug in stale]
        if not self.previous:  # with `--previous`, NewRelease has compared with that release
            self.totals.removals = checked_removals(self.scan, self.cache, self._continued, files, self.max_removed)
        cached_files = self.described["retained files"] if self.cache_is_current else None
        self.transaction.sweep()
        self.totals.retained_files = self.transaction.retained_files(cached_files)
        self._render(files, stale, keys, progress)
        self._drop_removed_series()
        rules, small_files = self._publish_lists()
        current = self.transaction.current_manifest
        # All other segments are those of the current release.
        removed = set(current.segments).difference(self.segments.segments)
        self.totals.compare(current, self.segments, {"", *stale, *removed})
        highest_id = highest_chapter_id(self.scan, self._manifests)
        return segments.prepare(self.segments, small_files, highest_id, page_ids, rules, self.transaction.write_ahead())

    def commit(self, prepared: PreparedRelease) -> None:
        """Make the release the current one, and store its description in the cache."""
        opened, totals = self.transaction, self.totals
        if not self.cache_is_current and prepared.id in (opened.current, *opened.older):
            rewrite_damaged(opened.root / "releases" / prepared.id, prepared.files)
        retained_files = totals.still_retained_files()
        entry = journal.build_entry(opened.journal, prepared.id, self.scan.as_of)
        keep = self.scan.linker.site.keep_releases
        opened.commit(NextRelease(prepared.id, prepared.files, entry, totals.redate_after_commit, retained_files, keep))
        is_new = prepared.id != opened.current
        if is_new or not self.cache_is_current:
            if opened.current and is_new:
                # The release that was current until now is an older one from here on.
                retained_files[opened.current] = sorted(totals.dropped_files)
            retained = {older: retained_files[older] for older in opened.store.older()}
            self.cache.remember(RELEASE, {"release": prepared.id, "retained files": retained})
        self.cache.commit()

    def _load_segments(self) -> None:
        """Take over the segments of the current release, if the cache describes it."""
        opened = self.transaction
        usable = not (self.previous or opened.needs_sweep or journal.is_later(opened.journal, self.scan.as_of))
        self.described = self.cache.recall(RELEASE) or {}
        self.cache_is_current = usable and bool(opened.current) and self.described.get("release") == opened.current
        if self.cache_is_current:
            self.segments.load()
        else:
            self.segments.clear()
            refuse_damaged(opened.root)

    @property
    def _continued(self) -> ManifestReader:
        """The release whose dates are continued."""
        return self.previous or self.transaction.current_manifest

    @property
    def _manifests(self) -> list[ManifestReader]:
        """All releases from the oldest to the current one, then the continued one."""
        own = [*reversed(self.transaction.older_manifests), self.transaction.current_manifest]
        return [*self.older, *own, self._continued]

    def _render(
        self, files: list[SeriesFiles], stale: Mapping[str, str], keys: "RenderKeys", progress: Progress
    ) -> None:
        """Render the stale series in processes, and take over the segments of all others."""
        cached = self.segments if self.cache_is_current else None
        current = find_lines(self.transaction.current_manifest, cached) if self.previous else None
        tasks = RenderTasks(self.scan, self.cache, keys, find_lines(self._continued, cached), current)
        linker, protected_files = self.scan.linker, self.totals.protected_files
        make = partial(series_renderer.make, linker, self.transaction.root, protected_files, self.cache_is_current)
        rendered = ordered_map(self.jobs, make, map(tasks.task, files), linker.lists.theme.template_folder)
        for series in progress(rendered, len(files)):
            self.segments.put(series.slug, series.segment)
            self.totals.add_output(series.output)
            self.cache.put(SUMMARIES, series.slug, stale[series.slug], series.summary)

    def _drop_removed_series(self) -> None:
        """Forget the series that the catalog no longer has."""
        present = {files.slug for files in self.scan.series_files}
        for slug in self.segments.summaries.keys() - present - {""}:
            self.segments.drop(slug)
        self.cache.forget(FACTS, self.cache.items(FACTS) - present)
        self.cache.forget(SUMMARIES, self.cache.items(SUMMARIES) - present)

    def _publish_lists(self) -> tuple[Rules, dict[str, bytes]]:
        """Write the bodies of the whole catalog; return the rules and the small files of the release."""
        lists = CatalogLists(self.scan, self.cache)
        self.totals.chapters_without_id = lists.chapters_without_id
        writer = self.transaction.body_writer(self.totals.protected_files)
        publisher = ResourcePublisher(writer, self.scan.linker.site, self.scan.as_of, self.cache_is_current)
        continued = self._continued.bodies("")
        current = self.transaction.current_manifest.bodies("") if self.previous else continued
        published = lists.publish(publisher, continued, current)
        self.segments.put("", publisher.segment(published))
        self.totals.add_output(writer.take_totals())
        rules, summaries = lists.rules(), list(self.segments.summaries.values())
        return rules, lists.small_files(rules, published, summaries, self.dist, self.media)


def allocate_page_ids(catalog_scan: CatalogScan, manifests: Sequence[ManifestReader]) -> dict[str, int]:
    """The page ids that are allocated for the whole catalog; ids that any of the releases allocated stay."""
    chapters = (
        chapter
        for facts in catalog_scan.facts.values()
        for chapter in _chapters_with_allocated_ids(facts, catalog_scan.shown_until)
    )
    before = {page: number for reader in manifests for page, number in reader.page_ids.items()}
    return linking.allocate_page_ids(chapters, before)


def highest_chapter_id(catalog_scan: CatalogScan, manifests: Sequence[ManifestReader]) -> int:
    """The highest chapter id that was ever published, also by a release that was rolled back."""
    highest = (max(facts.ids, default=0) for facts in catalog_scan.facts.values())
    return max(chain(highest, (reader.highest_id for reader in manifests)), default=0)


def _chapters_with_allocated_ids(facts: SeriesFacts, shown_until: int) -> Iterator[tuple[int, int]]:
    """Id and number of pages of the chapters with allocated page ids, without those that the release does not show."""
    return ((chapter, pages) for chapter, pages, published in facts.allocated if published <= shown_until)


_Value = TypeVar("_Value", int, str)


class RenderKeys:
    """Find the series to render again by their render keys: digests of everything that the bodies depend on."""

    def __init__(self, catalog_scan: CatalogScan, allocated_page_ids: Mapping[str, int]) -> None:
        self.scan, self.allocated_page_ids = catalog_scan, allocated_page_ids
        linker = catalog_scan.linker
        settings = [linker.site.model_dump_json(), linker.preview, linker.lists.theme.digest]
        self._site = encoding.digest(encoding.json(settings))

    def key(self, files: SeriesFiles) -> str:
        facts = self.scan.facts[files.slug]
        return encoding.digest(
            encoding.json(
                [
                    self._site,
                    self.scan.check_keys[files.slug],
                    [] if facts.dated else [self.scan.times[file] for file in files.files],
                    bisect_right(facts.published, self.scan.as_of),
                    _of_chapters(facts, self.scan.linker.lists.views),
                    _of_chapters(facts, self.scan.linker.lists.sizes),
                    self.page_ids(facts),
                ]
            )
        )

    def page_ids(self, facts: SeriesFacts) -> dict[str, int]:
        """The allocated page ids of a series."""
        chapters = _chapters_with_allocated_ids(facts, self.scan.shown_until)
        return {
            page: self.allocated_page_ids[page]
            for chapter in chapters
            for page in linking.allocated_page_names(*chapter)
        }

    def stale(self, cache: Cache, current: Segments, root: Path) -> dict[str, str]:
        """The series to render, with their new keys: the key differs, or the current release lacks the bodies."""
        cached = {row.item: row.key for row in cache.rows(SUMMARIES)}
        keys = {files.slug: self.key(files) for files in self.scan.series_files}
        return {
            slug: key for slug, key in keys.items() if not current.has_bodies(slug, root) or cached.get(slug) != key
        }


def _of_chapters(facts: SeriesFacts, values: Mapping[str, _Value]) -> dict[str, _Value]:
    """The values of the chapters of a series, by chapter id: views or sizes."""
    return {str(chapter): values[str(chapter)] for chapter in facts.ids if str(chapter) in values} if values else {}


@dataclass(frozen=True, slots=True)
class ManifestLines:
    """Find the lines of a series in the manifest of one release: the dates and ETags that it keeps."""

    reader: ManifestReader
    # The series that had each chapter in that release.
    series_of_chapter: Mapping[int, str]

    def of(self, slug: str, facts: SeriesFacts) -> bytes:
        chapters = (chapter for chapter in facts.ids if chapter in self.series_of_chapter)
        others = {self.series_of_chapter[chapter] for chapter in chapters} - {slug}
        return SEPARATOR.join(filter(None, map(self.reader.segment, [*sorted(others), slug])))


def find_lines(reader: ManifestReader, cached: Segments | None) -> ManifestLines:
    """Find the series of every chapter in a release, in its manifest or in its `cached` segments."""
    if cached is None:
        return ManifestLines(reader, reader.chapter_owners())
    summaries = cached.summaries.items()
    return ManifestLines(reader, {chapter: slug for slug, summary in summaries for chapter in summary.chapters})


@dataclass(frozen=True, slots=True)
class RenderTasks:
    """Make the task of each stale series."""

    scan: CatalogScan
    cache: Cache
    keys: RenderKeys
    continued: ManifestLines
    # The lines of the current release, if that is not the continued one.
    current: ManifestLines | None

    def task(self, files: SeriesFiles) -> RenderTask:
        facts = self.scan.facts[files.slug]
        return RenderTask(
            files=files,
            values=self.scan.values_of(files, self.cache),
            times={file: self.scan.times[file] for file in files.files},
            page_ids=self.keys.page_ids(facts),
            continued=self.continued.of(files.slug, facts),
            current=self.current.of(files.slug, facts) if self.current else None,
        )
