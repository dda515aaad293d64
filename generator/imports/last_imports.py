"""What the last imports into a catalog saved, in the cache folder of each source.

A catalog may have several sources: a site, and the database of that site. Each source has a memory of its own: a field
changed at the source if it differs from that memory. The memory of all sources has the values that imports wrote:
people edited a field if the catalog differs from it. So an import of a site keeps the facts that only the database
has, and neither source takes a value of the other for an edit. For example, the views of a chapter that the database
counted up to 9, if the site is imported:

| own last | the site now | written by imports | last of the merge | result, if the catalog has 9 |
|---|---|---|---|---|
| 5 | 5 | 9 | 5: the site did not change it | 9 stays |
| 5 | 6 | 9 | 9: the site changed it | 6 |

A memory has records by kind, then by id. Chapters have a kind for each series.
"""

import os
from collections.abc import Iterable, Iterator, MutableMapping, Set
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from .. import encoding, filesystem
from ..catalog import field_values
from ..catalog.confined_folder import Folder
from ..catalog.reader import Sources
from ..errors import FlatpanelError
from ..reading_sites.crawl import Crawler
from ..reading_sites.lenient import Fields, entries
from ..reading_sites.response_cache import PRIVATE, make, path_of
from ..reading_sites.responses import OPENAPI
from ..server_url import ServerUrl
from . import renamed_here, unavailable
from .merge import FILES, Merge, chapters_of
from .records import PERSONAL_DATA, Imported, key
from .spilled import spilled_records

# Records by kind, then by id, in a temporary file; empty if the last import is unknown.
Memory = MutableMapping[str, dict[str, Any]]
Records = dict[str, Fields]
# The kind of what is known of the source itself: paths that had a usable response, and whether it is of this program.
_SOURCE = "source"
# The cache folders of databases and of all sources. A site has one by its URL.
_DATABASE, _ALL = "database", "all sources"


# The records of an import as a memory


def memory_of(imported: Imported) -> Memory:
    """Return the values of an import that continues none."""
    return saved(imported, spilled_records(), ())


def saved(imported: Imported, last: Memory, undecided: Iterable[tuple[str, str, str]]) -> Memory:
    """Return what the next import needs of this one, and of earlier ones for paths that are unavailable now."""
    lost = lost_paths(imported, last)
    unavailable_slugs = imported.slugs_in_catalog(unavailable.series(lost))
    memory = spilled_records(last)
    if imported.site and not lost:
        memory["site"] = {"site": imported.site}
    for kind, records in imported.lists.items():
        memory[kind] = last.get(kind, {}) | {str(id): record for id, record in records.items()}
    slugs = [slug for slug in imported.series if slug not in unavailable_slugs]
    memory["series"] = last.get("series", {}) | {slug: imported.series[slug] for slug in slugs}
    for kind, slug in ((chapters_of(slug), slug) for slug in slugs):
        memory[kind] = last.get(kind, {}) | {key(chapter): chapter for chapter in imported.chapters[slug]}
    memory["accounts"] = _accounts(imported, last.get("accounts", {}))
    # An import without requests says nothing about responses.
    usable = imported.usable or dict.fromkeys(_usable(last), True)
    paths = lost + [path for path, is_usable in usable.items() if is_usable]
    memory[_SOURCE] = {"usable": paths, "is_flatpanel": imported.is_flatpanel}
    restore(memory, last, undecided)
    return memory


def restore(memory: Memory, last: Memory, undecided: Iterable[tuple[str, str, str]]) -> None:
    """Give the fields whose conflict is not decided their last values: the next import shows the conflict again."""
    for kind, fields in groupby(sorted(undecided), key=itemgetter(0)):
        records, before = memory[kind], last.get(kind, {})
        for _, id, name in fields:
            record, value = records.setdefault(id, {}), before.get(id, {})
            record.pop(name, None)
            record |= {name: value[name]} if name in value else {}
        memory[kind] = records


def _accounts(imported: Imported, last: Records) -> Records:
    """Return the accounts of this import, and of earlier ones; personal data of the last import that had it."""
    if imported.accounts is None:
        return last
    hidden = () if imported.accounts.has_personal_data else PERSONAL_DATA
    records = {
        username: {name: value for name, value in last.get(username, {}).items() if name in hidden} | record
        for username, record in imported.accounts.records.items()
    }
    # A key that comes back with its account is not one that people removed here.
    gone = {username: {**record, "keys": []} for username, record in last.items() if username not in records}
    return gone | records


def _usable(last: Memory) -> list[str]:
    paths: list[str] = last.get(_SOURCE, {}).get("usable", [])
    return paths


