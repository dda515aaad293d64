"""What a site says now, what it said last time, and what stands in the catalog -> what is to be written.

Each field has three versions. Where people left it as the last import wrote it, what the site says now takes its place;
where they changed it, theirs stays; and where both changed it, theirs stays and they are told. Nothing is removed.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...catalog.name_index import Directory
from ...catalog.problems.messages import record_errors
from ...catalog.reader import Entry, Sources
from ...catalog.records import Category, Chapter, Group, Member, Person, Record
from ...catalog.yaml.positions import YamlPath
from . import unavailable
from .interpret import Fields, Imported
from .notes import Notes

FILES = {kind: f"{kind}.yaml" for kind in ("authors", "artists", "categories", "members", "groups")}
MODELS: dict[str, type[Record]] = {
    "authors": Person,
    "artists": Person,
    "categories": Category,
    "members": Member,
    "groups": Group,
}
# Which list the references in a field lead to.
REFERENCES = {"authors": "authors", "artists": "artists", "groups": "groups"}


@dataclass(frozen=True, slots=True)
class Change:
    """One field that gets another value, and where it stands."""

    file: str
    path: YamlPath
    name: str
    value: Any


@dataclass(slots=True)
class Plan:
    """What is to be written: all of it is new but the changes. Series are new as a whole, chapters join one."""

    site: Fields | None = None
    lists: dict[str, list[Fields]] = field(default_factory=dict)
    series: dict[str, tuple[Fields, list[Fields]]] = field(default_factory=dict)
    chapters: dict[str, list[Fields]] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        return {
            "series": len(self.series),
            "chapters": sum(map(len, self.chapters.values())) + sum(len(one) for _, one in self.series.values()),
            "others": sum(map(len, self.lists.values())) + (self.site is not None),
            "changes": len(self.changes),
        }


def key(chapter: Mapping[str, Any]) -> str:
    """By what a chapter is known from one import to the next."""
    return str(chapter["id"]) if chapter.get("id") else f"{chapter.get('volume') or 0}/{chapter['number']}"


def _place(chapter: Chapter) -> str:
    return key({"volume": chapter.volume, "number": chapter.number})


def remembered(found: Imported, before: Fields) -> Fields:
    """What the next import has to know of this one, and of those before it that told what this one did not."""
    lost = lost_paths(found, before)
    doubtful = unavailable.series(lost)
    lists = {kind: {str(one): record for one, record in records.items()} for kind, records in found.lists.items()}
    chapters = {slug: {key(one): one for one in told} for slug, told in found.chapters.items() if slug not in doubtful}
    series = {slug: told for slug, told in found.series.items() if slug not in doubtful}
    past = before.get("chapters", {})
    return {
        "site": before.get("site", {}) if lost else found.site,
        "lists": {kind: before.get("lists", {}).get(kind, {}) | told for kind, told in lists.items()},
        "series": before.get("series", {}) | series,
        "chapters": past | {slug: past.get(slug, {}) | told for slug, told in chapters.items()},
        "told": lost + [path for path, is_told in found.told.items() if is_told],
    }


def lost_paths(found: Imported, before: Fields) -> list[str]:
    """Paths that told something at the last import and do not now."""
    return [path for path in before.get("told", ()) if not found.told.get(path, True)]


class Merge:
    """Compares an import with a catalog that has no problems, or with none at all."""

    def __init__(self, sources: Sources, found: Imported, before: Fields, notes: Notes) -> None:
        self.sources, self.found, self.before, self.notes = sources, found, before, notes
        self.lost = lost_paths(found, before)
        self.doubtful = unavailable.series(self.lost)
        self.plan = Plan()
        self.directories = {
            kind: Directory[Any].of(entry.record for entry in sources.lists[file]) for kind, file in FILES.items()
        }

    def made(self) -> Plan:
        if self.sources.site is None:
            self.plan.site = self.found.site
        elif not self.lost:
            self._compare(Entry(self.sources.site, "site.yaml", ()), self.found.site, self.before.get("site"), "")
        for kind in FILES:
            self._list(kind)
        self._series()
        return self.plan

    def _list(self, kind: str) -> None:
        there = {entry.record.id: entry for entry in self.sources.lists[FILES[kind]]}
        before = self.before.get("lists", {}).get(kind, {})
        taken = {word.casefold() for one in there.values() for word in (str(one.record.id), one.record.name)}
        for number, told in self.found.lists.get(kind, {}).items():
            place = f"{kind} {number}"
            if number in there:
                self._compare(there[number], told, before.get(str(number)), place)
            elif str(number) in before:
                self.notes.add("was removed here since the last import, and is not written again", place)
            elif kind == "categories" and {number.casefold(), told["name"].casefold()} & taken:
                self.notes.add("is called as another one in the catalog is; it is left out", place)
            else:
                self.plan.lists.setdefault(kind, []).append(told)
        self._gone(before.keys() & set(map(str, there)), self.found.lists.get(kind, {}), kind)

    def _series(self) -> None:
        there = {one.slug: one for one in self.sources.series}
        folded = {slug.lower(): slug for slug in there}
        before = self.before.get("series", {})
        taken = {one.record.id for series in there.values() for one in series.chapters if one.record.id}
        for slug, told in self.found.series.items():
            if slug in there and slug in self.doubtful:
                continue
            chapters = self.found.chapters[slug]
            if slug in there:
                self._compare(there[slug].entry, told, before.get(slug), slug)
                self._chapters(slug, list(there[slug].chapters), chapters, taken)
            elif slug in before:
                self.notes.add("was removed here since the last import, and is not written again", slug)
            elif slug.lower() in folded:
                self.notes.add(f"differs from {folded[slug.lower()]} only in case; it is left out", slug)
            else:
                self.plan.series[slug] = told, [self._unique(one, taken, slug) for one in chapters]
        for slug in sorted(self.doubtful & there.keys()):
            self.notes.add("an answer about it is missing that was there at the last import; it stays as it is", slug)
        self._gone(before.keys() & there.keys() - self.doubtful, self.found.series, "series")

    def _chapters(self, slug: str, entries: list[Entry[Chapter]], told: list[Fields], taken: set[int]) -> None:
        by_id = {one.record.id: one for one in entries if one.record.id}
        # One that the site knows by its id is that one, whatever number it has meanwhile.
        ids = {one["id"] for one in told if "id" in one}
        others = [one for one in entries if one.record.id not in ids]
        by_number = {(one.record.volume, one.record.number): one for one in others}
        before = self.before.get("chapters", {}).get(slug, {})
        for one in told:
            place = f"{slug} chapter {one['number']}"
            entry = by_id.get(one.get("id", 0)) or by_number.get((one.get("volume"), one["number"]))
            if entry:
                known = one if entry.record.id else self._unique(one, taken, slug)
                self._compare(entry, known, before.get(key(one)), place)
            elif key(one) in before:
                self.notes.add("was removed here since the last import, and is not written again", place)
            else:
                self.plan.chapters.setdefault(slug, []).append(self._unique(one, taken, slug))
        here = {str(one.record.id) for one in entries} | {_place(one.record) for one in entries}
        self._gone(before.keys() & here, map(key, told), f"{slug} chapter")

    def _unique(self, chapter: Fields, taken: set[int], slug: str) -> Fields:
        """A chapter that is new here, without its id if another one has that."""
        if chapter.get("id") in taken:
            self.notes.add("another chapter of the catalog has its id; it is written without", f"{slug} {key(chapter)}")
            return {name: value for name, value in chapter.items() if name != "id"}
        taken |= {chapter["id"]} if "id" in chapter else set()
        return chapter

    def _gone(self, before: Iterable[str], now: Iterable[object], kind: str) -> None:
        """What the site told of once, and the catalog still has."""
        for one in sorted(set(before) - set(map(str, now))):
            self.notes.add("is gone from the site; it stays in the catalog", f"{kind} {one}")

    def _compare(self, entry: Entry[Any], told: Fields, last: Fields | None, place: str) -> None:
        model = type(entry.record)
        theirs, ours = self._meaning(model.model_validate(told)), self._meaning(entry.record)
        # What an older version of this program remembered may be no record any more.
        base = self._meaning(model.model_validate(last)) if last and not record_errors(model, last) else None
        for name in [one for one in model.model_fields if one in told or one in (last or {})]:
            if theirs[name] == ours[name] or (name == "pages" and not theirs[name]):
                continue
            default = model.model_fields[name].get_default()
            untouched = ours[name] == (base[name] if base else default)
            if untouched and (name in told or default is not None):
                self.plan.changes.append(Change(entry.file, entry.path, name, told.get(name, default)))
            elif base is None or theirs[name] != base[name]:
                self.notes.add(
                    f"{name} is another one on the site than here; it stays as it is here", place or entry.file
                )

    def _meaning(self, record: Record) -> Fields:
        """The fields of a record, with the people and groups that it names by their ids."""
        found = {name: getattr(record, name) for name in type(record).model_fields if name != "chapters"}
        for name in REFERENCES.keys() & found.keys():
            found[name] = list(self._ids(REFERENCES[name], found[name]))
        if isinstance(record, Group):
            members = self._ids("members", [one.member for one in record.members])
            found["members"] = [(member, one.role) for member, one in zip(members, record.members, strict=True)]
        if "categories" in found:
            found["categories"] = sorted(found["categories"])
        return found

    def _ids(self, kind: str, references: list[str | int]) -> Iterator[Any]:
        for one in references:
            there = self.directories[kind].candidates(one)
            yield there[0].id if there else one
