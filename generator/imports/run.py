"""Import a site or a database: read the sources, make records, merge them with the catalog, write the files."""

import os
import shlex
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .. import filesystem
from ..catalog import confined_folder, layout, unfinished_import
from ..catalog.confined_folder import Folder
from ..catalog.layout import SITE
from ..catalog.problems import locate
from ..catalog.problems.load import load_valid
from ..catalog.reader import Sources
from ..catalog.site_settings import Site
from ..errors import FlatpanelError, counted
from ..reading_sites.crawl import Crawler, Progress, crawl
from ..reading_sites.lenient import fields
from ..reading_sites.notes import Notes
from ..reading_sites.response_cache import PRIVATE, ResponseCache
from ..reading_sites.responses import ParsedBodies
from ..reading_sites.site_client import MAX_RESPONSE, SiteClient
from ..server_url import REQUEST_SECONDS, ServerUrl
from . import combine, last_imports, merge_catalog, renamed_here, unavailable
from .catalog_files import CatalogFiles
from .database import records, source
from .database.accounts import AccountData
from .keep_out_of_git import keep_out_of_git
from .last_imports import Memories, Saved, refuse_own_site
from .merge import ACCOUNTS, FILES, Choice, Merge, refuse_differences, refuse_missing_ids
from .records import Imported
from .site import source as site_source
from .spilled import Spilled, spilled_records, spills_pages