def lost_paths(imported: Imported, last: Memory) -> list[str]:
    """Return the paths with a usable response at the last import and none now."""
    return [path for path in _usable(last) if not imported.usable.get(path, True)]


# The files of memories


@dataclass(frozen=True, slots=True)
class SavedMemory:
    """The last import from one source into a catalog. Its name is relative: it stays valid if the project moves."""

    # The cache folder of the source.
    folder: Path
    catalog: Folder

    @property
    def file(self) -> Path:
        name = os.path.relpath(Path(self.catalog).resolve(), self.folder.resolve())
        return self.folder / f"imported-{encoding.digest(name.encode())}.json"

    def last(self, sources: Sources) -> Memory:
        """Return what the last import saved; nothing if that was about another catalog, with other series."""
        last = self.load()
        renamed_here.use_in_memory(sources, last)
        slugs = {series.slug for series in sources.series}
        return last if not slugs or slugs & last.get("series", {}).keys() else spilled_records()

    def load(self) -> Memory:
        """Return what the last import saved; nothing if there is no such import, or if its file is damaged."""
        memory = spilled_records()
        with suppress(ValueError, TypeError, LookupError, FileNotFoundError), self.file.open("rb") as lines:
            for kind, records in map(encoding.parse, lines):
                memory[kind] = dict(records)
        # A file of an older program has neither this record nor these fields.
        return memory if {"usable", "is_flatpanel"} <= memory.get(_SOURCE, {}).keys() else spilled_records()

    def save(self, memory: Memory) -> None:
        """Replace what the last import saved: a line for each kind, and the source at the end."""
        make(self.folder)
        kinds = sorted(memory, key=lambda kind: kind == _SOURCE)
        lines = (encoding.json([kind, memory[kind]]) + b"\n" for kind in kinds)
        filesystem.replace(self.file, lines, mode=PRIVATE)


def _if_about(slugs: Set[str], memory: Memory) -> Memory:
    """The memory of all sources; nothing if it is about another site than that with these series."""
    return memory if 2 * len(memory.get("series", {}).keys() & slugs) >= len(slugs) else spilled_records()


# Each memory with the values for it.
Saved = list[tuple[SavedMemory, Memory]]


@dataclass(frozen=True, slots=True)
class LastImport:
    """The last import from a source, that from all sources, and both together as the merge needs them."""

    own: Memory
    every: Memory
    merged: Memory


@dataclass(frozen=True, slots=True)
class Memories:
    """The memories that an import reads and writes.

    An import of a database continues the last import of any database into the catalog: copies of a database have
    other names each time.
    """

    of_site: SavedMemory | None
    of_database: SavedMemory | None
    # Of all sources; exists since the first import of a database.
    of_all: SavedMemory

    @classmethod
    def of(cls, cache: Path, catalog: Folder, site: ServerUrl | None, database: Path | None) -> "Memories":
        of_site = SavedMemory(make(path_of(cache, str(site))), catalog) if site else None
        of_database = SavedMemory(make(path_of(cache, _DATABASE)), catalog) if database else None
        return cls(of_site, of_database, SavedMemory(path_of(cache, _ALL), catalog))

    @property
    def main(self) -> SavedMemory:
        """The memory of the source that this import continues."""
        return self.of_database or self.of_site or self.of_all

    @property
    def folder(self) -> Path:
        """The folder of the responses and of the report."""
        return (self.of_site or self.main).folder

    @contextmanager
    def locked(self) -> Iterator[None]:
        with ExitStack() as stack:
            for memory in filter(None, (self.of_site, self.of_database)):
                stack.enter_context(filesystem.exclusive(memory.folder))
            yield

    def last(self, sources: Sources, imported: Imported) -> LastImport:
        """Return the import that this one continues."""
        own, every = self.main.last(sources), self.of_all.last(sources)
        slugs = imported.series.keys()
        if self.of_database and not every:
            every = self._of_any_site(sources, slugs)
        every = _if_about(slugs, every)
        if not every:
            return LastImport(own, every, own)
        merged = _merged_last(memory_of(imported), own, every, is_exact=bool(self.of_database))
        return LastImport(own, every, merged)

    def people(self, kind: str, sources: Sources, slugs: Set[str]) -> Iterator[tuple[int, str]]:
        """Yield the ids and names of the people of the catalog; after them, their names at the last imports."""
        yield from ((entry.record.id, entry.record.name) for entry in sources.lists[FILES[kind]])
        # A database may have given an id of the site to another person since.
        memories = [self.of_site.last(sources)] if self.of_site else []
        for memory in (*memories, _if_about(slugs, self.of_all.last(sources))):
            yield from ((int(id), record.get("name", "")) for id, record in memory.get(kind, {}).items())

    def of_each_source(self) -> list[SavedMemory]:
        folders = sorted(path for path in self.of_all.folder.parent.iterdir() if path.is_dir())
        return [SavedMemory(folder, self.of_all.catalog) for folder in folders]

    def _of_any_site(self, sources: Sources, slugs: Set[str]) -> Memory:
        """Return the last import from the site that has most of the series."""
        imports = [memory.last(sources) for memory in self.of_each_source()]
        return max(imports, key=lambda last: len(slugs & last.get("series", {}).keys()))

    def after(self, last: LastImport, merge: Merge, of_site: Imported | None, sources: Sources) -> Saved:
        """Return what to save after a merge; `of_site` are the records of the site alone, if there is a database."""
        imported, merged = merge.imported, merge.last or last.merged
        for memory in (last.own, last.every):
            renamed_here.move_in_memory(merge.plan.moves, memory)
        result = [(self.main, saved(imported, merged, merge.undecided))]
        if self.of_database or last.every:
            every = _every_after(memory_of(imported), last.own, last.every, is_exact=bool(self.of_database))
            restore(every, merged, merge.undecided)
            result.append((self.of_all, every))
        if self.of_site and of_site:
            last_of_site = self.of_site.last(sources)
            renamed_here.move_in_memory(merge.plan.moves, last_of_site)
            result.append((self.of_site, saved(of_site, last_of_site, ())))
        return result


