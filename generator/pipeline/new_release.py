"""The recipe of a build: scan the catalog, make a release of it, and keep the result.

`build` is the whole recipe, `ReleaseBuilder.prepare` its third step. Everything below them is in the order in which
they need it.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from .. import encoding, filesystem, server_url
from ..catalog import entities, git, layout, linking, snapshot
from ..catalog.layout import SeriesFiles
from ..catalog.reader import ARCHIVES
from ..release import journal, manifest, transaction
from ..release.bodies import BodyWriter, WriteTotals, rewrite_damaged
from ..release.changes import ADDED, CHANGED, REMOVED, differences
from ..release.manifest import SEPARATOR
from ..release.manifest_reader import ManifestReader, chapter_names_by_series, refuse_damaged
from ..release.rules import Rules
from ..release.store import Store
from ..release.transaction import FilesByRelease, Transaction
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
from .scan import CatalogScan, SeriesFacts
from .segments import PreparedRelease, Segments
from .series_renderer import RenderedSeries, RenderTask
from .up_to_date import MANIFEST

# Passes on the rendered series, whose number is the second parameter, and may show progress.
Progress = Callable[[Iterator[RenderedSeries], int], Iterator[RenderedSeries]]

# Called with the catalog and the release that was built, for example to collect the data of a report.
Inspect = Callable[[CatalogScan, Cache, Transaction], None]


def build(
    options: Options,
    store: Store,
    past: git.FileTimes,
    inputs: Mapping[str, Any],
    cache: Cache,
    waiting: Waiting,
    progress: Progress | None,
    inspect: Inspect | None,
) -> BuildResult:
    """Bring `out` and the main configuration file up to date.

    `past` has the commit times of the files; `inputs` is the fingerprint of the catalog before anything of it was read.
    """
    # 1. Read and check the catalog.
    catalog_scan = scan_catalog(options, past, cache)
    site = catalog_scan.linker.site

    # 2. Refuse what can be refused, before a file is changed, and before `out` is created.
    conf = cached_main_conf(options, site, cache)
    # The main file for another server is not replaced by one for this machine.
    serves_elsewhere = options.local and bool(site.server_folder)
    if not serves_elsewhere:
        refuse_foreign(options.nginx, options.out)
    with ManifestReader(options.previous) as previous:
        files, limit = catalog_scan.series_files, options.max_removed
        removed = checked_removals(catalog_scan, cache, previous, files, limit) if options.previous else None

        # 3. Lock `out`, render the stale series and the lists, and make the release the current one.
        with transaction.begin(store, waiting) as opened:
            builder = ReleaseBuilder(options, catalog_scan, cache, opened, previous)
            prepared = builder.prepare(progress)
            builder.commit(prepared)

            # 4. Write the main configuration file, while `out` is locked.
            conf_written = not serves_elsewhere and filesystem.write_if_changed(options.nginx, conf)
            result = BuildResult(
                site_values=site.to_values(),
                dist=dist_in_conf(options, site),
                release=prepared.id,
                changes=dict(builder.counts),
                changed_series=sorted(builder.changed_series),
                resources=builder.counts.total() - builder.counts[REMOVED],
                written=builder.output.written_bytes,
                parsed=catalog_scan.parsed,
                next_publication=catalog_scan.next_publication,
                warnings=list(_warnings(options, builder)),
                located=catalog_scan.located,
                removed=removed or builder.removals,
                conf_written=conf_written,
            )
            if inspect:
                inspect(catalog_scan, cache, opened)

    # 5. Keep the result for the next build.
    if not options.previous:
        samples = [summary.sample_file for _, summary in builder.segments.in_order()]
        last_publication = catalog_scan.last_publication
        up_to_date.keep_result(options, inputs, last_publication, build_result.dump(result), samples, cache)
    return result


def scan_catalog(options: Options, past: git.FileTimes, cache: Cache) -> CatalogScan:
    times, base_url, preview = past.times, options.base_url, options.preview
    return scan.read(options.catalog, options.as_of, options.jobs, cache, times, base_url, preview)


def _warnings(options: Options, builder: "ReleaseBuilder") -> Iterator[str]:
    """Warnings about the settings and the bodies of the new release, `out` and the cache."""
    site = builder.scan.linker.site
    if not options.local and server_url.is_loopback(site.base_url):
        yield (
            f"{options.catalog / layout.SITE}: base_url is {site.base_url}, which works only on this machine; "
            "set it to the public URL of the site before you publish it"
        )
    yield from builder.scan.id_warnings()
    limit = f"body_budget ({site.body_budget} MiB) in {options.catalog / layout.SITE}"
    for _, summary in builder.segments.in_order():
        for url, size in summary.oversized:
            yield f"{url}: {size / (1 << 20):.1f} MiB exceed {limit}"
    if archives := builder.scan.linker.lists.archives:
        tells_restricted = not linking.TOLD_BY_ARCHIVES.isdisjoint(site.restricted)
        slugs = [] if tells_restricted else builder.public_series
        summaries = [builder.segments.summaries[slug] for slug in slugs]
        public = {id for summary in summaries for id in summary.chapters}
        withdrawn = [entities.archive_path(text) for id, text in archives.items() if int(id) not in public]
        if withdrawn:
            yield (
                f"{options.catalog / ARCHIVES}: has archives of chapters that not all readers get, such as "
                f"{min(withdrawn)}; servers of the images send them until `python build.py media archives` deletes them"
            )
    if journal.is_later(builder.transaction.journal, options.as_of):
        yield (
            f"{options.out}: its release was built for a later time, so the clock was wrong, or is now; responses "
            "with a later date have no Last-Modified until they change"
        )
    if refusal := builder.cache.refusal:
        yield f"{options.cache}: cannot be used as cache: {refusal}; building without one"


class ReleaseBuilder:
    """Make a release of a scan. Call `prepare`, then `commit`.

    Two things of earlier releases matter: the dates and ids that are continued, and the files that must not be
    overwritten.
    """

    def __init__(
        self,
        options: Options,
        catalog_scan: CatalogScan,
        cache: Cache,
        opened: Transaction,
        previous: ManifestReader,
        older: Iterable[ManifestReader] = (),
    ) -> None:
        """`previous` is the manifest of `--previous`; `older` are manifests elsewhere whose ids are continued, too."""
        self.options, self.scan, self.cache, self.transaction = options, catalog_scan, cache, opened
        self.segments = Segments(cache)
        # The release whose dates are continued, and whether that is the current one.
        self.continues_current = not options.previous
        self.continued = opened.current_manifest if self.continues_current else previous
        # All releases whose ids are continued, from the oldest on.
        self.manifests = [*older, *reversed(opened.older_manifests), opened.current_manifest, self.continued]
        # The release that the lines and render keys in the cache are about, and whether it is the current one.
        self.described: dict[str, Any] = cache.recall(RELEASE) or {}
        later = journal.is_later(opened.journal, catalog_scan.as_of)
        usable = self.continues_current and bool(opened.current) and opened.store.finished() and not later
        self.cache_is_current = usable and self.described.get("release") == opened.current

        # What `prepare` finds out.
        # The number of URLs that were added, changed, removed and left unchanged.
        self.counts: Counter[str] = Counter(added=0, changed=0, removed=0, unchanged=0)
        # The slugs of the series with an added, changed or removed URL.
        self.changed_series: set[str] = set()
        # What all writers wrote.
        self.output = WriteTotals()
        # The page ids that are allocated for the whole catalog; ids that any of the releases allocated stay.
        self.page_ids: dict[str, int] = {}
        # The slugs of the series whose chapters all readers get.
        self.public_series: list[str] = []
        # The series and chapters that the release before published and this one does not.
        self.removals = Removals()
        # Files of the current release that the new one does not have.
        self.dropped_files: list[str] = []
        # Files that only older releases have, by the newest release that has them.
        self.retained_files: FilesByRelease = {}

    def prepare(self, progress: Progress | None = None) -> PreparedRelease:
        """Write the bodies that changed, first of series, then of lists, and determine all files of the release."""
        opened = self.transaction
        if self.cache_is_current:
            self.segments.load(self.described["segments"])
        else:
            self.segments.clear()
        if not self.cache_is_current or self.described["manifest"] != snapshot.file_status(opened.root / MANIFEST):
            refuse_damaged(opened.root)
        self._allocate_page_ids()
        stale = self._stale_series()
        files = [files for files in self.scan.series_files if files.slug in stale]
        if self.continues_current:  # with `--previous`, `build` has compared with that release
            limit = self.options.max_removed
            self.removals = checked_removals(self.scan, self.cache, self.continued, files, limit)
        opened.sweep()
        self.retained_files = opened.retained_files(self.described["retained files"] if self.cache_is_current else None)
        protected = self._protected_files()
        self._render(files, stale, protected, progress)
        self._drop_removed_series()
        rules, small_files = self._publish_lists(protected)
        self._compare(stale)
        return segments.prepare(self.segments, small_files, self._highest_id(), self.page_ids, rules, opened.digest)

    def commit(self, prepared: PreparedRelease) -> None:
        """Make the release the current one, and store its description in the cache."""
        opened = self.transaction
        if not self.cache_is_current and prepared.id in (opened.current, *opened.older):
            rewrite_damaged(opened.root / "releases" / prepared.id, prepared.files)
        returned = self.output.returned_files
        retained = {release: sorted(set(files) - returned) for release, files in self.retained_files.items()}
        entry = journal.build_entry(opened.journal, prepared.id, self.scan.as_of)
        opened.commit(
            prepared.id,
            prepared.files,
            entry,
            redate_after_commit=self.output.redate_after_commit,
            retained_files=retained,
            keep=self.scan.linker.site.keep_releases,
        )
        if opened.current and prepared.id != opened.current:
            # The release that was current until now is an older one from here on.
            retained[opened.current] = sorted(self.dropped_files)
        kept = {older: retained[older] for older in opened.store.older()}
        described = {
            "release": prepared.id,
            "manifest": snapshot.file_status(opened.root / MANIFEST),
            "retained files": kept,
            "segments": self.segments.summaries,
        }
        self.cache.remember(RELEASE, described)
        self.cache.commit()

    # Ids

    def _allocate_page_ids(self) -> None:
        chapters = (chapter for facts in self.scan.facts.values() for chapter in self._allocated(facts))
        before = {page: number for reader in self.manifests for page, number in reader.page_ids.items()}
        self.page_ids = linking.allocate_page_ids(chapters, before)

    def _allocated(self, facts: SeriesFacts) -> Iterator[tuple[int, int]]:
        """Id and number of pages of the chapters with allocated page ids that the release shows."""
        return ((chapter, pages) for chapter, pages, due in facts.allocated if due <= self.scan.shown_until)

    def _page_ids_of(self, facts: SeriesFacts) -> dict[str, int]:
        """The allocated page ids of a series."""
        chapters = self._allocated(facts)
        return {page: self.page_ids[page] for chapter in chapters for page in linking.allocated_page_names(*chapter)}

    def _highest_id(self) -> int:
        """The highest chapter id that was ever published, also by a release that was rolled back."""
        highest = (max(facts.ids, default=0) for facts in self.scan.facts.values())
        return max(chain(highest, (reader.highest_id for reader in self.manifests)), default=0)

    # Bodies

    def _stale_series(self) -> dict[str, str]:
        """The series to render, with their new keys: the key differs, or the current release lacks the bodies."""
        linker, cached, root = self.scan.linker, self.cache.keys(SUMMARIES), self.transaction.root
        settings = [linker.site.model_dump_json(), linker.preview, linker.lists.theme.digest]
        digest = encoding.digest(encoding.json(settings))
        keys = {files.slug: self._render_key(files, digest) for files in self.scan.series_files}
        return {
            slug: key
            for slug, key in keys.items()
            if not self.segments.has_bodies(slug, root) or cached.get(slug) != key
        }

    def _render_key(self, files: SeriesFiles, settings: str) -> str:
        """A digest of everything that the bodies of a series depend on."""
        facts, linker = self.scan.facts[files.slug], self.scan.linker
        values = [
            settings,
            self.scan.check_keys[files.slug],
            [] if facts.dated else [self.scan.times[file] for file in files.files],
            bisect_right(facts.published, self.scan.as_of),
            _of_chapters(facts, linker.lists.views),
            _of_chapters(facts, linker.lists.sizes),
            linker.variants.get(files.slug, {}),
            _of_chapters(facts, linker.archives),
            self._page_ids_of(facts),
        ]
        return encoding.digest(encoding.json(values))

    def _protected_files(self) -> dict[str, int | None]:
        """The files that must not be overwritten, besides those of the continued release if it is the current one.

        A file of the current release has its date, which must not change before the commit.
        """
        protected: dict[str, int | None] = dict.fromkeys(chain.from_iterable(self.retained_files.values()))
        current = self.transaction.current_manifest
        for slug in () if self.continues_current else current.segments:
            protected |= {body.file: body.modified for body in current.bodies(slug).values()}
        return protected

    def _render(
        self,
        files: list[SeriesFiles],
        stale: Mapping[str, str],
        protected: Mapping[str, int | None],
        progress: Progress | None,
    ) -> None:
        """Render the stale series in processes. The segments of all others are in the cache."""
        linker = self.scan.linker
        writer = partial(BodyWriter, self.transaction.root, protected, self.continues_current)
        make = partial(series_renderer.make, linker, writer, self.cache_is_current)
        rendered = ordered_map(self.options.jobs, make, self._tasks(files), linker.lists.theme.template_folder)
        for series in progress(rendered, len(files)) if progress else rendered:
            self.segments.put(series.slug, series.segment)
            self.output.add(series.output)
            self.cache.put(SUMMARIES, series.slug, stale[series.slug], series.summary)

    def _tasks(self, files: Iterable[SeriesFiles]) -> Iterator[RenderTask]:
        """The task of each stale series, with the lines of its chapters in the continued release."""
        if self.cache_is_current:
            summaries = self.segments.summaries.items()
            owners = {chapter: slug for slug, summary in summaries for chapter in summary.chapters}
        else:
            names = chapter_names_by_series(self.continued)
            owners = {chapter: slug for slug, chapters in names for chapter in chapters.ids}
        for series in files:
            facts = self.scan.facts[series.slug]
            # Other series that had some of its chapters.
            others = {owners[chapter] for chapter in facts.ids if chapter in owners} - {series.slug}
            lines = map(self.continued.segment, [*sorted(others), series.slug])
            yield RenderTask(
                files=series,
                values=self.scan.values_of(series, self.cache),
                times={file: self.scan.times[file] for file in series.files},
                page_ids=self._page_ids_of(facts),
                continued=SEPARATOR.join(filter(None, lines)),
            )

    def _drop_removed_series(self) -> None:
        """Forget the series that the catalog no longer has."""
        present = {files.slug for files in self.scan.series_files}
        for slug in self.segments.summaries.keys() - present - {""}:
            self.segments.drop(slug)
        for step in (FACTS, SUMMARIES):
            self.cache.forget(step, self.cache.items(step) - present)

    def _publish_lists(self, protected: Mapping[str, int | None]) -> tuple[Rules, dict[str, bytes]]:
        """Write the bodies of the whole catalog; return the rules and the small files of the release."""
        site = self.scan.linker.site
        lists = CatalogLists(self.scan, self.cache)
        self.public_series = [series.slug for series in lists.catalog.series if series.is_public]
        writer = BodyWriter(self.transaction.root, protected, self.continues_current)
        publisher = ResourcePublisher(writer, site, self.scan.as_of, self.cache_is_current)
        published = lists.publish(publisher, self.continued.bodies(""))
        self.segments.put("", publisher.segment(published))
        self.output.add(writer.totals)
        rules, summaries = lists.rules(), list(self.segments.summaries.values())
        dist, media = dist_in_conf(self.options, site), media_in_conf(self.options, site)
        return rules, lists.small_files(rules, published, summaries, dist, media)

    def _compare(self, stale: Iterable[str]) -> None:
        """Compare the new release with the current one. Besides stale and removed series, only lists can differ."""
        current = self.transaction.current_manifest
        resources = {slug: summary.resources for slug, summary in self.segments.summaries.items()}
        if not current.segments:
            # Of a first release everything is new, so no line needs to be parsed.
            self.counts[ADDED] = sum(resources.values())
            self.changed_series = {slug for slug, count in resources.items() if slug and count}
            return
        removed = current.segments.keys() - resources.keys()
        for difference in differences(current, self.segments, {"", *stale, *removed}):
            if kind := difference.kind:
                self.counts[kind] += 1
                self.changed_series.add(difference.slug)
            before, after = difference.bodies
            if before:
                kept = manifest.files(after) if after else ()
                self.dropped_files += [file for file in manifest.files(before) if file not in kept]
        self.changed_series.discard("")
        self.counts["unchanged"] = sum(resources.values()) - self.counts[ADDED] - self.counts[CHANGED]


_Value = TypeVar("_Value", int, str)


def _of_chapters(facts: SeriesFacts, values: Mapping[str, _Value]) -> dict[str, _Value]:
    """The values of the chapters of a series, by chapter id: views, sizes or archives."""
    return {str(chapter): values[str(chapter)] for chapter in facts.ids if str(chapter) in values} if values else {}
