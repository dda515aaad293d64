"""Write the packs of a release into a folder, or those that differ from the release that was packed before.

The difference is found first, line by line, in the segments of the two tables that differ. Files of packs and of large
bodies are named by the digest of their content and never changed.
"""

import hashlib
import os
import re
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from ... import encoding
from ...api.payloads.resources import Alias
from ...errors import FlatpanelError
from ...filesystem import PartialFile, delete_file, exclusive, has_content, make_folder, replace, sync_filesystem
from ...release.manifest import Entry
from ...release.manifest_reader import ManifestReader
from ...release.store import Store, is_unused, refuse_links
from . import leaves, pack_format, state, worker_files
from .leaves import PARTS, Leaf
from .pack_format import DIGEST, NO_PACK, Description, PackItem
from .state import LINE, PRINT, PackState, SegmentLines

# The folders of public files, and of those that only the worker may read.
PUBLIC, PRIVATE = "public", "private"
TREES = (PUBLIC, PRIVATE)

# The folder around these two.
FILES = "files"

# How often a pack reports progress.
STEPS = len(TREES) * PARTS

# The changes of a release in the packs of an earlier one

_LENGTH = struct.Struct(">L")


class Changes:
    """New descriptions by key, as bytes: a release may have a million of them."""

    def __init__(self) -> None:
        self._parts = {tree: [bytearray() for _ in range(PARTS)] for tree in TREES}

    def add(self, tree: str, key: bytes, description: bytes) -> None:
        """A new description, or an empty one if the tree no longer has the key."""
        part = self._parts[tree][key[0]]
        part += key
        part += _LENGTH.pack(len(description))
        part += description

    def of_part(self, tree: str, part: int) -> Iterator[tuple[bytes, Description | None]]:
        text = bytes(self._parts[tree][part])
        at = 0
        while at < len(text):
            start = at + DIGEST + _LENGTH.size
            (length,) = _LENGTH.unpack_from(text, at + DIGEST)
            description = text[start : start + length]
            yield text[at : at + DIGEST], pack_format.load_description(description) if length else None
            at = start + length


class PackComparison(NamedTuple):
    """The segments of the new state, and what changes. `urls` counts all entries."""

    segments: dict[str, SegmentLines]
    changes: Changes
    urls: int


def compare_packs(table: ManifestReader, former: PackState) -> PackComparison:
    """Compare a release with the packs of a folder."""
    segments: dict[str, SegmentLines] = {}
    digests = {slug: encoding.digest(table.segment(slug)) for slug in table.segments}
    # A URL may move from one segment to another, so all earlier lines are read before the first new one.
    lines = {
        line[:-PRINT]: line[-PRINT:]
        for slug, segment in former.segments.items()
        if digests.get(slug) != segment.digest
        for line in _lines(segment)
    }
    changes = Changes()
    for slug, digest in digests.items():
        segment = former.segments.get(slug)
        if segment and segment.digest == digest:
            segments[slug] = segment
        else:
            segments[slug] = _segment(table, slug, digest, lines, changes)
    for line in lines:
        changes.add(TREES[line[0]], line[1:], b"")
    urls = sum(len(segment.public) + len(segment.private) for segment in segments.values()) // LINE
    return PackComparison(segments, changes, urls)


def _lines(segment: SegmentLines) -> Iterator[bytes]:
    """The lines of a segment, each behind the number of its tree."""
    for number, text in enumerate((segment.public, segment.private)):
        for at in range(0, len(text), LINE):
            yield bytes([number]) + text[at : at + LINE]


