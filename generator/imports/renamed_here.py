"""Series that people renamed in the catalog: the site and the last imports have them under their old slugs.

Both get the slug of the catalog before a merge, which then needs to know nothing of it.
"""

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any

from ..catalog.reader import SeriesEntry, Sources
from ..reading_sites.lenient import Fields
from .merge import chapters_of
from .records import Imported


def use_in_records(sources: Sources, imported: Imported) -> None:
    """Rename series of a site."""
    for old, here in _renamed(sources):
        slug = here.slug
        is_there = old in imported.series and slug not in imported.series
        if is_there and _is_same(here, imported.series[old], imported.chapters.get(old, [])):
            imported.series[slug] = imported.series.pop(old)
            imported.chapters[slug] = imported.chapters.pop(old, [])
            imported.slugs_here[old] = slug
    for account in imported.accounts.records.values() if imported.accounts else ():
        _rename_bookmarks(account, imported.slugs_here)


def use_in_memory(sources: Sources, memory: MutableMapping[str, dict[str, Any]]) -> None:
    """Rename series of a last import."""
    series = memory.get("series", {})
    old_slugs: dict[str, str] = {}
    for old, here in _renamed(sources):
        if old in series and here.slug not in series:
            old_slugs.setdefault(here.slug, old)
    move_in_memory({old: new for new, old in old_slugs.items()}, memory)


def move_in_memory(moves: Mapping[str, str], memory: MutableMapping[str, dict[str, Any]]) -> None:
    """Move what a last import said about series to their new slugs; two series may swap theirs."""
    series = memory.get("series", {})
    moves = {old: new for old, new in moves.items() if old in series}
    if moves:
        moved = {new: series[old] for old, new in moves.items()}
        memory["series"] = {slug: record for slug, record in series.items() if slug not in moves} | moved
        memory.update({chapters_of(new): memory.pop(chapters_of(old), {}) for old, new in moves.items()})
        accounts = memory.get("accounts", {})
        for account in accounts.values():
            _rename_bookmarks(account, moves)
        memory["accounts"] = accounts


def _renamed(sources: Sources) -> Iterator[tuple[str, SeriesEntry]]:
    """Yield each old slug of a series of the catalog. No other one has it now: the catalog is valid."""
    for series in sources.series:
        for old in series.entry.record.formerly:
            yield old, series


def _is_same(here: SeriesEntry, record: Fields, chapters: Iterable[Fields]) -> bool:
    """Return whether both have the same title or a chapter with the same id, or one of both has no ids."""
    ids = {entry.record.id for entry in here.chapters if entry.record.id}
    others = {chapter["id"] for chapter in chapters if chapter.get("id")}
    return record["title"] == here.entry.record.title or bool(ids & others) or not (ids and others)


def _rename_bookmarks(account: Fields, slugs: Mapping[str, str]) -> None:
    if "bookmarks" in account:
        account["bookmarks"] = [slugs.get(slug, slug) for slug in account["bookmarks"]]
