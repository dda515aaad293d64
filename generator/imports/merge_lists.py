"""Merge the people, categories, groups and members of a site into the lists of a catalog."""

from typing import Any

from ..catalog.reader import Entry
from ..reading_sites.lenient import Fields
from .merge_fields import compare, gone, is_edited, quoted
from .merge_plan import FILES, MergeState, Place, Removal

REMOVED_HERE = "removed from the catalog since the last import; not added again"


def merge_list(state: MergeState, kind: str) -> None:
    entries = {entry.record.id: entry for entry in state.sources.lists[FILES[kind]]}
    last = state.last_lists(kind)
    words = {
        word.casefold(): entry.record.id
        for entry in entries.values()
        for word in (str(entry.record.id), entry.record.name)
    }
    on_site = state.imported.lists.get(kind, {})
    for id, record in on_site.items():
        label = f"{kind} {id}"
        if id in entries:
            _collect_other_person(state, kind, entries[id], record)
            compare(state, entries[id], record, last.get(str(id)), Place(("lists", kind, str(id)), label))
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
    if kind != "categories" and str(entry.record.id) not in state.last_lists(kind) and here != there:
        label = f"{kind} {entry.record.id}"
        state.other_people[kind, entry.record.id] = (
            f"{label}: {quoted('name', here)} here, {quoted('name', there)} there"
        )
