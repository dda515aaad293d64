"""What a release changes in the packs of an earlier one: segments of the two tables that differ, line by line."""

import struct
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ... import encoding
from ...release.table import Alias, Entry, ReleaseTable
from . import pack_format
from .leaves import PARTS
from .pack_format import DIGEST, Description
from .state import LINE, PRINT, PackState, SegmentLines

# The folders of public files, and of those that only the worker may read.
PUBLIC, PRIVATE = "public", "private"
TREES = (PUBLIC, PRIVATE)
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


def compare(table: ReleaseTable, state: PackState) -> PackComparison:
    """Compare a release with the packs of a folder."""
    segments: dict[str, SegmentLines] = {}
    digests = {slug: encoding.digest(table.segment(slug)) for slug in table.slugs}
    # A URL may move from one segment to another, so all earlier lines are read before the first new one.
    earlier = {
        line[:-PRINT]: line[-PRINT:]
        for slug, segment in state.segments.items()
        if digests.get(slug) != segment.digest
        for line in _lines(segment)
    }
    changes = Changes()
    for slug, digest in digests.items():
        former = state.segments.get(slug)
        if former and former.digest == digest:
            segments[slug] = former
        else:
            segments[slug] = _segment(table, slug, digest, earlier, changes)
    for line in earlier:
        changes.add(TREES[line[0]], line[1:], b"")
    urls = sum(len(segment.public) + len(segment.private) for segment in segments.values()) // LINE
    return PackComparison(segments, changes, urls)


def _lines(segment: SegmentLines) -> Iterator[bytes]:
    """The lines of a segment, each behind the number of its tree."""
    for number, text in enumerate((segment.public, segment.private)):
        for at in range(0, len(text), LINE):
            yield bytes([number]) + text[at : at + LINE]


def _segment(
    table: ReleaseTable, slug: str, digest: str, earlier: dict[bytes, bytes], changes: Changes
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
