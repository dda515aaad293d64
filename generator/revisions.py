"""What people call a release or a catalog -> two releases, built for the occasion where they are not there yet."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from . import disk, history, pipeline
from .errors import CatalogError, FlatpanelError, Problem
from .pipeline import Options
from .review.release import Release, manifest_of
from .source import SITE

# The files of the catalog as they lie there, committed or not.
HERE = "."


class Wanted(NamedTuple):
    """One of the two: a manifest, the folder of a catalog, or a commit of it."""

    name: str
    manifest: Path | None = None
    folder: Path | None = None
    commit: str | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    old: Release
    new: Release
    warnings: list[str]


@contextmanager
def opened(old: str, new: str, catalog: Path, as_of: int, jobs: int) -> Iterator[Pair]:
    """Both releases. What has to be built for it is built as of the same time, in a folder that is gone afterwards."""
    both = [_wanted(name, catalog) for name in (old, new)]
    with disk.scratch() as scratch:
        workshop = _Workshop(
            scratch, Options(catalog, scratch / "dist", scratch / "nginx.conf", as_of, None, jobs, scratch / "cache")
        )
        before, after = (workshop.manifest(one, place) for place, one in enumerate(both))
        with Release(before, old) as older, Release(after, new) as newer:
            yield Pair(older, newer, workshop.warnings)


def _wanted(name: str, catalog: Path) -> Wanted:
    path = Path(name)
    if not name:  # a variable of the shell that is not set, say
        raise FlatpanelError(
            "the name of what is to be compared is empty; HEAD is the last commit, a point the catalog here"
        )
    if name == HERE:
        return Wanted(name, folder=catalog)
    if found := manifest_of(path):
        return Wanted(name, manifest=found)
    for folder in (path, path / catalog.name):
        if (folder / SITE).is_file():
            return Wanted(name, folder=folder)
    if path.exists():
        raise FlatpanelError(f"{name}: holds neither a built site nor a catalog")
    if commit := history.commit(catalog, name):
        return Wanted(name, commit=commit)
    hint = "; the clone is shallow, fetch it all" if history.is_shallow(catalog) else ""
    raise FlatpanelError(f"{name}: is neither a built site, nor a catalog, nor a revision that git knows{hint}")


class _Workshop:
    """Builds one catalog after the other in one place, so that the second costs what is different in it."""

    def __init__(self, scratch: Path, options: Options) -> None:
        self.scratch, self.options = scratch, options
        self.warnings: list[str] = []

    def manifest(self, wanted: Wanted, place: int) -> Path:
        if wanted.manifest:
            # The pages that have numbers of their own keep them, as they would if the other were built next.
            self.options = replace(self.options, previous=wanted.manifest)
            return wanted.manifest
        folder = wanted.folder or self._taken_out(wanted, place)
        called = f"{wanted.name}:{self.options.catalog}" if wanted.commit else str(folder)
        try:
            report = pipeline.build(replace(self.options, catalog=folder))
        except CatalogError as error:
            raise CatalogError(_moved(one, str(folder), called) for one in error.problems) from None
        self.warnings += [one.replace(str(folder), called) for one in report.warnings]
        return self.options.out / "releases" / report.release / "manifest.json"

    def _taken_out(self, wanted: Wanted, place: int) -> Path:
        catalog = self.options.catalog
        found = history.take_out(catalog, str(wanted.commit), self.scratch / str(place))
        if found is None:
            raise FlatpanelError(f"{wanted.name}: git cannot take {catalog} out of it; was it there at that time?")
        if link := next(_links_out(found), None):
            # Whoever writes a commit may not have what others keep elsewhere told in a report.
            raise FlatpanelError(
                f"{wanted.name}:{catalog / link}: leads out of the catalog; of a commit it is not followed"
            )
        return found


def _links_out(folder: Path) -> Iterator[Path]:
    """The links that lead to what does not belong to a folder."""
    home = os.path.realpath(folder)
    for around, folders, files in os.walk(folder):
        for path in (Path(around, name) for name in sorted(folders + files)):
            if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(home):
                yield path.relative_to(folder)


def _moved(problem: Problem, folder: str, called: str) -> Problem:
    """As git calls the files of a revision: where they are looked at now, nobody will find them."""
    return replace(problem, file=problem.file.replace(folder, called))
