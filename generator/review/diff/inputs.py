"""What people call a release or a catalog -> two releases, built for the occasion where they are not there yet."""

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
from .release_view import ReleaseView, find_manifest

# The files of the catalog as they lie there, committed or not.
WORKING_COPY = "."


class DiffInput(NamedTuple):
    """One of the two: a manifest, the folder of a catalog, or a commit of it."""

    name: str
    manifest: Path | None = None
    folder: Folder | None = None
    commit: str = ""
    repository: Repository | None = None


@dataclass(frozen=True, slots=True)
class ReleasePair:
    old: ReleaseView
    new: ReleaseView
    warnings: list[str]


@contextmanager
def open_releases(old: str, new: str, catalog: ConfinedFolder, as_of: int, jobs: int) -> Iterator[ReleasePair]:
    """Both releases. What has to be built for it is built as of the same time, in a folder that is gone afterwards."""
    both = [_wanted(name, catalog) for name in (old, new)]
    with filesystem.scratch_folder() as scratch:
        workshop = TemporaryBuilder(
            scratch,
            Options(
                catalog, scratch / "dist", scratch / "nginx.conf", as_of, None, jobs, scratch / "cache", local=True
            ),
        )
        before, after = (workshop.manifest(one, place) for place, one in enumerate(both))
        with ReleaseView(before, old) as older, ReleaseView(after, new) as newer:
            yield ReleasePair(older, newer, workshop.warnings)


def _wanted(name: str, catalog: ConfinedFolder) -> DiffInput:
    path = Path(name)
    if not name:  # a variable of the shell that is not set, say
        raise FlatpanelError(
            "the name of what is to be compared is empty; HEAD is the last commit, a point the catalog here"
        )
    if name == WORKING_COPY:
        return DiffInput(name, folder=catalog)
    if found := find_manifest(path):
        return DiffInput(name, manifest=found)
    for folder in (path, path / catalog.path.name):
        if (folder / SITE).is_file():
            return DiffInput(name, folder=ConfinedFolder(folder, catalog.follow))
    if path.exists():
        raise FlatpanelError(f"{name}: holds neither a built site nor a catalog")
    return _revision(name, catalog)


def _revision(name: str, catalog: ConfinedFolder) -> DiffInput:
    hint = ""
    try:
        repository = Repository.around(catalog.path)
        if repository and (commit := repository.object_id(f"{name}^{{commit}}")):
            return DiffInput(name, commit=commit, repository=repository)
        if repository and repository.is_shallow:
            hint = "; the clone is shallow, fetch it all"
    except GitError as error:
        hint = f"; {error}"
    raise FlatpanelError(f"{name}: is neither a built site, nor a catalog, nor a revision that git knows{hint}")


class TemporaryBuilder:
    """Builds one catalog after the other in one place, so that the second costs what is different in it."""

    def __init__(self, scratch: Path, options: Options) -> None:
        self.scratch, self.options = scratch, options
        self.warnings: list[str] = []

    def manifest(self, wanted: DiffInput, place: int) -> Path:
        if wanted.manifest:
            # The pages that have numbers of their own keep them, as they would if the other were built next.
            self.options = replace(self.options, previous=wanted.manifest)
            return wanted.manifest
        options, folder, called = self.options, wanted.folder, str(wanted.folder)
        if wanted.repository:
            folder, called = self.scratch / str(place), f"{wanted.name}:{self.options.catalog}"
            past = self._take_out(wanted.repository, wanted, folder)
            options = replace(options, past=past)
        assert folder
        try:
            report = run.build(replace(options, catalog=folder))
        except CatalogError as error:
            raise CatalogError(_moved(one, str(folder), called) for one in error.problems) from None
        self.warnings += [one.replace(str(folder), called) for one in report.warnings]
        return self.options.out / "releases" / report.release / "manifest.json"

    def _take_out(self, repository: Repository, wanted: DiffInput, folder: Path) -> FileTimes:
        """Write the catalog of a commit into a folder; answers with the times that a build of the commit would see."""
        catalog = self.options.catalog
        tree = repository.tree(wanted.commit)
        if tree is None:
            raise FlatpanelError(f"{wanted.name}: git cannot take {catalog} out of it; was it there at that time?")
        chosen = CommittedFiles(repository, tree, Path(f"{wanted.name}:{catalog}"))
        filesystem.make_folder(folder)
        for path, content in repository.contents(chosen.files):
            filesystem.write_if_changed(folder / path, content)
        self.warnings += chosen.warnings
        return FileTimes(repository.commit_times(wanted.commit), [], repository.is_shallow)


def _moved(problem: Problem, folder: str, called: str) -> Problem:
    """As git calls the files of a revision: where they are looked at now, nobody will find them."""
    return replace(problem, file=problem.file.replace(folder, called))
