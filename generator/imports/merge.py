"""Merge what a source says now with the catalog: the three states of each field -> a plan of what to write.

A record has a kind and an id, and each field of it three values: *last* (what the last import said), *site* (what the
source says now), and *here* (what the catalog has). References are compared as ids.

| values | cause | result |
|---|---|---|
| here = site | both agree | nothing |
| here = last | only the site changed it | site |
| site = last | only people changed it | here |
| all differ | a conflict | here and a note; `--theirs`: site |

| the record is in | cause | result |
|---|---|---|
| site, here | both have it | its fields are merged |
| site | it is new | it is added |
| last, site | people removed it | a note |
| last, here | the site removed it | a note; `--remove`: it is removed, unless people edited it |
| here | it is of the catalog alone | nothing |

For example, the old site renames the group Lamp to Lantern, and people have removed its member Wick from the catalog:

| kind, id | last | site | here | result |
|---|---|---|---|---|
| groups 2 name | Lamp | Lantern | Lamp | the name becomes Lantern |
| groups 2 website | a.example | a.example | b.example | b.example stays |
| members 9 | Wick | Wick | | a note: removed, not added again |
| chapters/one 7 groups | [2] | [2] | [2], written `[Lamp]` | no change; at the end, it is respelled as `[Lantern]` |

If people had renamed the group to Light, this would be a conflict: the catalog keeps Light, and the next import
compares with Lamp again, until `--mine` or `--theirs` decides.

`merge_catalog.py` finds the entry of the catalog that each record of the site is, and passes the states of all
records. Then it respells the references to renamed entries. `catalog_files.py` edits the fields in the text of the
files; a reference that cannot be edited ends the import. `last_imports.py` saves what the site said as the next last;
it also says what last is if a catalog has several sources.
"""

from collections import Counter
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal, NamedTuple

from ..catalog.cross_checks import NameIndex
from ..catalog.messages import record_errors
from ..catalog.reader import Entry, Sources
from ..catalog.records import Chapter, Group, Record, Series
from ..catalog.yaml.positions import YamlPath
from ..catalog.yaml_values import yaml_value
from ..errors import FlatpanelError, counted, escaped
from ..reading_sites.lenient import Fields
from ..reading_sites.notes import Notes
from .records import Imported, key
from .spilled import spilled_records

# The plan: records to add, fields to change, entries to remove, slugs that change

FILES = {kind: f"{kind}.yaml" for kind in ("authors", "artists", "categories", "members", "groups")}
ACCOUNTS, KEYS = "accounts.yaml", "keys.yaml"
# Fields that reference a list of the same name.
REFERENCES = ("authors", "artists", "groups")
# Which value a conflict gets; empty: the catalog's value stays, and the next import shows the conflict again.
Choice = Literal["", "mine", "theirs"]


