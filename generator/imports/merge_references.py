"""References to renamed people, groups and members, and to series with another slug, after all other changes."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from ..catalog.reader import Entry
from .merge_plan import ACCOUNTS, FILES, REFERENCES, FieldChange, MergeState, Plan


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
