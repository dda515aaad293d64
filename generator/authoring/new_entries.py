"""Add a series or a chapter to the files of a catalog.

The catalog is checked before and with the new entry; a catalog with problems is not changed.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, TypeVar

from ..catalog import api_keys, confined_folder, cross_checks, field_values, patterns
from ..catalog.confined_folder import ConfinedFolder, Folder
from ..catalog.cross_checks import NameIndex, References
from ..catalog.layout import SERIES, existing, schema_line
from ..catalog.linking import SERIES_MEDIA, chapter_path
from ..catalog.media_folder import project_folder
from ..catalog.messages import record_errors
from ..catalog.patterns import MAX_SLUG
from ..catalog.problems import locate
from ..catalog.problems.load import load_valid
from ..catalog.reader import Entry, SeriesEntry, Sources
from ..catalog.records import Chapter, Record, Series
from ..catalog.suggestions import did_you_mean
from ..catalog.yaml import editor, writer
from ..catalog.yaml.positions import YamlPath
from ..catalog.yaml_values import yaml_value
from ..errors import FIRST, FlatpanelError, UnlocatedProblem, about
from ..filesystem import exclusive
from ..media import page_images
from ..media.page_files import PageFiles
from ..media.page_images import PageImages
from . import chapter_ids, comicinfo

# An option has the name of its field, in the singular if it can be repeated.
_SINGULAR = {"authors": "author", "artists": "artist", "categories": "category", "groups": "group"}

# Fields that reference a list by name or id.
_REFERENCES = ("authors", "artists", "groups")

_ABOUT_SERIES = "The name of this {} is the slug of the series. `new chapter {}` adds chapters."

_ID = re.compile("[0-9]{1,10}")

# How many problems of a list are shown: ComicInfo.xml can name thousands of groups.
_SHOWN = 5

R = TypeVar("R", Series, Chapter)


@dataclass(frozen=True, slots=True)
class NewEntry:
    """A new record, and the text of its file before and after."""

    file: str
    before: bytes
    after: bytes
    record: Series | Chapter


@dataclass(frozen=True, slots=True)
class Draft:
    """The fields of a new record, and the source of each field that is not an option."""

    fields: dict[str, Any]
    sources: Mapping[str, str]

    def refuse(self, errors: Iterable[tuple[str, str]]) -> None:
        """Raise all errors at once, if there are any; each is a field, or "", and a message."""
        messages = []
        for field, message in errors:
            source = self.sources.get(field, f"--{_SINGULAR.get(field, field)}")
            messages.append(f"{source}: {message}" if field else message)
        if messages:
            raise FlatpanelError(*map(api_keys.redacted, messages))


def add_series(folder: Folder, slug: str, options: Mapping[str, Any], *, in_folder: bool, dry: bool) -> NewEntry:
    """Add a series without chapters, in a file or in a folder of its own."""
    with exclusive(existing(folder)):
        sources = load_valid(folder)
        _check_slug(folder, sources, slug)
        draft = Draft({"status": "ongoing", "cover": "cover.jpg", **_with_references(sources, options)}, {})
        file, kind = f"{SERIES}/{slug}.yaml", "file"
        if in_folder:
            file, kind = f"{SERIES}/{slug}/series.yaml", "folder"
        record = _record(folder, sources, draft, Series)
        files = [(series.slug, series.entry.file) for series in sources.series]
        draft.refuse(_by_field(folder, cross_checks.slug_problems([*files, (slug, file)]), ()))
        series = SeriesEntry(slug, Entry(record, file, ()), ())
        draft.refuse(_by_field(folder, cross_checks.RecordChecks(sources).series(series), ()))
        head = f"{schema_line(file)}\n{_ABOUT_SERIES.format(kind, slug)}"
        return _write(folder, NewEntry(file, b"", writer.file(yaml_value(record.to_values()), head), record), dry=dry)


def add_chapter(
    folder: Folder,
    slug: str,
    options: Mapping[str, Any],
    pages: Path | None,
    media: ConfinedFolder | None = None,
    *,
    highest: int,
    now: int,
    dry: bool,
    warn: chapter_ids.Warn,
) -> NewEntry:
    """Add a chapter with the next id to a series; options override ComicInfo.xml. `media` gets its pages."""
    with exclusive(existing(folder)):
        sources = load_valid(folder)
        series = _series(sources, slug)
        source = ConfinedFolder(pages, confined_folder.of(folder).follow) if pages else None
        images = page_images.read(source) if source else None
        draft = _chapter_draft(sources, series, options, source, images, now)
        draft.fields["id"] = chapter_ids.free_ids(folder, sources, highest, warn)[0]
        record = _record(folder, sources, draft, Chapter)
        file, path = _place(folder, series, record)
        with_chapter = replace(series, chapters=(*series.chapters, Entry(record, file, path)))
        draft.refuse(_by_field(folder, cross_checks.RecordChecks(sources).series(with_chapter), path))
        draft.refuse(_by_field(folder, _repeated_version(sources, series, Entry(record, file, path)), path))
        before = locate.text(folder, file)
        value = yaml_value(record.to_values())
        with about(folder / file):
            after = editor.with_entries(before, "chapters", [value]) if path else writer.file(value, schema_line(file))
        entry = NewEntry(file, before, after, record)
        if not (source and images and media):
            return _write(folder, entry, dry=dry)
        path_of_pages = chapter_path(slug, record)
        versions = (entry.record for entry in series.chapters if chapter_path(slug, entry.record) == path_of_pages)
        shared = frozenset(page for version in versions for page in version.pages)
        files = PageFiles(source, images, media, f"{SERIES_MEDIA}/{path_of_pages}", shared)
        files.check()
        served = sources.site and sources.site.media_folder
        if served and os.path.realpath(media) != os.path.realpath(project_folder(folder) / served):
            warn(f"{media}: the site serves no images in it, but those in its media_folder, {served}")
        with nullcontext() if dry else files.placed():
            return _write(folder, entry, dry=dry)


def _chapter_draft(
    sources: Sources,
    series: SeriesEntry,
    options: Mapping[str, Any],
    source: ConfinedFolder | None,
    images: PageImages | None,
    now: int,
) -> Draft:
    # The whole number after the highest chapter: 11 after 10.5.
    number = max((int(Decimal(chapter.record.number)) + 1 for chapter in series.chapters), default=1)
    fields = {"number": number, "published": field_values.iso(now), "pages": []}
    origins = {}
    if source and images:
        groups = {entry.record.name for entry in sources.lists["groups.yaml"]}
        with about(f"{source}: ComicInfo.xml"):
            stated = comicinfo.chapter_fields(images.comicinfo, groups) if images.comicinfo else {}
        fields |= stated | {"pages": images.pages}
        for name in stated.keys() - options.keys():
            option = _SINGULAR.get(name, name)
            origins[name] = f"{source}: ComicInfo.xml: {name} (override it with --{option})"
        origins["pages"] = str(source)
    fields |= _with_references(sources, options)
    return Draft({name: value for name, value in fields.items() if value is not None}, origins)


def _with_references(sources: Sources, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options, with ids as numbers."""
    fields = dict(options)
    for name in _REFERENCES:
        directory = NameIndex[Any].of(entry.record for entry in sources.lists[f"{name}.yaml"])
        if name in options:
            fields[name] = [_reference(directory, text) for text in options[name]]
    return fields