def refuse_own_site(crawler: Crawler, base_url: str, memories: Memories) -> None:
    """Refuse responses that seem to be made from the catalog itself: they lack parts of it, and would replace them.

    A copy of a site has its `base_url`, too, but an earlier import into a copy was from a site of this program.
    """
    document = crawler.get(OPENAPI)
    if not crawler.responses.is_flatpanel:
        return
    loaded = filter(None, (memory.load() for memory in memories.of_each_source()))
    last = [memory[_SOURCE]["is_flatpanel"] for memory in loaded]
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
# Kinds that are not compared: they are those of one import.
_WHOLE = ("accounts", _SOURCE)


def _merged_last(now: Memory, own: Memory, every: Memory, *, is_exact: bool) -> Memory:
    """Return the last import as the merge compares it: what imports wrote, where the source changed it since.

    Other fields have the value of now, so they seem to be changed by people or not at all. A database is exact, the
    responses of a site are not.
    """
    if not own and is_exact:
        return every
    memory = spilled_records()
    for kind in dict.fromkeys([*own, *now]):
        if kind in _WHOLE:
            memory[kind] = (own or every)[kind]
            continue
        records, last, written = now.get(kind, {}), own.get(kind, {}), every.get(kind, {})
        if kind == "site":
            # A database has no settings: those of the last import did not change.
            records = records or last
        names = [name for name in written | last if name in last or name in records]
        values = {name: _last(records.get(name), last.get(name), written.get(name), is_exact) for name in names}
        memory[kind] = {name: record for name, record in values.items() if record}
    return memory


def _last(now: Fields | None, own: Fields | None, every: Fields | None, is_exact: bool) -> Fields:
    if now is None or (own is None and is_exact):
        return every or own or {}
    written = own or {} if every is None else every
    sides = {name: written if _is_changed(name, now, own, written) else now for name in {**(own or {}), **now}}
    return {name: side[name] for name, side in sides.items() if name in side}


def _every_after(now: Memory, own: Memory, every: Memory, *, is_exact: bool) -> Memory:
    """Return the memory of all sources after an import of one: fields that this source changed, and those of before."""
    memory = spilled_records(every)
    for kind, records in now.items():
        if kind in ("site", *_WHOLE):
            memory[kind] = records
            continue
        last, written = own.get(kind, {}), every.get(kind, {})
        new = {name: _written(record, last.get(name), written.get(name), is_exact) for name, record in records.items()}
        memory[kind] = written | new
    return memory


def _written(now: Fields, own: Fields | None, every: Fields | None, is_exact: bool) -> Fields:
    if every is None or is_exact:
        return now
    changed = {name for name in {**every, **now} if name not in every or _is_changed(name, now, own, every)}
    sides = {name: now if name in changed else every for name in {**every, **now}}
    return {name: side[name] for name, side in sides.items() if name in side}


def _is_changed(name: str, now: Fields, own: Fields | None, written: Fields) -> bool:
    """Whether a source changed a field since its last import; at its first one, whether it states another fact."""
    if own is not None:
        return bool(own.get(name) != now.get(name))
    if name not in now or name not in written:
        return name in now
    if name == "modified":
        # The Cubari JSON rounds up to the next second.
        return not 0 <= field_values.instant(now[name]) - field_values.instant(written[name]) <= 1
    return name not in _INFERRED and bool(now[name] != written[name])
