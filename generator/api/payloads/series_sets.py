"""Sets of series as the njs shim reads them: texts, since preloaded arrays of numbers take long to read in njs."""

import base64
import struct
from collections.abc import Iterable, Sequence

_MEMBER = ord("1")


def words(total: int) -> int:
    """The number of integers in a set. They have 32 bits, the size of JavaScript's bit operators."""
    return -(-total // 32)


def bits(positions: Iterable[int], total: int) -> str:
    """A set as bits, 32 series in an integer. The union of many sets then reads few integers for each series."""
    members = bytearray(b"0") * total
    for position in positions:
        members[position] = _MEMBER
    number = int(members[::-1] or b"0", 2)
    return base64.b64encode(number.to_bytes(4 * words(total), "little")).decode()


def integers(numbers: Sequence[int]) -> str:
    """Integers of 32 bits, little-endian."""
    return base64.b64encode(struct.pack(f"<{len(numbers)}i", *numbers)).decode()


class PositionLists:
    """Distinct sets, each in the shorter form: its positions or its bits."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._places: dict[tuple[int, ...], int] = {}

    def add(self, positions: Sequence[int]) -> int:
        """The index of the set in `texts`."""
        return self._places.setdefault(tuple(positions), len(self._places))

    @property
    def texts(self) -> list[str]:
        few = words(self._total)
        return [
            integers(sorted(positions)) if len(positions) < few else bits(positions, self._total)
            for positions in self._places
        ]


class NamedSets:
    """Sets of series that have a name, in every order of the list. Equal sets are stored once."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._places: dict[tuple[int, ...], int] = {}
        self.everything = self._add(range(total))

    def _add(self, positions: Iterable[int]) -> int:
        return self._places.setdefault(tuple(positions), len(self._places))

    def by_name(self, names: Sequence[Iterable[str]]) -> dict[str, int]:
        """The number of the set of all series that have a name, by name. Takes the names of each series."""
        positions: dict[str, list[int]] = {}
        for position, own in enumerate(names):
            for name in own:
                positions.setdefault(name, []).append(position)
        return {name: self._add(places) for name, places in positions.items()}

    @property
    def counts(self) -> list[int]:
        return [len(positions) for positions in self._places]

    def in_order(self, order: Sequence[int], *, ranked: bool) -> dict[str, object]:
        """An order of all series, and every set with positions in this order."""
        ranks = [0] * len(order)
        for rank, position in enumerate(order):
            ranks[position] = rank
        sets = [bits([ranks[position] for position in positions], self._total) for positions in self._places]
        return {"sets": sets, **({"series": order, "ranks": integers(ranks)} if ranked else {})}
