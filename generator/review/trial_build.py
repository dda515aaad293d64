"""Build a catalog into a temporary folder, to see what a build would change or to get files from it."""

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar

from .. import filesystem
from ..catalog.site_settings import Site
from ..errors import counted
from ..pipeline import scan, up_to_date
from ..pipeline.build_options import Options
from ..pipeline.cache import Cache
from ..pipeline.main_conf import main_conf
from ..pipeline.new_release import ReleaseBuilder
from ..pipeline.open_cache import with_cache
from ..release import transaction
from ..release.changes import KINDS, differences
from ..release.manifest_reader import ManifestReader, refuse_damaged
from ..release.store import Store
from . import verify_files

T = TypeVar("T")


class TrialRelease(NamedTuple):
    """A release in a temporary store, with the same bytes as a build into `out`."""

    store: Store
    release: str
    site: Site
    warnings: list[str]


def build_trial(options: Options, inspect: Callable[[TrialRelease], T], older: Iterable[Path] = ()) -> T:
    """Build into a temporary folder without a cache, and return the result of `inspect`.

    `older` are manifests, from the oldest on, whose ids the build continues besides those of `options.previous`.
    """

    def work(cache: Cache) -> T:
        past = up_to_date.commit_times(options.catalog, options.as_of, cache)
        catalog_scan = scan.read(options.catalog, options.as_of, options.jobs, cache, past.times)
        with filesystem.scratch_folder() as scratch:
            store = Store(scratch / "dist")
            with ExitStack() as readers, transaction.begin(store, lambda: None) as opened:
                previous = readers.enter_context(ManifestReader(options.previous))
                manifests = [readers.enter_context(ManifestReader(path)) for path in older]
                builder = ReleaseBuilder(options, catalog_scan, cache, opened, previous, manifests)
                prepared = builder.prepare()
                builder.commit(prepared)
            return inspect(TrialRelease(store, prepared.id, catalog_scan.linker.site, past.warnings))

    return with_cache(None, lambda: None, work)


def outdated(options: Options, warn: Callable[[str], None]) -> list[str]:
    """Sentences about what a build would change, and about missing or truncated files of the current release."""
    store = Store(options.out)
    store.refuse_other_kind()
    current = store.current()
    refuse_damaged(options.out)
    previous = options.previous or store.manifest_path(current)
    trial, change, rewritten = build_trial(
        replace(options, previous=previous, cache=None),
        lambda trial: (trial, _change(store.manifest_path(current), trial), _rewritten(options, trial)),
        # Also those of the current release, which `--previous` replaces only as the source of dates.
        filter(None, map(store.manifest_path, [*reversed(store.older()), current])),
    )
    for sentence in trial.warnings:
        warn(sentence)
    sized = {str(fault.path): str(fault) for fault in verify_files.size_faults(store)} if current else {}
    sentences = [*sized.values(), *(f"{path}: a build would rewrite it" for path in rewritten if path not in sized)]
    if current is None:
        sentences.append(f"{options.out}: nothing has been built yet; run the command `build` first")
    elif trial.release != current:
        sentences.append(f"{options.out}: is out of date: a build would change {change}")
    if not options.nginx.is_file() or options.nginx.read_bytes() != main_conf(options, trial.site):
        sentences.append(f"{options.nginx}: is out of date: a build would rewrite it")
    return sentences


def _rewritten(options: Options, trial: TrialRelease) -> list[str]:
    """The files of the current release that a build without a cache would write again, if it is the same release."""
    if (options.cache and options.cache.exists()) or trial.release != Store(options.out).current():
        return []
    paths = [file.path for file in verify_files.retained_releases(trial.store).files()]
    read = filesystem.read_regular
    return [f"{options.out}/{path}" for path in paths if read(options.out / path) != read(trial.store.root / path)]


def _change(current: Path | None, trial: TrialRelease) -> str:
    with ManifestReader(current) as before, ManifestReader(trial.store.manifest_path(trial.release)) as after:
        counts = Counter(difference.kind for difference in differences(before, after))
    changed = {kind: counts[kind] for kind in KINDS if counts[kind]}
    total = sum(changed.values())
    if not total:
        return "the configuration"
    return f"{counted(total, 'URL')} ({', '.join(f'{count:,} {kind}' for kind, count in changed.items())})"
