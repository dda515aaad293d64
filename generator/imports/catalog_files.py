"""A merge plan -> the text of each catalog file that is new or changes.

Fields are written in the documented order, with names in place of ids.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from ..catalog.layout import SERIES, SITE, schema_line
from ..catalog.messages import field_name
from ..catalog.records import Chapter, Group, Record, Series
from ..catalog.site_settings import Site
from ..catalog.yaml import editor, writer
from ..catalog.yaml.editor import FieldEdit
from ..catalog.yaml_values import yaml_value
from ..errors import FlatpanelError
from ..reading_sites.lenient import Fields
from .merge import ACCOUNTS, FILES, REFERENCES, FieldChange, Merge
from .records import MODELS
from .spilled import Spilled, spilled_texts

# A new series with more chapters becomes a folder.
MAX_CHAPTERS = 100
_HEADINGS = {
    "authors": "Authors of series.",
    "artists": "Artists of series.",
    "categories": "Categories of series.",
    "groups": "Groups that publish chapters.",
    "members": "Members of groups.",
    "accounts": "Accounts of readers. A key is here as its SHA-256 digest only.",
}
# Lists whose entries are referenced by name.
_WITH_NAMES = [file for kind, file in FILES.items() if kind in ("members", *REFERENCES)]
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")


class CatalogFiles:
    """The files of a merge; `text` returns the current text of a file."""

    def __init__(self, merge: Merge, text: Callable[[str], bytes]) -> None:
        self.merge, self.sources, self.plan, self.notes = merge, merge.sources, merge.plan, merge.notes
        self.text = text
        self.files = spilled_texts()
        self.spelled = partial(_in_file, merge.plan.names)
        # Names and references to them that cannot be edited: the references would name nothing.
        self.lost_references: list[str] = []

    def build(self) -> Spilled[bytes | None]:
        """Return the text of each file that is new or changes, and None for a file that is removed.

        The plan then has only the changes and removals that were possible.
        """
        by_file: dict[str, list[FieldChange]] = {}
        for change in self.plan.changes:
            by_file.setdefault(change.file, []).append(change)
        self.plan.changes = [change for file, changes in by_file.items() for change in self._change_file(file, changes)]
        if self.lost_references:
            fix = (
                "Write each name and reference without comments and anchors, or a reference as an id, and import again"
            )
            raise FlatpanelError(*self.lost_references, f"nothing was written. {fix}")
        self._remove_entries()
        if self.plan.site:
            self.files[SITE] = _new_file(SITE, yaml_value(_ordered(Site, self.plan.site)), "Settings of the site.")
        for kind, file in (*FILES.items(), ("accounts", ACCOUNTS)):
            records = [self.spelled(MODELS[kind], record) for record in self.plan.lists.get(kind, ())]
            if records and self._current(file):
                self._append(file, None, records)
            elif records:
                self.files[file] = _new_file(file, records, _HEADINGS[kind])
        files = {series.slug: series.entry.file for series in self.sources.series}
        old_slugs = {new: old for old, new in self.plan.moves.items()}
        for slug, chapters in self.plan.chapters.items():
            old = old_slugs.get(slug, slug)
            self._new_chapters(old, files[old], chapters)
        moved = dict(_moves(self.plan.moves, {*self.sources.mtimes, *self.files}))
        texts = {new: self._current(old) for old, new in moved.items()}
        removed = [removal.file for removal in self.plan.removals if not removal.path]
        self.files.update({**dict.fromkeys(moved), **texts, **dict.fromkeys(removed)})
        # One may have the old slug of a series that moved.
        for slug, (series, chapters) in self.plan.series.items():
            self._new_series(slug, series, chapters)
        return self.files

    def _remove_entries(self) -> None:
        """Remove entries from their files, the last one first: the places of the others do not change."""
        removals = [removal for removal in self.plan.removals if removal.path]
        for removal in sorted(removals, key=lambda removal: removal.path[-1:], reverse=True):
            *around, index = removal.path
            try:
                text = editor.without_item(self._current(removal.file), int(index), tuple(around))
                self.files[removal.file] = text
            except FlatpanelError:
                self.plan.removals = [other for other in self.plan.removals if other != removal]
                place = f"{removal.file}: {field_name(removal.path)}"
                self.notes.add("cannot be removed automatically; remove it", place)

    def _current(self, file: str) -> bytes:
        text = self.files.get(file)
        return self.text(file) if text is None else text

    def _change_file(self, file: str, changes: list[FieldChange]) -> list[FieldChange]:
        """Edit the fields of a file, and return those that were edited.

        All are edited at once; if one cannot be, each half is, so that few edits fail with it.
        """
        if len(changes) == 1:
            return [change for change in changes if self._change(change)]
        with suppress(FlatpanelError):
            self.files[file] = editor.with_fields(self._current(file), list(map(self._edit, changes)))
            return changes
        middle = len(changes) // 2
        return [*self._change_file(file, changes[:middle]), *self._change_file(file, changes[middle:])]

    def _edit(self, change: FieldChange) -> FieldEdit:
        model: type[Record] = Group if change.file == FILES["groups"] else Series
        value = change.value
        if not change.is_spelled and value is not None:
            value = self.spelled(model, {change.name: value})[change.name]
        return FieldEdit(change.path, change.name, value)

    def _change(self, change: FieldChange) -> bool:
        """Edit a field, and return whether that was possible. The next import tries again otherwise."""
        edit = self._edit(change)
        value, place = edit.value, f"{change.file}: {field_name((*change.path, change.name))}"
        try:
            self.files[change.file] = editor.with_fields(self._current(change.file), [edit])
            return True
        except FlatpanelError:
            if change.file == ACCOUNTS and change.name != "bookmarks":
                # A note would show personal data or a digest.
                fix = "nothing was written. Write each field of the account in a line of its own, and import again"
                raise FlatpanelError(f"{place}: cannot be edited automatically; {fix}") from None
            if change.is_spelled and change.name in {*REFERENCES, "member"}:
                names = ", ".join(map(str, value if isinstance(value, list) else [value]))[:200]
                fault = "names a renamed entry and cannot be edited automatically; should become"
                self.lost_references.append(f"{place}: {fault} {names}")
                return False
            if change.name == "name" and change.file in _WITH_NAMES:
                fault = "cannot be edited automatically, and references follow it; should become"
                self.lost_references.append(f"{place}: {fault} {value}"[:300])
                return False
            new = "" if value is None else "; ".join(writer.field(change.name, value)[:3])[:200]
            self.notes.add(f"cannot be edited automatically; {f'change it to {new}' if new else 'remove it'}", place)
            if change.entry:
                self.merge.undecided.append((*change.entry, change.name))
            return False

    def _append(self, file: str, name: str | None, records: list[Fields]) -> None:
        try:
            self.files[file] = editor.with_entries(self._current(file), name, records)
        except FlatpanelError as error:
            raise FlatpanelError(f"{file}: {error}; nothing was written") from None

    def _new_series(self, slug: str, series: Fields, chapters: list[Fields]) -> None:
        fields = self.spelled(Series, series)
        if len(chapters) > MAX_CHAPTERS:
            file = f"{SERIES}/{slug}/series.yaml"
            self.files[file] = _new_file(file, fields)
            self._new_chapters(slug, file, chapters)
            return
        spelled = [self.spelled(Chapter, chapter) for chapter in chapters]
        file = f"{SERIES}/{slug}.yaml"
        self.files[file] = _new_file(file, fields | ({"chapters": spelled} if spelled else {}))

    def _new_chapters(self, slug: str, file: str, chapters: list[Fields]) -> None:
        """Write a file for each chapter if the series is a folder; otherwise append the chapters to its file."""
        spelled = [self.spelled(Chapter, chapter) for chapter in chapters]
        folder = f"{SERIES}/{slug}/"
        if not file.startswith(folder):
            self._append(file, "chapters", spelled)
            return
        used = {entry.file for series in self.sources.series if series.slug == slug for entry in series.chapters}
        for chapter in spelled:
            names = (f"{folder}chapters/{name}.yaml" for name in _file_names(chapter))
            chapter_file = next(name for name in names if name not in used)
            used.add(chapter_file)
            self.files[chapter_file] = _new_file(chapter_file, chapter)


def _new_file(file: str, value: Any, heading: str = "") -> bytes:
    """Return the text of a file with its schema line, as `init` and `new` write it."""
    return writer.file(value, f"{schema_line(file)}\n{heading}")


def _moves(slugs: Mapping[str, str], files: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the old and the new name of each file of a series whose slug changes."""
    for file in files:
        for old, new in slugs.items():
            if file == f"{SERIES}/{old}.yaml" or file.startswith(f"{SERIES}/{old}/"):
                yield file, f"{SERIES}/{new}{file.removeprefix(f'{SERIES}/{old}')}"


