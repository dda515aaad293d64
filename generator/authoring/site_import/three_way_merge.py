"""Three-way merge of the site's records, those of the last import, and the catalog -> a plan of what to write.

Each field has three values. If people left it as the last import wrote it, the site's value replaces it. If only people
changed it, theirs stays. If both changed it, theirs stays and a note lists the conflict. Nothing is removed.
"""

import reprlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...catalog.name_index import NameIndex
from ...catalog.problems.messages import record_errors
from ...catalog.reader import Entry, Sources
from ...catalog.records import Category, Chapter, Group, Member, Person, Record
from ...catalog.yaml.positions import YamlPath
from ...catalog.yaml_values import yaml_value
from . import unavailable
from .imported import Imported
from .lenient import Fields
from .notes import Notes

FILES = {kind: f"{kind}.yaml" for kind in ("authors", "artists", "categories", "members", "groups")}
MODELS: dict[str, type[Record]] = {
    "authors": Person,
    "artists": Person,
    "categories": Category,
    "members": Member,
    "groups": Group,
}
# Fields that reference a list, and its kind.
REFERENCES = {"authors": "authors", "artists": "artists", "groups": "groups"}


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field of the catalog that gets another value."""

    file: str
    path: YamlPath
    name: str
    value: Any


@dataclass(slots=True)
class Plan:
    """The records to add and the fields to change; `series` are new series with their chapters."""

    site: Fields | None = None
    lists: dict[str, list[Fields]] = field(default_factory=dict)
    series: dict[str, tuple[Fields, list[Fields]]] = field(default_factory=dict)
    chapters: dict[str, list[Fields]] = field(default_factory=dict)
    changes: list[FieldChange] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        in_new_series = sum(len(chapters) for _, chapters in self.series.values())
        return {
            "series": len(self.series),
            "chapters": sum(map(len, self.chapters.values())) + in_new_series,
            "others": sum(map(len, self.lists.values())) + (self.site is not None),
            "changes": len(self.changes),
        }


def key(chapter: Mapping[str, Any]) -> str:
    """Return the identity of a chapter from one import to the next."""
    return str(chapter["id"]) if chapter.get("id") else f"{chapter.get('volume') or 0}/{chapter['number']}"


def _number_key(chapter: Chapter) -> str:
    return key({"volume": chapter.volume, "number": chapter.number})


def saved(imported: Imported, last: Fields) -> Fields:
    """Return what the next import needs of this one, and of earlier ones for paths that are unavailable now."""
    lost = lost_paths(imported, last)
    unavailable_slugs = unavailable.series(lost)
    lists = {kind: {str(id): record for id, record in records.items()} for kind, records in imported.lists.items()}
    chapters = {
        slug: {key(chapter): chapter for chapter in chapters}
        for slug, chapters in imported.chapters.items()
        if slug not in unavailable_slugs
    }
    series = {slug: record for slug, record in imported.series.items() if slug not in unavailable_slugs}
    last_chapters = last.get("chapters", {})
    return {
        "site": last.get("site", {}) if lost else imported.site,
        "lists": {kind: last.get("lists", {}).get(kind, {}) | records for kind, records in lists.items()},
        "series": last.get("series", {}) | series,
        "chapters": last_chapters | {slug: last_chapters.get(slug, {}) | now for slug, now in chapters.items()},
        "told": lost + [path for path, is_usable in imported.usable.items() if is_usable],
    }


def lost_paths(imported: Imported, last: Fields) -> list[str]:
    """Return the paths with a usable response at the last import and none now."""
    return [path for path in last.get("told", ()) if not imported.usable.get(path, True)]


class Merge:
    """Compares an import with a valid catalog, or with none."""

    def __init__(self, sources: Sources, imported: Imported, last: Fields, notes: Notes) -> None:
        self.sources, self.imported, self.last, self.notes = sources, imported, last, notes
        self.lost = lost_paths(imported, last)
        self.unavailable = unavailable.series(self.lost)
        self.plan = Plan()
        self.directories = {
            kind: NameIndex[Any].of(entry.record for entry in sources.lists[file]) for kind, file in FILES.items()
        }

    def merged(self) -> Plan:
        if self.sources.site is None:
            self.plan.site = self.imported.site
        elif not self.lost:
            self._compare(Entry(self.sources.site, "site.yaml", ()), self.imported.site, self.last.get("site"), "")
        for kind in FILES:
            self._list(kind)
        self._series()
        return self.plan

    def _list(self, kind: str) -> None:
        entries = {entry.record.id: entry for entry in self.sources.lists[FILES[kind]]}
        last = self.last.get("lists", {}).get(kind, {})
        words = {word.casefold() for entry in entries.values() for word in (str(entry.record.id), entry.record.name)}
        for id, record in self.imported.lists.get(kind, {}).items():
            place = f"{kind} {id}"
            if id in entries:
                self._compare(entries[id], record, last.get(str(id)), place)
            elif str(id) in last:
                self._note_removed(place)
            elif kind == "categories" and {id.casefold(), record["name"].casefold()} & words:
                self.notes.add("its name or id is used in the catalog; skipped", place)
            else:
                self.plan.lists.setdefault(kind, []).append(record)
        self._note_gone(last.keys() & set(map(str, entries)), self.imported.lists.get(kind, {}), kind)

    def _series(self) -> None:
        here = {series.slug: series for series in self.sources.series}
        lower_case = {slug.lower(): slug for slug in here}
        last = self.last.get("series", {})
        ids = {chapter.record.id for series in here.values() for chapter in series.chapters if chapter.record.id}
        for slug, record in self.imported.series.items():
            if slug in here and slug in self.unavailable:
                continue
            chapters = self.imported.chapters[slug]
            if slug in here:
                self._compare(here[slug].entry, record, last.get(slug), slug)
                self._chapters(slug, list(here[slug].chapters), chapters, ids)
            elif slug in last:
                self._note_removed(slug)
            elif slug.lower() in lower_case:
                self.notes.add(f"differs from {lower_case[slug.lower()]} only in case; skipped", slug)
            else:
                self.plan.series[slug] = record, [self._with_free_id(chapter, ids, slug) for chapter in chapters]
        for slug in sorted(self.unavailable & here.keys()):
            self.notes.add("a response of the last import is not available now; kept as it is", slug)
        self._note_gone(last.keys() & here.keys() - self.unavailable, self.imported.series, "series")

    def _chapters(self, slug: str, here: list[Entry[Chapter]], chapters: list[Fields], ids: set[int]) -> None:
        by_id = {entry.record.id: entry for entry in here if entry.record.id}
        # A chapter that the site has under the same id is the same chapter, also with another number.
        site_ids = {chapter["id"] for chapter in chapters if "id" in chapter}
        others = [entry for entry in here if entry.record.id not in site_ids]
        by_number = {(entry.record.volume, entry.record.number): entry for entry in others}
        last = self.last.get("chapters", {}).get(slug, {})
        for chapter in chapters:
            place = f"{slug} chapter {chapter['number']}"
            entry = by_id.get(chapter.get("id", 0)) or by_number.get((chapter.get("volume"), chapter["number"]))
            if entry:
                record = chapter if entry.record.id else self._with_free_id(chapter, ids, slug)
                self._compare(entry, record, last.get(key(chapter)), place)
            elif key(chapter) in last:
                self._note_removed(place)
            else:
                self.plan.chapters.setdefault(slug, []).append(self._with_free_id(chapter, ids, slug))
        here_keys = {str(entry.record.id) for entry in here} | {_number_key(entry.record) for entry in here}
        self._note_gone(last.keys() & here_keys, map(key, chapters), f"{slug} chapter")

    def _with_free_id(self, chapter: Fields, ids: set[int], slug: str) -> Fields:
        """Return a new chapter, without its id if another chapter of the catalog has that."""
        if chapter.get("id") in ids:
            self.notes.add("another chapter of the catalog has its id; added without id", f"{slug} {key(chapter)}")
            return {name: value for name, value in chapter.items() if name != "id"}
        ids |= {chapter["id"]} if "id" in chapter else set()
        return chapter

    def _note_removed(self, place: str) -> None:
        self.notes.add("removed from the catalog since the last import; not added again", place)

    def _note_gone(self, last: Iterable[str], now: Iterable[object], kind: str) -> None:
        """Note entries of the catalog that the site had at the last import and has no longer."""
        for id in sorted(set(last) - set(map(str, now))):
            self.notes.add("no longer on the site; kept in the catalog", f"{kind} {id}")

    def _compare(self, entry: Entry[Any], site: Fields, last: Fields | None, place: str) -> None:
        for values in _field_values(entry.record, site, last, self.directories):
            if _is_equal(values):
                continue
            if _is_changed_on_site_only(values):
                self.plan.changes.append(FieldChange(entry.file, entry.path, values.name, values.written))
            elif not _is_changed_here_only(values):
                self.notes.add(_conflict(values), place or entry.file)


class _FieldValues(NamedTuple):
    """The values of a field on the site, in the catalog and at the last import; references are ids."""

    name: str
    site: Any
    here: Any
    # The default if there was no import.
    last: Any
    was_imported: bool
    # The site's value as it would be written; None if the field cannot be left out.
    written: Any


def _field_values(
    record: Record, site: Fields, last: Fields | None, directories: Mapping[str, NameIndex[Any]]
) -> Iterator[_FieldValues]:
    model = type(record)
    site_values = _comparable(model.model_validate(site), directories)
    here = _comparable(record, directories)
    # A record that an older version of this program saved may be invalid now.
    was_imported = bool(last) and not record_errors(model, last or {})
    last_values = _comparable(model.model_validate(last), directories) if was_imported else {}
    for name, info in model.model_fields.items():
        if name in site or name in (last or {}):
            default = info.get_default()
            written = site.get(name, default)
            yield _FieldValues(
                name, site_values[name], here[name], last_values.get(name, default), was_imported, written
            )


def _is_equal(values: _FieldValues) -> bool:
    """Both have the same value, or the site states no pages."""
    return bool(values.site == values.here or (values.name == "pages" and not values.site))


def _is_changed_on_site_only(values: _FieldValues) -> bool:
    """The catalog has the value of the last import."""
    return bool(values.here == values.last and values.written is not None)


def _is_changed_here_only(values: _FieldValues) -> bool:
    """The site has the value of the last import."""
    return bool(values.was_imported and values.site == values.last)


def _conflict(values: _FieldValues) -> str:
    """Describe different values, neither of which is that of the last import. Long lists are not quoted."""
    if isinstance(values.here, list | tuple) or isinstance(values.site, list | tuple):
        return f"{values.name}: conflict: another value on the site; kept yours"
    here, there = (_quoted(values.name, value) for value in (values.here, values.written))
    return f"{values.name}: conflict: {here} here, {there} there; kept yours"


def _quoted(name: str, value: Any) -> str:
    return reprlib.repr(yaml_value({name: value})[name] if isinstance(value, int) else value)


def _comparable(record: Record, directories: Mapping[str, NameIndex[Any]]) -> Fields:
    """Return the fields of a record, with ids in place of references by name."""
    values = {name: getattr(record, name) for name in type(record).model_fields if name != "chapters"}
    for name in REFERENCES.keys() & values.keys():
        values[name] = list(_ids(directories[REFERENCES[name]], values[name]))
    if isinstance(record, Group):
        members = _ids(directories["members"], [role.member for role in record.members])
        values["members"] = [(member, role.role) for member, role in zip(members, record.members, strict=True)]
    if "categories" in values:
        values["categories"] = sorted(values["categories"])
    return values


def _ids(directory: NameIndex[Any], references: list[str | int]) -> Iterator[Any]:
    for reference in references:
        candidates = directory.candidates(reference)
        yield candidates[0].id if candidates else reference
