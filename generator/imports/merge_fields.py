"""The plan of a merge, and its steps for single fields: three values -> a change, a conflict, or nothing.

The people, categories, groups and members are merged here, too, and after all other changes the references to renamed
entries, and to series with another slug.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from ..catalog.cross_checks import NameIndex
from ..catalog.messages import record_errors
from ..catalog.reader import Entry, Sources
from ..catalog.records import Chapter, Group, Record
from ..catalog.yaml.positions import YamlPath
from ..catalog.yaml_values import yaml_value
from ..errors import escaped
from ..reading_sites.lenient import Fields
from ..reading_sites.notes import Notes
from .records import Imported
from .spilled import spilled_records

# The plan: records to add, fields to change, entries to remove, slugs that change

FILES = {kind: f"{kind}.yaml" for kind in ("authors", "artists", "categories", "members", "groups")}
ACCOUNTS, KEYS = "accounts.yaml", "keys.yaml"
# Fields that reference a list, and its kind.
REFERENCES = {"authors": "authors", "artists": "artists", "groups": "groups"}
# Which value a conflict gets; empty: the catalog's value stays, and the next import shows the conflict again.
Choice = Literal["", "mine", "theirs"]


def chapters_of(slug: str) -> str:
    """Return the kind that the chapters of a series have in a memory."""
    return f"chapters/{slug}"


class Place(NamedTuple):
    """The kind and id of a record in the memory of the last import, and its name in notes."""

    memory: tuple[str, str]
    label: str
    # Fields whose values no note shows.
    private: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field of the catalog that gets another value; None removes the field."""

    file: str
    path: YamlPath
    name: str
    value: Any
    # Whether references in the value are already names.
    is_spelled: bool = False


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


@dataclass(slots=True)
class MergeState:
    """The input of a merge, and what its steps collect."""

    sources: Sources
    imported: Imported
    # What the last import saved, by kind and id; empty if it is unknown.
    last: MutableMapping[str, dict[str, Any]]
    notes: Notes
    choice: Choice = ""
    # Whether entries that the site removed are removed here.
    removes: bool = False
    plan: Plan = field(default_factory=Plan)
    # Fields whose conflict is not decided; the next import compares them with the import before this one.
    undecided: list[tuple[tuple[str, str], str]] = field(default_factory=list)
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


# One field of a record

# Optional fields that the site can lose; others that it does not state stay.
_REMOVABLE = ("volume", "logo", "updated", "avatar")
_CONFLICTS = "conflicts: changed here and on the site"
_HOW_TO_DECIDE = "conflicts: --mine keeps the values of the catalog, --theirs takes those of the site"
_HOW_TO_REMOVE = "--remove removes the entries that the site has removed, unless they were edited here"
# Characters of a value in a note.
_LONGEST = 100


class FieldValues(NamedTuple):
    """The values of a field on the site, in the catalog and at the last import; references are ids."""

    name: str
    site: Any
    here: Any
    # The default if there was no import.
    last: Any
    was_imported: bool
    # The site's value as it would be written; None if the site does not state the field and it has no default.
    written: Any


def compare(state: MergeState, entry: Entry[Any], site: Fields, last: Fields | None, place: Place) -> None:
    """Plan the fields that change, and note the conflicts."""
    for values in _field_values(entry.record, site, last, state.directories):
        if _is_equal(values) or (values.written is None and values.name not in _REMOVABLE):
            continue
        is_conflict = not (_is_changed_on_site_only(values) or _is_changed_here_only(values))
        if not values.was_imported:
            state.differences.append(f"{place.label}: {_both(values, place)}")
        if _is_changed_on_site_only(values) or (is_conflict and state.choice == "theirs"):
            state.plan.changes.append(FieldChange(entry.file, entry.path, values.name, values.written))
        elif is_conflict:
            note_conflict(state, place, values.name, _both(values, place))


def note_conflict(state: MergeState, place: Place, name: str, both: str) -> None:
    """Note a conflict that is not decided."""
    if state.choice != "mine":
        field, _, values = both.partition(": ")
        state.notes.add(f"{field}: conflict: {values}; kept yours", place.label, _CONFLICTS)
        state.notes.add(_HOW_TO_DECIDE)
        state.undecided.append((place.memory, name))