def _file_names(chapter: Fields) -> Iterator[str]:
    """Yield names of a chapter's file: number and title; with the volume in front; with a count at the end."""
    whole, point, part = str(chapter["number"]).partition(".")
    title = _NOT_IN_NAMES.sub("-", chapter.get("title", "").lower()).strip("-")[:60].strip("-")
    name = f"{whole:0>3}{point}{part}" + (f"-{title}" if title else "")
    yield name
    name = f"v{chapter.get('volume', 0)}-{name}"
    yield name
    yield from (f"{name}-{count}" for count in range(2, 1 << 20))


# How files refer to each id of a list, by kind.
ListNames = Mapping[str, Mapping[Any, str | int]]


def _in_file(names: ListNames, model: type[Record], record: Fields) -> Fields:
    """Return a record as a file has it. References to entries that people removed are left out."""
    fields = dict(record)
    for name in fields.keys() & REFERENCES:
        fields[name] = [names[name][id] for id in fields[name] if id in names[name]]
    if model is Group and "members" in fields:
        members = names["members"]
        fields["members"] = [
            {**role, "member": members[role["member"]]} for role in fields["members"] if role["member"] in members
        ]
    if model is Series and "categories" in fields:
        fields["categories"] = [id for id in fields["categories"] if id in names["categories"]]
    return _ordered(model, yaml_value(fields))


def _ordered(model: type[Record], fields: Mapping[str, Any]) -> Fields:
    """Return the fields in the documented order, with `modified` at the end."""
    names = sorted(fields, key=[*model.model_fields, *fields].index)
    return {name: fields[name] for name in sorted(names, key=lambda name: name == "modified")}
