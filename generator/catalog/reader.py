"""`catalog_src/` -> records and problems. The only reader of catalog files.

The models check the records of one file, `cross_checks` the references between files. A problem has a file and a path
inside it, which `problems.locate` turns into a line and a column.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from .. import encoding
from ..errors import MAX_LISTED, UnlocatedProblem, counted
from . import api_keys, confined_folder, git, media_folder, site_paths
from .confined_folder import ConfinedFolder, Folder
from .cut_texts import CutText, cut_texts
from .field_values import PageTotal
from .garbage_collection import without_garbage_collection
from .layout import SERIES, SITE, Layout, SeriesFiles, existing, has
from .messages import file_errors
from .records import (
    Account,
    Archives,
    Category,
    Chapter,
    Copies,
    Group,
    IssuedKey,
    Member,
    Person,
    Record,
    Series,
    Sizes,
    Views,
)
from .site_settings import Site
from .theme_files import NO_THEME, ThemeFiles
from .value_warnings import value_warnings
from .yaml import reader as yaml
from .yaml.positions import YamlPath
from .yaml.reader import Malformed

# One file

_ANCHOR = re.compile(rb" &(?=[^ \t\r\n])")
# A line with a value and then a comment whose # is directly followed by text.
_CUT = re.compile(rb"^[ \t]*[^ \t\r\n#][^\n]*?[ \t]#[^ \t\r\n]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """The value of a file, or the error that prevents reading it."""

    value: Any = None
    mtime: int = 0
    digest: str = ""
    error: OSError | Malformed | None = None
    # The content, if a comment or an anchor in it may be meant as text.
    suspicious: bytes = b""


def parse_file(folder: ConfinedFolder, file: str) -> ParsedFile:
    try:
        with without_garbage_collection():
            text, mtime = folder.content(file)
            value = yaml.load(text)
            if _has_key(text, value):
                raise Malformed
            return ParsedFile(value, mtime, encoding.digest(text), suspicious=text if _may_cut(text) else b"")
    except (OSError, Malformed) as error:
        return ParsedFile(error=error)


def _may_cut(text: bytes) -> bool:
    """Whether a value is followed by a comment without a blank after its #, or an & starts a word."""
    if b" &" in text and _ANCHOR.search(text):
        return True
    return (b" #" in text or b"\t#" in text) and _CUT.search(text) is not None


def _has_key(text: bytes, value: Any) -> bool:
    """Whether the file contains an API key, even in a comment. Only a backslash in it can disguise a key."""
    return bool(api_keys.positions(text)) or (b"\\" in text and api_keys.contains_key(repr(value)))


# The records of all files

LISTS: dict[str, type[Record]] = {
    "authors.yaml": Person,
    "artists.yaml": Person,
    "categories.yaml": Category,
    "groups.yaml": Group,
    "members.yaml": Member,
    "accounts.yaml": Account,
    "keys.yaml": IssuedKey,
}
# Views by chapter id, written by the command line, never by hand.
VIEWS = "views.yaml"
# Sizes of pages by chapter id, also written by the command line.
SIZES = "sizes.yaml"
# Smaller copies of images by path, likewise.
VARIANTS = "variants.yaml"
# Archives by chapter id, likewise.
ARCHIVES = "archives.yaml"
# Those that all series share.
SHARED = (SITE, VIEWS, SIZES, VARIANTS, ARCHIVES, *LISTS)
# More problems of one file are only counted.
MAX_PROBLEMS = 1000

R = TypeVar("R", bound=Record, covariant=True)


@dataclass(frozen=True, slots=True)
class Entry(Generic[R]):
    """A record and its source: the file below the catalog's folder, and the path inside the file."""

    record: R
    file: str
    path: YamlPath


@dataclass(frozen=True, slots=True)
class SeriesEntry:
    """A series and its chapters, from one file or from several."""

    slug: str
    entry: Entry[Series]
    chapters: tuple[Entry[Chapter], ...]


