"""Write the packs of a release into a folder, or those that differ from the packs in it.

The packs say what they have of each URL, so no other list is stored: an entry that the release still has is taken from
its pack, and its body is not read again. Files of packs and of large bodies are named by the digest of their content
and never changed.
"""

import hashlib
import os
import re
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, suppress
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from ... import encoding
from ...api.payloads.resources import Alias
from ...errors import FlatpanelError
from ...filesystem import (
    PartialFile,
    delete_file,
    exclusive,
    has_content,
    make_folder,
    read_regular,
    replace,
    sync_filesystem,
)
from ...release.manifest_reader import ManifestReader
from ...release.store import Store, is_unused, refuse_links
from . import leaves, pack_format, worker_files
from .leaves import PART_BITS, PARTS, Leaf
from .pack_format import DIGEST, Description, PackItem

# The folders of public files, and of those that only the worker may read.
PUBLIC, PRIVATE = "public", "private"
TREES = (PUBLIC, PRIVATE)

# The folder around these two.
FILES = "files"

# How often a pack reports progress.
STEPS = len(TREES) * PARTS

# The entries of a release

# The descriptions of each part of a tree, each behind its key: as bytes, since a release may have a million of them.
Descriptions = list[list[bytes]]


def described(table: ManifestReader) -> Mapping[str, Descriptions]:
    """The descriptions of all entries of a release, by tree."""
    result: dict[str, Descriptions] = {tree: [[] for _ in range(PARTS)] for tree in TREES}
    for slug in table.segments:
        entries = table.entries(slug)
        restricted = {entry.url: entry.restricted for entry in entries if not isinstance(entry, Alias)}
        for entry in entries:
            # An alias needs the API key that its target needs, which is in the same segment.
            is_restricted = restricted.get(entry.target, True) if isinstance(entry, Alias) else entry.restricted
            tree = PRIVATE if pack_format.is_private(entry, is_restricted, table.rules.restricted) else PUBLIC
            key = pack_format.digest(entry.url)
            result[tree][key[0]].append(key + pack_format.describe(entry, is_restricted).dump())
    return result


# What a folder keeps

# The mark of a folder of packs.
MARK = ".flatpanel-packs"
_MARK_TEXT = b"Packs of a release, written by Flatpanel. Only this program changes the files here.\n"


class Mark(NamedTuple):
    """What a folder keeps besides the packs of its release. The default is that of a folder without complete packs."""

    release: str = ""
    # What decided on the bytes of the packs besides the release.
    format: Sequence[object] = ()
    urls: int = 0
    # The directory of each tree, in Base64, and the names of its large bodies.
    directories: Mapping[str, str] = dict.fromkeys(TREES, "")
    large: Mapping[str, Sequence[str]] = dict.fromkeys(TREES, ())
    # The digests of the settings that this program has written.
    settings: Mapping[str, str] = {}

    def packs(self, tree: str) -> set[str]:
        """The names of the packs of a tree."""
        return {name.hex() for name in leaves.names(b64decode(self.directories[tree]))}

    def files(self, tree: str) -> set[str]:
        """The names of all files of a tree."""
        return self.packs(tree) | {*self.large[tree]}

    def dump(self) -> bytes:
        content = encoding.json(self._asdict())
        return b"%b%08x\n%b" % (_MARK_TEXT, zlib.crc32(content), content)


def read_mark(target: Path) -> Mark:
    """The mark of a folder; an error if the folder has files of others. A damaged one says nothing."""
    text = read_regular(target / MARK)
    if text is None and not is_unused(target, MARK):
        raise FlatpanelError(f"{target}: is not an empty folder, nor one of an earlier `pack`; choose a new one")
    checksum, _, content = (text or b"").removeprefix(_MARK_TEXT).partition(b"\n")
    # Of another version, only the settings are known.
    with suppress(ValueError, TypeError):
        if checksum == b"%08x" % zlib.crc32(content):
            mark = Mark(**encoding.parse(content))
            return mark if mark.format == pack_format.SETTINGS else Mark(settings=mark.settings)
    return Mark()


# The files of a tree

_BLOCK = 1 << 20
# Files of this program: content, and what an interrupted run leaves behind.
_OWN_NAME = re.compile(r"[0-9a-f]{32}|\.[0-9a-f]{0,32}\.new")
# The limit of Cloudflare and other hosts.
LARGEST_FILE = 25 << 20
# The size of what is no regular file, or damaged.
_NO_FILE = -1


