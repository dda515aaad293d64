"""Write the packs of a release into a folder, or those that differ from the packs in it.

Files of packs and of large bodies are named by the digest of their content, and never changed. So no list of URLs is
stored: a second pack makes all packs again, and writes those that the folder does not have.
"""

import os
import re
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ... import encoding
from ...api.payloads.resources import Alias
from ...errors import FlatpanelError
from ...filesystem import delete_file, exclusive, has_content, make_folder, read_regular, replace, sync_filesystem
from ...release import manifest
from ...release.manifest import Published
from ...release.manifest_reader import ManifestReader, file_digest
from ...release.store import Store, is_unused, refuse_links
from ..totals import Counter
from . import pack_format, worker_files
from .pack_format import DIGEST, NO_PACK, Line, LineValues

# The folders of public files, and of those that only the worker may read.
PUBLIC, PRIVATE = "public", "private"
TREES = (PUBLIC, PRIVATE)

# The folder around these two.
FILES = "files"

# The entries of a release


def lines_of(table: ManifestReader, dist: Path) -> Mapping[str, list[Line]]:
    """The lines of all entries of a release, by tree, in the order of their keys."""
    result: dict[str, list[Line]] = {tree: [] for tree in TREES}
    for slug in table.segments:
        entries = table.entries(slug)
        restricted = {entry.url: entry.restricted for entry in entries if not isinstance(entry, Alias)}
        for entry in entries:
            # An alias needs the API key that its target needs, which is in the same segment.
            is_restricted = restricted.get(entry.target, True) if isinstance(entry, Alias) else entry.restricted
            tree = PRIVATE if pack_format.is_private(entry, is_restricted, table.rules.restricted) else PUBLIC
            stored = os.stat(f"{dist}/{manifest.files(entry)[-1]}").st_size if isinstance(entry, Published) else 0
            result[tree].append(pack_format.line(entry, is_restricted, stored))
    return {tree: sorted(lines) for tree, lines in result.items()}


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
        return {name.hex() for name in pack_format.names(b64decode(self.directories[tree]))}

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


class PackFolder:
    """A folder of packs and large bodies, made of the bodies in `dist`. Without `write` it only counts."""

    def __init__(self, folder: Path, dist: Path, *, write: bool) -> None:
        self._folder, self._dist, self._write = folder, dist, write
        # The files in the folder before, and whether each is a regular file.
        self._present = {entry.name: _is_file(entry) for entry in [*os.scandir(folder)]} if folder.is_dir() else {}
        # The length of each file that was written, by name; and bodies that some hosts refuse.
        self.written: dict[str, int] = {}
        self.too_large: list[str] = []
        if write:
            make_folder(folder)

    def write(self, lines: Sequence[Line], progress: Callable[[int], None]) -> tuple[bytes, list[str]]:
        """Write the packs of all entries; returns their directory and the names of the large bodies."""
        directory, large = bytearray(), set[str]()
        for depth, below in pack_format.divided(lines):
            data = [self._data(pack_format.values(line), large) for line in below]
            name = NO_PACK
            if below:
                pack = pack_format.dump(below, data)
                name = pack_format.file_name(pack)
                self._put(name.hex(), len(pack), partial(iter, [pack]))
            directory += bytes([depth]) + name
            progress(len(below))
        return bytes(directory), sorted(large)

    def _data(self, values: LineValues, large: set[str]) -> bytes:
        """A small body as it is stored, the digest that names a large one, or a target. Adds to the `large` names."""
        if not values.is_body:
            return values.text.encode()
        path = self._dist / values.text
        with path.open("rb") as opened:
            length = os.fstat(opened.fileno()).st_size
            start = opened.read(min(length, pack_format.MAX_INLINE))
            opened.seek(max(0, length - 4))
            end = opened.read()
        pack_format.check_length(str(path), values, start, end, length)
        if not values.is_alone:
            return start
        if length > LARGEST_FILE:
            self.too_large.append(values.text)
        name = _name(path)
        self._put(name, length, partial(_blocks, path))
        large.add(name)
        return bytes.fromhex(name)

    def _put(self, name: str, length: int, parts: Callable[[], Iterable[bytes]]) -> None:
        """Write a file, unless the folder has it with this content."""
        path = self._folder / name
        if name not in self.written and not has_content(path, parts()):
            self.written[name] = length
            if self._write:
                replace(path, parts())

    def lacks(self, names: Iterable[str]) -> bool:
        """Whether any of these files is missing or damaged. What is no file is not opened: a pipe would block."""
        return not all(self._present.get(name) and _name(self._folder / name) == name for name in names)

    def remove_others(self, used: Collection[str]) -> int:
        """Remove the other files of this program; returns their number."""
        unused = [name for name in self._present if name not in used and _OWN_NAME.fullmatch(name)]
        if self._write:
            for name in unused:
                delete_file(self._folder / name)
        return len(unused)


def _is_file(entry: os.DirEntry[str]) -> bool:
    """Whether it is a regular file. A folder in its place has files of others: it is neither replaced nor removed."""
    if entry.is_dir(follow_symlinks=False) and _OWN_NAME.fullmatch(entry.name):
        raise FlatpanelError(f"{entry.path}: is a folder in the place of a file; move it to another place")
    return entry.is_file(follow_symlinks=False)


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as opened:
        yield from iter(partial(opened.read, _BLOCK), b"")


def _name(path: Path) -> str:
    """The digest that names a file."""
    return file_digest(path)[: 2 * DIGEST]


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


def pack_release(
    store: Store, target: Path, *, write: bool = True, counter: Counter = lambda count: nullcontext(lambda done: None)
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
        new, settings = mark, mark.settings
        if mark.release != table.id or any(folders[tree].lacks(mark.files(tree)) for tree in TREES):
            new = _packed(table, store.root, folders, counter)
        files = worker_files.of_release(table, new.directories)
        if write:
            sync_filesystem(target)
            settings = worker_files.write(target, files, settings)
            replace(target / MARK, new._replace(settings=settings).dump())
            sync_filesystem(target)
        return PackTotals(
            release=table.id,
            urls=new.urls,
            packs=sum(len(new.packs(tree)) for tree in TREES),
            large=sum(len(new.large[tree]) for tree in TREES),
            written=sum(len(folder.written) for folder in folders.values()),
            bytes=sum(sum(folder.written.values()) for folder in folders.values()),
            removed=sum(folder.remove_others(new.files(tree)) for tree, folder in folders.items()),
            too_large=[file for folder in folders.values() for file in folder.too_large],
            left=worker_files.changed_by_others(target, files, settings),
        )


def _packed(table: ManifestReader, dist: Path, folders: Mapping[str, PackFolder], counter: Counter) -> Mark:
    """Write the packs of a release."""
    lines = lines_of(table, dist)
    urls = sum(map(len, lines.values()))
    with counter(urls) as progress:
        written = {tree: folder.write(lines[tree], progress) for tree, folder in folders.items()}
    return Mark(
        table.id,
        pack_format.SETTINGS,
        urls,
        directories={tree: b64encode(directory).decode() for tree, (directory, _) in written.items()},
        large={tree: names for tree, (_, names) in written.items()},
    )
