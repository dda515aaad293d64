"""A build that scans the catalog: build the release, write the main configuration file, keep the result."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import filesystem
from ..catalog import git
from ..release import journal, transaction
from ..release.manifest_reader import ManifestReader
from ..release.store import Store
from ..release.transaction import Transaction
from . import build_result, build_warnings, removals, scan, up_to_date
from .build_options import Options
from .build_result import BuildResult
from .cache import Cache
from .main_conf import cached_main_conf, dist_in_conf, media_in_conf, refuse_foreign
from .open_cache import Waiting
from .release_builder import Progress, ReleaseBuilder, no_progress
from .removals import Removals
from .scan import CatalogScan, SiteChanges
from .segments import PreparedRelease, Segments

# Called with the catalog and the release that was built, for example to collect the data of a report.
Inspect = Callable[[CatalogScan, Cache, Transaction], None]


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

    def inspect_unchanged(self, inspect: Inspect) -> None:
        """Call `inspect` with the release of the last build, to which nothing changed."""
        catalog_scan = self._scan()
        with transaction.begin(self.store, self.waiting) as opened:
            inspect(catalog_scan, self.cache, opened)

    def build(self) -> BuildResult:
        options = self.options
        catalog_scan = self._scan()
        # Everything that can be refused is checked before a file is changed, and before `out` is created.
        conf = cached_main_conf(options, catalog_scan.linker.site, self.cache)
        if not self._serves_elsewhere(catalog_scan):
            refuse_foreign(options.nginx, options.out)
        removed = self._removed_since_previous(catalog_scan)
        with (
            ManifestReader(options.previous) as previous,
            transaction.begin(self.store, self.waiting) as opened,
        ):
            builder, prepared = release(
                options, catalog_scan, self.cache, opened, previous, self.progress or no_progress
            )
            result = self._result(builder, prepared, conf)
            result.removed = removed or builder.totals.removals
            if self.inspect:
                self.inspect(catalog_scan, self.cache, opened)
        if not options.previous:
            up_to_date.keep_result(options, self.inputs, catalog_scan, build_result.dump(result), self.cache)
        return result

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
            return removals.checked_removals(catalog_scan, self.cache, previous, files, limit)

    def _serves_elsewhere(self, catalog_scan: CatalogScan) -> bool:
        """Whether the main file is for another server: it is not replaced by one for this machine."""
        return self.options.local and bool(catalog_scan.linker.site.server_folder)

    def _result(self, builder: ReleaseBuilder, prepared: PreparedRelease, conf: bytes) -> BuildResult:
        """Write the main configuration file, while `out` is locked, and describe what the build did."""
        options, totals, catalog_scan = self.options, builder.totals, builder.scan
        site = catalog_scan.linker.site
        warnings = [
            *build_warnings.of_site(options, site, totals.chapters_without_id),
            *build_warnings.of_size(options, site, builder.segments),
        ]
        if journal.is_later(builder.transaction.journal, options.as_of):
            warnings.append(
                f"{options.out}: its release was built for a later time, so the clock was wrong, or is now; responses "
                "with a later date have no Last-Modified until they change"
            )
        if options.cache and self.cache.folder != options.cache:
            warnings.append(f"{options.cache}: cannot be used as cache; building without one")
        return BuildResult(
            site_values=site.to_values(),
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
            conf_written=not self._serves_elsewhere(catalog_scan) and filesystem.write_if_changed(options.nginx, conf),
        )


def release(
    options: Options,
    catalog_scan: CatalogScan,
    cache: Cache,
    opened: Transaction,
    previous: ManifestReader,
    progress: Progress,
    older: Sequence[ManifestReader] = (),
) -> tuple[ReleaseBuilder, PreparedRelease]:
    """Build a release and make it the current one; `older` are releases of another store whose ids are continued."""
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
