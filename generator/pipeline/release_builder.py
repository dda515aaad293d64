"""Make a release from a scan of the catalog: render the stale series, then the lists, then commit."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from ..catalog.layout import SeriesFiles
from ..nginx.config import MediaConf
from ..release import journal
from ..release.bodies import rewrite_damaged
from ..release.manifest_reader import ManifestReader, refuse_damaged
from ..release.rules import Rules
from ..release.transaction import NextRelease, Transaction
from . import publish, segments, series_renderer, stale_series
from .cache import Cache
from .catalog_lists import CatalogLists
from .process_pool import ordered_map
from .publish import ResourcePublisher
from .removals import checked_removals
from .scan import CatalogScan
from .segments import PreparedRelease, Segments
from .series_renderer import RenderedSeries
from .stale_series import RenderKeys, RenderTasks, find_lines
from .totals import ReleaseTotals

# Passes on the rendered series, whose number is the second parameter, and may show progress.
Progress = Callable[[Iterator[RenderedSeries], int], Iterator[RenderedSeries]]


def no_progress(rendered: Iterator[RenderedSeries], count: int) -> Iterator[RenderedSeries]:
    return rendered


@dataclass(slots=True)
class ReleaseBuilder:
    """One new release. Call `prepare`, then `commit`."""

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
    # Whether the cached segments and render keys are those of the current release.
    cache_is_current: bool = False

    def prepare(self, progress: Progress) -> PreparedRelease:
        """Write the bodies that changed, and determine all files of the release."""
        self._load_segments()
        page_ids = stale_series.allocate_page_ids(self.scan, self._manifests)
        keys = RenderKeys(self.scan, page_ids)
        stale = keys.stale(self.cache, self.segments, self.transaction.root)
        files = [files for files in self.scan.series_files if files.slug in stale]
        if not self.previous:  # with `--previous`, NewRelease has compared with that release
            self.totals.removals = checked_removals(self.scan, self.cache, self._continued, files, self.max_removed)
        cached_files = self.cache.recall("retained files") if self.cache_is_current else None
        self.transaction.sweep()
        self.totals.retained_files = self.transaction.retained_files(cached_files)
        self._render(files, stale, keys, progress)
        self._drop_removed_series()
        rules, small_files = self._publish_lists()
        highest_id = stale_series.highest_chapter_id(self.scan, self._manifests)
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
                retained_files[opened.current] = sorted(totals.dropped_files - totals.moved_files)
            self.cache.remember("release", prepared.id)
            self.cache.remember("retained files", {older: retained_files[older] for older in opened.store.older()})
        self.cache.commit()

    def _load_segments(self) -> None:
        """Take over the segments of the current release, if the cache describes it."""
        opened = self.transaction
        usable = not (self.previous or opened.needs_sweep or journal.is_later(opened.journal, self.scan.as_of))
        self.cache_is_current = usable and bool(opened.current) and self.cache.recall("release") == opened.current
        if self.cache_is_current:
            self.segments.load()
        else:
            self.cache.segments.clear()
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

    def _render(self, files: list[SeriesFiles], stale: Mapping[str, str], keys: RenderKeys, progress: Progress) -> None:
        """Render the stale series in processes, and take over the segments of all others."""
        unchanged = [files.slug for files in self.scan.series_files if files.slug not in stale]
        self.totals.counts["unchanged"] += sum(self.segments.summaries[slug].resources for slug in unchanged)
        cached = self.segments if self.cache_is_current else None
        current = find_lines(self.transaction.current_manifest, cached) if self.previous else None
        tasks = RenderTasks(self.scan, self.cache, keys, find_lines(self._continued, cached), current)
        linker, protected_files = self.scan.linker, self.totals.protected_files
        make = partial(series_renderer.make, linker, self.transaction.root, protected_files, self.cache_is_current)
        rendered = ordered_map(self.jobs, make, map(tasks.task, files), linker.lists.theme.template_folder)
        for series in progress(rendered, len(files)):
            self.segments.put(series.slug, series.segment)
            self.totals.add_segment(series.slug, series.change, series.output)
            self.cache.series.keep_summary(series.slug, stale[series.slug], series.summary)
            self.cache.chapters.keep(series.slug, series.chapters)

    def _drop_removed_series(self) -> None:
        """Forget the series that the catalog no longer has."""
        present = {files.slug for files in self.scan.series_files}
        current = self.transaction.current_manifest
        for slug in current.segments.keys() - present - {""}:
            self.totals.add_removed_series(slug, current.bodies(slug).values())
        for slug in self.segments.summaries.keys() - present - {""}:
            self.segments.drop(slug)
        for slug in self.cache.series.render_keys().keys() - present:
            self.cache.series.forget(slug)
            self.cache.chapters.keep(slug, ())

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
        self.totals.add_segment("", publish.change(current, published), writer.take_totals())
        rules, summaries = lists.rules(), list(self.segments.summaries.values())
        return rules, lists.small_files(rules, published, summaries, self.dist, self.media)