def _reference(directory: NameIndex[Any], text: str) -> str | int:
    """Return a name, or an id if no entry has the text as its name."""
    is_number = _ID.fullmatch(text) and text not in directory.by_name
    return int(text) if is_number and int(text) in directory.by_id else text


def _check_slug(folder: Folder, sources: Sources, slug: str) -> None:
    if not field_values.is_slug(slug) or len(slug) > MAX_SLUG:
        advice = (
            patterns.ADVICE[patterns.SLUG] if len(slug) <= MAX_SLUG else f"should have at most {MAX_SLUG} characters"
        )
        quoted = slug or '""'
        raise FlatpanelError(f"the slug {advice}, not {quoted}")
    for series in sources.series:
        path = folder / series.entry.file
        if series.slug == slug:
            raise FlatpanelError(f"series {slug} already exists in {path}; choose another slug")
        if slug.lower() in map(str.lower, series.entry.record.formerly):
            raise FlatpanelError(f"the slug {slug} redirects to {series.slug}: an old slug in {path}; choose another")


def _series(sources: Sources, slug: str) -> SeriesEntry:
    by_slug = {series.slug: series for series in sources.series}
    if slug not in by_slug:
        hint = did_you_mean(slug, by_slug, "`new series` adds one")
        raise FlatpanelError(f"no series has the slug {slug}{hint}")
    return by_slug[slug]