class PackFolder:
    """A folder of packs and large bodies, made of the bodies in `dist`. Without `write` it only counts."""

    def __init__(self, folder: Path, dist: Path, *, write: bool) -> None:
        self.folder, self._dist, self._write = folder, dist, write
        self.sizes = {entry.name: _size(entry) for entry in [*os.scandir(folder)]} if folder.is_dir() else {}
        # Packs that have the content that their names say.
        self._intact: set[bytes] = set()
        # Files that were written, their size, and bodies that some hosts refuse.
        self.written = self.bytes = 0
        self.too_large: list[str] = []
        if write:
            make_folder(folder)

    def earlier_parts(self, directory: bytes) -> Iterator[Mapping[bytes, PackItem]]:
        """The entries of earlier packs by key, for each part. Those of damaged packs are missing."""
        groups = groupby(self._earlier(directory), lambda item: item.key[0])
        number, group = next(groups, (PARTS, iter(())))
        for part in range(PARTS):
            if part < number:
                yield {}
            else:
                yield {item.key: item for item in group}
                number, group = next(groups, (PARTS, iter(())))

    def _earlier(self, directory: bytes) -> Iterator[PackItem]:
        """The entries of earlier packs, in the order of their keys."""
        for name in leaves.names(directory):
            pack = read_regular(self.folder / name.hex())
            if pack is not None and pack_format.file_name(pack) == name:
                self._intact.add(name)
                yield from pack_format.load(pack)

    def save(self, leaf: Leaf) -> None:
        """Write the pack of a leaf. Its entries are no longer needed then."""
        if leaf.items:
            pack = pack_format.dump(leaf.items)
            leaf.name, leaf.items = pack_format.file_name(pack), ()
            path = self.folder / leaf.name.hex()
            if leaf.name not in self._intact and not has_content(path, [pack]):
                self._count(path.name, len(pack))
                if self._write:
                    replace(path, pack)

    def has_data(self, item: PackItem) -> bool:
        """Whether the folder has the body of an entry of an earlier pack; one in a file of its own is not read."""
        return not item.is_alone or self._is_present(item.data, item.stored)

    def item(self, key: bytes, description: Description) -> PackItem:
        """The entry of a description, with the body as it is stored: compressed if `dist` has a gzip form."""
        if not description.is_body:
            data = description.text.encode()
            return description.item(key, len(data), data)
        file = f"{description.text}.gz" if description.gzip else description.text
        with (self._dist / file).open("rb") as opened:
            length = os.fstat(opened.fileno()).st_size
            start = opened.read(min(length, pack_format.MAX_INLINE))
            opened.seek(max(0, length - 4))
            end = opened.read()
        pack_format.check_length(str(self._dist / file), description.gzip, description.size, start, end, length)
        return description.item(key, length, self._large(file) if length > pack_format.MAX_INLINE else start)

    def _large(self, file: str) -> bytes:
        """Copy a large body; returns the digest that names the copy."""
        name, length = _digest(self._dist / file), (self._dist / file).stat().st_size
        path = self.folder / name.hex()
        if length > LARGEST_FILE:
            self.too_large.append(file)
        if not self._is_present(name, length) or (path.is_file() and _digest(path) != name):
            self._count(path.name, length)
            if self._write:
                with (self._dist / file).open("rb") as body, PartialFile(self.folder / f".{path.name}.new") as copy:
                    while block := body.read(_BLOCK):
                        copy.write(block)
                    copy.finish(str(path))
        return name

    def lacks(self, names: Set[str]) -> bool:
        """Whether any of these files is missing or damaged. A damaged one counts as missing from now on."""
        for name in names:
            # What is no file is not opened: a pipe would block.
            if self.sizes.get(name, _NO_FILE) != _NO_FILE and _digest(self.folder / name).hex() != name:
                # It keeps its entry, so that it is removed if the new release does not need it.
                self.sizes[name] = _NO_FILE
        return any(self.sizes.get(name, _NO_FILE) == _NO_FILE for name in names)

    def _is_present(self, name: bytes, length: int) -> bool:
        return self.sizes.get(name.hex()) == length

    def _count(self, name: str, length: int) -> None:
        self.sizes[name] = length
        self.written += 1
        self.bytes += length

    def remove_others(self, used: Collection[str]) -> int:
        """Remove the other files of this program; returns their number."""
        unused = [name for name in self.sizes if name not in used and _OWN_NAME.fullmatch(name)]
        if self._write:
            for name in unused:
                delete_file(self.folder / name)
        return len(unused)


def _size(entry: os.DirEntry[str]) -> int:
    """The size of a regular file. A folder in its place has files of others, so it is neither replaced nor removed."""
    if entry.is_dir(follow_symlinks=False) and _OWN_NAME.fullmatch(entry.name):
        raise FlatpanelError(f"{entry.path}: is a folder in the place of a file; move it to another place")
    return entry.stat(follow_symlinks=False).st_size if entry.is_file(follow_symlinks=False) else _NO_FILE


