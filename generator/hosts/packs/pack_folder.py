"""The files of packs and of large bodies, each named by the digest of its content and never changed."""

import hashlib
import os
import re
from pathlib import Path

from ...filesystem import PartialFile, delete_file, has_content, make_folder, replace
from . import pack_format
from .leaves import Leaf
from .pack_format import DIGEST, NO_PACK, Description, PackItem

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
