"""The files of a catalog: which series it has, where each is written, and files that belong to nothing."""

import os.path
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import FlatpanelError, UnlocatedProblem
from . import patterns
from .confined_folder import ConfinedFolder, Folder
from .field_values import is_slug
from .suggestions import misplaced_file_hint, nearest

SITE = "site.yaml"
SERIES = "series"
# The folder of the theme, beside that of the catalog.
THEME = "theme"
# Folder of the JSON schemas for editors, and the schemas that are not called like their file.
SCHEMAS = ".schemas"
_SCHEMAS_OF = {"authors": "people", "artists": "people"}
# The search for misplaced files ends at this depth; a catalog has three levels.
_MAX_LEVELS = 16


@dataclass(frozen=True, slots=True)
class SeriesFiles:
    """The file of a series, and those of its chapters that have a file of their own."""

    slug: str
    file: str
    chapters: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        return self.file, *self.chapters


def existing(folder: Folder) -> Folder:
    """The folder of a catalog. Raises if it is missing, or if the catalog is around it or one folder below."""
    path = Path(folder)
    if not os.path.isdir(path):
        entries = path.parent.iterdir() if os.path.isdir(path.parent) else ()
        name = nearest(path.name, [entry.name for entry in entries if _has_site(entry)])
        if not name:
            refuse_in_catalog(path)
        hint = f"did you mean {name}?" if name else f"a catalog is a folder with {SITE} and {SERIES}/"
        raise FlatpanelError(f"{folder}: no such folder; {hint}")
    below = None if os.path.lexists(path / SITE) else min(path.glob(f"*/{SITE}"), default=None)
    if below:
        raise FlatpanelError(f"{folder}: has no {SITE}; did you mean {below.parent}?")
    return folder


def refuse_in_catalog(path: Path) -> None:
    """An error for a missing folder with a catalog around it: the command was called in the wrong folder."""
    for folder in Path(os.path.abspath(path)).parents:
        if _has_site(folder) and os.path.isdir(folder / SERIES):
            catalog = folder.resolve()
            fix = f"run the command in {catalog.parent}" if folder.name == path.name else "pass it with --catalog"
            raise FlatpanelError(f"{path}: no such folder; {catalog} is a catalog: {fix}")


def _has_site(folder: Path) -> bool:
    return os.path.isfile(folder / SITE)


def refuse_among_sources(path: Path, advice: str) -> None:
    """An error if a path is among the series of a catalog, or in the theme beside one: a generated file is a stray.

    The folder of the catalog itself may be the root of the project, with all that is generated.
    """
    real_path = Path(os.path.realpath(path))
    passed: list[Path] = []
    for folder in (real_path, *real_path.parents):
        passed.append(folder)
        if folder.name == SERIES and _has_site(folder.parent):
            raise FlatpanelError(f"{path}: is among the series of a catalog; {advice}")
        # A project may have any name, and be below any folder.
        if folder.name == THEME and any(folder.parent.glob(f"*/{SITE}")) and not any(map(_has_project, passed)):
            raise FlatpanelError(f"{path}: is in the theme of a site; {advice}")


def _has_project(folder: Path) -> bool:
    """Whether a catalog is in the folder, or is the folder."""
    return _has_site(folder) or any(folder.glob(f"*/{SITE}"))


def schema_line(file: str) -> str:
    """The comment at the beginning of a catalog file that names its JSON schema for editors."""
    folders, name = file.split("/")[:-1], file.rpartition("/")[2].removesuffix(".yaml")
    schema = "chapter" if folders[2:] else SERIES if folders else _SCHEMAS_OF.get(name, name)
    return f"yaml-language-server: $schema={'../' * len(folders)}{SCHEMAS}/{schema}.json"


def has(folder: ConfinedFolder, path: str) -> bool:
    """Whether a file or folder exists. A broken link exists: its target is missing, not omitted."""
    return os.path.lexists(folder / path)