def _digest(path: Path) -> bytes:
    """The digest that names a file, without the whole file in memory."""
    digest = hashlib.sha256()
    with path.open("rb") as opened:
        while block := opened.read(_BLOCK):
            digest.update(block)
    return digest.digest()[:DIGEST]


# The folder as a whole


class PackTotals(NamedTuple):
    """The release, its URLs and files, and what this run has written, left and removed."""

    release: str
    urls: int
    packs: int
    large: int
    written: int
    bytes: int
    removed: int
    # Bodies that hosts with a limit of 25 MiB refuse, and settings that a user has changed.
    too_large: list[str]
    left: list[str]


Progress = Callable[[int], None]


def pack_release(
    store: Store, target: Path, *, write: bool = True, progress: Progress = lambda done: None
) -> PackTotals:
    """Pack the current release. A second pack into the folder writes what has changed.

    New files come first, the pointer to them (release.js) after them, and unused files are removed last. So a run that
    is interrupted leaves the packs of one of the two releases complete.
    """
    with ExitStack() as stack:
        table = stack.enter_context(store.table())
        mark = read_mark(target)
        if write:
            make_folder(target)
            stack.enter_context(exclusive(target))
            # The folder is ours from now on, even if this run is interrupted.
            mark = read_mark(target)
            replace(target / MARK, mark.dump())
        # A pack replaces and removes files there.
        refuse_links(target, (f"{FILES}/{tree}/" for tree in TREES))
        folders = {tree: PackFolder(target / FILES / tree, store.root, write=write) for tree in TREES}
        # Also for another release, which may have the same large bodies: these are not read again.
        lacking = [tree for tree in TREES if folders[tree].lacks(mark.files(tree))]
        if mark.release != table.id or lacking:
            new = _packed(table, mark, folders, progress)
        else:
            new = mark
            progress(STEPS)
        files = worker_files.of_release(table, new.directories)
        if write:
            sync_filesystem(target)
            new = new._replace(settings=worker_files.write(target, files, mark.settings))
            replace(target / MARK, new.dump())
            sync_filesystem(target)
        return PackTotals(
            release=table.id,
            urls=new.urls,
            packs=sum(len(new.packs(tree)) for tree in TREES),
            large=sum(len(new.large[tree]) for tree in TREES),
            written=sum(folder.written for folder in folders.values()),
            bytes=sum(folder.bytes for folder in folders.values()),
            removed=sum(folder.remove_others(new.files(tree)) for tree, folder in folders.items()),
            too_large=[file for folder in folders.values() for file in folder.too_large],
            left=worker_files.changed_by_others(target, files, new.settings),
        )


def _packed(table: ManifestReader, earlier: Mark, folders: Mapping[str, PackFolder], progress: Progress) -> Mark:
    """Write the packs of a release."""
    descriptions = described(table)
    directories, large = {}, {}
    for tree, folder in folders.items():
        directory, names = _written(folder, b64decode(earlier.directories[tree]), descriptions[tree], progress)
        directories[tree], large[tree] = b64encode(directory).decode(), sorted(name.hex() for name in names)
    urls = sum(len(part) for parts in descriptions.values() for part in parts)
    return Mark(table.id, pack_format.SETTINGS, urls, directories, large, earlier.settings)


def _written(
    folder: PackFolder, earlier_directory: bytes, descriptions: Descriptions, progress: Progress
) -> tuple[bytes, set[bytes]]:
    """Write the packs of a tree; returns their directory and the names of the large bodies."""
    parts: list[Leaf] = []
    large: set[bytes] = set()
    for part, (lines, earlier) in enumerate(zip(descriptions, folder.earlier_parts(earlier_directory), strict=True)):
        items: list[PackItem] = []
        for line in sorted(lines):
            key, description = line[:DIGEST], line[DIGEST:]
            item = earlier.get(key)
            if not (item and item.is_of(description) and folder.has_data(item)):
                item = folder.item(key, pack_format.load_description(description))
            items.append(item)
        large.update(item.data for item in items if item.is_alone)
        divided = list(leaves.divided(items, part << leaves.BITS - PART_BITS, PART_BITS))
        # Leaves that cannot be joined with those of other parts are written now, so that memory does not have them all.
        if len(divided) > 1:
            for leaf in divided:
                folder.save(leaf)
        parts += divided
        progress(1)
    joined = leaves.joined(parts)
    for leaf in joined:
        folder.save(leaf)
    return leaves.dump(joined), large
