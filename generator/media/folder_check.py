"""Compare a folder with the files that a catalog names.

Reads the beginning and the end of each image, and the whole of archives and of images that have smaller copies.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import PurePosixPath
from typing import BinaryIO

from .. import encoding
from ..catalog import confined_folder
from ..catalog.confined_folder import ConfinedFolder
from ..catalog.entities import Archive
from ..catalog.linking import is_archive
from . import comicinfo, image_content, stored_zip
from .image_sizes import Size
from .moves import Move, find_moves
from .named_files import NamedMedia, digest

# The kinds of findings, in the order of a report, and whether one of them is a fault.
KINDS = {
    "missing": True,
    "moved": True,
    "empty": True,
    "unreadable": True,
    "link": True,
    "not served": True,
    "outdated": True,
    "differs": True,
    "withdrawn": True,
    "other format": False,
    "extra": False,
    "no image": False,
}
# Names that nginx does not serve, and that no catalog can contain.
_HIDDEN = re.compile(r"\.|.*[\x00-\x1f\x7f\ud800-\udfff]", re.DOTALL)
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Finding:
    """A path below the folder, and what is remarkable about it."""

    kind: str
    path: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class FolderCheck:
    """The result of a check."""

    findings: tuple[Finding, ...]
    moves: tuple[Move, ...]
    # The number of files that the catalog names, of those that are in the folder, and their bytes.
    named: int
    present: int
    size: int
    # By path; empty without the library.
    sizes: Mapping[str, Size]

    @property
    def ok(self) -> bool:
        return not any(KINDS[finding.kind] for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Tree:
    """The files below a folder with their sizes, the links, and the names that nothing serves."""

    files: dict[str, int]
    links: list[str]
    hidden: list[str]


def check(
    folder: ConfinedFolder,
    named: NamedMedia,
    required: NamedMedia,
    measure: Callable[[BinaryIO], Size | None] | None,
    progress: Callable[[int], None] = lambda count: None,
) -> FolderCheck:
    """Check a folder. `required` are the files of `named` that it should have; `progress` is called for each."""
    tree = list_tree(folder)
    findings: list[Finding] = []
    sizes: dict[str, Size] = {}
    missing = []
    for path in required.files:
        progress(1)
        if path in named.archives:
            findings += _archive_findings(folder, tree, named.archives[path])
            continue
        if fault := _name_fault(path):
            findings.append(Finding("not served", path, fault))
        if path not in tree.files:
            missing.append(path)
            continue
        with confined_folder.reading(folder, path) as file:
            findings += _content_findings(path, file)
            if measure and (size := measure(file)):
                sizes[path] = size
            if path in named.variants:
                file.seek(0)
                if not named.variants[path].endswith(digest(file.read())):
                    findings.append(Finding("outdated", path))
    moves = find_moves(named, missing, tree.files.keys())
    moved = {move.target: move for move in moves}
    findings += [Finding("missing", path) for path in missing if path not in moved]
    findings += [Finding("moved", move.target, move.source) for move in moves]
    findings += _links(tree, missing)
    findings += _others(folder, tree, named)
    order = list(KINDS)
    findings.sort(key=lambda finding: order.index(finding.kind))
    present = [size for path, size in tree.files.items() if path in required.files]
    return FolderCheck(tuple(findings), tuple(moves), len(required.files), len(present), sum(present), sizes)


def list_tree(folder: ConfinedFolder, below: str = "") -> Tree:
    """List what is below a path, which ends in a slash. Links are not followed, as nginx follows none."""
    tree = Tree({}, [], [])
    pending = [below]
    while pending:
        inside = pending.pop()
        with os.scandir(folder / inside) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                path = f"{inside}{entry.name}"
                if entry.is_symlink():
                    tree.links.append(path)
                elif _HIDDEN.match(entry.name):
                    tree.hidden.append(path)
                elif entry.is_dir():
                    pending.append(f"{path}/")
                elif entry.is_file():
                    tree.files[path] = entry.stat().st_size
                else:
                    tree.hidden.append(path)
    return tree


def _name_fault(path: str) -> str:
    suffix = PurePosixPath(path).suffix
    if any(name.startswith(".") for name in path.split("/")):
        return "nginx serves no names that begin with a dot"
    is_served = suffix.lower() in image_content.SERVED
    return "" if is_served else f"nginx serves no files with the extension {suffix or '(none)'}"


def _content_findings(path: str, file: BinaryIO) -> Iterator[Finding]:
    content = image_content.examine(file)
    stated = image_content.format_of_name(path)
    if content.fault == "is empty":
        yield Finding("empty", path)
    elif content.fault:
        yield Finding("unreadable", path, content.fault)
    elif stated and content.format != stated:
        yield Finding("other format", path, f"is {content.format}")


def _archive_findings(folder: ConfinedFolder, tree: Tree, archive: Archive) -> Iterator[Finding]:
    if archive.path not in tree.files:
        yield Finding("missing", archive.path)
    elif not is_recorded(folder, archive, whole=True):
        yield Finding("differs", archive.path)


def is_recorded(folder: ConfinedFolder, archive: Archive, *, whole: bool = False) -> bool:
    """Whether a file is an archive of `archives.yaml`, by its size; by its whole content, if that is asked for."""
    try:
        with confined_folder.reading(folder, archive.path) as file:
            if os.fstat(file.fileno()).st_size != archive.size:
                return False
            chunks = iter(partial(file.read, _CHUNK), b"")
            return not whole or encoding.sha256_of_chunks(chunks).startswith(archive.digest)
    except (FileNotFoundError, NotADirectoryError):
        return False


def _links(tree: Tree, missing: Iterable[str]) -> Iterator[Finding]:
    """Yield the links. Those to missing files, or to folders of missing files, are faults."""
    needed = {parent for path in missing for parent in accumulate(path.split("/"), "{}/{}".format)}
    for path in sorted(tree.links):
        yield Finding("link" if path in needed else "no image", path, "is a link; nginx serves none")


def is_own_archive(folder: ConfinedFolder, path: str) -> bool:
    """Whether `media archives` has written a file, in this copy of the project or in another one."""
    if not is_archive(path):
        return False
    with confined_folder.reading(folder, path) as file:
        return stored_zip.begins_with(comicinfo.FILE, file.read(_CHUNK))


def _others(folder: ConfinedFolder, tree: Tree, named: NamedMedia) -> Iterator[Finding]:
    """Yield the files that the catalog does not name."""
    for path in sorted(tree.files.keys() - named.files.keys()):
        if path in named.withdrawn or is_own_archive(folder, path):
            yield Finding("withdrawn", path)
        elif image_content.format_of_name(path) or (is_archive(path) and named.archives):
            yield Finding("extra", path)
        else:
            yield Finding("no image", path, "has no extension of an image")
    yield from (Finding("no image", path, "is hidden, or no file") for path in sorted(tree.hidden))
