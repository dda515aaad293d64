"""Three values of each field of a record -> a change, a conflict, or nothing."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ..catalog.name_index import NameIndex
from ..catalog.problems.messages import record_errors
from ..catalog.reader import Entry
from ..catalog.records import Chapter, Group, Record
from ..catalog.yaml_values import yaml_value
from ..escaping import escaped
from ..reading_sites.lenient import Fields
from .merge_plan import REFERENCES, FieldChange, MergeState, Place, Removal

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
