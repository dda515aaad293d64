"""What the last imports into a catalog saved, in the cache folder of each source.

A catalog may have several sources: a site, and the database of that site. Each source has a memory of its own: a field
changed at the source if it differs from that memory. The memory of all sources has the values that imports wrote:
people edited a field if the catalog differs from it. So an import of a site keeps the facts that only the database
has, and neither source takes a value of the other for an edit.
"""

import os
from collections.abc import Iterator, Set
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from .. import encoding, filesystem
from ..catalog import field_values
from ..catalog.confined_folder import Folder
from ..catalog.reader import Sources
from ..errors import FlatpanelError
from ..reading_sites.crawler import Crawler
from ..reading_sites.lenient import Fields, entries
from ..reading_sites.response_cache import PRIVATE, make, path_of
from ..reading_sites.responses import OPENAPI
from ..server_url import ServerUrl
from . import last_import
from .merge_plan import MergeState
from .records import Imported
from .spilled import spilled_records

# These have a folder in the cache, as each URL of a site has.
_DATABASE, _ALL = "database", "all sources"


@dataclass(frozen=True, slots=True)
class ImportMemory:
    """The last import from one source into a catalog. Its name is relative: it stays valid if the project moves."""

    # The cache folder of the source.
    folder: Path
    catalog: Folder

    @property
    def name(self) -> str:
        return os.path.relpath(Path(self.catalog).resolve(), self.folder.resolve())

    def last(self, sources: Sources) -> Fields:
        """Return what the last import saved; nothing if that was about another catalog, with other series."""
        last = self.saved()
        slugs = {series.slug for series in sources.series}
        return last if not slugs or slugs & last.get("series", {}).keys() else {}

    def saved(self) -> Fields:
        """Return what the last import saved."""
        # Earlier versions used absolute names.
        return self._saved(self.name) or self._saved(str(Path(self.catalog).resolve()))

    def save(self, imported: Fields) -> None:
        """Replace what the last import saved: a line for the chapters of each series, then one for all else."""
        make(self.folder)
        rest = {self.name: {name: value for name, value in imported.items() if name != "chapters"}}
        lines = (encoding.json(value) + b"\n" for value in chain(imported["chapters"].items(), [rest]))
        filesystem.replace(self._file(self.name), lines, mode=PRIVATE)

    def _saved(self, name: str) -> Fields:
        """Return what an import saved under a name; empty if there is none, or if it is damaged."""
        with suppress(ValueError, TypeError, LookupError, FileNotFoundError), self._file(name).open("rb") as lines:
            chapters = spilled_records()
            for value in map(encoding.parse, lines):
                if isinstance(value, dict):
                    # Earlier versions saved the chapters here, too.
                    return {"chapters": chapters, **value[name]}
                slug, of_series = value
                chapters[slug] = of_series
        return {}

    def _file(self, name: str) -> Path:
        return self.folder / f"imported-{encoding.digest(name.encode())}.json"


# Each memory with the values for it.
Saved = list[tuple[ImportMemory, Fields]]


@dataclass(frozen=True, slots=True)
class LastImport:
    """The last import from a source, that from all sources, and both together as the merge needs them."""

    own: Fields
    every: Fields
    merged: Fields


@dataclass(frozen=True, slots=True)
class Memories:
    """The memories that an import reads and writes.

    An import of a database continues the last import of any database into the catalog: copies of a database have
    other names each time.
    """

    of_site: ImportMemory | None
    of_database: ImportMemory | None
    # Of all sources; exists since the first import of a database.
    of_all: ImportMemory

    @classmethod
    def of(cls, cache: Path, catalog: Folder, site: ServerUrl | None, database: Path | None) -> "Memories":
        of_site = ImportMemory(make(path_of(cache, str(site))), catalog) if site else None
        of_database = ImportMemory(make(path_of(cache, _DATABASE)), catalog) if database else None
        return cls(of_site, of_database, ImportMemory(path_of(cache, _ALL), catalog))

    @property
    def folder(self) -> Path:
        """The folder of the responses and of the report."""
        return (self.of_site or self.of_database or self.of_all).folder

    @contextmanager
    def locked(self) -> Iterator[None]:
        with ExitStack() as stack:
            for memory in filter(None, (self.of_site, self.of_database)):
                stack.enter_context(filesystem.exclusive(memory.folder))
            yield

    def last(self, sources: Sources, imported: Imported) -> LastImport:
        """Return the import that this one continues."""
        memory = self.of_database or self.of_site or self.of_all
        own, every = memory.last(sources), self.of_all.last(sources)
        slugs = imported.series.keys()
        if self.of_database and not every:
            every = self._of_any_site(sources, slugs)
        if 2 * len(slugs & every.get("series", {}).keys()) < len(slugs):
            every = {}  # of another site
        if not every:
            return LastImport(own, {}, own)
        now = last_import.saved(imported, {}, ())
        merged = last_values(now, own, every, is_exact=bool(self.of_database))
        return LastImport(own, every, merged)

    def of_each_source(self) -> list[ImportMemory]:
        folders = sorted(path for path in self.of_all.folder.parent.iterdir() if path.is_dir())
        return [ImportMemory(folder, self.of_all.catalog) for folder in folders]

    def _of_any_site(self, sources: Sources, slugs: Set[str]) -> Fields:
        """Return the last import from the site that has most of the series."""
        imports = [memory.last(sources) for memory in self.of_each_source()]
        return max(imports, key=lambda last: len(slugs & last.get("series", {}).keys()))

    def after(self, last: LastImport, state: MergeState, of_site: Imported | None, sources: Sources) -> Saved:
        """Return what to save after a merge; `of_site` are the records of the site alone, if there is a database."""
        memory = self.of_database or self.of_site or self.of_all
        imported, merged = state.imported, state.last or last.merged
        saved = [(memory, last_import.saved(imported, merged, state.undecided))]
        if self.of_database or last.every:
            now = last_import.saved(imported, {}, ())
            every = all_values(now, last.own, last.every, is_exact=bool(self.of_database))
            last_import.restore(every, merged, state.undecided)
            saved.append((self.of_all, every))
        if self.of_site and of_site:
            saved.append((self.of_site, last_import.saved(of_site, self.of_site.last(sources), ())))
        return saved


