"""The entry points of the pipeline: check a catalog, list its scheduled chapters, build a release.

A build without changes takes no longer than its imports. So the modules that scan a catalog and build a release, and
with them pydantic and the YAML reader, are imported in the functions below that need them.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from ..catalog import layout
from ..catalog.confined_folder import Folder
from ..release import transaction
from ..release.store import Store
from . import build_result, up_to_date
from .build_options import Options
from .build_result import BuildResult
from .cache import Cache
from .open_cache import Waiting, with_cache

if TYPE_CHECKING:
    from .new_release import Inspect, Progress
    from .scan import CatalogScan
    from .schedule import Schedule


def check(folder: Folder, as_of: int, jobs: int) -> "CatalogScan":
    """Read and check a catalog. Raises every problem."""
    from . import scan

    def work(cache: Cache) -> "CatalogScan":
        past = up_to_date.commit_times(folder, as_of, cache)
        catalog_scan = scan.read(folder, as_of, jobs, cache, past.times)
        catalog_scan.warnings += [*past.warnings, *catalog_scan.id_warnings()]
        return catalog_scan

    return with_cache(None, lambda: None, work)


def schedule(
    folder: Folder, as_of: int, jobs: int, *, every: bool, cache: Path | None = None, waiting: Waiting = lambda: None
) -> "Schedule":
    """When the next chapter is due, and with `every` all scheduled chapters. Raises every problem of the catalog.

    The cache is read and not changed: its facts must be those of the last build.
    """
    from . import scan
    from .schedule import Schedule, scheduled

    def work(opened: Cache) -> Schedule:
        past = up_to_date.commit_times(folder, as_of, opened)
        catalog_scan = scan.read(folder, as_of, jobs, opened, past.times)
        chapters = scheduled(catalog_scan, opened) if every else []
        return Schedule(catalog_scan.next_publication, chapters, past.warnings)

    return with_cache(cache if cache and cache.is_dir() else None, waiting, work)


def build(
    options: Options,
    waiting: Waiting = lambda: None,
    progress: "Progress | None" = None,
    inspect: "Inspect | None" = None,
) -> BuildResult:
    """Bring `out` and the main configuration file up to date with the catalog.

    `inspect` is called with the finished release before `out` is unlocked.
    """

    def work(cache: Cache) -> BuildResult:
        store = Store(options.out, preview=options.preview)
        store.refuse_other_kind()
        past = options.past or up_to_date.commit_times(options.catalog, options.as_of, cache)
        inputs = up_to_date.fingerprint(options, past.times)
        last = None if options.previous else up_to_date.last_result(options, inputs, cache)
        result = build_result.load_unchanged(last) if last else None
        if not result or inspect:
            from . import new_release

            if result and inspect:
                catalog_scan = new_release.scan_catalog(options, past, cache)
                with transaction.begin(store, waiting) as opened:
                    inspect(catalog_scan, cache, opened)
            else:
                result = new_release.build(options, store, past, inputs, cache, waiting, progress, inspect)
        result.warnings[:0] = build_result.warnings_of_git(options, past)
        return result

    # Before the folder of the cache is made: the command may be in the wrong folder.
    layout.existing(options.catalog)
    return with_cache(options.cache, waiting, work)