def is_edited(state: MergeState, record: Record, last: Fields | None) -> bool:
    """Return whether people changed a record since the last import, or made it."""
    if not last or record_errors(type(record), last):
        return True
    return _comparable(record, state.directories) != _comparable(type(record).model_validate(last), state.directories)


def gone(state: MergeState, removals: list[Removal], label: str, *, is_edited: bool) -> None:
    """Remove an entry that the site has removed, or note it."""
    if state.removes and (state.choice == "theirs" or not is_edited):
        state.plan.removals += removals
        return
    state.notes.add("no longer on the site; kept in the catalog", label)
    state.notes.add(_HOW_TO_REMOVE)


def _field_values(
    record: Record, site: Fields, last: Fields | None, directories: Mapping[str, NameIndex[Any]]
) -> Iterator[FieldValues]:
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
            yield FieldValues(
                name, site_values[name], here[name], last_values.get(name, default), was_imported, written
            )


def _is_equal(values: FieldValues) -> bool:
    """Both have the same value, or the site states no pages."""
    return bool(values.site == values.here or (values.name == "pages" and not values.site))


def _is_changed_on_site_only(values: FieldValues) -> bool:
    """The catalog has the value of the last import."""
    return bool(values.here == values.last)


def _is_changed_here_only(values: FieldValues) -> bool:
    """The site has the value of the last import."""
    return bool(values.was_imported and values.site == values.last)


def _both(values: FieldValues, place: Place) -> str:
    """Describe both values of a field."""
    if values.name in place.private:
        return f"{values.name}: one value here, another there"
    here, there = (quoted(values.name, value) for value in (values.here, values.written))
    return f"{values.name}: {here} here, {there} there"


def quoted(name: str, value: Any) -> str:
    """Return a value as a note shows it. The end of a long value is left out."""
    shown = yaml_value({name: value}).get(name)
    text = f"'{escaped(shown)}'" if isinstance(shown, str) else "nothing" if shown is None else escaped(str(shown))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


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
    if isinstance(record, Chapter):
        # Those of the catalog are in a file.
        values["pages"] = list(record.pages)
    return values


def _ids(directory: NameIndex[Any], references: list[str | int]) -> Iterator[Any]:
    for reference in references:
        candidates = directory.candidates(reference)
        yield candidates[0].id if candidates else reference


# The lists of people, categories, groups and members

REMOVED_HERE = "removed from the catalog since the last import; not added again"


def merge_list(state: MergeState, kind: str) -> None:
    entries = {entry.record.id: entry for entry in state.sources.lists[FILES[kind]]}
    last = state.last_of(kind)
    words = {
        word.casefold(): entry.record.id
        for entry in entries.values()
        for word in (str(entry.record.id), entry.record.name)
    }
    on_site = state.imported.lists.get(kind, {})
    for id, record in on_site.items():
        label = f"{kind} {id}"
        if id in entries:
            if kind != "categories" and str(id) not in last:
                _collect_other_person(state, kind, entries[id], record)
            compare(state, entries[id], record, last.get(str(id)), Place((kind, str(id)), label))
        elif kind == "categories" and (other := words.get(record["name"].casefold()) or words.get(id.casefold())):
            state.notes.add(f"its name or id is that of the category {other} of the catalog, which is used", label)
            _use_other_category(state, id, other)
        elif str(id) in last:
            state.notes.add(REMOVED_HERE, label)
        else:
            state.plan.lists.setdefault(kind, []).append(record)
    for id, entry in sorted(entries.items(), key=lambda item: str(item[0])):
        if str(id) in last and id not in on_site:
            edited = is_edited(state, entry.record, last[str(id)])
            gone(state, [Removal(entry.file, entry.path)], f"{kind} {id}", is_edited=edited)


def _use_other_category(state: MergeState, id: str, other: str) -> None:
    """Replace a category of the site by one of the catalog in all series."""
    for series in state.imported.series.values():
        if id in series.get("categories", ()):
            series["categories"] = sorted({other if category == id else category for category in series["categories"]})


def _collect_other_person(state: MergeState, kind: str, entry: Entry[Any], record: Fields) -> None:
    """Collect an id that was not imported and has another name on the site."""
    here, there = entry.record.name, record["name"]
    if here != there:
        label = f"{kind} {entry.record.id}"
        state.other_people[kind, entry.record.id] = (
            f"{label}: {quoted('name', here)} here, {quoted('name', there)} there"
        )


