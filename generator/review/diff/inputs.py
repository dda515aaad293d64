"""Open the two releases that the arguments of `diff` name. Catalogs and git revisions are built temporarily."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from ... import filesystem
from ...catalog.confined_folder import ConfinedFolder, Folder
from ...catalog.git import FileTimes, GitError, Repository
from ...catalog.git_files import CommittedFiles
from ...catalog.layout import SITE
from ...errors import CatalogError, FlatpanelError, Problem
from ...pipeline import run
from ...pipeline.build_options import Options
from ...release.manifest_reader import refuse_damaged
from ...release.store import find_manifest
from .release_view import ReleaseView

# The argument for the catalog with its uncommitted changes.
WORKING_COPY = "."


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
    hint = ""
    try:
        repository = Repository.around(catalog.path)
        if repository and (commit := repository.object_id(f"{name}^{{commit}}")):
            return DiffInput(name, commit=commit, repository=repository)
        if repository and repository.is_shallow:
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
        options, folder, display_name = self.options, diff_input.folder, str(diff_input.folder)
        if diff_input.repository:
            # A project of its own around the catalog: no `media_folder` can be a folder of the build.
            folder = self.scratch / str(index) / "catalog"
            display_name = f"{diff_input.name}:{self.options.catalog}"
            options = replace(options, past=self._check_out(diff_input.repository, diff_input, folder))
        assert folder
        try:
            result = run.build(replace(options, catalog=folder))
        except CatalogError as error:
            raise CatalogError(_renamed(problem, str(folder), display_name) for problem in error.problems) from None
        self.warnings += [warning.replace(str(folder), display_name) for warning in result.warnings]
        return self.options.out / "releases" / result.release / "manifest.json"

    def _check_out(self, repository: Repository, diff_input: DiffInput, folder: Path) -> FileTimes:
        """Write the catalog of a commit into a folder, and return the commit times of its files."""
        catalog = self.options.catalog
        tree = repository.tree(diff_input.commit)
        if tree is None:
            raise FlatpanelError(f"revision {diff_input.name} has no {catalog}")
        committed = CommittedFiles(repository, tree, Path(f"{diff_input.name}:{catalog}"))
        filesystem.make_folder(folder)
        for path, content in repository.contents(committed.files):
            filesystem.write_if_changed(folder / path, content)
        self.warnings += committed.warnings
        return FileTimes(repository.commit_times(diff_input.commit), [], repository.is_shallow)


def _renamed(problem: Problem, folder: str, display_name: str) -> Problem:
    """The problem with git's name of the file, because the temporary file is removed."""
    return replace(problem, file=problem.file.replace(folder, display_name))
