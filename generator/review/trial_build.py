"""Build a catalog into a temporary folder: to see what a build would change, and to get files from it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar

from ..catalog import layout
from ..catalog.site_settings import Site
from ..pipeline import run, scan, up_to_date
from ..pipeline.build_options import Options, main_conf
from ..pipeline.cache import Cache
from ..pipeline.open_cache import with_cache
from ..pipeline.release_builder import no_progress
from ..release import transaction
from ..release.changes import KINDS, url_changes
from ..release.manifest import Manifest
from ..release.manifest_reader import ManifestReader, refuse_damaged
from ..release.store import Store
from . import verify_files

T = TypeVar("T")


class TrialRelease(NamedTuple):
    """A release in a temporary store, built as if it were made in `out`."""

    store: Store
    release: str
    site: Site
    warnings: list[str]


def build_trial(options: Options, look: Callable[[TrialRelease], T]) -> T:
    """Build into a temporary folder without a cache, and return the result of `look`."""

    def work(cache: Cache, scratch: Path) -> T:
        past = up_to_date.commit_times(options.catalog, options.as_of, cache)
        found = scan.read(options.catalog, options.as_of, options.jobs, cache, past.times)
        there = Store(scratch / "dist")
        with ManifestReader(options.previous) as previous, transaction.begin(there, lambda: None) as session:
            _, sealed = run.release(options, found, cache, scratch, session, previous, no_progress)
        return look(TrialRelease(there, sealed.id, found.linker.site, past.warnings))

    return with_cache(None, lambda: None, work)


def outdated(options: Options, warn: Callable[[str], None]) -> list[str]:
    """What a build would change, and what is missing of the current release or has another size, in sentences."""
    store = Store(options.out)
    current = store.current()
    refuse_damaged(options.out)
    asked = replace(options, previous=options.previous or store.manifest_path(current), cache=None)
    made, wanted = build_trial(asked, lambda made: (made, made.store.manifest(made.release)))
    for sentence in made.warnings:
        warn(sentence)
    found = list(map(str, verify_files.size_faults(store))) if current else []
    if current is None:
        found.append(f"{options.out}: nothing has been built yet")
    elif made.release != current:
        found.append(f"{options.out}: is not what the catalog gives: {_difference(store.manifest(current), wanted)}")
    if not options.nginx.is_file() or options.nginx.read_bytes() != main_conf(options, made.site):
        found.append(f"{options.nginx}: is not what {options.catalog / layout.SITE} gives")
    return found


def _difference(before: Manifest, after: Manifest) -> str:
    counts = url_changes(before.resources, after.resources).counts
    return ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind]) or "the configuration differs"
