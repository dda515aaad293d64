"""Refuse folders that git would use as a repository although they have no `.git`: their `config` can run programs."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from ..errors import CatalogError, Problem

_MESSAGE = "makes git use this folder as a repository and run the programs that its config names; remove it"


def is_bare(names: Iterable[str]) -> bool:
    """Whether git may use a folder with these entries as a repository.

    `commondir` names another folder with `objects` and `refs`. Some file systems ignore case.
    """
    lowered = {name.lower() for name in names}
    return "head" in lowered and (lowered >= {"objects", "refs"} or "commondir" in lowered)


def refuse_in_folder(catalog: Path) -> None:
    """Raise if git would use the catalog, or a folder in it, as a repository."""
    _refuse(catalog, _walk(os.path.realpath(catalog)))


def refuse_in_files(catalog: Path, files: Iterable[str]) -> None:
    """The same for a catalog that is not on the disk, given the paths of its files."""
    folders: dict[str, set[str]] = {}
    for path in files:
        name = path
        while name:
            path, _, name = path.rpartition("/")
            if name in folders.setdefault(path, set()):
                break
            folders[path].add(name)
    _refuse(catalog, folders.items())


def _refuse(catalog: Path, folders: Iterable[tuple[str, Iterable[str]]]) -> None:
    heads = [str(catalog / folder / "HEAD") for folder, names in folders if is_bare(names)]
    if heads:
        raise CatalogError(Problem(file, 1, 1, "", _MESSAGE) for file in heads)


def _walk(root: str) -> Iterator[tuple[str, list[str]]]:
    """Each folder with the names in it, hidden ones included. Links and `.git`, which no commit has, are skipped."""
    pending = ["."]
    while pending:
        folder, entries = pending.pop(), list[os.DirEntry[str]]()
        with suppress(OSError), os.scandir(os.path.join(root, folder)) as scan:
            entries += scan
        yield folder, [entry.name for entry in entries]
        subfolders = (entry.name for entry in entries if entry.name != ".git" and entry.is_dir(follow_symlinks=False))
        pending += (os.path.normpath(os.path.join(folder, name)) for name in subfolders)
