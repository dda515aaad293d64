"""Folders that git takes for repositories, though they have no `.git`: their `config` names programs to run."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from ..errors import CatalogError, Problem

_MESSAGE = "makes git use this folder as a repository and run the programs that its config names; remove it"


def is_bare(names: Iterable[str]) -> bool:
    """Whether git may take a folder that holds these names for a repository.

    `commondir` names the folder that has `objects` and `refs` instead. Some file systems ignore case.
    """
    known = {name.lower() for name in names}
    return "head" in known and (known >= {"objects", "refs"} or "commondir" in known)


def refuse_in_folder(catalog: Path) -> None:
    """Raise if git would take the folder of a catalog, or any folder in it, for a repository."""
    _refuse(catalog, _walk(os.path.realpath(catalog)))


def refuse_in_files(catalog: Path, files: Iterable[str]) -> None:
    """The same for a catalog that is not on the disk, by the paths of its files."""
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
    found = [str(catalog / folder / "HEAD") for folder, names in folders if is_bare(names)]
    if found:
        raise CatalogError(Problem(file, 1, 1, "", _MESSAGE) for file in found)


def _walk(home: str) -> Iterator[tuple[str, list[str]]]:
    """Each folder, hidden ones too, and the names in it. git lets no commit have a `.git`; links are not followed."""
    waiting = ["."]
    while waiting:
        folder, found = waiting.pop(), list[os.DirEntry[str]]()
        with suppress(OSError), os.scandir(os.path.join(home, folder)) as entries:
            found += entries
        yield folder, [one.name for one in found]
        inner = (one.name for one in found if one.name != ".git" and one.is_dir(follow_symlinks=False))
        waiting += (os.path.normpath(os.path.join(folder, name)) for name in inner)
