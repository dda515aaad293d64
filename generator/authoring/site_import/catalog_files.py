"""A plan -> the files of a catalog, new ones and edited ones, as text."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...catalog.layout import SERIES, SITE
from ...catalog.problems.messages import field_name
from ...catalog.reader import Sources
from ...catalog.records import Chapter, Group, Record, Series, Site
from ...catalog.yaml import editor, writer
from ...catalog.yaml_values import yaml_value
from ...errors import FlatpanelError
from .interpret import Fields
from .notes import Notes
from .three_way_merge import FILES, MODELS, REFERENCES, Change, Plan

# A series with more chapters is a folder.
MAX_CHAPTERS = 100
_HEADINGS = {
    "authors": "Who writes.",
    "artists": "Who draws.",
    "categories": "Kinds of stories.",
    "groups": "Who translates, letters and publishes.",
    "members": "The people in groups.",
}
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")


class Placer:
    """Knows what may be named by name, and which names of files are taken."""

    def __init__(self, sources: Sources, plan: Plan, text: Callable[[str], bytes], notes: Notes) -> None:
        self.sources, self.plan, self.text, self.notes = sources, plan, text, notes
        self.files: dict[str, bytes] = {}
        self.names = {kind: dict(self._names(kind)) for kind in FILES}

    def placed(self) -> dict[str, bytes]:
        """The text of each file that is new or another one."""
        for change in self.plan.changes:
            self._change(change)
        if self.plan.site:
            self.files[SITE] = writer.file(yaml_value(_ordered(Site, self.plan.site)), "The site itself.")
        for kind in FILES:
            if new := self.plan.lists.get(kind):
                self._list(FILES[kind], _HEADINGS[kind], [self._spelled(MODELS[kind], one) for one in new])
        for slug, (series, chapters) in self.plan.series.items():
            self._new_series(slug, series, chapters)
        places = {one.slug: one.entry.file for one in self.sources.series}
        for slug, chapters in self.plan.chapters.items():
            self._new_chapters(slug, places[slug], chapters)
        return self.files

    def _names(self, kind: str) -> Iterator[tuple[Any, str | int]]:
        """How each entry of a list is named by others: by its name, if that is nobody else's."""
        pairs = [(entry.record.id, entry.record.name) for entry in self.sources.lists[FILES[kind]]]
        pairs += [(one["id"], one["name"]) for one in self.plan.lists.get(kind, ())]
        named = Counter(name for _, name in pairs)
        return ((number, name if named[name] == 1 else number) for number, name in pairs)

    def _spelled(self, model: type[Record], told: Fields) -> Fields:
        """A record with its fields in their order, and with names in the place of ids."""
        found = dict(told)
        for name in REFERENCES.keys() & found.keys():
            found[name] = self._named(REFERENCES[name], found[name])
        if model is Group and "members" in found:
            known = [one for one in found["members"] if one["member"] in self.names["members"]]
            found["members"] = [{**one, "member": self.names["members"][one["member"]]} for one in known]
        if model is Series and "categories" in found:
            found["categories"] = [one for one in found["categories"] if one in self.names["categories"]]
        return _ordered(model, yaml_value(found))

    def _named(self, kind: str, ids: list[Any]) -> list[Any]:
        return [self.names[kind][one] for one in ids if one in self.names[kind]]

    def _current(self, file: str) -> bytes:
        return self.files[file] if file in self.files else self.text(file)

    def _change(self, change: Change) -> None:
        model: type[Record] = Group if change.file == FILES["groups"] else Series
        value = self._spelled(model, {change.name: change.value})[change.name]
        try:
            self.files[change.file] = editor.with_field(self._current(change.file), change.path, change.name, value)
        except FlatpanelError:
            where = f"{change.file}: {field_name((*change.path, change.name))}"
            shown = "; ".join(writer.field(change.name, value)[:3])
            self.notes.add(f"cannot be edited by a program; it should become {shown[:200]}", where)

    def _list(self, file: str, heading: str, entries: list[Fields]) -> None:
        before = self._current(file)
        if not before:
            self.files[file] = writer.file(entries, heading)
            return
        self._append(file, None, entries)

    def _append(self, file: str, name: str | None, entries: list[Fields]) -> None:
        try:
            self.files[file] = editor.with_entries(self._current(file), name, entries)
        except FlatpanelError as error:
            raise FlatpanelError(f"{file}: {error}") from None

    def _new_series(self, slug: str, series: Fields, chapters: list[Fields]) -> None:
        told = self._spelled(Series, series)
        if len(chapters) > MAX_CHAPTERS:
            file = f"{SERIES}/{slug}/series.yaml"
            self.files[file] = writer.file(told)
            self._new_chapters(slug, file, chapters)
            return
        spelled = [self._spelled(Chapter, one) for one in chapters]
        self.files[f"{SERIES}/{slug}.yaml"] = writer.file(told | ({"chapters": spelled} if spelled else {}))

    def _new_chapters(self, slug: str, file: str, chapters: list[Fields]) -> None:
        """Each in a file of its own where the series is a folder, else behind those that are there."""
        spelled = [self._spelled(Chapter, one) for one in chapters]
        folder = f"{SERIES}/{slug}/"
        if not file.startswith(folder):
            self._append(file, "chapters", spelled)
            return
        taken = {entry.file for one in self.sources.series if one.slug == slug for entry in one.chapters}
        for one in spelled:
            name = next(name for name in _file_names(one) if f"{folder}chapters/{name}.yaml" not in taken)
            taken.add(f"{folder}chapters/{name}.yaml")
            self.files[f"{folder}chapters/{name}.yaml"] = writer.file(one)


def _ordered(model: type[Record], told: Mapping[str, Any]) -> Fields:
    """As the documents list them, with the date of the last change at the end."""
    return {name: told[name] for name in sorted(told, key=[*model.model_fields, *told].index) if name != "modified"} | {
        name: told[name] for name in ("modified",) if name in told
    }


def _file_names(chapter: Fields) -> Iterator[str]:
    """The number, and what the title leaves of itself in plain letters; then the volume, and at last a count."""
    whole, point, part = str(chapter["number"]).partition(".")
    title = _NOT_IN_NAMES.sub("-", chapter.get("title", "").lower()).strip("-")[:60].strip("-")
    name = f"{whole:0>3}{point}{part}" + (f"-{title}" if title else "")
    yield name
    name = f"v{chapter.get('volume', 0)}-{name}"
    yield name
    yield from (f"{name}-{count}" for count in range(2, 1 << 20))