def _place(folder: Folder, series: SeriesEntry, chapter: Chapter) -> tuple[str, YamlPath]:
    """Return the file of the new chapter and the path inside it; the path is empty if the file is new."""
    in_series_file = [entry for entry in series.chapters if entry.file == series.entry.file]
    if series.entry.file == f"{SERIES}/{series.slug}.yaml" or len(in_series_file) == len(series.chapters) > 0:
        return series.entry.file, ("chapters", len(in_series_file))
    whole, point, part = chapter.number.partition(".")
    stem = f"{SERIES}/{series.slug}/chapters/{whole:0>3}{point}{part}"
    names = chain((f"{stem}.yaml",), (f"{stem}-{number}.yaml" for number in count(2)))
    return next(name for name in names if not os.path.lexists(folder / name)), ()


def _record(folder: Folder, sources: Sources, draft: Draft, model: type[R]) -> R:
    """Return the record of a draft; raise all errors in its fields and references."""
    errors = record_errors(model, draft.fields)
    invalid = {field for field, _ in errors}
    entry, references = Entry(Record(), "", ()), References(sources)
    valid = {field: value for field, value in draft.fields.items() if field not in invalid}
    for name in (name for name in _REFERENCES if name in valid):
        problems = _by_field(folder, references.list_problems(entry, (name,), f"{name}.yaml", valid[name]), ())
        errors += islice(problems, _SHOWN)
        errors += [(name, "and more problems like these") for _ in islice(problems, 1)]
    errors += _by_field(folder, references.category_problems(entry, valid.get("categories", ())), ())
    draft.refuse(errors)
    return model.model_validate(draft.fields)


def _repeated_version(sources: Sources, series: SeriesEntry, new: Entry[Chapter]) -> Iterator[UnlocatedProblem]:
    """Yield a problem if a chapter without a volume has the number and the groups of the new one."""
    groups = NameIndex[Any].of(entry.record for entry in sources.lists["groups.yaml"])

    def version(chapter: Chapter) -> tuple[object, ...]:
        return chapter.volume, chapter.number, {groups.find(group).id for group in chapter.groups}

    for entry in series.chapters:
        if version(entry.record) == version(new.record):
            name = f"chapter {new.record.number} without a volume and of the same groups"
            message = f"{name} already exists {FIRST}; choose another number or --group"
            first = entry.file, (*entry.path, "number")
            yield UnlocatedProblem(new.file, (*new.path, "number"), message, first=first)
            return


def _by_field(folder: Folder, problems: Iterable[UnlocatedProblem], path: YamlPath) -> Iterator[tuple[str, str]]:
    """Yield (field, message) of problems with the record at `path` in its file."""
    places = locate.Places(folder)
    for problem in problems:
        field = problem.path[len(path) :][:1]
        yield (str(field[0]) if field else ""), places.message(problem)


def _write(folder: Folder, entry: NewEntry, *, dry: bool) -> NewEntry:
    if api_keys.positions(entry.after):
        raise FlatpanelError(
            f"{folder / entry.file}: would contain an API key, and the file is public; nothing was written"
        )
    if not dry:
        confined_folder.of(folder).write(entry.file, entry.after)
    return entry