@dataclass(slots=True)
class Sources:
    """The records and the problems of a catalog, or of a part of it."""

    site: Site | None = None
    lists: dict[str, list[Entry[Any]]] = field(default_factory=lambda: {name: [] for name in LISTS})
    series: list[SeriesEntry] = field(default_factory=list)
    views: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, str] = field(default_factory=dict)
    variants: dict[str, str] = field(default_factory=dict)
    archives: dict[str, str] = field(default_factory=dict)
    mtimes: dict[str, int] = field(default_factory=dict)
    problems: list[UnlocatedProblem] = field(default_factory=list)
    # Of the settings and of names of files.
    warnings: list[UnlocatedProblem] = field(default_factory=list)
    # Files without records because of a problem; a reference to one of their entries is no second problem.
    unreadable: set[str] = field(default_factory=set)
    # The value of each file.
    parsed: dict[str, ParsedFile] = field(default_factory=dict)
    # Texts that a comment cuts short, by the digest of the file.
    cuts: dict[str, list[CutText]] = field(default_factory=dict)
    # The theme of the pages, which a build reads; empty for a site without one.
    theme: ThemeFiles = NO_THEME

    def add(self, part: "Sources") -> None:
        """Add the records and problems of one series."""
        self.series += part.series
        self.mtimes |= part.mtimes
        self.problems += part.problems
        self.unreadable |= part.unreadable
        self.cuts |= part.cuts


def read(folder: Folder, in_memory: Callable[[SeriesEntry], SeriesEntry] = lambda series: series) -> Sources:
    """All records below `folder`; `in_memory` may return a smaller form of a series."""
    git.refuse_bare_folders(Path(existing(folder)))
    sources, series = read_lists(folder)
    for files in series:
        part = read_series(folder, files)
        part.series = [in_memory(entry) for entry in part.series]
        sources.add(part)
        if len(sources.problems) > MAX_LISTED:
            break
    return sources


def read_lists(folder: Folder, parsed: Mapping[str, ParsedFile] | None = None) -> tuple[Sources, list[SeriesFiles]]:
    """The records that all series share, and the files of each series. Files that are `parsed` are not read."""
    reader = _RecordReader(existing(folder), parsed)
    reader.read_site_and_lists()
    layout = Layout(reader.folder, reader.sources.problems, reader.sources.warnings)
    layout.check_strays("", set(SHARED), {SERIES})
    return reader.sources, layout.series_files()


def read_site(folder: Folder) -> Site | None:
    """The settings alone; None if they have a problem."""
    return _RecordReader(existing(folder)).record(SITE, Site)


def read_series(folder: Folder, files: SeriesFiles, values: Mapping[str, Any] | None = None) -> Sources:
    """The records of one series. Files whose checked `values` are given are not read."""
    with without_garbage_collection():
        reader, checked = _RecordReader(folder), values or {}
        records: dict[str, Record | None] = {}
        for file in (*files.chapters, files.file):
            if file in checked:
                records[file] = _record_from_value(files, file, checked[file])
                for chapter in checked[file].get("chapters", ()) if file == files.file else [checked[file]]:
                    reader.total.add(len(chapter["pages"]), sum(map(len, chapter["pages"])))
            else:
                records[file] = reader.record(file, Series if file == files.file else Chapter)
        if checked and reader.total.is_above:
            # The problem is that of a read without values: which pages are too many follows from the order of files.
            return read_series(folder, files)
        if records[files.file]:
            reader.sources.series.append(_series_entry(files, records))
        return reader.sources


def series_from_values(files: SeriesFiles, values: Mapping[str, Any]) -> SeriesEntry:
    """The records of a series, from the checked values of all its files."""
    return _series_entry(files, {file: _record_from_value(files, file, values[file]) for file in files.files})