def chapters_of(slug: str) -> str:
    """Return the kind of the chapters of a series."""
    return f"chapters/{slug}"


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field of the catalog that gets another value; None removes the field."""

    file: str
    path: YamlPath
    name: str
    value: Any
    # Whether references in the value are already names.
    is_spelled: bool = False
    # The kind and the id of its record in the last import, if the last import has the field.
    entry: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Removal:
    """An entry that leaves the catalog; without a path, the whole file."""

    file: str
    path: YamlPath = ()


@dataclass(slots=True)
class Plan:
    """The records to add and the fields to change; `series` are new series with their chapters."""

    site: Fields | None = None
    lists: dict[str, list[Fields]] = field(default_factory=dict)
    series: MutableMapping[str, tuple[Fields, list[Fields]]] = field(default_factory=spilled_records)
    chapters: dict[str, list[Fields]] = field(default_factory=dict)
    changes: list[FieldChange] = field(default_factory=list)
    removals: list[Removal] = field(default_factory=list)
    # Old slug -> new slug.
    moves: dict[str, str] = field(default_factory=dict)
    # How files refer to each id of a list after the merge, by kind.
    names: dict[str, dict[Any, str | int]] = field(default_factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        in_new_series = sum(len(chapters) for _, chapters in self.series.values())
        return {
            "series": len(self.series),
            "chapters": sum(map(len, self.chapters.values())) + in_new_series,
            "others": sum(map(len, self.lists.values())) + (self.site is not None),
            "changes": len(self.changes),
            "removed": len({(removal.file, removal.path) for removal in self.removals}),
            "renamed": len(self.moves),
        }

    @property
    def removed_slugs(self) -> set[str]:
        files = [removal.file.split("/") for removal in self.removals if not removal.path]
        return {path[1].removesuffix(".yaml") for path in files if len(path) == 2 or path[2:] == ["series.yaml"]}


# The merge of one record

REMOVED_HERE = "removed from the catalog since the last import; not added again"
# Optional fields that the site can lose; others that it does not state stay.
_REMOVABLE = ("volume", "logo", "updated", "avatar")
_CONFLICTS = "conflicts: changed here and on the site"
_HOW_TO_DECIDE = "conflicts: --mine keeps the values of the catalog, --theirs takes those of the site"
_HOW_TO_REMOVE = "--remove removes the entries that the site has removed, unless they were edited here"
# Characters of a value in a note.
_LONGEST = 100


class States(NamedTuple):
    """A record in its three states; None where it is not."""

    # In the memory of the last import.
    kind: str
    id: str
    # Its name in notes.
    label: str
    last: Fields | None
    site: Fields | None
    here: Entry[Any] | None
    # Fields whose values no note shows.
    private: tuple[str, ...] = ()


@dataclass(slots=True)
class Merge:
    """The input of a merge, and what its records result in."""

    sources: Sources
    imported: Imported
    # What the last import said, by kind and id; empty if it is unknown.
    last: MutableMapping[str, dict[str, Any]]
    notes: Notes
    choice: Choice = ""
    # Whether entries that the site removed are removed here.
    removes: bool = False
    plan: Plan = field(default_factory=Plan)
    # Kind, id and name of each field that is undecided or unwritten: the next import compares it with the same last.
    undecided: list[tuple[str, str, str]] = field(default_factory=list)
    # Differences between the site and an entry of the catalog that the last import does not explain.
    differences: list[str] = field(default_factory=list)
    # Ids that name other people here than on the site.
    other_people: dict[tuple[str, Any], str] = field(default_factory=dict)
    directories: dict[str, NameIndex[Any]] = field(init=False)

    def __post_init__(self) -> None:
        self.directories = {
            kind: NameIndex[Any].of(entry.record for entry in self.sources.lists[file]) for kind, file in FILES.items()
        }

    def last_of(self, kind: str) -> dict[str, Fields]:
        """Return the records of a kind at the last import. Each call reads them: do not call it for each record."""
        return self.last.get(kind, {})

    def record(self, states: States) -> Fields | None:
        """Merge a record; return it if it is new, since the plan has a place of its own for each kind."""
        if states.here and states.site is not None:
            self._fields(states, states.here, states.site)
        elif states.here and states.last:
            removal = Removal(states.here.file, states.here.path)
            self.gone(states.label, [removal], is_edited=self.is_edited(states.here.record, states.last))
        elif states.site is not None and states.last is not None:
            self.notes.add(REMOVED_HERE, states.label)
        elif not states.here:
            return states.site
        return None

    def _fields(self, states: States, entry: Entry[Any], record: Fields) -> None:
        """Plan the fields that change, and note the conflicts."""
        model, saved = type(entry.record), states.last or {}
        # A record that an older version of this program saved may be invalid now.
        was_imported = bool(saved) and not record_errors(model, saved)
        there, present = self._values(model.model_validate(record)), self._values(entry.record)
        before = self._values(model.model_validate(saved)) if was_imported else {}
        for name, info in model.model_fields.items():
            if name not in record and name not in saved:
                continue
            default = None if isinstance(info.default, Record) else info.get_default()
            written = record.get(name, default)
            site, here, last = there[name], present[name], before.get(name, default)
            is_unstated = written is None and name not in _REMOVABLE
            if site == here or is_unstated or (name == "pages" and not site):
                continue
            both = f"{quoted(name, here)} here, {quoted(name, written)} there"
            if name in states.private:
                both = "one value here, another there"
            if not was_imported:
                self.differences.append(f"{states.label}: {name}: {both}")
            is_conflict = here != last and not (was_imported and site == last)
            if here == last or (is_conflict and self.choice == "theirs"):
                of = (states.kind, states.id)
                self.plan.changes.append(FieldChange(entry.file, entry.path, name, written, entry=of))
            elif is_conflict:
                self.conflict(states, name, f"{name}: conflict: {both}")

    def conflict(self, states: States, name: str, sentence: str) -> None:
        """Note a conflict, unless it is decided for the catalog."""
        if self.choice != "mine":
            self.notes.add(f"{sentence}; kept yours", states.label, _CONFLICTS)
            self.notes.add(_HOW_TO_DECIDE)
            self.undecided.append((states.kind, states.id, name))

    def gone(self, label: str, removals: list[Removal], *, is_edited: bool) -> bool:
        """Remove an entry that the site has removed, or note it; return whether it is removed."""
        if self.removes and (self.choice == "theirs" or not is_edited):
            self.plan.removals += removals
            return True
        self.notes.add("no longer on the site; kept in the catalog", label)
        self.notes.add(_HOW_TO_REMOVE)
        return False

    def is_edited(self, record: Record, last: Fields | None) -> bool:
        """Return whether people changed a record since the last import, or made it."""
        if not last or record_errors(type(record), last):
            return True
        return self._values(record) != self._values(type(record).model_validate(last))

    def _values(self, record: Record) -> Fields:
        """Return the fields of a record as they are compared, with ids in place of references by name."""
        values = {name: getattr(record, name) for name in type(record).model_fields if name != "chapters"}
        if isinstance(record, Group):
            members = self._ids("members", [role.member for role in record.members])
            values["members"] = [(member, role.role) for member, role in zip(members, record.members, strict=True)]
        for name in REFERENCES:
            if name in values:
                values[name] = list(self._ids(name, values[name]))
        if isinstance(record, Series):
            values["links"] = record.links.to_values() or None
        if "categories" in values:
            values["categories"] = sorted(values["categories"])
        if isinstance(record, Chapter):
            # Those of the catalog are in a file.
            values["pages"] = list(record.pages)
        return values

    def _ids(self, kind: str, references: list[str | int]) -> Iterator[Any]:
        for reference in references:
            candidates = self.directories[kind].candidates(reference)
            yield candidates[0].id if candidates else reference


def quoted(name: str, value: Any) -> str:
    """Return a value as a note shows it. The end of a long value is left out."""
    shown = yaml_value({name: value}).get(name)
    text = f"'{escaped(shown)}'" if isinstance(shown, str) else "nothing" if shown is None else escaped(str(shown))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


# Merges that are refused

# Differences that a refusal names.
_NAMED = 12


def refuse_differences(merge: Merge, place: str) -> None:
    """Refuse an undecided import into a catalog of other people, or whose last import is unknown and that differs.

    Without the last import, an entry that the catalog lacks may be new on the site or removed here.
    """
    if merge.choice:
        return
    people, differences = list(merge.other_people.values()), list[str]()
    if not merge.last:
        names = {f"{person.partition(':')[0]}: name" for person in people}
        differences = [text for text in merge.differences if ": ".join(text.split(": ")[:2]) not in names]
        if {series.slug for series in merge.sources.series} & merge.imported.series.keys():
            differences += [f"{slug}: on the site, not here" for slug in merge.plan.series]
        differences += [f"{old}: has the slug {new} on the site" for old, new in merge.plan.moves.items()]
    if not people and not differences:
        return
    fault = "ids name other people here than on the site" if people else "the site and the catalog differ"
    unknown = "" if merge.last else "its last import from this site is unknown, and "
    raise FlatpanelError(
        f"{place}: {unknown}{fault}; nothing was written",
        *_first([*people, *differences], "more"),
        "--mine keeps the values of the catalog and adds what is missing, --theirs takes those of the site; "
        "if an id is of two people, first give yours another id",
    )


def refuse_missing_ids(merge: Merge, place: str) -> None:
    """Refuse to add chapters that the site shows without ids: apps recognise a chapter by its id.

    The chapters of a licensed series are an exception: the version with ids does not show them.
    """
    plan, counts = merge.plan, Counter[str]()
    for slug, chapters in chain(((slug, added) for slug, (_, added) in plan.series.items()), plan.chapters.items()):
        without = {key(chapter) for chapter in chapters if "id" not in chapter}
        if without and not merge.imported.series[slug].get("licensed"):
            # Others lost their id to another chapter of the catalog; they have a note.
            counts[slug] += sum(key(chapter) in without for chapter in merge.imported.chapters[slug])
    if lines := [f"{slug}: {counted(count, 'chapter')}" for slug, count in counts.items() if count]:
        without_id = f"{counted(counts.total(), 'chapter')} without an id in any response"
        raise FlatpanelError(
            f"{place}: {without_id}, and apps recognise a chapter by its id; nothing was written",
            *_first(lines, "more series"),
            "pass the database of the site (--from-database), which has the ids, or an API key (--key-file) if "
            "/api/v2 needs one; --allow-missing-ids imports without ids, and `python build.py ids` assigns new ones",
        )


def _first(lines: list[str], more: str) -> list[str]:
    rest = [f"and {len(lines) - _NAMED} {more}"] if len(lines) > _NAMED else []
    return [f"  {line}" for line in (*lines[:_NAMED], *rest)]
