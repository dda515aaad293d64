"""The entry points of the pipeline: check a catalog, list its scheduled chapters, build a release."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .. import filesystem
from ..catalog import git
from ..catalog.confined_folder import Folder
from ..release import transaction
from ..release.manifest_reader import ManifestReader
from ..release.store import Store
from ..release.transaction import Transaction
from . import build_result, removals, scan, up_to_date
from .build_options import Options, dist_in_conf, main_conf
from .build_result import BuildResult
from .cache import Cache
from .open_cache import Waiting, with_cache
from .release_builder import Progress, ReleaseBuilder, no_progress
from .removals import Removals
from .scan import CatalogScan
from .schedule import Schedule, scheduled
from .segments import PreparedRelease, Segments

# Called with the catalog and the release that was built, for example to collect the data of a report.
Inspect = Callable[[CatalogScan, Cache, Transaction], None]


def check(folder: Folder, as_of: int, jobs: int) -> CatalogScan:
    """Read and check a catalog. Raises every problem."""
    return with_cache(None, lambda: None, partial(_check, folder, as_of, jobs))


def _check(folder: Folder, as_of: int, jobs: int, cache: Cache, _: Path) -> CatalogScan:
    past = up_to_date.commit_times(folder, as_of, cache)
    catalog_scan = scan.read(folder, as_of, jobs, cache, past.times)
    catalog_scan.warnings += past.warnings
    return catalog_scan


def schedule(
    folder: Folder, as_of: int, jobs: int, *, every: bool, cache: Path | None = None, waiting: Waiting = lambda: None
) -> Schedule:
    """When the next chapter is due, and with `every` all scheduled chapters. Raises every problem of the catalog.

    The cache is read and not changed: its facts must be those of the last build.
    """
    existing = cache if cache and cache.is_dir() else None
    return with_cache(existing, waiting, partial(_schedule, folder, as_of, jobs, every))


def _schedule(folder: Folder, as_of: int, jobs: int, every: bool, cache: Cache, _: Path) -> Schedule:
    past = up_to_date.commit_times(folder, as_of, cache)
    catalog_scan = scan.read(folder, as_of, jobs, cache, past.times)
    chapters = scheduled(catalog_scan, cache) if every else []
    return Schedule(catalog_scan.next_publication, chapters, past.warnings)


def build(
    options: Options,
    waiting: Waiting = lambda: None,
    progress: Progress = no_progress,
    inspect: Inspect | None = None,
) -> BuildResult:
    """Bring `out` and the main configuration file up to date with the catalog.

    `inspect` is called with the finished release before `out` is unlocked.
    """
    return with_cache(options.cache, waiting, lambda cache, _: _Build(options, waiting, progress, inspect, cache).run())


@dataclass(frozen=True, slots=True)
class _Build:
    """One build with an open cache."""

    options: Options
    waiting: Waiting
    progress: Progress
    inspect: Inspect | None
    cache: Cache

    def run(self) -> BuildResult:
        options = self.options
        past = options.past or up_to_date.commit_times(options.catalog, options.as_of, self.cache)
        last = None if options.previous else up_to_date.last_result(options, past.times, self.cache)
        if last:
            result = build_result.load_unchanged(last)
            self._inspect_unchanged(past)
        else:
            result = self._new_release(past)
        result.warnings[:0] = build_result.warnings_of_git(options, past)
        return result

    def _inspect_unchanged(self, past: git.FileTimes) -> None:
        if self.inspect:
            catalog_scan = self._scan(past)
            with transaction.begin(Store(self.options.out), self.waiting) as opened:
                self.inspect(catalog_scan, self.cache, opened)

    def _new_release(self, past: git.FileTimes) -> BuildResult:
        options = self.options
        fingerprint = up_to_date.fingerprint(options, past.times)
        catalog_scan = self._scan(past)
        # Everything that can be refused is checked before a file is changed, and before `out` is created.
        conf = main_conf(options, catalog_scan.linker.site)
        removed = self._removed_since_previous(catalog_scan)
        with (
            ManifestReader(options.previous) as previous,
            transaction.begin(Store(options.out), self.waiting) as opened,
        ):
            builder, prepared = release(options, catalog_scan, self.cache, opened, previous, self.progress)
            result = self._result(builder, prepared, conf)
            result.removed = removed or builder.totals.removals
            if self.inspect:
                self.inspect(catalog_scan, self.cache, opened)
        if not options.previous:
            up_to_date.keep_result(options, fingerprint, catalog_scan, build_result.dump(result), self.cache)
        return result

    def _scan(self, past: git.FileTimes) -> CatalogScan:
        options = self.options
        return scan.read(options.catalog, options.as_of, options.jobs, self.cache, past.times, options.base_url)

    def _removed_since_previous(self, catalog_scan: CatalogScan) -> Removals | None:
        """The removals since the release of `--previous`, if that is given. Raises if they are too many."""
        if not self.options.previous:
            return None
        with ManifestReader(self.options.previous) as previous:
            files, limit = catalog_scan.series_files, self.options.max_removed
            return removals.allowed(catalog_scan, self.cache, previous, files, limit)

    def _result(self, builder: ReleaseBuilder, prepared: PreparedRelease, conf: bytes) -> BuildResult:
        """Write the main configuration file, while `out` is locked, and describe what the build did."""
        options, totals, catalog_scan = self.options, builder.totals, builder.scan
        site = catalog_scan.linker.site
        # The main file for another server is not replaced by one for this machine.
        foreign = options.local and site.server_folder
        warnings = [
            *build_result.warnings_of_site(options, site, totals.chapters_without_id),
            *build_result.warnings_of_size(options, site, builder.segments),
        ]
        if options.cache and self.cache.folder != options.cache:
            warnings.append(f"{options.cache}: cannot be used as cache; building without one")
        return BuildResult(
            site=site,
            dist=dist_in_conf(options, site),
            release=prepared.id,
            changes=dict(totals.counts),
            changed_series=sorted(totals.changed_series),
            resources=totals.counts.total() - totals.counts["removed"],
            written=totals.written,
            parsed=catalog_scan.parsed,
            next_publication=catalog_scan.next_publication,
            warnings=warnings,
            located=catalog_scan.located,
            conf_written=not foreign and filesystem.write_if_changed(options.nginx, conf),
        )


def release(
    options: Options,
    catalog_scan: CatalogScan,
    cache: Cache,
    opened: Transaction,
    previous: ManifestReader,
    progress: Progress,
) -> tuple[ReleaseBuilder, PreparedRelease]:
    """Build a release and make it the current one."""
    builder = ReleaseBuilder(
        scan=catalog_scan,
        cache=cache,
        transaction=opened,
        segments=Segments(cache),
        dist=dist_in_conf(options, catalog_scan.linker.site),
        jobs=options.jobs,
        previous=previous if options.previous else None,
        max_removed=options.max_removed,
    )
    prepared = builder.prepare(progress)
    builder.commit(prepared)
    return builder, prepared
