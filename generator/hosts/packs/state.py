"""What a folder of packs keeps for the next pack into it: which entries its packs hold."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ... import encoding
from ...filesystem import replace
from . import pack_format
from .pack_format import DIGEST

FILE = ".flatpanel-packs"
_MAGIC = b"Packs of a release, written by Flatpanel. Only this program changes the files here.\n"
# The digest of a description.
PRINT = 8
LINE = DIGEST + PRINT


class SegmentLines(NamedTuple):
    """A segment of the table: the digest of its lines, and a line for each public and each private entry.

    A line is the digest of a key and that of a description.
    """

    digest: str
    public: bytes
    private: bytes


@dataclass(slots=True)
class PackState:
    """The packs of a release. An empty state is that of a folder in which no pack has been completed."""

    release: str = ""
    segments: dict[str, SegmentLines] = field(default_factory=dict)
    # The directories, and the large bodies: the digest of the file by that of the key.
    directories: dict[str, bytes] = field(default_factory=dict)
    large: dict[str, dict[bytes, bytes]] = field(default_factory=dict)
    # The digests of the settings that this program has written.
    settings: Mapping[str, str] = field(default_factory=dict)

    def dump(self) -> bytes:
        blocks: list[bytes] = []

        def block(text: bytes) -> int:
            blocks.append(text)
            return len(text)

        head = {
            "format": pack_format.SETTINGS,
            "release": self.release,
            "settings": self.settings,
            "directories": {tree: block(text) for tree, text in self.directories.items()},
            "large": {
                tree: block(b"".join(key + file for key, file in sorted(files.items())))
                for tree, files in self.large.items()
            },
            "segments": [
                [slug, segment.digest, block(segment.public), block(segment.private)]
                for slug, segment in self.segments.items()
            ],
        }
        content = b"".join((encoding.json(head), b"\n", *blocks))
        return b"%b%08x\n%b" % (_MAGIC, zlib.crc32(content), content)


def write(folder: Path, state: PackState) -> None:
    replace(folder / FILE, state.dump())


def is_packed(folder: Path) -> bool:
    """Whether this program has packed into the folder, or begun to."""
    return (folder / FILE).is_file()


def read(folder: Path) -> PackState:
    """The state of a folder; an empty one if another version has written it, or if it is damaged."""
    text = (folder / FILE).read_bytes().removeprefix(_MAGIC)
    checksum, _, content = text.partition(b"\n")
    if checksum != b"%08x" % zlib.crc32(content):
        return PackState()
    head, _, blocks = content.partition(b"\n")
    return _parsed(encoding.parse(head), memoryview(blocks))


def _parsed(head: Mapping[str, Any], blocks: memoryview) -> PackState:
    at = 0

    def block(length: int) -> bytes:
        nonlocal at
        at += length
        return bytes(blocks[at - length : at])

    if head["format"] != pack_format.SETTINGS:
        return PackState(settings=head["settings"])
    directories = {tree: block(length) for tree, length in head["directories"].items()}
    large = {tree: _pairs(block(length)) for tree, length in head["large"].items()}
    segments = {
        slug: SegmentLines(digest, block(public), block(private)) for slug, digest, public, private in head["segments"]
    }
    return PackState(head["release"], segments, directories, large, head["settings"])


def _pairs(text: bytes) -> dict[bytes, bytes]:
    return {text[at : at + DIGEST]: text[at + DIGEST : at + 2 * DIGEST] for at in range(0, len(text), 2 * DIGEST)}
