"""How the entries of a release are divided into packs.

Packs are the leaves of a binary tree over the digests of keys. A leaf whose entries are longer than MAX_PACK is
halved. So the division follows from the entries alone and not from earlier packs, and a growing catalog halves one
leaf after the other.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from . import pack_format
from .pack_format import DIGEST, NO_PACK, PackItem

# The first bits of a digest that may choose a leaf.
BITS = 32
# Entries are read in parts of this many bits, so that memory never has all of them.
PART_BITS = 8
PARTS = 1 << PART_BITS
# An entry of the directory: the depth of a leaf, and the digest that names its file.
_LINE = 1 + DIGEST


@dataclass(slots=True)
class Leaf:
    """A leaf: its first digest as a number, its depth, the size of its entries, and what is known of its file."""

    start: int
    depth: int
    size: int
    # The digest that names the file; None if it is not written yet.
    name: bytes | None = None
    # The entries; None if they are in the file only.
    items: list[PackItem] | None = None


Load = Callable[[Leaf], list[PackItem]]


def of_items(items: Iterable[PackItem], start: int = 0, depth: int = 0) -> Leaf:
    """One leaf of all entries."""
    loaded = list(items)
    return Leaf(start, depth, sum(item.size for item in loaded), items=loaded)


def position(key: bytes) -> int:
    """The place of a digest among the starts of leaves."""
    return int.from_bytes(key[: BITS // 8])


def arranged(leaves: Sequence[Leaf], load: Load, start: int = 0, depth: int = 0) -> Iterator[Leaf]:
    """The leaves as they should be: too large ones are halved, and too small ones joined.

    They are those below one node of the tree, which begins at `start`. Leaves that stay are not loaded.
    """
    is_one = len(leaves) == 1 and leaves[0].depth == depth
    if depth == BITS or sum(leaf.size for leaf in leaves) <= pack_format.MAX_PACK:
        yield leaves[0] if is_one else of_items((item for leaf in leaves for item in load(leaf)), start, depth)
        return
    if is_one:
        leaves = sliced(leaves[0], load, depth + 1)
    middle = start | 1 << BITS - 1 - depth
    yield from arranged([leaf for leaf in leaves if leaf.start < middle], load, start, depth + 1)
    yield from arranged([leaf for leaf in leaves if leaf.start >= middle], load, middle, depth + 1)


def sliced(leaf: Leaf, load: Load, depth: int) -> list[Leaf]:
    """A leaf as leaves of a greater depth."""
    by_start: dict[int, list[PackItem]] = {
        leaf.start + (index << BITS - depth): [] for index in range(1 << depth - leaf.depth)
    }
    for item in load(leaf):
        by_start[position(item.key) >> BITS - depth << BITS - depth].append(item)
    return [of_items(items, start, depth) for start, items in by_start.items()]


def parts(leaves: Iterable[Leaf], load: Load) -> list[list[Leaf]]:
    """The leaves of each part; leaves that are wider than a part are sliced."""
    by_part: list[list[Leaf]] = [[] for _ in range(PARTS)]
    for leaf in leaves:
        narrow = [leaf] if leaf.depth >= PART_BITS else sliced(leaf, load, PART_BITS)
        for each in narrow:
            by_part[each.start >> BITS - PART_BITS].append(each)
    return by_part


def changed(leaves: Sequence[Leaf], changes: Mapping[bytes, PackItem | None], load: Load) -> list[Leaf]:
    """The leaves of a part with new and changed entries, and without those whose value is None."""
    starts = [leaf.start for leaf in leaves]
    by_leaf: dict[int, dict[bytes, PackItem | None]] = {}
    for key, item in changes.items():
        by_leaf.setdefault(bisect_right(starts, position(key)) - 1, {})[key] = item
    result = list(leaves)
    for index, items in by_leaf.items():
        leaf = leaves[index]
        present: dict[bytes, PackItem | None] = {item.key: item for item in load(leaf)}
        kept = (item for item in (present | items).values() if item)
        result[index] = of_items(kept, leaf.start, leaf.depth)
    return result


def dump(leaves: Iterable[Leaf]) -> bytes:
    """The directory: depth and name of each leaf, in the order of their starts, which follow from the depths."""
    return b"".join(bytes([leaf.depth]) + (leaf.name or NO_PACK) for leaf in leaves)


def load(directory: bytes, sizes: Callable[[bytes], int]) -> list[Leaf]:
    """The leaves of a directory, not loaded. `sizes` gives the length of a file by its digest."""
    leaves: list[Leaf] = []
    start = 0
    for at in range(0, len(directory), _LINE):
        depth, name = directory[at], directory[at + 1 : at + _LINE]
        size = 0 if name == NO_PACK else pack_format.pack_size(sizes(name))
        leaves.append(Leaf(start, depth, size, name))
        start += 1 << BITS - depth
    return leaves