def refuse_own_site(crawler: Crawler, base_url: str, memories: Memories) -> None:
    """Refuse responses that seem to be made from the catalog itself: they lack parts of it, and would replace them.

    A copy of a site has its `base_url`, too, but an earlier import into a copy was from a site of this program.
    """
    document = crawler.get(OPENAPI)
    if not crawler.responses.is_flatpanel:
        return
    last = [saved.get("is_flatpanel") for memory in memories.of_each_source() if (saved := memory.saved())]
    if not any(last) and (last or base_url in [server.get("url") for server in entries(document.value.get("servers"))]):
        # The old site may respond again at this URL.
        crawler.bodies.cache.forget(OPENAPI)
        raise FlatpanelError(
            f"{crawler.client.site}: this is a site of Flatpanel, which seems to be made from this catalog; its "
            "responses lack parts of a catalog; nothing was written",
            "after the switch, import from the database of the old site alone (--from-database FILE without a URL), "
            "or pass the URL where the old site still responds; --from-flatpanel copies the site nevertheless",
        )


# The values of several sources

# Fields that responses do not have as such.
_INFERRED = ("chapter_title",)
Records = dict[str, Fields]


def last_values(now: Fields, own: Fields, every: Fields, *, is_exact: bool) -> Fields:
    """Return the last import as the merge needs it: a field that did not change at the source has its value of now.

    All arguments have the form of a memory. A database is exact, the responses of a site are not.
    """
    if not own and is_exact:
        return every

    def last(now: Records, own: Records, every: Records) -> Records:
        names = [name for name in every | own if name in own or name in now]
        values = {name: _last(now.get(name), own.get(name), every.get(name), is_exact) for name in names}
        return {name: record for name, record in values.items() if record}

    chapters = spilled_records()
    for slug in dict.fromkeys([*own.get("chapters", {}), *now["chapters"]]):
        chapters[slug] = last(now["chapters"].get(slug, {}), *_both(own, every, "chapters", slug))
    return {
        **every,
        **own,
        "site": _last(now["site"] or own.get("site"), own.get("site"), every.get("site"), is_exact),
        "lists": {kind: last(now["lists"][kind], *_both(own, every, "lists", kind)) for kind in now["lists"]},
        "series": last(now["series"], *_both(own, every, "series")),
        "chapters": chapters,
    }


def all_values(now: Fields, own: Fields, every: Fields, *, is_exact: bool) -> Fields:
    """Return the memory of all sources after an import of one."""

    def updated(now: Records, own: Records, every: Records) -> Records:
        return every | {name: _updated(now[name], own.get(name), every.get(name), is_exact) for name in now}

    chapters = spilled_records(every.get("chapters"))
    for slug, of_series in now["chapters"].items():
        chapters[slug] = updated(of_series, *_both(own, every, "chapters", slug))
    return {
        **every,
        **now,
        "site": now["site"] or every.get("site", {}),
        "lists": {kind: updated(now["lists"][kind], *_both(own, every, "lists", kind)) for kind in now["lists"]},
        "series": updated(now["series"], *_both(own, every, "series")),
        "chapters": chapters,
    }


def _both(own: Fields, every: Fields, *place: str) -> tuple[Records, Records]:
    for name in place:
        own, every = own.get(name, {}), every.get(name, {})
    return own, every


def _last(now: Fields | None, own: Fields | None, every: Fields | None, is_exact: bool) -> Fields:
    if now is None or (own is None and is_exact):
        return every or own or {}
    if own is None:
        values = every or {}
        return {name: _unless_inexact(name, now[name], value) for name, value in values.items() if name in now}
    written = own if every is None else every
    unchanged = {name: value for name, value in now.items() if own.get(name) == value}
    changed = [name for name in {**own, **now} if name not in unchanged]
    return unchanged | {name: written[name] for name in changed if name in written}


def _updated(now: Fields, own: Fields | None, every: Fields | None, is_exact: bool) -> Fields:
    if every is None or is_exact:
        return now
    kept = {name: value for name, value in every.items() if name in now or name not in (own or {})}
    new = {name: value for name, value in now.items() if name not in every or _is_changed(name, value, own, every)}
    return kept | new


def _is_changed(name: str, now: Any, own: Fields | None, every: Fields) -> bool:
    if own is None:
        return bool(_unless_inexact(name, now, every[name]) != now)
    return bool(own.get(name) != now)


def _unless_inexact(name: str, now: Any, written: Any) -> Any:
    """Return the value that was written; that of the site if both may be the same fact."""
    if name == "modified":
        # The Cubari JSON rounds up to the next second.
        return now if 0 <= field_values.instant(now) - field_values.instant(written) <= 1 else written
    return now if name in _INFERRED else written
