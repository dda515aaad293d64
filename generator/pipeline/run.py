"""The glue: source -> facts -> series, one after the other -> lists of them -> nginx -> store."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .. import filesystem
from ..catalog import git, layout, loopback
from ..catalog.confined_folder import Folder
from ..catalog.site_settings import Site
from ..errors import Problem
from ..escaping import escaped
from ..nginx import config as nginx
from ..release import transaction
from ..release.manifest_reader import ManifestReader
from ..release.store import Store
from ..release.transaction import Transaction
from . import removals, scan, up_to_date
from .cache import Cache
from .open_cache import Waiting, with_cache
from .release_builder import Progress, ReleaseBuilder, unwatched
from .removals import Removals
from .scan import CatalogScan
from .schedule import Schedule, scheduled
from .segments import PreparedRelease, Segments

# Looks at the catalog and the release that were just built, for example to collect the data of a report.
Inspect = Callable[[CatalogScan, Cache, Transaction], None]


@dataclass(frozen=True, slots=True)
class Options:
    """What a build is told from outside, the clock included."""

    catalog: Folder
    out: Path
    nginx: Path
    as_of: int
    previous: Path | None = None
    jobs: int = 1
    # Where is kept what a build remembers for the next one; without it, every build is the first.
    cache: Path | None = None
    # Serve from where `out` is, whatever site.yaml says of the server.
    local: bool = False
    # In place of site.yaml's.
    base_url: str | None = None
    # When files changed, where it is known; without it, git is asked.
    past: git.FileTimes | None = None
    # How much of what the release before published may be gone, in percent; any share if nothing is said.
    max_removed: int | None = None


@dataclass(slots=True)
class BuildResult:
    """What a build did."""

    site: Site
    dist: str
    release: str
    changes: dict[str, int]
    # Series with a body that was added, changed or removed.
    changed_series: list[str]
    resources: int
    written: int
    # How many files of series had to be parsed.
    parsed: int
    next_publication: int | None
    warnings: list[str] = field(default_factory=list)
    # Those that have a place in a file.
    located: list[Problem] = field(default_factory=list)
    # Series and chapters that the release before published.
    removed: Removals = field(default_factory=Removals)
    conf_written: bool = False


def check(folder: Folder, as_of: int, jobs: int) -> CatalogScan:
    """What there is to know of a catalog, or every problem of it."""

    def look(cache: Cache, _: Path) -> CatalogScan:
        past = up_to_date.past(folder, as_of, cache)
        found = scan.read(folder, as_of, jobs, cache, past.times)
        found.warnings += past.warnings
        return found

    return with_cache(None, lambda: None, look)


def schedule(
    folder: Folder, as_of: int, jobs: int, *, every: bool, cache: Path | None = None, waiting: Waiting = lambda: None
) -> Schedule:
    """What the next builds publish, or every problem of the catalog.

    What was remembered is made use of, and nothing added: a build would believe that it had seen this itself.
    """

    def look(cache: Cache, _: Path) -> Schedule:
        past = up_to_date.past(folder, as_of, cache)
        found = scan.read(folder, as_of, jobs, cache, past.times)
        return Schedule(found.next_publication, scheduled(found, cache) if every else [], past.warnings)

    return with_cache(cache if cache and cache.is_dir() else None, waiting, look)


def build(
    options: Options,
    waiting: Waiting = lambda: None,
    progress: Progress = unwatched,
    inspect: Inspect | None = None,
) -> BuildResult:
    """Bring `out` and the main configuration file to what the catalog says.

    `inspect` is called with the finished release while no other build can replace it.
    """

    def work(cache: Cache, scratch: Path) -> BuildResult:
        asked = up_to_date.Asked(options.catalog, options.out, options.nginx, options.local, options.base_url)
        past = options.past or up_to_date.past(options.catalog, options.as_of, cache)
        if not options.previous and (done := up_to_date.done(asked, options.as_of, past.times, cache)):
            if inspect:
                found = _read(options, cache, past.times)
                with transaction.begin(Store(options.out), waiting) as session:
                    inspect(found, cache, session)
            return _same(done, _of_dates(options, past))
        seen = up_to_date.seen(asked, past.times)
        found = _read(options, cache, past.times)
        # Whatever may be refused is looked at before anything is touched.
        conf = main_conf(options, found.linker.site)
        # With another release to compare with, before there is a folder to build into.
        removed = _refused(options, found, cache)
        with ManifestReader(options.previous) as previous, transaction.begin(Store(options.out), waiting) as session:
            building, sealed = release(options, found, cache, scratch, session, previous, progress)
            # While no other build can write the same file.
            told = _report(options, found, building, sealed, conf, cache)
            told.removed = removed or building.removals
            if inspect:
                inspect(found, cache, session)
        if not options.previous:
            up_to_date.remember(asked, seen, found, _facts(told), cache)
        told.warnings[:0] = _of_dates(options, past)
        return told

    return with_cache(options.cache, waiting, work)


def _refused(options: Options, found: CatalogScan, cache: Cache) -> Removals | None:
    """What is no longer published of the release whose manifest was given, if it is not too much."""
    if not options.previous:
        return None
    with ManifestReader(options.previous) as previous:
        return removals.allowed(found, cache, previous, found.places, options.max_removed)


def _read(options: Options, cache: Cache, times: Mapping[str, int]) -> CatalogScan:
    return scan.read(options.catalog, options.as_of, options.jobs, cache, times, options.base_url)


def _report(
    options: Options, found: CatalogScan, building: ReleaseBuilder, sealed: PreparedRelease, conf: bytes, cache: Cache
) -> BuildResult:
    """Write the main configuration file as well, and tell what has become of it all."""
    site = found.linker.site
    # A main file for a server elsewhere is not replaced by one for here.
    foreign = options.local and site.server_folder
    return BuildResult(
        site=site,
        dist=dist_in_conf(options, site),
        release=sealed.release,
        changes=dict(building.counts),
        changed_series=sorted(building.changed_series),
        resources=building.counts.total() - building.counts["removed"],
        written=building.written,
        parsed=found.parsed,
        next_publication=found.next_publication,
        warnings=[
            *_warnings(options, site, building.unknown),
            *_big_bodies(options, building),
            *_unkept(options, cache),
        ],
        located=found.located,
        conf_written=not foreign and filesystem.write_if_changed(options.nginx, conf),
    )


def release(
    options: Options,
    found: CatalogScan,
    cache: Cache,
    scratch: Path,
    session: Transaction,
    previous: ManifestReader,
    progress: Progress,
) -> tuple[ReleaseBuilder, PreparedRelease]:
    """Make the next release of a store the one that is served."""
    with filesystem.PartialFile(scratch / "runs") as aside, Segments(aside) as runs:
        building = ReleaseBuilder(
            found=found,
            cache=cache,
            session=session,
            runs=runs,
            dist=dist_in_conf(options, found.linker.site),
            jobs=options.jobs,
            previous=previous if options.previous else None,
            max_removed=options.max_removed,
        )
        sealed = building.seal(progress)
        building.commit(sealed)
        return building, sealed


def main_conf(options: Options, site: Site) -> bytes:
    dist = dist_in_conf(options, site)
    ipv6 = "[::]" if site.ipv6 else ""
    return nginx.main_conf(site.port, ipv6=ipv6, folder=f"{dist}/current", run=f"{dist}/run")


def dist_in_conf(options: Options, site: Site) -> str:
    """How the configuration names `out`: from its own folder where it can, so that both can be moved together."""
    if site.server_folder and not options.local:
        return f"{site.server_folder}/{options.out.name}"
    out, folder = options.out.resolve(), options.nginx.resolve().parent
    return str(out.relative_to(folder)) if out.is_relative_to(folder) else str(out)


def _of_dates(options: Options, past: git.FileTimes) -> list[str]:
    shallow = f"{options.catalog}: is a shallow git clone, so every file seems as new as its last commit; fetch it all"
    return [*past.warnings, *[shallow] * past.is_shallow]


def _warnings(options: Options, site: Site, unknown: int) -> list[str]:
    found = []
    if not options.local and loopback.is_loopback(site.base_url):
        found.append(
            f"{options.catalog / layout.SITE}: base_url is {site.base_url}, which only this machine reaches; "
            "write the address of the site there before it is published"
        )
    if unknown:
        chapters = "1 chapter has no id and is" if unknown == 1 else f"{unknown} chapters have no id and are"
        found.append(f"{options.catalog}: {chapters} missing from /api/v2; `python build.py ids` changes that")
    return found


def _big_bodies(options: Options, building: ReleaseBuilder) -> list[str]:
    limit = f"the {building.linker.site.body_budget} of body_budget in {options.catalog / layout.SITE}"
    big = (one for _, kept in building.runs.in_order() for one in kept.counted.big)
    return [f"{url}: has {size / (1 << 20):.1f} MiB, more than {limit}" for url, size in big]


def _unkept(options: Options, cache: Cache) -> list[str]:
    if options.cache and cache.folder != options.cache:
        return [f"{options.cache}: is no place to remember anything; every build is the first"]
    return []


def _facts(report: BuildResult) -> dict[str, object]:
    """A report as it can be kept, for a build that finds nothing to do."""
    facts = {name: getattr(report, name) for name in ("dist", "release", "resources", "next_publication")}
    # UTF-8 has no bytes for half a character, which the name of a folder may hold.
    warnings = list(map(escaped, report.warnings))
    located = [replace(one, file=escaped(one.file)) for one in report.located]
    return {**facts, "site": report.site.to_values(), "warnings": warnings, "located": located}


def _same(facts: dict[str, Any], of_dates: list[str]) -> BuildResult:
    """What is said of a build that found nothing to do."""
    changes = {"added": 0, "changed": 0, "removed": 0, "unchanged": facts["resources"]}
    site = Site.model_validate(facts["site"])
    warnings, located = of_dates + facts["warnings"], [Problem(**one) for one in facts["located"]]
    known = {**facts, "site": site, "warnings": warnings, "located": located}
    return BuildResult(**known, changes=changes, changed_series=[], written=0, parsed=0)