def _segment(
    table: ManifestReader, slug: str, digest: str, earlier: dict[bytes, bytes], changes: Changes
) -> SegmentLines:
    """The new lines of a segment; removes them from `earlier`, and adds those that differ to the changes."""
    entries = table.entries(slug)
    restricted = {entry.url: entry.restricted for entry in entries if not isinstance(entry, Alias)}
    lines = {PUBLIC: bytearray(), PRIVATE: bytearray()}
    for entry in entries:
        is_restricted = _is_restricted(entry, restricted)
        tree = PRIVATE if pack_format.is_private(entry, is_restricted, table.rules.restricted) else PUBLIC
        description = pack_format.describe(entry, is_restricted).dump()
        key, new = pack_format.digest(entry.url), bytes.fromhex(encoding.digest(description))[:PRINT]
        lines[tree] += key + new
        if earlier.pop(bytes([TREES.index(tree)]) + key, None) != new:
            changes.add(tree, key, description)
    return SegmentLines(digest, bytes(lines[PUBLIC]), bytes(lines[PRIVATE]))


def _is_restricted(entry: Entry, restricted: Mapping[str, bool]) -> bool:
    """Whether an entry needs an API key. An alias needs what its target needs, which is in the same segment."""
    return restricted.get(entry.target, True) if isinstance(entry, Alias) else entry.restricted


# The files of a tree

_BLOCK = 1 << 20
# Files of this program: content, and what an interrupted run leaves behind.
_OWN_NAME = re.compile(r"[0-9a-f]{32}|\.[0-9a-f]{0,32}\.new")
# The limit of Cloudflare and other hosts.
LARGEST_FILE = 25 << 20


class DamagedPacks(Exception):
    """Files of an earlier pack are missing, or have other content than their names say."""


class PackFolder:
    """A folder of packs and large bodies, made of the bodies in `dist`. Without `write` it only counts."""

    def __init__(self, folder: Path, dist: Path, *, write: bool) -> None:
        self.folder, self._dist, self._write = folder, dist, write
        self.sizes = {entry.name: entry.stat().st_size for entry in os.scandir(folder)} if folder.is_dir() else {}
        self._used: set[str] = set()
        # Files that were written, their size, and bodies that some hosts refuse.
        self.written = self.bytes = 0
        self.too_large: list[str] = []
        if write:
            make_folder(folder)

    def size(self, name: bytes) -> int:
        """The size of a file of an earlier pack."""
        try:
            return self.sizes[name.hex()]
        except KeyError:
            raise DamagedPacks from None

    def load(self, leaf: Leaf) -> list[PackItem]:
        """The entries of a leaf."""
        if leaf.items is not None:
            return leaf.items
        name = leaf.name or NO_PACK
        if name == NO_PACK:
            return []
        pack = (self.folder / name.hex()).read_bytes()
        if pack_format.file_name(pack) != name:
            raise DamagedPacks
        return list(pack_format.load(pack))

    def save(self, leaf: Leaf) -> None:
        """Write the pack of a leaf. Its entries are no longer needed then."""
        if leaf.items:
            pack = pack_format.dump(leaf.items)
            leaf.name = pack_format.file_name(pack)
            path = self.folder / leaf.name.hex()
            if not self._is_present(leaf.name, len(pack)) or not has_content(path, [pack]):
                self._count(path.name, len(pack))
                if self._write:
                    replace(path, pack)
        elif leaf.items is not None:
            leaf.name = NO_PACK
        leaf.items = None
        if leaf.name and leaf.name != NO_PACK:
            self._used.add(leaf.name.hex())

    def keep(self, name: bytes) -> None:
        """A large body that the release still has."""
        self.size(name)
        self._used.add(name.hex())

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
        self._used.add(path.name)
        return name

    def _is_present(self, name: bytes, length: int) -> bool:
        return self.sizes.get(name.hex()) == length

    def _count(self, name: str, length: int) -> None:
        self.sizes[name] = length
        self.written += 1
        self.bytes += length

    def remove_unused(self) -> int:
        """Remove the files of earlier packs that no entry needs; returns their number."""
        unused = [name for name in self.sizes if name not in self._used and _OWN_NAME.fullmatch(name)]
        if self._write:
            for name in unused:
                delete_file(self.folder / name)
        return len(unused)


