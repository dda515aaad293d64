"""The glue: source -> catalog -> routes -> encode -> nginx -> store."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from . import checks, encode, history, manifest, nginx, places, source
from .artifact import JSON, File, Published
from .catalog import Catalog
from .disk import write_if_changed
from .errors import CatalogError
from .link import link
from .manifest import UNNAMED, Manifest
from .model import Site
from .nginx import Answers
from .routes import deprecated_pages, gates, resources
from .store import Session, Store


@dataclass(frozen=True, slots=True)
class Options:
    """What a build is told from outside, the clock included."""

    catalog: Path
    out: Path
    nginx: Path
    as_of: int
    previous: Path | None = None
    jobs: int = 1
    # Serve from where `out` is, whatever site.yaml says of the server.
    local: bool = False


@dataclass(slots=True)
class Report:
    """What a build did."""

    site: Site
    dist: str
    release: str
    changes: Counter[str]
    resources: int
    written: int
    next_publication: int | None
    warnings: list[str] = field(default_factory=list)
    conf_written: bool = False


@dataclass(slots=True)
class _Plan:
    """A release that is known to the last byte and not yet visible."""

    release: str
    files: list[File]
    published: list[Published]
    written: int


Progress = Callable[[Iterator[Published]], Iterator[Published]]


def read_catalog(folder: Path, as_of: int, jobs: int = 1) -> Catalog:
    """The catalog, or every problem of it."""
    sources = source.read(folder, jobs)
    complaints = sources.complaints + checks.complaints(sources)
    if complaints:
        raise CatalogError(places.located(folder, complaints))
    times = sources.mtimes | history.last_commits(folder, now=as_of)
    return link(sources, times, as_of)


def build(options: Options, waiting: Callable[[], None] = lambda: None, progress: Progress = iter) -> Report:
    """Bring `out` and the main configuration file to what the catalog says."""
    catalog = read_catalog(options.catalog, options.as_of, options.jobs)
    conf = main_conf(options, catalog.site)
    # A main file for a server elsewhere is not replaced by one for here.
    foreign = options.local and catalog.site.server_folder
    continued = _continued(options)
    with Store(options.out).locked(waiting) as session:
        before = session.served
        plan = _plan(options, catalog, continued or before, session, progress)
        session.commit(plan.release, plan.files)
    return Report(
        site=catalog.site,
        dist=dist_in_conf(options, catalog.site),
        release=plan.release,
        changes=_changes(before, plan.published),
        resources=len(plan.published),
        written=plan.written,
        next_publication=catalog.next_publication,
        warnings=_warnings(options, catalog),
        conf_written=not foreign and write_if_changed(options.nginx, conf),
    )


def outdated(options: Options) -> list[str]:
    """What a build would change, in sentences; nothing is written."""
    catalog = read_catalog(options.catalog, options.as_of, options.jobs)
    store = Store(options.out)
    before = store.manifest(store.current())
    plan = _plan(options, catalog, _continued(options) or before, None, iter)
    found = []
    if store.current() is None:
        found.append(f"{options.out}: nothing has been built yet")
    elif plan.release != store.current():
        changes = _changes(before, plan.published)
        counted = [f"{changes[kind]} {kind}" for kind in ("added", "changed", "removed") if changes[kind]]
        found.append(
            f"{options.out}: is not what the catalog gives: {', '.join(counted) or 'the configuration differs'}"
        )
    conf = main_conf(options, catalog.site)
    if not options.nginx.is_file() or options.nginx.read_bytes() != conf:
        found.append(f"{options.nginx}: is not what {options.catalog / source.SITE} gives")
    return found


def main_conf(options: Options, site: Site) -> bytes:
    dist = dist_in_conf(options, site)
    return nginx.main(site.port, folder=f"{dist}/current", run=f"{dist}/run")


def dist_in_conf(options: Options, site: Site) -> str:
    """How the configuration names `out`: from its own folder where it can, so that both can be moved together."""
    if site.server_folder and not options.local:
        return f"{site.server_folder}/{options.out.name}"
    out, folder = options.out.resolve(), options.nginx.resolve().parent
    return str(out.relative_to(folder)) if out.is_relative_to(folder) else str(out)


def _continued(options: Options) -> Manifest | None:
    """What was published before, where it does not lie in `out`."""
    path = options.previous
    return manifest.load(path.read_bytes(), str(path)) if path else None


def _plan(options: Options, catalog: Catalog, older: Manifest, session: Session | None, progress: Progress) -> _Plan:
    """Encode everything, put new bodies into the session if there is one, and give the release its name."""
    written = 0

    def publish() -> Iterator[Published]:
        nonlocal written
        for resource in resources(catalog):
            body = encode.body(resource.shown.json)
            packed = encode.gzip(body) if resource.type == JSON else _packed_once(body)
            one = manifest.publish(resource, body, packed, older, options.as_of)
            if session:
                written += session.put(one, body, packed)
            yield one

    published = sorted(progress(publish()), key=lambda one: one.url)
    dist = dist_in_conf(options, catalog.site)
    answers = Answers(published, list(gates(catalog)), dict(deprecated_pages(catalog)), catalog.keys)
    files = nginx.release_files(answers, catalog.site, dist=dist, folder=f"{dist}/releases/{UNNAMED}")
    text = manifest.dump(published, files, max(older.highest_id, catalog.highest_id))
    release = manifest.release_id(text)
    files = [*(manifest.named(one, release) for one in files), File("manifest.json", text)]
    return _Plan(release, files, published, written)


@lru_cache(maxsize=8)
def _packed_once(body: bytes) -> bytes | None:
    """What comes with the program never changes, and is most of the bytes of a small site."""
    return encode.gzip(body)


def _changes(before: Manifest, published: list[Published]) -> Counter[str]:
    found = Counter({"added": 0, "changed": 0, "removed": 0, "unchanged": 0})
    for one in published:
        old = before.resources.get(one.url)
        found["added" if old is None else "unchanged" if old.etag == one.etag else "changed"] += 1
    found["removed"] = len(before.resources) - found["unchanged"] - found["changed"]
    return found


def _warnings(options: Options, catalog: Catalog) -> list[str]:
    found = []
    if history.is_shallow(options.catalog):
        found.append(
            f"{options.catalog}: is a shallow git clone, so every file seems as new as its last commit; fetch it all"
        )
    if lacking := len(catalog.without_id):
        chapters = "1 chapter has no id and is" if lacking == 1 else f"{lacking} chapters have no id and are"
        found.append(f"{options.catalog}: {chapters} missing from /api/v2; `python build.py ids` changes that")
    return found
