"""New series and chapters in the files of a catalog: what was said is filled in, checked, and written at once.

A catalog that cannot be built is not touched, and none becomes one that cannot be built.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any, TypeVar

from ..catalog import api_keys, confined_folder, cross_checks, field_values
from ..catalog.confined_folder import ConfinedFolder, Folder
from ..catalog.layout import SERIES, existing
from ..catalog.load import load_valid
from ..catalog.name_index import NameIndex
from ..catalog.problems import locate
from ..catalog.problems.locate import UnlocatedProblem
from ..catalog.problems.messages import record_errors
from ..catalog.problems.suggestions import did_you_mean
from ..catalog.reader import Entry, SeriesEntry, Sources
from ..catalog.records import MAX_SLUG, PATTERN_ADVICE, SLUG, Chapter, Record, Series
from ..catalog.yaml import editor, scalars, writer
from ..catalog.yaml.positions import YamlPath
from ..catalog.yaml_values import yaml_value
from ..errors import FlatpanelError
from ..filesystem import exclusive
from . import catalog_edit, chapter_ids, comicinfo, page_images

# An option has the name of its field, but that of many is asked for one by one.
_ONE_OF = {"authors": "author", "artists": "artist", "categories": "category", "groups": "group"}

_REFERRING = ("authors", "artists", "groups")

# By which editors know what a file may say; the path is the one from its folder.
_SCHEMA = "yaml-language-server: $schema={}.schemas/{}.json"
_ABOUT_SERIES = "The name of this {} is the slug of the series. `new chapter {}` adds chapters."

R = TypeVar("R", Series, Chapter)


@dataclass(frozen=True, slots=True)
class Added:
    """A file as it was and as it will be, and what is new in it."""

    file: str
    before: bytes
    after: bytes
    record: Series | Chapter


@dataclass(frozen=True, slots=True)
class Draft:
    """Fields as they will stand in a file, and who said what."""

    fields: dict[str, Any]
    origins: Mapping[str, str]

    def refuse(self, found: Iterable[tuple[str, str]]) -> None:
        """All that is wrong at once, by the field that it is about, or by none."""
        told = [f"{self._origin(field)}: {message}" if field else message for field, message in found]
        if told:
            raise FlatpanelError(*map(api_keys.redacted, told))

    def _origin(self, field: str) -> str:
        return self.origins.get(field, f"--{_ONE_OF.get(field, field)}")


def add_series(folder: Folder, slug: str, said: Mapping[str, Any], *, in_folder: bool, dry: bool) -> Added:
    """Begin a series without chapters, in a file or in a folder of its own."""
    with exclusive(existing(folder)):
        sources = load_valid(folder)
        _check_slug(sources, slug)
        draft = Draft({"status": "ongoing", "cover": "cover.jpg", **_referring(sources, said)}, {})
        file, kind, up = f"{SERIES}/{slug}.yaml", "file", "../"
        if in_folder:
            file, kind, up = f"{SERIES}/{slug}/series.yaml", "folder", "../../"
        record = _record(sources, draft, Series)
        known = [(one.slug, one.entry.file) for one in sources.series]
        draft.refuse(_beside(cross_checks.slug_problems([*known, (slug, file)]), ()))
        series = SeriesEntry(slug, Entry(record, file, ()), ())
        draft.refuse(_beside(cross_checks.RecordChecks(sources).series(series), ()))
        head = f"{_SCHEMA.format(up, 'series')}\n{_ABOUT_SERIES.format(kind, slug)}"
        return _write(folder, Added(file, b"", writer.file(yaml_value(record.to_values()), head), record), dry=dry)


def add_chapter(
    folder: Folder,
    slug: str,
    said: Mapping[str, Any],
    pages: Path | None,
    *,
    highest: int,
    now: int,
    dry: bool,
    warn: chapter_ids.Warn,
) -> Added:
    """Add a chapter to a series, with the next id; options have the last word, and ComicInfo.xml the one before."""
    with exclusive(existing(folder)):
        sources = load_valid(folder)
        series = _series(sources, slug)
        images = ConfinedFolder(pages, confined_folder.of(folder).follow) if pages else None
        draft = _chapter(sources, series, said, images, now)
        draft.fields["id"] = chapter_ids.free_ids(folder, sources, highest, warn)[0]
        record = _record(sources, draft, Chapter)
        file, path = _place(folder, series, record)
        longer = replace(series, chapters=(*series.chapters, Entry(record, file, path)))
        draft.refuse(_beside(cross_checks.RecordChecks(sources).series(longer), path))
        before = locate.text(folder, file)
        if path:
            change = partial(editor.with_entries, before, "chapters", [yaml_value(record.to_values())])
        else:
            change = partial(writer.file, yaml_value(record.to_values()), _SCHEMA.format("../../../", "chapter"))
        return _write(folder, Added(file, before, catalog_edit.edited(folder, file, change), record), dry=dry)


def _chapter(
    sources: Sources, series: SeriesEntry, said: Mapping[str, Any], pages: ConfinedFolder | None, now: int
) -> Draft:
    fields = {"number": _next_number(series), "published": field_values.iso(now), "pages": []}
    origins = {}
    if pages:
        found = page_images.read(pages)
        names = {entry.record.name for entry in sources.lists["groups.yaml"]}
        told = _told(pages, found.comicinfo, names) if found.comicinfo else {}
        fields |= told | {"pages": found.pages}
        for name in told.keys() - said.keys():
            option = _ONE_OF.get(name, name)
            origins[name] = f"{pages}: ComicInfo.xml (which --{option} overrules): {name}"
        origins["pages"] = str(pages)
    fields |= _referring(sources, said)
    return Draft({name: value for name, value in fields.items() if value is not None}, origins)


def _told(pages: ConfinedFolder, text: bytes, groups: Iterable[str]) -> dict[str, Any]:
    try:
        return comicinfo.fields(text, set(groups))
    except FlatpanelError as error:
        raise FlatpanelError(f"{pages}: ComicInfo.xml: {error}") from None


def _next_number(series: SeriesEntry) -> int:
    """One more than the highest, without what lies between two whole numbers."""
    return max((int(Decimal(one.record.number)) + 1 for one in series.chapters), default=1)


def _referring(sources: Sources, said: Mapping[str, Any]) -> dict[str, Any]:
    """What was said, with an id for what is nobody's name but somebody's id."""
    fields = dict(said)
    for name in _REFERRING:
        directory = NameIndex[Any].of(entry.record for entry in sources.lists[f"{name}.yaml"])
        if name in said:
            fields[name] = [_reference(directory, text) for text in said[name]]
    return fields


def _reference(directory: NameIndex[Any], text: str) -> str | int:
    number = scalars.scalar(text)
    return number if text not in directory.by_name and type(number) is int and number in directory.by_id else text


def _check_slug(sources: Sources, slug: str) -> None:
    if not field_values.is_slug(slug) or len(slug) > MAX_SLUG:
        wanted = PATTERN_ADVICE[SLUG] if len(slug) <= MAX_SLUG else f"should have at most {MAX_SLUG} characters"
        given = slug or '""'
        raise FlatpanelError(f"the slug {wanted}, not {given}")
    for one in sources.series:
        if one.slug == slug:
            raise FlatpanelError(f"there is a series {slug} already, in {one.entry.file}; choose another slug")


def _series(sources: Sources, slug: str) -> SeriesEntry:
    known = {one.slug: one for one in sources.series}
    if slug not in known:
        hint = did_you_mean(slug, known, "`new series` begins one")
        raise FlatpanelError(f"no series has the slug {slug}{hint}")
    return known[slug]


def _place(folder: Folder, series: SeriesEntry, chapter: Chapter) -> tuple[str, YamlPath]:
    """Where people would write the next chapter: a file, and the path inside it."""
    own = [one for one in series.chapters if one.file == series.entry.file]
    if series.entry.file == f"{SERIES}/{series.slug}.yaml" or len(own) == len(series.chapters) > 0:
        return series.entry.file, ("chapters", len(own))
    whole, point, part = chapter.number.partition(".")
    stem = f"{SERIES}/{series.slug}/chapters/{whole:0>3}{point}{part}"
    names = chain((f"{stem}.yaml",), (f"{stem}-{number}.yaml" for number in count(2)))
    return next(name for name in names if not os.path.lexists(folder / name)), ()


def _record(sources: Sources, draft: Draft, model: type[R]) -> R:
    """What the draft says, if it may, and if whoever it names is known."""
    found = record_errors(model, draft.fields)
    unsound = {field for field, _ in found}
    nowhere, known = Entry(Record(), "", ()), cross_checks.RecordChecks(sources)
    sound = {field: value for field, value in draft.fields.items() if field not in unsound}
    for name in (one for one in _REFERRING if one in sound):
        found += _beside(known.references(nowhere, (name,), f"{name}.yaml", sound[name]), ())
    found += _beside(known.categories(nowhere, sound.get("categories", ())), ())
    draft.refuse(found)
    return model.model_validate(draft.fields)


def _beside(complaints: Iterable[UnlocatedProblem], path: YamlPath) -> Iterator[tuple[str, str]]:
    """What is wrong between the new record, at `path` in its file, and those that are there."""
    for one in complaints:
        field = one.path[len(path) :][:1]
        yield (str(field[0]) if field else ""), one.message


def _write(folder: Folder, added: Added, *, dry: bool) -> Added:
    if api_keys.positions(added.after):
        raise FlatpanelError(f"{folder / added.file}: would hold a key, and is read by everybody; nothing was written")
    if not dry:
        confined_folder.of(folder).write(added.file, added.after)
    return added
