"""Rows of a source -> the records of an import: valid fields of a catalog.

Each source yields the same rows, the responses of a site (`site/`) as well as the tables of its database (`database/`).
A row has the values that its source states, with ids in place of names, and encoded URLs of images. Only this module
makes records of rows: it leaves out what a catalog cannot hold, and adds a note for it.
"""

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from math import inf
from typing import Any

from ..catalog import field_values
from ..catalog.records import Account, Category, Chapter, Group, Member, Person, Record, Series
from ..reading_sites.image_paths import image
from ..reading_sites.lenient import Fields, valid_fields, whole
from ..reading_sites.notes import Notes
from .spilled import spilled_records

MODELS: dict[str, type[Record]] = {
    "authors": Person,
    "artists": Person,
    "categories": Category,
    "members": Member,
    "groups": Group,
    "accounts": Account,
}
# A row has the fields of its model, but ids in place of names, URLs of images, and seconds since 1970 as times.
Row = Mapping[str, Any]
_TIMES = ("published", "modified", "updated")


@dataclass(frozen=True, slots=True)
class StatedChapter:
    """A chapter as its source states it."""

    # Without its pages.
    fields: Row
    # The URLs of its pages; None if the source states none.
    pages: list[str] | None
    # Their file names, if it states only these.
    page_names: list[str] | None = None
    # Empty if the source states an order only.
    page_numbers: Sequence[int] = ()

    @property
    def id(self) -> int | None:
        id: int | None = self.fields["id"]
        return id

    @property
    def key(self) -> tuple[int | None, str]:
        return self.fields["volume"], self.fields["number"]


# Imported only on request. Otherwise the values of the last import stay in its memory.
PERSONAL_DATA = ("first_name", "last_name", "email", "bio", "avatar")


@dataclass(frozen=True, slots=True)
class ImportedAccounts:
    """The accounts of a site by username, as YAML fields. Bookmarks are slugs of the site."""

    records: dict[str, Fields]
    # Whether names, email addresses, bios and avatars were read; otherwise those of the catalog stay.
    has_personal_data: bool = False


@dataclass(slots=True)
class Imported:
    """The records of a site as YAML fields; people and groups are referenced by id."""

    # Empty if the source has no settings.
    site: Fields = field(default_factory=dict)
    # By kind, then by id.
    lists: dict[str, dict[Any, Fields]] = field(default_factory=dict)
    series: dict[str, Fields] = field(default_factory=dict)
    chapters: MutableMapping[str, list[Fields]] = field(default_factory=spilled_records)
    # None if they were not requested.
    accounts: ImportedAccounts | None = None
    # Paths, and whether their responses are usable.
    usable: dict[str, bool] = field(default_factory=dict)
    # Whether the site is one of this program.
    is_flatpanel: bool = False
    # Slugs on the site of series that version 2 does not show: older versions have no licences and two statuses only.
    only_old: set[str] = field(default_factory=set)
    # By kind: ids of people that no response has.
    new_ids: dict[str, set[int]] = field(default_factory=dict)
    # Slug on the site -> slug here, of series that people renamed in the catalog.
    slugs_here: dict[str, str] = field(default_factory=dict)

    def slugs_in_catalog(self, slugs: Iterable[str]) -> set[str]:
        """Return the slugs in the catalog of series of the site."""
        return {self.slugs_here.get(slug, slug) for slug in slugs}

    def use_ids(self, kind: str, people: Iterable[tuple[int, str]]) -> None:
        """Give people with new ids those that their names have already, or unused ones. People may share a name."""
        records, names = self.lists[kind], dict(people)
        unused = (id for id in count(1) if id not in names and id not in records)
        replaced: dict[int, int] = {}
        for new, person in [(id, records.pop(id)) for id in sorted(self.new_ids[kind])]:
            same_name = (id for id, name in names.items() if name == person["name"] and id not in records)
            replaced[new] = next(chain(same_name, unused))
            records[replaced[new]] = person | {"id": replaced[new]}
        self.new_ids[kind] = set(replaced.values()) - names.keys()
        for series in self.series.values():
            if kind in series:
                series[kind] = [replaced.get(id, id) for id in series[kind]]