class Layout:
    """Lists the files of a catalog in the order of their names, and collects faults of their names and places."""

    def __init__(
        self, folder: ConfinedFolder, problems: list[UnlocatedProblem], warnings: list[UnlocatedProblem]
    ) -> None:
        self.folder, self.problems, self.warnings = folder, problems, warnings

    def series_files(self) -> list[SeriesFiles]:
        series: list[SeriesFiles] = []
        if not has(self.folder, SERIES):
            return series
        names = self._names(SERIES)
        for name in names:
            slug = name.removesuffix(".yaml")
            if name.endswith(".yaml") and self._check_slug(slug, f"{SERIES}/{name}"):
                series.append(SeriesFiles(slug, f"{SERIES}/{name}"))
            elif self.folder.is_folder(f"{SERIES}/{name}") and self._check_slug(slug, f"{SERIES}/{name}/series.yaml"):
                series += self._series_folder(slug, f"{SERIES}/{name}")
        self.check_strays(SERIES, None, set(names))
        return series

    def _series_folder(self, slug: str, folder: str) -> Iterator[SeriesFiles]:
        file, chapters = f"{folder}/series.yaml", f"{folder}/chapters"
        self.check_strays(folder, {"series.yaml"}, {"chapters"})
        names: list[str] = []
        if has(self.folder, chapters):
            self.check_strays(chapters, None, set())
            names = [name for name in self._names(chapters) if name.endswith(".yaml")]
        if not has(self.folder, file):
            # A folder without YAML files is the rest of a removed series.
            if any(name.endswith((".yaml", ".yml")) for name in (*self._names(folder), *names)):
                self._add_problem(file, "is missing; it describes the series in this folder")
            return
        yield SeriesFiles(slug, file, tuple(f"{chapters}/{name}" for name in names))

    def _check_slug(self, slug: str, file: str) -> bool:
        if not is_slug(slug):
            self._add_problem(
                file, f"the name of a series' file or folder is its slug; it {patterns.ADVICE[patterns.SLUG]}"
            )
        elif len(slug) > patterns.MAX_SLUG:
            self._add_problem(
                file, f"the name is a slug of {len(slug)} characters; it should have at most {patterns.MAX_SLUG}"
            )
        else:
            return True
        return False

    def check_strays(self, folder: str, files: set[str] | None, folders: set[str], intended: str = "") -> None:
        """Add a fault for each misnamed file below a folder; ignoring it would leave a gap in the site.

        `files` are the valid names of files; None allows every name that ends in .yaml. `folders` are the names of
        folders that are checked elsewhere. `intended` is the valid folder whose name resembles that of this one.
        """
        for name in self._names(folder) if folder.count("/") < _MAX_LEVELS else ():
            path = f"{folder}/{name}".lstrip("/")
            if name.endswith(".yaml") and (files is None or name in files):
                continue
            if name.endswith((".yaml", ".yml")):
                self._add_problem(path, f"is not a catalog file; {misplaced_file_hint(folder, name, files, intended)}")
            elif (is_link := os.path.islink(self.folder / path)) and (fault := self.folder.link_fault(path)):
                self._add_problem(path, fault)
            elif os.path.isdir(self.folder / path):
                if not is_link and name not in folders:
                    close = nearest(name, folders)
                    self.check_strays(path, set(), set(), f"{folder}/{close}".lstrip("/") if close else "")
            elif name.lower().endswith((".yaml", ".yml", ".yaml.txt", ".yml.txt")):
                # No problem: version 1.0 built such a catalog without a warning.
                hint = misplaced_file_hint(folder, name, files, intended)
                message = f"is ignored, because its name does not end in .yaml; {hint}"
                self.warnings.append(UnlocatedProblem(path, (), message))

    def _names(self, folder: str) -> list[str]:
        """The names in a folder, without hidden ones, which editors and systems make."""
        try:
            return sorted(name for name in self.folder.names(folder) if not name.startswith("."))
        except OSError as error:
            self._add_problem(folder, self.folder.read_fault(folder, error))
            return []

    def _add_problem(self, file: str, message: str) -> None:
        self.problems.append(UnlocatedProblem(file, (), message))
