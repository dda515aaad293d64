"""Reads a packed folder as the worker does, written without the code of the program."""

import base64
import gzip
import hashlib
import json
import re
import struct
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

TREES = ("public", "private")
_TEXT = re.compile(r"ofFolder\((\".*\")\);\n\Z")
_RECORD = struct.Struct(">16s16s6sLBB6s6sL")
_LIST = re.compile(r"(/(?:query/series|library|categories)(?:/[^/]+)?)/[0-9]+")


@dataclass
class Record:
    """What a pack says of a key; `body` is the plain body, and `stored` what the pack or a file has of it."""

    tree: str
    kind: str
    restricted: bool
    etag: str
    modified: int
    max_age: int
    type: str
    gzip: bool
    size: int
    stored: bytes
    alone: bool

    @property
    def body(self) -> bytes:
        return gzip.decompress(self.stored) if self.gzip else self.stored

    @property
    def target(self) -> str:
        return self.stored.decode()


class PackedFolder:
    """A folder that `pack` wrote, as a worker reads it that starts, or one that runs already."""

    def __init__(self, folder: Path, *, running: bool = False) -> None:
        self.folder, self.running = folder, running

    @cached_property
    def _release(self) -> Any:
        match = _TEXT.search((self.folder / "worker/release.js").read_text())
        assert match
        text = (self.folder / "worker/release.json").read_text() if self.running else json.loads(match[1])
        return json.loads(text)

    @property
    def rules(self) -> Any:
        return self._release["rules"]

    @property
    def directories(self) -> Any:
        return self._release["directories"]

    def packs(self, tree: str) -> list[tuple[int, int, str]]:
        """First digest, end and name of each pack; the digests are the first 32 bits, as numbers."""
        text = base64.b64decode(self.directories[tree])
        packs, start = [], 0
        for at in range(0, len(text), 17):
            end = start + (1 << 32 - text[at])
            packs.append((start, end, text[at + 1 : at + 17].hex()))
            start = end
        assert start == 1 << 32
        return packs

    def files(self, tree: str) -> set[str]:
        folder = self.folder / "files" / tree
        return {path.name for path in folder.iterdir()}

    def read(self, tree: str, name: str) -> bytes:
        text = (self.folder / "files" / tree / name).read_bytes()
        assert hashlib.sha256(text).hexdigest()[:32] == name
        return text

    def find(self, key: str) -> Record | None:
        digest = hashlib.sha256(key.encode()).digest()
        match = _LIST.fullmatch(key)
        digest = ((hashlib.sha256(match[1].encode()).digest()[:2] if match else b"") + digest)[:16]
        place = int.from_bytes(digest[:4])
        for tree in TREES:
            (name,) = (name for start, end, name in self.packs(tree) if start <= place < end)
            if name != "0" * 32:
                for record in self.records(tree, name):
                    if record[0] == digest:
                        return record[1]
        return None

    def records(self, tree: str, name: str) -> list[tuple[bytes, Record]]:
        """All records of a pack."""
        pack = self.read(tree, name)
        magic, count = struct.unpack_from(">4sL", pack)
        assert magic == b"FPK1"
        found = [self._record(tree, pack, 8 + 60 * index) for index in range(count)]
        assert [digest for digest, _ in found] == sorted({digest for digest, _ in found})
        return found

    def _record(self, tree: str, pack: bytes, at: int) -> tuple[bytes, Record]:
        digest, etag, *numbers, start = _RECORD.unpack_from(pack, at)
        modified, max_age, flags, type, size, length = (
            int.from_bytes(number) if isinstance(number, bytes) else number for number in numbers
        )
        kind = ("body", "308", "451", "alias", "", "302")[flags & 3 | (flags & 32) >> 3]
        restricted, gzip, alone = (bool(flags & bit) for bit in (4, 8, 16))
        if alone:
            stored = self.read(tree, pack[start : start + 16].hex())
            assert len(stored) == length
        else:
            stored = pack[start : start + length]
        type = self.rules["types"][type]
        date = -1 if modified == (1 << 48) - 1 else modified
        return digest, Record(tree, kind, restricted, etag.hex(), date, max_age, type, gzip, size, stored, alone)

    def used_files(self, tree: str) -> set[str]:
        """All files that the directory and the packs name."""
        names = {name for _, _, name in self.packs(tree)} - {"0" * 32}
        records = [record for name in names for _, record in self.records(tree, name)]
        return names | {hashlib.sha256(record.stored).hexdigest()[:32] for record in records if record.alone}
