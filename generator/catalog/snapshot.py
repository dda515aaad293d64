"""Fingerprint of a catalog: the status of every file, taken without reading any.

A status is size, mtime, ctime and inode. It changes with the content of the file. That of a link consists of the
status of its target and its own.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from .. import encoding
from . import confined_folder
from .confined_folder import ConfinedFolder, Folder
from .unfinished_import import JOURNAL

# Each file and folder with its status, in the order of the walk; the status of a folder is empty.
Snapshot: TypeAlias = tuple[tuple[str, str], ...]

# Only a link in these places is followed to a folder, so that a circle of links has an end.
_FOLDER_OF_SERIES = re.compile(r"series(/[^/]+(/chapters)?)?")


def take(folder: Folder) -> Snapshot:
    """The status of every file in a catalog but hidden ones; it changes when a file is edited, added or removed.

    The journal of an unfinished import is included: when it is removed, the catalog is complete.
    """
    return tuple(_walk(confined_folder.of(folder)))


def digest(snapshot: Snapshot) -> str:
    return encoding.digest(encoding.json([(ascii(file), status) for file, status in snapshot]))


def statuses(folder: ConfinedFolder, files: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The status of each of `files`; empty if it is missing, or a link that leads out of the catalog."""
    folders = {"": confined_folder.real_path(folder.path)}
    for file in files:
        parent, _, name = file.rpartition("/")
        yield file, _status(folder, file, os.path.join(_real_folder(folder, parent, folders), name))


def file_status(path: str | os.PathLike[str]) -> str:
    """The status of a file outside the catalog."""
    return _text(os.stat(path))


def modified(status: str) -> int:
    """The mtime in a status, in seconds."""
    return int(status.split(" ")[1]) // 10**9


def _walk(catalog: ConfinedFolder) -> Iterator[tuple[str, str]]:
    pending = [("", confined_folder.real_path(catalog.path))]
    while pending:
        folder, path = pending.pop()
        for entry in _entries(path):
            file = os.path.join(folder, entry.name)
            subfolder = entry.path if entry.is_dir(follow_symlinks=False) else ""
            if entry.is_symlink() and _FOLDER_OF_SERIES.fullmatch(file) and catalog.is_folder(file):
                subfolder = catalog.real_path(file)
            if subfolder:
                pending.append((file, subfolder))
            yield file, "" if subfolder else _status(catalog, file, entry.path)


def _entries(folder: str) -> "list[os.DirEntry[str]]":
    try:
        with os.scandir(folder) as entries:
            visible = [entry for entry in entries if not entry.name.startswith(".") or entry.name == JOURNAL]
            return sorted(visible, key=lambda entry: entry.name)
    except OSError:
        return []


def _real_folder(catalog: ConfinedFolder, folder: str, folders: dict[str, str]) -> str:
    """The real path of a folder; `folders` are those resolved before."""
    if folder not in folders:
        parent, _, name = folder.rpartition("/")
        path = os.path.join(_real_folder(catalog, parent, folders), name)
        folders[folder] = catalog.real_path(folder) if os.path.islink(path) else path
    return folders[folder]


def _status(catalog: ConfinedFolder, file: str, path: str) -> str:
    try:
        status = os.lstat(path)
        if not stat.S_ISLNK(status.st_mode):
            return _text(status)
        return f"{_text(os.lstat(catalog.real_path(file)))} {_text(status)}"
    except OSError:
        return ""


def _text(status: os.stat_result) -> str:
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"
