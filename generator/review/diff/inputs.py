"""Open the two releases that the arguments of `diff` name. Catalogs and git revisions are built temporarily."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from ... import filesystem
from ...catalog import theme_files
from ...catalog.confined_folder import ConfinedFolder, Folder
from ...catalog.git import FOLDER_MODE, CommittedFiles, FileTimes, GitError, Repository
from ...catalog.layout import SITE, THEME, existing
from ...errors import CatalogError, FlatpanelError
from ...pipeline import run
from ...pipeline.build_options import Options
from ...release.manifest_reader import refuse_damaged
from ...release.store import find_manifest
from .compare import ReleaseView

# The argument for the catalog with its uncommitted changes.
WORKING_COPY = "."
LAST_COMMIT = "HEAD"
# A range of revisions, such as main..topic; no folder such as ../comics.
_RANGE = re.compile(r"[^/.]\.\.|^\.\.[^/.]")


class DiffInput(NamedTuple):
    """One argument: a manifest, the folder of a catalog, or a commit."""

    name: str
    manifest: Path | None = None
    folder: Folder | None = None
    commit: str = ""
    repository: Repository | None = None


@dataclass(frozen=True, slots=True)
class ReleasePair:
    """The two opened releases, and the warnings of their builds."""

    old: ReleaseView
    new: ReleaseView
    warnings: list[str]


@contextmanager
def open_releases(old: str, new: str, catalog: ConfinedFolder, as_of: int, jobs: int) -> Iterator[ReleasePair]:
    """Open both releases. Catalogs are built as of the same time, in a folder that is removed afterwards."""
    inputs = [_diff_input(name, catalog) for name in (old, new)]
    with filesystem.scratch_folder() as scratch:
        builder = TemporaryBuilder(
            scratch,
            Options(
                catalog, scratch / "dist", scratch / "nginx.conf", as_of, None, jobs, scratch / "cache", local=True
            ),
        )
        before, after = (builder.manifest(diff_input, index) for index, diff_input in enumerate(inputs))
        with ReleaseView(before, old) as old_release, ReleaseView(after, new) as new_release:
            yield ReleasePair(old_release, new_release, builder.warnings)


def _diff_input(name: str, catalog: ConfinedFolder) -> DiffInput:
    path = Path(name)
    if not name:  # for example an unset variable of the shell
        raise FlatpanelError("an argument is empty; use HEAD for the last commit, or . for the working copy")
    if name == WORKING_COPY:
        return DiffInput(name, folder=catalog)
    if manifest := find_manifest(path):
        return DiffInput(name, manifest=manifest)
    for folder in (path, path / catalog.path.name):
        if (folder / SITE).is_file():
            return DiffInput(name, folder=ConfinedFolder(folder, catalog.follow))
    refuse_damaged(path)
    if path.exists():
        raise FlatpanelError(f"{name}: contains neither a built site nor a catalog")
    return _revision(name, catalog)


def _revision(name: str, catalog: ConfinedFolder) -> DiffInput:
    hint = "; pass OLD and NEW as two arguments" if _RANGE.search(name) else ""
    try:
        repository = Repository.around(catalog.path)
        if repository and (commit := repository.object_id(f"{name}^{{commit}}")):
            return DiffInput(name, commit=commit, repository=repository)
        # The default of OLD: the message does not name what was perhaps not typed.
        if name == LAST_COMMIT and not (repository and repository.head):
            existing(catalog)
            fault = "has no commit yet" if repository else "is not in a git repository"
            raise FlatpanelError(f"{catalog}: {fault}; name OLD and NEW, such as the folders of two built sites")
        if repository and repository.is_shallow and not hint:
            hint = "; the clone is shallow: run git fetch --unshallow"
    except GitError as error:
        hint = f"; {error}"
    raise FlatpanelError(f"{name}: is neither a built site, nor a catalog, nor a git revision{hint}")


class TemporaryBuilder:
    """Builds catalogs into one temporary store, so that the second build only renders what differs."""

    def __init__(self, scratch: Path, options: Options) -> None:
        self.scratch, self.options = scratch, options
        self.warnings: list[str] = []

    def manifest(self, diff_input: DiffInput, index: int) -> Path:
        """The manifest of an input, which is built if necessary."""
        if diff_input.manifest:
            # Allocated page ids stay the same, as in a build that follows this release.
            self.options = replace(self.options, previous=diff_input.manifest)
            return diff_input.manifest
        options, folder, shown = self.options, diff_input.folder, dict[str, str]()
        if diff_input.repository:
            # A project of its own around the catalog: no `media_folder` can be a folder of the build.
            project = self.scratch / str(index)
            folder = project / "catalog"
            catalog = Path(str(self.options.catalog))
            shown = {
                str(folder): f"{diff_input.name}:{catalog}",
                str(project / THEME): f"{diff_input.name}:{catalog.parent / THEME}",
            }
            options = replace(options, past=self._check_out(diff_input.repository, diff_input, shown))
        assert folder
        try:
            result = run.build(replace(options, catalog=folder))
        except CatalogError as error:
            problems = (replace(problem, file=_with_names(problem.file, shown)) for problem in error.problems)
            raise CatalogError(problems) from None
        self.warnings += [_with_names(warning, shown) for warning in result.warnings]
        return self.options.out / "releases" / result.release / "manifest.json"

    def _check_out(self, repository: Repository, diff_input: DiffInput, shown: Mapping[str, str]) -> FileTimes:
        """Write the catalog and the theme of a commit into their folders, and return the commit times of the catalog.

        `shown` has both folders, each with git's name of it.
        """
        (folder, name), (theme_folder, theme_name) = shown.items()
        tree, theme = repository.tree(diff_input.commit), repository.beside(diff_input.commit, THEME)
        if tree is None:
            existing(self.options.catalog)
            raise FlatpanelError(f"revision {diff_input.name} has no {self.options.catalog}")
        if theme and theme.mode != FOLDER_MODE:
            raise FlatpanelError(f"{theme_name}: is not a folder; a link to a folder is not followed in a commit")
        committed = CommittedFiles(repository, tree, Path(name))
        _write(Path(folder), repository.contents(committed.files))
        self.warnings += committed.warnings
        if theme:
            files = CommittedFiles(repository, theme.oid, Path(theme_name), ("",), theme_files.MAX_SIZE).files
            _write(Path(theme_folder), repository.contents(files))
        return FileTimes(repository.commit_times(diff_input.commit), [], repository.is_shallow)


def _write(folder: Path, contents: Iterable[tuple[str, bytes]]) -> None:
    filesystem.make_folder(folder)
    for path, content in contents:
        filesystem.write_if_changed(folder / path, content)


def _with_names(text: str, shown: Mapping[str, str]) -> str:
    """The text with git's names of temporary folders, which are removed."""
    for folder, name in shown.items():
        text = text.replace(folder, name)
    return text
