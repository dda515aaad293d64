"""Merge an import with the catalog: three values of each field -> a plan of what to write.

Each record has a kind and an id, and each field of it three values: *last* (what the last import saved), *here* (what
the catalog has), and *site* (what the source has now).

| values | cause | result |
|---|---|---|
| here = site | both agree | nothing |
| here = last | only the site changed it | site |
| site = last | only people changed it | here |
| all differ | a conflict | here and a note; `--theirs`: site |

What happens if the old site renames the group Lamp to Lantern, and the site is imported again? The row of the group has
the id 2 and the name Lantern.

1. `merge_list` (all functions named here are in `merge_fields.py`) finds the group of the catalog with the id 2. Its
   last name and its name here are Lamp, so `compare` plans a `FieldChange` of `name`. If people renamed it to Light,
   this is a conflict: the catalog keeps Light, and the memory keeps Lamp, until `--mine` or `--theirs`.
2. Chapters reference groups by name in files, but values are compared as ids. A chapter with `groups: [Lamp]` has the
   ids [2] here and on the site: there is no change.
3. `names_after` has the name of each id after all changes, or the id if two groups have that name. `RenamedReferences`
   respells `groups: [Lamp]` as `groups: [Lantern]` in each file.
4. `catalog_files.py` edits these fields in the text of the files; a reference that cannot be edited ends the import.
   Then `last_imports.py` saves Lantern as the next last.

A group that people deleted here is in last and not here: it is not added again. A group that the site deleted is in
last and not in site: a note names it, and `--remove` removes it unless people edited it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import chain

from ..catalog import field_values
from ..catalog.reader import Entry, SeriesEntry
from ..catalog.records import Chapter
from ..errors import FlatpanelError
from ..reading_sites.lenient import Fields
from . import unavailable
from .last_imports import lost_paths
from .merge_accounts import AccountMerge
from .merge_fields import (
    FILES,
    REMOVED_HERE,
    FieldChange,
    MergeState,
    Place,
    Plan,
    Removal,
    RenamedReferences,
    chapters_of,
    compare,
    gone,
    is_edited,
    merge_list,
    names_after,
    note_conflict,
)
from .records import key


class Merge:
    """Compares an import with a valid catalog, or with none."""

    def __init__(self, state: MergeState) -> None:
        self.state, self.sources, self.imported = state, state.sources, state.imported
        self.lost = lost_paths(state.imported, state.last)
        self.unavailable = unavailable.series(self.lost)
        self.last_series = state.last_of("series")

    def merged(self) -> Plan:
        plan = self.state.plan
        if self.sources.site is None:
            plan.site = self.imported.site
        elif self.imported.site and not self.lost:
            entry = Entry(self.sources.site, "site.yaml", ())
            last = self.state.last_of("site").get("site")
            compare(self.state, entry, self.imported.site, last, Place(("site", "site"), "site.yaml"))
        for kind in FILES:
            merge_list(self.state, kind)
        self._series()
        if self.imported.accounts:
            AccountMerge(self.state).merge()
        plan.names = names_after(self.state)
        RenamedReferences(self.state).follow()
        return plan

    def _series(self) -> None:
        here = {series.slug: series for series in self.sources.series}
        self.state.plan.moves = self._moves(here)
        self._move_memory()
        by_new_slug = {new: here[old] for old, new in self.state.plan.moves.items()}
        lower_case = {slug.lower(): slug for slug in here if slug not in self.state.plan.moves}
        chapters = ChapterMerge(self.state)
        for slug, record in self.imported.series.items():
            if slug in here and slug in self.unavailable:
                continue
            if entry := here.get(slug) or by_new_slug.get(slug):
                self._compare_series(slug, entry, record)
                chapters.merge(slug, entry, self.imported.chapters[slug])
            elif slug in self.last_series:
                self.state.notes.add(REMOVED_HERE, slug)
            elif slug.lower() in lower_case:
                self.state.notes.add(f"differs from {lower_case[slug.lower()]} only in case; skipped", slug)
            else:
                added = [chapters.with_free_id(chapter, slug) for chapter in self.imported.chapters[slug]]
                self.state.plan.series[slug] = record, added
        for slug in sorted(self.unavailable & here.keys()):
            self.state.notes.add("a response of the last import is not available now; kept as it is", slug)
        self._gone(here)

    def _compare_series(self, slug: str, here: SeriesEntry, record: Fields) -> None:
        compare(self.state, here.entry, record, self.last_series.get(slug), Place(("series", slug), slug))
        if here.slug != slug:
            old_slugs = dict.fromkeys((*here.entry.record.formerly, here.slug, *record.get("formerly", ())))
            formerly = [old for old in old_slugs if old != slug]
            change = FieldChange(here.entry.file, here.entry.path, "formerly", formerly, is_spelled=True)
            self.state.plan.changes.append(change)
            self.state.notes.add(f"has the slug {slug} now; its file is renamed", here.slug)

    def _moves(self, here: dict[str, SeriesEntry]) -> dict[str, str]:
        """Return the new slug of each series whose chapter ids the site has under another slug."""
        last = self.last_series
        owners = {
            entry.record.id: (slug, entry.record.published)
            for slug, series in here.items()
            for entry in series.chapters
            if slug not in self.imported.series and (slug in last or not self.state.last)
        }
        moves: dict[str, str] = {}
        for slug in self.imported.chapters:
            if slug in here or slug in last:
                continue
            chapters = self.imported.chapters[slug]
            shared = [(owners[chapter["id"]], chapter) for chapter in chapters if chapter.get("id") in owners]
            # Without the last import, an id alone may be that of another chapter.
            old_slugs = Counter(
                old
                for (old, published), chapter in shared
                if self.state.last or field_values.instant(chapter["published"]) == published
            )
            old = next((old for old, _ in old_slugs.most_common() if old not in moves), None)
            moves |= {old: slug} if old else {}
        return moves

    def _move_memory(self) -> None:
        """Move what the last import saved about a series to its new slug."""
        last = self.state.last
        for old, new in self.state.plan.moves.items():
            if old in self.last_series:
                self.last_series[new] = self.last_series.pop(old)
            if chapters_of(old) in last:
                last[chapters_of(new)] = last.pop(chapters_of(old))
        if last:
            last["series"] = self.last_series

    def _gone(self, here: dict[str, SeriesEntry]) -> None:
        """Remove or note the series that the site had at the last import and has no longer."""
        last = self.last_series
        for slug in sorted(last.keys() & here.keys() - self.unavailable - self.state.plan.moves.keys()):
            if slug not in self.imported.series:
                series, records = here[slug], self.state.last_of(chapters_of(slug))
                edited = is_edited(self.state, series.entry.record, last[slug]) or any(
                    is_edited(self.state, entry.record, last_record(records, entry.record)) for entry in series.chapters
                )
                files = sorted({entry.file for entry in (series.entry, *series.chapters)})
                gone(self.state, [Removal(file) for file in files], f"series {slug}", is_edited=edited)


# The chapters of a series: a chapter of the site is that of the catalog with the same id. Otherwise it is that with the
# same volume and number whose id the site no longer has: it was made again, or one of both has no id.


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


# Imports that are refused

# Differences that a refusal names.
_NAMED = 12


def refuse_differences(state: MergeState, place: str) -> None:
    """Refuse an undecided import into a catalog of other people, or whose last import is unknown and that differs.

    Without the last import, an entry that the catalog lacks may be new on the site or removed here.
    """
    if state.choice:
        return
    people, differences = list(state.other_people.values()), []
    if not state.last:
        names = {f"{person.partition(':')[0]}: name" for person in people}
        differences = [text for text in state.differences if ": ".join(text.split(": ")[:2]) not in names]
        if {series.slug for series in state.sources.series} & state.imported.series.keys():
            differences += [f"{slug}: on the site, not here" for slug in state.plan.series]
        differences += [f"{old}: has the slug {new} on the site" for old, new in state.plan.moves.items()]
    if not people and not differences:
        return
    fault = "ids name other people here than on the site" if people else "the site and the catalog differ"
    unknown = "" if state.last else "its last import from this site is unknown, and "
    lines = [*people, *differences]
    more = [f"  and {len(lines) - _NAMED} more"] if len(lines) > _NAMED else []
    raise FlatpanelError(
        f"{place}: {unknown}{fault}; nothing was written",
        *(f"  {line}" for line in lines[:_NAMED]),
        *more,
        "--mine keeps the values of the catalog and adds what is missing, --theirs takes those of the site; "
        "if an id is of two people, first give yours another id",
    )


def refuse_missing_ids(state: MergeState, place: str) -> None:
    """Refuse to add chapters that the site shows without ids: apps recognise a chapter by its id.

    The chapters of a licensed series are an exception: the version with ids does not show them.
    """
    plan, counts = state.plan, Counter[str]()
    for slug, chapters in chain(((slug, added) for slug, (_, added) in plan.series.items()), plan.chapters.items()):
        without = {key(chapter) for chapter in chapters if "id" not in chapter}
        if without and not state.imported.series[slug].get("licensed"):
            # Others lost their id to another chapter of the catalog; they have a note.
            counts[slug] += sum(key(chapter) in without for chapter in state.imported.chapters[slug])
    lines = [f"  {slug}: {count} chapters" for slug, count in counts.items() if count]
    if lines:
        more = [f"  and {len(lines) - _NAMED} more series"] if len(lines) > _NAMED else []
        raise FlatpanelError(
            f"{place}: {counts.total()} chapters have no id in any response, and apps recognise a chapter by its id; "
            "nothing was written",
            *lines[:_NAMED],
            *more,
            "pass the database of the site (--from-database), which has the ids, or an API key (--key-file) if "
            "/api/v2 needs one; --allow-missing-ids imports without ids, and `python build.py ids` assigns new ones",
        )