# The memory of all records of a site, as a multiple of the largest response.
_RECORDS = 4
# Seconds of an import that is announced.
_LONG = 600
_ORDER = (SITE, *FILES.values())


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """The parameters of an import, including the clock."""

    # None if there is a database.
    site: ServerUrl | None
    catalog: Folder
    cache: Path
    now: int
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    key: str | None = None
    rate: float = 2.5
    dry: bool = False
    choice: Choice = ""
    # Whether entries that the source has removed are removed from the catalog.
    removes: bool = False
    # Whether the site may be one of this program, although it seems to be made from the catalog.
    from_flatpanel: bool = False
    # Whether chapters are added whose ids the site does not publish.
    allows_missing_ids: bool = False
    # Deadline of one request, and the MiB of its response.
    timeout: float = REQUEST_SECONDS
    max_response: int = MAX_RESPONSE
    # The file with the database of the original service.
    database: Path | None = None
    # The base URL of a new catalog, if its only source is a database.
    base_url: str = ""
    # What is imported of the accounts in the database.
    accounts: AccountData = ""

    @property
    def sources(self) -> list[str]:
        """The arguments of the command line that name the sources."""
        site = [str(self.site)] if self.site else []
        return site + (["--from-database", str(self.database)] if self.database else [])

    @property
    def max_bytes(self) -> int:
        return self.max_response << 20


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The files that were written, or would be in a dry run, and the notes."""

    counts: dict[str, int]
    files: list[str]
    notes: list[str]
    requests: int
    # The notes on a screen, and the file with all of them.
    summary: list[str]
    report: Path


def run(
    options: ImportOptions, progress: Progress = lambda share: None, announce: Callable[[str], None] = lambda text: None
) -> ImportResult:
    """Create a catalog from a site, a database or both, or update it; `announce` is called if it takes long."""
    notes = Notes()
    _finish_last(options)
    settings = _settings(options.catalog)
    changes = source.changes(options.database) if options.database else {}
    memories = Memories.of(options.cache, options.catalog, options.site, options.database)
    with memories.locked(), ExitStack() as stack:
        crawler = _opened(options, memories.folder, notes, stack)
        if crawler:
            crawler.database, crawler.progress = changes, progress
            crawler.expect = partial(_expect, options, announce)
            if settings and not options.from_flatpanel:
                refuse_own_site(crawler, settings.base_url, memories)
            crawl(crawler)
            crawler.bodies.cache.complete()
        current = _Import(options, settings, memories, crawler, notes)
        if options.dry:
            update = current.checked_update()
        else:
            with filesystem.exclusive_new(Path(options.catalog)):
                update = current.checked_update()
                if options.accounts == "personal data":
                    keep_out_of_git(options.catalog, notes)
                if update.files.keys() - set(update.existing):
                    _write_schemas(options.catalog)
                files = update.files.in_order(sorted(update.files, key=_rank))
                unfinished_import.write(options.catalog, files)
            for memory, values in update.saved:
                memory.save(values)
            if crawler:
                crawler.bodies.cache.finish()
        report = _write_report(memories.folder, options, sorted(update.files), notes)
    requests = crawler.client.requests if crawler else 0
    return ImportResult(update.counts, list(update.files), list(notes), requests, notes.summary(), report)


def _opened(options: ImportOptions, folder: Path, notes: Notes, stack: ExitStack) -> Crawler | None:
    """Return the client and the cache of a site, if there is one."""
    if options.site is None:
        return None
    cache, max_bytes = ResponseCache(folder, options.now), options.max_bytes
    stack.callback(cache.close)
    client = SiteClient(options.site, options.clock, options.sleep, 1 / options.rate, options.timeout, max_bytes)
    stack.callback(client.close)
    # A database answers most notes about a site.
    crawler_notes = Notes() if options.database else notes
    return Crawler(client, ParsedBodies(cache, max_bytes), crawler_notes, options.key)


def _expect(options: ImportOptions, announce: Callable[[str], None], requests: int, chapters: int) -> None:
    """Refuse a site that is too large, and announce a long import, before the requests for each series."""
    site_source.refuse_large(str(options.site), chapters * site_source.CHAPTER, _RECORDS * options.max_bytes)
    seconds = requests / options.rate
    if seconds >= _LONG:
        time = f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"
        announce(f"about {counted(requests, 'request')} to go, {time}; an interrupted import resumes")


@dataclass(frozen=True, slots=True)
class _Update:
    """The number of changes, the files to write, the names of the existing files, JSON for next imports."""

    counts: dict[str, int]
    files: Spilled[bytes | None]
    existing: list[str]
    saved: Saved


@dataclass(frozen=True, slots=True)
class _Import:
    """An import whose requests are done."""

    options: ImportOptions
    # Of the catalog before the import.
    settings: Site | None
    memories: Memories
    crawler: Crawler | None
    notes: Notes

    def checked_update(self) -> _Update:
        """Return the update, after a check of the catalog that it results in."""
        try:
            update, catalog = self._update(), self.options.catalog
            with filesystem.scratch_folder() as folder:
                for file in {*update.existing, *update.files}:
                    text = update.files[file] if file in update.files else locate.text(catalog, file)
                    if text is not None:
                        filesystem.write_if_changed(folder / file, text)
                load_valid(folder, catalog, spills_pages())
        except FlatpanelError:
            self._forget_failures()
            raise
        return update

    def _forget_failures(self) -> None:
        """Let the next import request again what failed, or is empty: this one may be refused because of it."""
        if self.crawler:
            for path, response in self.crawler.responses.items():
                value = response.value
                if not response.understood or value == [] or fields(value).get("results") == []:
                    self.crawler.bodies.cache.forget(path)

    def _update(self) -> _Update:
        """Return the unchecked update. The records of the sources are local: the check needs their memory."""
        (imported, of_site), sources, catalog = self._read(), Sources(), self.options.catalog
        has_files = _has_files(catalog)
        if has_files:
            sources = load_valid(catalog, in_memory=spills_pages())
            for read in filter(None, (imported, of_site)):
                renamed_here.use_in_records(sources, read)
                for kind in read.new_ids:
                    read.use_ids(kind, self.memories.people(kind, sources, read.series.keys()))
        last = self.memories.last(sources, imported)
        if has_files:
            _refuse_lost_lists(last_imports.lost_paths(imported, last.merged))
        choice, removes = self.options.choice, self.options.removes
        before = spilled_records(last.merged if has_files else None)
        merge = Merge(sources, imported, before, self.notes, choice, removes)
        plan = merge_catalog.merged(merge)
        if has_files:
            refuse_differences(merge, str(catalog))
        if not self.options.allows_missing_ids:
            refuse_missing_ids(merge, shlex.join(self.options.sources))
        files = CatalogFiles(merge, lambda file: locate.text(catalog, file)).build()
        saved = self.memories.after(last, merge, of_site, sources)
        return _Update(plan.counts, files, list(sources.mtimes), saved)

    def _read(self) -> tuple[Imported, Imported | None]:
        """Return the records of the import, and those of its site alone if there is a database, too."""
        options, crawler, of_site = self.options, self.crawler, None
        if crawler:
            origin, limit = crawler.client.site.origin, _RECORDS * options.max_bytes
            of_site = site_source.read(crawler.responses, crawler.slugs, origin, options.now, crawler.notes, limit)
            if options.database is None:
                return of_site, None
        assert options.database
        with source.opened(options.database) as tables:
            if of_site is None or crawler is None:
                settings, base_url = self.settings, options.base_url
                alone = records.read_alone(tables, settings, base_url, options.now, self.notes, options.accounts)
                return alone, None
            media = records.media_url(of_site.site)
            of_database = records.read(tables, media, options.now, self.notes, options.accounts)
        return combine.combined(of_site, of_database, options.now, crawler.notes, self.notes), of_site


def _refuse_lost_lists(lost: Iterable[str]) -> None:
    """Refuse to merge without a list that the last import had: all of its entries would seem deleted."""
    if lists := unavailable.lists(lost):
        raise FlatpanelError(
            f"{lists[0]}: usable at the last import, but unavailable or empty now; nothing was "
            "written. Import again later, or with the same API key"
        )


def _write_report(folder: Path, options: ImportOptions, files: list[str], notes: Notes) -> Path:
    """Write the details into the cache folder of the source. Its mode is private: notes quote responses to keys."""
    title = f"import of {shlex.join(options.sources)} into {options.catalog}"
    names = "".join(f"  {file}\n" for file in files)
    text = f"{title}\n\nfiles ({len(files)})\n{names}{notes.details()}"
    report = folder / "report.txt"
    filesystem.write_if_changed(report, text.encode(errors="backslashreplace"), PRIVATE)
    return report


def _write_schemas(catalog: Folder) -> None:
    """Write the JSON schemas that the first line of each new file names."""
    # Imported here because it is slow.
    from ..catalog import json_schema

    for name, text in json_schema.files().items():
        confined_folder.of(catalog).write(f"{layout.SCHEMAS}/{name}", text)


def _finish_last(options: ImportOptions) -> None:
    """Write the files that an interrupted import has not written; a dry run refuses."""
    if options.dry:
        unfinished_import.refuse(options.catalog)
    elif os.path.isdir(options.catalog):
        with filesystem.exclusive(options.catalog):
            unfinished_import.finish(options.catalog)


def _settings(catalog: Folder) -> Site | None:
    """Return the settings of a catalog, which is refused if it is invalid or cannot be written."""
    if os.path.exists(catalog) and not os.path.isdir(catalog):
        raise FlatpanelError(f"{catalog}: not a folder")
    return load_valid(catalog, in_memory=spills_pages()).site if _has_files(catalog) else None


def _has_files(catalog: Folder) -> bool:
    return os.path.isdir(catalog) and any(not name.startswith(".") for name in os.listdir(catalog))


def _rank(file: str) -> int:
    """Lists are written before the series that reference them, and accounts after the series that they bookmark."""
    return _ORDER.index(file) if file in _ORDER else len(_ORDER) + (file == ACCOUNTS)
