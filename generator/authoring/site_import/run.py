"""Import a site: request its responses, make records, merge them with the catalog, write the files."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ... import encoding, filesystem
from ...catalog import confined_folder
from ...catalog.confined_folder import Folder
from ...catalog.layout import SITE
from ...catalog.load import load_valid
from ...catalog.problems import locate
from ...catalog.reader import Sources
from ...errors import FlatpanelError
from ...http_client import REQUEST_SECONDS
from ...server_url import ServerUrl
from . import interpret, three_way_merge, unavailable
from .catalog_files import CatalogFiles
from .crawl import Crawler, Progress, crawl
from .imported import Imported
from .notes import Notes
from .response_cache import ResponseCache, folder_of
from .responses import ParsedBodies
from .site_client import MAX_RESPONSE, SiteClient
from .three_way_merge import FILES, Merge

# The memory of all records of a site, as a multiple of the largest response.
_RECORDS = 4
_ORDER = (SITE, *FILES.values())


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """The parameters of an import, including the clock."""

    site: ServerUrl
    catalog: Folder
    cache: Path
    now: int
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    key: str | None = None
    rate: float = 4.0
    dry: bool = False
    # Deadline of one request, and the MiB of its response.
    timeout: float = REQUEST_SECONDS
    max_response: int = MAX_RESPONSE


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The files that were written, or would be in a dry run, and the notes."""

    counts: dict[str, int]
    files: list[str]
    notes: list[str]
    requests: int


def run(options: ImportOptions, progress: Progress = lambda share: None) -> ImportResult:
    """Create a catalog from a site, or update it."""
    notes = Notes()
    _check_catalog(options.catalog)
    folder = folder_of(options.cache, str(options.site))
    with filesystem.exclusive(folder):
        cache = ResponseCache(folder, options.now)
        max_bytes = options.max_response << 20
        client = SiteClient(options.site, options.clock, options.sleep, 1 / options.rate, options.timeout, max_bytes)
        crawler = Crawler(client, ParsedBodies(cache, max_bytes), notes, options.key, progress)
        try:
            crawl(crawler)
            cache.complete()
        finally:
            client.close()
        read = partial(
            interpret.read,
            crawler.responses,
            crawler.slugs,
            options.site.origin,
            options.now,
            notes,
            _RECORDS * max_bytes,
        )
        if options.dry:
            update = _checked_update(options.catalog, read, cache, notes)
        else:
            filesystem.make_folder(Path(options.catalog))
            with filesystem.exclusive(options.catalog):
                update = _checked_update(options.catalog, read, cache, notes)
                for file in sorted(update.files, key=_rank):
                    confined_folder.of(options.catalog).write(file, update.files[file])
            cache.finish(str(Path(options.catalog).resolve()), update.saved)
    return ImportResult(update.counts, list(update.files), list(notes), client.requests)


@dataclass(frozen=True, slots=True)
class _Update:
    """The number of changes, the files to write, the names of the existing files, and JSON for the next import."""

    counts: dict[str, int]
    files: dict[str, bytes]
    existing: list[str]
    saved: bytes


def _checked_update(catalog: Folder, read: Callable[[], Imported], cache: ResponseCache, notes: Notes) -> _Update:
    """Return the update, after a check of the catalog that it results in."""
    update = _update(catalog, read, cache, notes)
    with filesystem.scratch_folder() as folder:
        for file in {*update.existing, *update.files}:
            filesystem.write_if_changed(folder / file, update.files.get(file) or locate.text(catalog, file))
        load_valid(folder, catalog)
    return update


def _update(catalog: Folder, read: Callable[[], Imported], cache: ResponseCache, notes: Notes) -> _Update:
    """Return the unchecked update. The records of the site are local: the check needs their memory."""
    imported, last = read(), cache.imported(str(Path(catalog).resolve()))
    sources, merged_with = Sources(), {}
    if _has_files(catalog):
        sources, merged_with = load_valid(catalog), last
        _refuse_lost_lists(three_way_merge.lost_paths(imported, last), cache)
    plan = Merge(sources, imported, merged_with, notes).merged()
    files = CatalogFiles(sources, plan, lambda file: locate.text(catalog, file), notes).build()
    saved = encoding.json(three_way_merge.saved(imported, last))
    return _Update(plan.counts, files, list(sources.mtimes), saved)


def _refuse_lost_lists(lost: Iterable[str], cache: ResponseCache) -> None:
    """Refuse to merge without a list that the last import had: all of its entries would seem deleted."""
    lists = unavailable.lists(lost)
    for path in lists:
        cache.forget(path)
    if lists:
        raise FlatpanelError(
            f"{lists[0]}: available at the last import, but not now; nothing was "
            "written. Import again later, or with the same API key"
        )


def _check_catalog(catalog: Folder) -> None:
    """Refuse a catalog that cannot be written or is invalid, before the requests begin."""
    if os.path.exists(catalog) and not os.path.isdir(catalog):
        raise FlatpanelError(f"{catalog}: not a folder")
    if _has_files(catalog):
        load_valid(catalog)


def _has_files(catalog: Folder) -> bool:
    return os.path.isdir(catalog) and any(not name.startswith(".") for name in os.listdir(catalog))


def _rank(file: str) -> int:
    """Lists are written before the series that reference them: an interrupted import leaves a valid catalog."""
    return _ORDER.index(file) if file in _ORDER else len(_ORDER)