# References to renamed entries


def names_after(state: MergeState) -> dict[str, dict[Any, str | int]]:
    """Return the reference to each id of a list after the merge: the name if it is unique, otherwise the id."""
    return {kind: dict(_names(state, kind)) for kind in FILES}


def _names(state: MergeState, kind: str) -> Iterator[tuple[Any, str | int]]:
    plan, file = state.plan, FILES[kind]
    new = {change.path: change.value for change in plan.changes if change.file == file and change.name == "name"}
    removed = {removal.path for removal in plan.removals if removal.file == file}
    pairs = [
        (entry.record.id, new.get(entry.path, entry.record.name))
        for entry in state.sources.lists[file]
        if entry.path not in removed
    ]
    pairs += [(record["id"], record["name"]) for record in plan.lists.get(kind, ())]
    counts = Counter(name for _, name in pairs)
    return ((id, name if counts[name] == 1 else id) for id, name in pairs)


class RenamedReferences:
    """Adds the changes of references that follow a rename; other references stay as they are written."""

    def __init__(self, state: MergeState) -> None:
        self.state = state
        self._planned = {(change.file, change.path, change.name) for change in state.plan.changes}

    def follow(self) -> None:
        for series in self.state.sources.series:
            for name in ("authors", "artists"):
                self._list(series.entry, name, is_own=series.slug not in self.state.imported.series)
            for chapter in series.chapters:
                self._list(chapter, "groups", is_own=False)
        for group in self.state.sources.lists[FILES["groups"]]:
            self._members(group)
        for account in self.state.sources.lists[ACCOUNTS]:
            self._bookmarks(account)

    def _list(self, entry: Entry[Any], name: str, *, is_own: bool) -> None:
        """Respell the references in a list; a series of the catalog alone loses people that --theirs replaced."""
        before = getattr(entry.record, name)
        kind = REFERENCES[name]
        replaced = {id for of, id in self.state.other_people if of == kind} if is_own else set()
        kept = [reference for reference in before if not self._ids(kind, reference) & replaced]
        if self.state.choice != "theirs":
            kept = before
        after = [self._spelled(kind, reference) for reference in kept]
        if after != before:
            self._change(entry, name, after)

    def _members(self, group: Entry[Any]) -> None:
        for index, role in enumerate(group.record.members):
            spelled = self._spelled("members", role.member)
            if spelled != role.member and (group.file, group.path, "members") not in self._planned:
                place = (*group.path, "members", index)
                self.state.plan.changes.append(FieldChange(group.file, place, "member", spelled, is_spelled=True))

    def _bookmarks(self, account: Entry[Any]) -> None:
        moves, gone = self.state.plan.moves, removed_slugs(self.state.plan)
        before = account.record.bookmarks
        after = list(dict.fromkeys(moves.get(slug, slug) for slug in before if slug not in gone))
        if after != before:
            self._change(account, "bookmarks", after)

    def _change(self, entry: Entry[Any], name: str, value: Any) -> None:
        if (entry.file, entry.path, name) not in self._planned:
            self.state.plan.changes.append(FieldChange(entry.file, entry.path, name, value, is_spelled=True))

    def _ids(self, kind: str, reference: str | int) -> set[Any]:
        return {entity.id for entity in self.state.directories[kind].candidates(reference)}

    def _spelled(self, kind: str, reference: str | int) -> str | int:
        """Return a reference by name with the name after the merge; a reference by id stays."""
        if not isinstance(reference, str):
            return reference
        (id,) = self._ids(kind, reference)
        return self.state.plan.names[kind].get(id, reference)


def slugs_after(state: MergeState) -> set[str]:
    """Return the slugs of the catalog after the merge."""
    here = {series.slug for series in state.sources.series} - removed_slugs(state.plan)
    return {state.plan.moves.get(slug, slug) for slug in here} | state.plan.series.keys()


def removed_slugs(plan: Plan) -> set[str]:
    """Return the slugs of the series that the plan removes."""
    files = [removal.file.split("/") for removal in plan.removals if not removal.path]
    return {path[1].removesuffix(".yaml") for path in files if len(path) == 2 or path[2:] == ["series.yaml"]}