@dataclass(slots=True)
class RecordBuilder:
    """Makes the records of one source: first the lists, whose ids series and chapters reference."""

    # The URL of the media folder; "" if it is unknown.
    media: str
    now: int
    notes: Notes
    # By kind, then by id.
    lists: dict[str, dict[Any, Fields]] = field(default_factory=dict)
    # The id of each category by name; names that a catalog cannot hold together have the same id.
    category_ids: dict[str, str] = field(default_factory=dict)

    def add(self, kind: str, rows: Iterable[Row]) -> None:
        """Add people, groups or members; of rows with one id, the first."""
        records = self.lists[kind] = {}
        for row in rows:
            id = whole(row["id"])
            logo = {"logo": image(row["logo"], self.media, f"groups/{id}/")} if row.get("logo") else {}
            record = valid_fields(MODELS[kind], {**row, "id": id, **logo}, f"{kind} {row['id']}"[:60], self.notes)
            if record and id in records:
                self.notes.add("duplicate id; the first entry is kept", f"{kind} {id}")
            elif record:
                records[id] = record

    def add_person(self, kind: str, row: Row, place: str) -> bool:
        """Add a person who is only in a series; return whether the row is valid."""
        record = valid_fields(Person, row, place, self.notes)
        self.lists[kind] |= {row["id"]: record} if record else {}
        return record is not None

    def add_categories(self, rows: Iterable[Row]) -> None:
        """Add the categories that a catalog can hold together."""
        records, unique = self.lists.setdefault("categories", {}), UniqueCategories(self.notes)
        for row in rows:
            if record := valid_fields(Category, row, f"category {row['name']}"[:60], self.notes):
                other = unique.add(record)
                self.category_ids[record["name"]] = other or record["id"]
                if other is None:
                    records[record["id"]] = record

    def series(self, slug: str, row: Row) -> Fields | None:
        """Return the valid fields of a series; None if a required one is invalid."""
        cover = image(row["cover"], self.media, f"series/{slug}/")
        stated = {**self._dated(row, f"series {slug}"), "cover": cover, "chapters": []}
        record = valid_fields(Series, stated, slug, self.notes)
        if record and record.get("chapter_title") == field_values.DEFAULT_CHAPTER_TITLE:
            del record["chapter_title"]
        return record

    def chapter(self, slug: str, row: StatedChapter) -> Fields | None:
        """Return the valid fields of a chapter; None if a required one is invalid."""
        place = f"{slug} chapter {row.fields['number']}"
        stated = {**self._dated(row.fields, f"chapter {slug}"), "pages": []}
        record = valid_fields(Chapter, stated, place, self.notes)
        if record is None:
            return None
        if sorted(row.page_numbers) != list(range(1, len(row.page_numbers) + 1)):
            # A catalog has an order only.
            self.notes.add("gaps in the numbers of pages are closed", place)
        return valid_fields(Chapter, record | {"pages": self._pages(slug, row, place)}, place, self.notes) or record

    def _pages(self, slug: str, row: StatedChapter, place: str) -> list[str]:
        """Return file names if all pages are in the chapter's folder; otherwise URLs, if these have one folder."""
        if row.pages is None:
            if row.page_names is None:
                self.notes.add("pages: unknown for some chapters", slug)
            return row.page_names or []
        volume, number = row.key
        folder = f"series/{slug}/{volume or 0}/{number}/"
        images = [image(url, self.media, folder) for url in row.pages]
        if not any(map(field_values.is_url, images)):
            return images
        images = [image(url, "", folder) for url in row.pages]
        if len({field_values.split_url(url)[0] for url in images}) > 1:
            self.notes.add("pages are in several folders, which a catalog cannot hold; written without pages", place)
            return []
        self.notes.add("some pages are not in the chapter's media folder; their URLs are kept", slug)
        return images

    def _dated(self, row: Row, place: str) -> Fields:
        """Return a row with times as text."""
        if row["modified"] is None:
            self.notes.add("last modification unknown; the time of the file is used", place)
        times = {name: row[name] for name in _TIMES if row.get(name) is not None}
        return {**row, **{name: field_values.iso(time) for name, time in times.items()}}

    def note_scheduled(self, slug: str, chapters: Iterable[Fields]) -> None:
        if any(field_values.instant(chapter["published"]) > self.now for chapter in chapters):
            self.notes.add("contains scheduled chapters; they are imported, and appear at their time", slug)


@dataclass(slots=True)
class ChapterBuilder:
    """Makes the records of the chapters of one series."""

    builder: RecordBuilder
    slug: str
    records: list[Fields] = field(default_factory=list)
    _ids: set[int] = field(default_factory=set)
    _numbers: set[tuple[int | None, str]] = field(default_factory=set)

    def add(self, row: StatedChapter) -> Fields | None:
        """Add a chapter, unless it is invalid, or its id or number is used; return its record.

        Chapters without a volume may share a number, if they have ids.
        """
        may_share = row.key[0] is None and row.id is not None
        if row.id in self._ids or (row.key in self._numbers and not may_share):
            self.builder.notes.add(f"chapter {row.key[1]} is a duplicate; skipped", self.slug)
            return None
        record = self.builder.chapter(self.slug, row)
        if record:
            self.records.append(record)
            self._numbers.add(row.key)
            self._ids |= {row.id} if row.id else set()
        return record

    def in_order(self) -> list[Fields]:
        return sorted(self.records, key=reading_order)


def key(chapter: Mapping[str, Any]) -> str:
    """Return the identity of a chapter from one import to the next."""
    return str(chapter["id"]) if chapter.get("id") else f"{chapter.get('volume') or 0}/{chapter['number']}"


# Statuses that the older versions show as completed.
_COMPLETED = ("completed", "canceled")


def only_in_v2(before: Fields, record: Fields) -> Fields:
    """Return the earlier values of a series that the older versions do not have, as long as they do not deny them."""
    names = ["licensed"]
    if (before.get("status") in _COMPLETED) == (record.get("status") in _COMPLETED):
        names.append("status")
    return {name: before[name] for name in names if name in before}


def reading_order(chapter: Row) -> tuple[float, float, float]:
    """Return the key of a chapter or its row: volumes come first; of one number, the order of ids."""
    return chapter.get("volume") or inf, float(chapter["number"] or 0), chapter.get("id") or inf


class UniqueCategories:
    """The categories of an import. Filters match ids and names and ignore case, so all of them are unique together."""

    def __init__(self, notes: Notes) -> None:
        self.notes = notes
        # Each id and name -> the id of its category.
        self._ids: dict[str, str] = {}

    def add(self, record: Fields) -> str | None:
        """Add a category; return the id of an earlier category with its id or name, which replaces it."""
        words = record["id"].casefold(), record["name"].casefold()
        other = next((self._ids[word] for word in words if word in self._ids), None)
        if other is None:
            self._ids |= dict.fromkeys(words, record["id"])
        else:
            place = f"category {record['name']}"[:60]
            self.notes.add(f"its id or name is that of category {other}, which replaces it", place)
        return other