def _record_from_value(files: SeriesFiles, file: str, value: dict[str, Any]) -> Record:
    return Series.from_values(value) if file == files.file else Chapter.from_values(value)


def _series_entry(files: SeriesFiles, records: Mapping[str, Any]) -> SeriesEntry:
    """Join the records of a series. Chapter files without a record are skipped."""
    series = records[files.file]
    own = (Entry(chapter, files.file, ("chapters", index)) for index, chapter in enumerate(series.chapters))
    separate = (Entry(records[file], file, ()) for file in files.chapters if records[file])
    return SeriesEntry(files.slug, Entry(series, files.file, ()), (*own, *separate))


class _RecordReader:
    """Reads files, checks each against its model, and collects records and problems in `sources`."""

    def __init__(self, folder: Folder, parsed: Mapping[str, ParsedFile] | None = None) -> None:
        self.folder = confined_folder.of(folder)
        self.parsed = parsed or {}
        self.sources = Sources()
        # Of a series.
        self.total = PageTotal()

    def read_site_and_lists(self) -> None:
        if has(self.folder, SITE):
            self.sources.site = self.record(SITE, Site)
            if self.sources.site:
                self.sources.problems += media_folder.problems(self.folder, self.sources.site)
                self.sources.warnings += media_folder.warnings(self.sources.site)
                self.sources.problems += site_paths.problems(self.sources.site)
        else:
            self._add_problem(SITE, "is missing; it needs at least base_url: https://comics.example")
        for name, model in LISTS.items():
            if has(self.folder, name):
                records = self._validated(name, list[model], model, [])  # type: ignore[valid-type]
                self.sources.lists[name] = [Entry(record, name, (index,)) for index, record in enumerate(records or [])]
        self.sources.views = self._mapping(VIEWS, Views)
        self.sources.sizes = self._mapping(SIZES, Sizes)
        self.sources.variants = self._mapping(VARIANTS, Copies)
        self.sources.archives = self._mapping(ARCHIVES, Archives)

    def _mapping(self, file: str, kind: Any) -> dict[str, Any]:
        return (has(self.folder, file) and self._validated(file, kind, Record, {})) or {}

    def record(self, file: str, model: type[R]) -> R | None:
        record: R | None = self._validated(file, model, model, {})
        return record

    def _validated(self, file: str, kind: Any, model: type[Record], empty: Any) -> Any:
        """The value of a file as `kind`; None if it has a problem, which is added to `sources`."""
        try:
            parsed = self.parsed.get(file) or parse_file(self.folder, file)
            if parsed.error:
                raise parsed.error
            self.sources.mtimes[file] = parsed.mtime
            self.sources.parsed[file] = parsed
            value = parsed.value
            validated = _adapter(kind).validate_python(empty if value is None else value, context=self.total)
            cuts = cut_texts(parsed.suspicious, model) if parsed.suspicious else []
            if cuts := [*cuts, *value_warnings(validated, lambda: self.folder.content(file)[0])]:
                self.sources.cuts[parsed.digest] = cuts
            return validated
        except OSError as error:
            self._add_problem(file, self.folder.read_fault(file, error))
        except Malformed:
            # `problems.locate` finds YAML errors and plaintext keys again, with their places.
            self._add_problem(file, "")
        except ValidationError as error:
            errors = error.errors(include_url=False)
            if len(errors) > MAX_PROBLEMS:
                self._add_problem(file, f"has {counted(len(errors) - MAX_PROBLEMS, 'more problem')}, not listed")
            messages = file_errors(errors[:MAX_PROBLEMS], value, model)
            self.sources.problems += [UnlocatedProblem(file, *message) for message in messages]
        self.sources.unreadable.add(file)
        return None

    def _add_problem(self, file: str, message: str) -> None:
        self.sources.problems.append(UnlocatedProblem(file, (), message))


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    """The validator of a type, cached: it takes milliseconds to make."""
    return TypeAdapter(kind)
