"""Merge the chapters of a series of the site into those of the catalog.

A chapter of the site is that of the catalog with the same id. Otherwise it is that with the same volume and number
whose id the site no longer has: it was made again, or one of both has no id.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from ..catalog.reader import Entry, SeriesEntry
from ..catalog.records import Chapter
from ..reading_sites.lenient import Fields
from .merge_fields import REMOVED_HERE, compare, gone, is_edited, note_conflict
from .merge_plan import FieldChange, MergeState, Place, Removal, chapters_of


def key(chapter: Mapping[str, Any]) -> str:
    """Return the identity of a chapter from one import to the next."""
    return str(chapter["id"]) if chapter.get("id") else f"{chapter.get('volume') or 0}/{chapter['number']}"


def keys_of(chapter: Chapter) -> list[str]:
    """Return the keys that the last import may have used for a chapter of the catalog."""
    by_number = key({"volume": chapter.volume, "number": chapter.number})
    return [str(chapter.id), by_number] if chapter.id else [by_number]


def last_record(last: Mapping[str, Fields], chapter: Chapter) -> Fields | None:
    """Return what the last import saved about a chapter of the catalog."""
    return next((last[name] for name in keys_of(chapter) if name in last), None)


class ChapterMerge:
    """Merges one series after the other; `ids` are those of all chapters of the catalog."""

    def __init__(self, state: MergeState) -> None:
        self.state = state
        entries = [(series.slug, entry) for series in state.sources.series for entry in series.chapters]
        self.ids = {entry.record.id for _, entry in entries if entry.record.id}
        # Chapters with an id in series that the site does not have.
        self._holders = {
            entry.record.id: entry
            for slug, entry in entries
            if entry.record.id and slug not in state.imported.series and slug not in state.plan.moves
        }

    @cached_property
    def _ids_on_site(self) -> set[int]:
        return {chapter.get("id", 0) for chapters in self.state.imported.chapters.values() for chapter in chapters}

    def merge(self, slug: str, here: SeriesEntry, chapters: list[Fields]) -> None:
        """Compare the chapters of the series that has this slug on the site."""
        last = self.state.last_of(chapters_of(slug))
        matched = dict(self._matched(here, chapters))
        for index, chapter in enumerate(chapters):
            if index in matched:
                self._compare(matched[index], chapter, last, slug)
            elif key(chapter) in last:
                self.state.notes.add(REMOVED_HERE, f"{slug} chapter {chapter['number']}")
            else:
                self.state.plan.chapters.setdefault(slug, []).append(self.with_free_id(chapter, slug))
        if not chapters and self.state.imported.series[slug].get("licensed"):
            return  # the site hides them
        matched_ids = {id(entry) for entry in matched.values()}
        for entry in here.chapters:
            record = last_record(last, entry.record)
            if record and id(entry) not in matched_ids:
                edited = is_edited(self.state, entry.record, record)
                removal = Removal(entry.file, entry.path)
                gone(self.state, [removal], f"{slug} chapter {keys_of(entry.record)[0]}", is_edited=edited)

    def _matched(self, here: SeriesEntry, chapters: list[Fields]) -> Iterator[tuple[int, Entry[Chapter]]]:
        """Yield the index of each chapter that the catalog has, and its entry."""
        by_id = {entry.record.id: entry for entry in here.chapters if entry.record.id}
        site_ids = {chapter["id"] for chapter in chapters if "id" in chapter}
        by_number: dict[tuple[int | None, str], list[Entry[Chapter]]] = {}
        for entry in sorted(here.chapters, key=lambda entry: entry.record.id or 0):
            if entry.record.id not in site_ids:
                by_number.setdefault((entry.record.volume, entry.record.number), []).append(entry)
        for index, chapter in enumerate(chapters):
            if chapter.get("id") in by_id:
                yield index, by_id[chapter["id"]]
            # The older versions show the highest id of the chapters that share a number.
            elif others := by_number.get((chapter.get("volume"), chapter["number"])):
                yield index, others.pop()

    def _compare(self, entry: Entry[Chapter], chapter: Fields, last: Mapping[str, Fields], slug: str) -> None:
        record = last_record(last, entry.record) or last.get(key(chapter))
        name = next((name for name in keys_of(entry.record) if name in last), key(chapter))
        place = Place((chapters_of(slug), name), f"{slug} chapter {chapter['number']}")
        here, there = entry.record.id, chapter.get("id")
        if here is None:
            chapter = self.with_free_id(chapter, slug)
        elif there is None:
            # Only older versions show it now: they have neither ids nor views.
            record = record and {name: value for name, value in record.items() if name in chapter}
        elif here != there:
            if self._is_kept(entry, record, place, f"{here} here, {there} there"):
                return
            chapter = self.with_free_id(chapter, slug)
        compare(self.state, entry, chapter, record, place)

    def _is_kept(self, entry: Entry[Chapter], last: Fields | None, place: Place, ids: str) -> bool:
        """Return whether a chapter stays that was made again on the site: people edited it here."""
        if last is None:
            self.state.differences.append(f"{place.label}: id: {ids}")
        if self.state.choice == "theirs" or not is_edited(self.state, entry.record, last):
            return False
        note_conflict(self.state, place, "id", f"edited here, and made again on the site: id: {ids}")
        return True

    def with_free_id(self, chapter: Fields, slug: str) -> Fields:
        """Return a new chapter, without its id if another chapter of the catalog has that."""
        id = chapter.get("id")
        label = f"{slug} {key(chapter)}"
        if id in self.ids:
            self.state.differences.append(f"{label}: another chapter of the catalog has its id")
            if self.state.choice == "theirs" and id in self._holders:
                self._move_id(self._holders.pop(id))
                return chapter
            self.state.notes.add("another chapter of the catalog has its id; added without id", label)
            return {name: value for name, value in chapter.items() if name != "id"}
        self.ids |= {id} if id else set()
        return chapter

    def _move_id(self, holder: Entry[Chapter]) -> None:
        """Give a chapter of a series that the site does not have another id."""
        new = max(self.ids | self._ids_on_site) + 1
        self.ids.add(new)
        self.state.plan.changes.append(FieldChange(holder.file, holder.path, "id", new))
        self.state.notes.add(
            "the site has another chapter with this id; this one gets a new id", f"id {holder.record.id}"
        )
