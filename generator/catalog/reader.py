"""`catalog_src/` -> records, with every problem in its place. The only reader of catalog files.

Records of one file are checked by the models; what spans files is for `checks.py`. Both complain in terms of (file,
path inside it), which `places.py` translates into lines and columns.
"""

import os.path
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path as Plain
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from ..errors import FlatpanelError
from . import bare_repositories, confined_folder
from .confined_folder import Folder
from .field_values import is_slug
from .problems.cut_texts import Cut, cut_texts
from .problems.locate import UnlocatedProblem
from .problems.messages import did_you_mean, misplaced, told
from .problems.suggestions import nearest
from .records import (
    MAX_SLUG,
    SLUG,
    WANTED,
    Account,
    Category,
    Chapter,
    Group,
    IssuedKey,
    Member,
    Person,
    Record,
    Series,
    Site,
    Views,
)
from .source_file import Parsed, parse, without_garbage_collection
from .yaml import reader as yaml12
from .yaml.reader import Path

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
SITE = "site.yaml"
SERIES = "series"
_MAX_LEVELS = 16  # of folders in which stray files are looked for; a catalog has three
# How much is told of a single file.
MAX_TOLD = 1000

R = TypeVar("R", bound=Record, covariant=True)


@dataclass(frozen=True, slots=True)
class Entry(Generic[R]):
    """A record and where it was written: the file below the catalog's folder, and the path inside it."""

    record: R
    file: str
    path: Path


@dataclass(frozen=True, slots=True)
class SeriesEntry:
    """A series and its chapters, from one file or from many."""

    slug: str
    entry: Entry[Series]
    chapters: tuple[Entry[Chapter], ...]


@dataclass(frozen=True, slots=True)
class SeriesFiles:
    """Where a series is written: its own file, and those of its chapters that have one each."""

    slug: str
    file: str
    chapters: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        return self.file, *self.chapters


@dataclass(slots=True)
class Sources:
    """Everything that could be read, and every reason why something could not: of a catalog, or of a part of it."""

    site: Site | None = None
    lists: dict[str, list[Entry[Any]]] = field(default_factory=lambda: {name: [] for name in LISTS})
    series: list[SeriesEntry] = field(default_factory=list)
    views: dict[str, int] = field(default_factory=dict)
    mtimes: dict[str, int] = field(default_factory=dict)
    complaints: list[UnlocatedProblem] = field(default_factory=list)
    # Files that exist but gave no records: nothing that would be in them can be called unknown.
    unreadable: set[str] = field(default_factory=set)
    # What each file says.
    parsed: dict[str, Parsed] = field(default_factory=dict)
    # Where comments cut texts short, by the digest of the file.
    cuts: dict[str, list[Cut]] = field(default_factory=dict)

    def take(self, part: "Sources") -> None:
        """Add what was read of one series."""
        self.series += part.series
        self.mtimes |= part.mtimes
        self.complaints += part.complaints
        self.unreadable |= part.unreadable
        self.cuts |= part.cuts


def read(folder: Folder) -> Sources:
    """All records below `folder`."""
    bare_repositories.refuse(Plain(existing(folder)))
    found, places = read_lists(folder)
    for place in places:
        found.take(read_series(folder, place))
    return found


def read_lists(folder: Folder, parsed: Mapping[str, Parsed] | None = None) -> tuple[Sources, list[SeriesFiles]]:
    """What all series share, and where each of them is written, in the order of names."""
    reader = _Reader(existing(folder), parsed)
    return reader.lists(), reader.places()


def read_site(folder: Folder) -> Site | None:
    """The settings alone; None if there is a problem in them."""
    return _Reader(existing(folder)).record(SITE, Site)


def existing(folder: Folder) -> Folder:
    """The folder of a catalog, if there is one."""
    if not os.path.isdir(folder):
        path = Plain(folder)
        beside = [one.name for one in path.parent.iterdir() if one.is_dir()] if path.parent.is_dir() else []
        hint = did_you_mean(path.name, beside, f"a catalog is a folder with {SITE} and {SERIES}/")
        raise FlatpanelError(f"{folder}: there is no such folder{hint}")
    return folder


def read_series(folder: Folder, place: SeriesFiles, parsed: Mapping[str, Parsed] | None = None) -> Sources:
    """The records of one series, from what has been `parsed` of its files already, or from them."""
    with without_garbage_collection():
        return _Reader(folder, parsed).series(place)


