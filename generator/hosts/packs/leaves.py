"""How the entries of a release are divided into packs.

Packs are the leaves of a binary tree over the digests of keys. A leaf whose entries are longer than MAX_PACK is
halved. So the division follows from the entries alone and not from earlier packs, and a growing catalog halves one
leaf after the other.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from . import pack_format
from .pack_format import DIGEST, NO_PACK, PackItem

# The first bits of a digest that may choose a leaf.
BITS = 32
# Entries are divided in parts of this many bits, so that memory never has all of them.
PART_BITS = 8
PARTS = 1 << PART_BITS
# An entry of the directory: the depth of a leaf, and the digest that names its file.
_LINE = 1 + DIGEST


@dataclass(slots=True)
class Leaf:
    """A leaf: its first digest as a number, its depth, the size of its entries, and its file."""

    start: int
    depth: int
    size: int
    # In the order of their keys; none after the pack is written.
    items: Sequence[PackItem]
    # The digest that names the file.
    name: bytes = NO_PACK


def divided(items: Sequence[PackItem], start: int = 0, depth: int = 0) -> Iterator[Leaf]:
    """The leaves of all entries below the node of the tree that begins at `start`."""
    size = pack_format.RECORD * len(items) + sum(len(item.data) for item in items)
    if depth == BITS or size <= pack_format.MAX_PACK:
        yield Leaf(start, depth, size, items)
        return
    middle = start | 1 << BITS - 1 - depth
    at = bisect_left(items, middle, key=lambda item: position(item.key))
    yield from divided(items[:at], start, depth + 1)
    yield from divided(items[at:], middle, depth + 1)


def position(key: bytes) -> int:
    """The place of a digest among the starts of leaves."""
    return int.from_bytes(key[: BITS // 8])


def joined(leaves: Iterable[Leaf]) -> list[Leaf]:
    """The leaves of the whole tree, from those of its parts: two halves that fit into one pack are one leaf."""
    result: list[Leaf] = []
    for leaf in leaves:
        result.append(leaf)
        while len(result) > 1 and (both := _joined(*result[-2:])):
            result[-2:] = [both]
    return result


def _joined(left: Leaf, right: Leaf) -> Leaf | None:
    size, half = left.size + right.size, 1 << BITS - left.depth
    are_halves = left.depth == right.depth and not left.start & half
    if not are_halves or size > pack_format.MAX_PACK:
        return None
    return Leaf(left.start, left.depth - 1, size, [*left.items, *right.items])


def dump(leaves: Iterable[Leaf]) -> bytes:
    """The directory: depth and name of each leaf, in the order of their starts, which follow from the depths."""
    return b"".join(bytes([leaf.depth]) + leaf.name for leaf in leaves)


def names(directory: bytes) -> Iterator[bytes]:
    """The names in a directory, without those of leaves without entries."""
    for at in range(1, len(directory), _LINE):
        if (name := directory[at : at + DIGEST]) != NO_PACK:
            yield name