def _digest(path: Path) -> bytes:
    """The digest that names a file, without the whole file in memory."""
    digest = hashlib.sha256()
    with path.open("rb") as opened:
        while block := opened.read(_BLOCK):
            digest.update(block)
    return digest.digest()[:DIGEST]


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
    """Pack the current release. A second pack into the folder costs what has changed.

    New files come first, the pointer to them (release.js) after them, and unused files are removed last. So a run that
    is interrupted leaves the packs of one of the two releases complete.
    """
    with ExitStack() as stack:
        table = stack.enter_context(store.table())
        earlier = _known(target)
        if write:
            make_folder(target)
            stack.enter_context(exclusive(target))
            # The folder is ours from now on, even if this run is interrupted.
            earlier = _known(target)
            if not state.is_packed(target):
                state.write(target, PackState())
        try:
            return _packed(store, table, earlier, target, write, progress)
        except DamagedPacks:
            # Each file that is still right is used again.
            return _packed(store, table, PackState(settings=earlier.settings), target, write, progress)


def _known(target: Path) -> PackState:
    """What the folder has; an error if it has files of others."""
    if state.is_packed(target):
        return state.read(target)
    if not is_unused(target, state.FILE):
        raise FlatpanelError(f"{target}: is not an empty folder, nor one of an earlier `pack`; choose a new one")
    return PackState()


def _packed(
    store: Store, table: ManifestReader, earlier: PackState, target: Path, write: bool, progress: Progress
) -> PackTotals:
    segments, changes, urls = compare_packs(table, earlier)
    # A pack replaces and removes files there.
    refuse_links(target, (f"{FILES}/{tree}/" for tree in TREES))
    folders = {tree: PackFolder(target / FILES / tree, store.root, write=write) for tree in TREES}
    new = PackState(table.id, segments, settings=earlier.settings)
    packs = 0
    for tree, folder in folders.items():
        arranged, new.large[tree] = _arranged(tree, folder, earlier, changes, progress)
        new.directories[tree] = leaves.dump(arranged)
        packs += sum(leaf.name != NO_PACK for leaf in arranged)
    files = worker_files.of_release(table, new.directories)
    if write:
        sync_filesystem(target)
        new.settings = worker_files.write(target, files, earlier.settings)
        state.write(target, new)
        sync_filesystem(target)
    return PackTotals(
        release=table.id,
        urls=urls,
        packs=packs,
        large=sum(len(set(new.large[tree].values())) for tree in TREES),
        written=sum(folder.written for folder in folders.values()),
        bytes=sum(folder.bytes for folder in folders.values()),
        removed=sum(folder.remove_unused() for folder in folders.values()),
        too_large=[file for folder in folders.values() for file in folder.too_large],
        left=worker_files.changed_by_others(target, files, new.settings),
    )


def _arranged(
    tree: str, folder: PackFolder, earlier: PackState, changes: Changes, progress: Progress
) -> tuple[list[Leaf], dict[bytes, bytes]]:
    """The leaves of a tree, all written, and its large bodies."""
    large = dict(earlier.large.get(tree, {}))
    directory = earlier.directories.get(tree)
    present = leaves.load(directory, folder.size) if directory else [leaves.of_items(())]
    narrow: list[Leaf] = []
    for part, old in enumerate(leaves.parts(present, folder.load)):
        items: dict[bytes, PackItem | None] = {}
        for key, description in changes.of_part(tree, part):
            large.pop(key, None)
            item = folder.item(key, description) if description else None
            items[key] = item
            if item and item.is_alone:
                large[key] = item.data
        arranged = _of_part(part, old, items, folder)
        # Leaves that cannot be joined with those of other parts are written now, so that memory does not have them all.
        if len(arranged) > 1:
            for leaf in arranged:
                folder.save(leaf)
        narrow += arranged
        progress(1)
    result = list(leaves.arranged(narrow, folder.load))
    for leaf in result:
        folder.save(leaf)
    for name in large.values():
        folder.keep(name)
    return result, large


def _of_part(part: int, old: list[Leaf], items: dict[bytes, PackItem | None], folder: PackFolder) -> list[Leaf]:
    changed = leaves.changed(old, items, folder.load) if items else old
    start = part << leaves.BITS - leaves.PART_BITS
    return list(leaves.arranged(changed, folder.load, start, leaves.PART_BITS))