class _Reader:
    """Walks the folder in the order of names, so that the same catalog always reads the same."""

    def __init__(self, folder: Folder, parsed: Mapping[str, Parsed] | None = None) -> None:
        self.folder = confined_folder.of(folder)
        self.parsed = parsed or {}
        self.found = Sources()

    def lists(self) -> Sources:
        self.site()
        for name, model in LISTS.items():
            if self.has(name):
                self.found.lists[name] = self.records(name, model)
        if self.has(VIEWS):
            self.found.views = self.validated(VIEWS, Views, Record, empty={}) or {}
        self.unknown("", {SITE, VIEWS, *LISTS}, {SERIES})
        return self.found

    def site(self) -> None:
        if self.has(SITE):
            self.found.site = self.record(SITE, Site)
        else:
            self.complain(SITE, "is missing; it needs at least base_url: https://comics.example")

    def places(self) -> list[SeriesFiles]:
        found: list[SeriesFiles] = []
        if not self.has(SERIES):
            return found
        for name in self.names(SERIES):
            slug = name.removesuffix(".yaml")
            if name.endswith(".yaml") and self.is_slug(slug, f"{SERIES}/{name}"):
                found.append(SeriesFiles(slug, f"{SERIES}/{name}"))
            elif self.folder.is_folder(f"{SERIES}/{name}") and self.is_slug(slug, f"{SERIES}/{name}/series.yaml"):
                found += self.folder_of(slug, f"{SERIES}/{name}")
        self.unknown(SERIES, None, set(self.names(SERIES)))
        return found

    def folder_of(self, slug: str, folder: str) -> Iterator[SeriesFiles]:
        file, chapters = f"{folder}/series.yaml", f"{folder}/chapters"
        self.unknown(folder, {"series.yaml"}, {"chapters"})
        if not self.has(file):
            self.complain(file, "is missing; a series in a folder of its own is described there")
            return
        names: list[str] = []
        if self.has(chapters):
            self.unknown(chapters, None, set())
            names = [name for name in self.names(chapters) if name.endswith(".yaml")]
        yield SeriesFiles(slug, file, tuple(f"{chapters}/{name}" for name in names))

    def series(self, place: SeriesFiles) -> Sources:
        separate = [(file, self.record(file, Chapter)) for file in place.chapters]
        if series := self.record(place.file, Series):
            own = (Entry(one, place.file, ("chapters", index)) for index, one in enumerate(series.chapters))
            chapters = (*own, *(Entry(one, file, ()) for file, one in separate if one))
            self.found.series.append(SeriesEntry(place.slug, Entry(series, place.file, ()), chapters))
        return self.found

    def is_slug(self, slug: str, file: str) -> bool:
        if not is_slug(slug):
            self.complain(file, f"the name of a series' file or folder is its slug; it {WANTED[SLUG]}")
        elif len(slug) > MAX_SLUG:
            self.complain(file, f"the name is a slug of {len(slug)} characters; it should have at most {MAX_SLUG}")
        else:
            return True
        return False

    def names(self, folder: str) -> list[str]:
        """What lies in a folder, without what editors and systems hide there."""
        try:
            return sorted(name for name in self.folder.names(folder) if not name.startswith("."))
        except OSError as error:
            self.complain(folder, f"cannot be read: {error.strerror}")
            return []

    def unknown(self, folder: str, known: set[str] | None, folders: set[str], meant: str = "") -> None:
        """A misspelt file or folder would be a silent hole in the site. None knows whatever ends in .yaml.

        `meant` is the folder that should have been here, if its name is nearly that of this one.
        """
        for name in self.names(folder) if folder.count("/") < _MAX_LEVELS else ():
            path = f"{folder}/{name}".lstrip("/")
            if name.endswith(".yml") or (known is not None and name.endswith(".yaml") and name not in known):
                self.complain(path, f"is not a file of a catalog; {misplaced(folder, name, known, meant)}")
            elif not name.endswith(".yaml") and os.path.islink(self.folder / path):
                if fault := self.folder.fault(path):
                    self.complain(path, fault)
            elif not name.endswith(".yaml") and name not in folders and os.path.isdir(self.folder / path):
                close = nearest(name, folders)
                self.unknown(path, set(), set(), f"{folder}/{close}".lstrip("/") if close else "")

    def has(self, path: str) -> bool:
        """Also a link that leads nowhere: what it names is missing, and not left out."""
        return os.path.lexists(self.folder / path)

    def record(self, file: str, model: type[R]) -> R | None:
        found = self.validated(file, model, model, {})
        return found if isinstance(found, model) else None

    def records(self, file: str, model: type[R]) -> list[Entry[R]]:
        found = self.validated(file, list[model], model, [])  # type: ignore[valid-type]
        return [Entry(record, file, (index,)) for index, record in enumerate(found or [])]

    def validated(self, file: str, kind: Any, model: type[Record], empty: Any) -> Any:
        """The file as `kind`, or None after a complaint."""
        try:
            value = self.value(file)
            if isinstance(value, model):
                return value
            found = _adapter(kind).validate_python(empty if value is None else value)
            parsed = self.found.parsed[file]
            if parsed.doubtful and (cuts := cut_texts(parsed.doubtful, model)):
                self.found.cuts[parsed.digest] = cuts
            return found
        except OSError as error:
            self.complain(file, f"cannot be read: {error.strerror}")
        except yaml12.Malformed:
            # The flaws are found again, with their places, when the complaints are located. So are keys in clear.
            self.complain(file, "")
        except ValidationError as error:
            errors = error.errors(include_url=False)
            if len(errors) > MAX_TOLD:
                self.complain(file, f"has {len(errors) - MAX_TOLD} more problems, which are not told")
            faults = told(errors[:MAX_TOLD], value, model)
            self.found.complaints += [UnlocatedProblem(file, *one) for one in faults]
        self.found.unreadable.add(file)
        return None

    def value(self, file: str) -> Any:
        parsed = self.parsed.get(file) or parse(self.folder, file)
        if parsed.error:
            raise parsed.error
        self.found.mtimes[file] = parsed.mtime
        self.found.parsed[file] = parsed
        return parsed.value

    def complain(self, file: str, message: str) -> None:
        self.found.complaints.append(UnlocatedProblem(file, (), message))


_adapters: dict[Any, TypeAdapter[Any]] = {}


def _adapter(kind: Any) -> TypeAdapter[Any]:
    """Making an adapter costs milliseconds, and there are few kinds."""
    return _adapters.setdefault(kind, TypeAdapter(kind)) if kind not in _adapters else _adapters[kind]
