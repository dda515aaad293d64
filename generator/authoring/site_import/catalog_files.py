"""A merge plan -> the text of each catalog file that is new or changes."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...catalog.layout import SERIES, SITE
from ...catalog.problems.messages import field_name
from ...catalog.reader import Sources
from ...catalog.records import Chapter, Group, Record, Series
from ...catalog.site_settings import Site
from ...catalog.yaml import editor, writer
from ...catalog.yaml_values import yaml_value
from ...errors import FlatpanelError
from .lenient import Fields
from .notes import Notes
from .three_way_merge import FILES, MODELS, REFERENCES, FieldChange, Plan

# A new series with more chapters becomes a folder.
MAX_CHAPTERS = 100
_HEADINGS = {
    "authors": "Authors of series.",
    "artists": "Artists of series.",
    "categories": "Categories of series.",
    "groups": "Groups that publish chapters.",
    "members": "Members of groups.",
}
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")


class CatalogFiles:
    """The files of a plan; `text` returns the current text of a file."""

    def __init__(self, sources: Sources, plan: Plan, text: Callable[[str], bytes], notes: Notes) -> None:
        self.sources, self.plan, self.text, self.notes = sources, plan, text, notes
        self.files: dict[str, bytes] = {}
        self.names = {kind: dict(self._references(kind)) for kind in FILES}

    def build(self) -> dict[str, bytes]:
        """Return the text of each file that is new or changes."""
        for change in self.plan.changes:
            self._change(change)
        if self.plan.site:
            self.files[SITE] = writer.file(yaml_value(_ordered(Site, self.plan.site)), "Settings of the site.")
        for kind in FILES:
            if records := self.plan.lists.get(kind):
                self._list(FILES[kind], _HEADINGS[kind], [self._spelled(MODELS[kind], record) for record in records])
        for slug, (series, chapters) in self.plan.series.items():
            self._new_series(slug, series, chapters)
        files = {series.slug: series.entry.file for series in self.sources.series}
        for slug, chapters in self.plan.chapters.items():
            self._new_chapters(slug, files[slug], chapters)
        return self.files

    def _references(self, kind: str) -> Iterator[tuple[Any, str | int]]:
        """Yield each id of a list with its reference: the name if it is unique, otherwise the id."""
        pairs = [(entry.record.id, entry.record.name) for entry in self.sources.lists[FILES[kind]]]
        pairs += [(record["id"], record["name"]) for record in self.plan.lists.get(kind, ())]
        counts = Counter(name for _, name in pairs)
        return ((id, name if counts[name] == 1 else id) for id, name in pairs)

    def _spelled(self, model: type[Record], record: Fields) -> Fields:
        """Return a record with its fields in the documented order, and names in place of ids."""
        fields = dict(record)
        for name in REFERENCES.keys() & fields.keys():
            fields[name] = self._named(REFERENCES[name], fields[name])
        if model is Group and "members" in fields:
            members = self.names["members"]
            fields["members"] = [
                {**role, "member": members[role["member"]]} for role in fields["members"] if role["member"] in members
            ]
        if model is Series and "categories" in fields:
            fields["categories"] = [id for id in fields["categories"] if id in self.names["categories"]]
        return _ordered(model, yaml_value(fields))

    def _named(self, kind: str, ids: list[Any]) -> list[Any]:
        return [self.names[kind][id] for id in ids if id in self.names[kind]]

    def _current(self, file: str) -> bytes:
        return self.files[file] if file in self.files else self.text(file)

    def _change(self, change: FieldChange) -> None:
        model: type[Record] = Group if change.file == FILES["groups"] else Series
        value = self._spelled(model, {change.name: change.value})[change.name]
        try:
            self.files[change.file] = editor.with_field(self._current(change.file), change.path, change.name, value)
        except FlatpanelError:
            place = f"{change.file}: {field_name((*change.path, change.name))}"
            text = "; ".join(writer.field(change.name, value)[:3])
            self.notes.add(f"cannot be edited automatically; change it to {text[:200]}", place)

    def _list(self, file: str, heading: str, records: list[Fields]) -> None:
        if self._current(file):
            self._append(file, None, records)
        else:
            self.files[file] = writer.file(records, heading)

    def _append(self, file: str, name: str | None, records: list[Fields]) -> None:
        try:
            self.files[file] = editor.with_entries(self._current(file), name, records)
        except FlatpanelError as error:
            raise FlatpanelError(f"{file}: {error}") from None

    def _new_series(self, slug: str, series: Fields, chapters: list[Fields]) -> None:
        fields = self._spelled(Series, series)
        if len(chapters) > MAX_CHAPTERS:
            file = f"{SERIES}/{slug}/series.yaml"
            self.files[file] = writer.file(fields)
            self._new_chapters(slug, file, chapters)
            return
        spelled = [self._spelled(Chapter, chapter) for chapter in chapters]
        self.files[f"{SERIES}/{slug}.yaml"] = writer.file(fields | ({"chapters": spelled} if spelled else {}))

    def _new_chapters(self, slug: str, file: str, chapters: list[Fields]) -> None:
        """Write a file for each chapter if the series is a folder; otherwise append the chapters to its file."""
        spelled = [self._spelled(Chapter, chapter) for chapter in chapters]
        folder = f"{SERIES}/{slug}/"
        if not file.startswith(folder):
            self._append(file, "chapters", spelled)
            return
        used = {entry.file for series in self.sources.series if series.slug == slug for entry in series.chapters}
        for chapter in spelled:
            names = (f"{folder}chapters/{name}.yaml" for name in _file_names(chapter))
            chapter_file = next(name for name in names if name not in used)
            used.add(chapter_file)
            self.files[chapter_file] = writer.file(chapter)


def _ordered(model: type[Record], fields: Mapping[str, Any]) -> Fields:
    """Return the fields in the documented order, with `modified` at the end."""
    names = sorted(fields, key=[*model.model_fields, *fields].index)
    return {name: fields[name] for name in sorted(names, key=lambda name: name == "modified")}


def _file_names(chapter: Fields) -> Iterator[str]:
    """Yield names of a chapter's file: number and title; with the volume in front; with a count at the end."""
    whole, point, part = str(chapter["number"]).partition(".")
    title = _NOT_IN_NAMES.sub("-", chapter.get("title", "").lower()).strip("-")[:60].strip("-")
    name = f"{whole:0>3}{point}{part}" + (f"-{title}" if title else "")
    yield name
    name = f"v{chapter.get('volume', 0)}-{name}"
    yield name
    yield from (f"{name}-{count}" for count in range(2, 1 << 20))
