"""Unicode case folding for the njs shim, whose JavaScript engine lacks it."""

from collections.abc import Iterator
from functools import cache

from ... import encoding

# No character above this one has another case.
_LAST_CASED = 0x1E921
_BLOCK = 0x80


def folded_characters(columns: object) -> dict[str, str]:
    """The folded form of each character beyond ASCII whose folded form occurs in the columns.

    Other characters can match nothing, so the shim can leave them as they are.
    """
    present = set(encoding.json(columns).decode())
    return {character: folded for character, folded in _all_folded().items() if present.issuperset(folded)}


@cache
def _all_folded() -> dict[str, str]:
    """Every character beyond ASCII that changes when it is folded, with its folded form."""
    return {
        character: folded
        for block in _blocks()
        if block.casefold() != block
        for character in block
        if (folded := character.casefold()) != character
    }


def _blocks() -> Iterator[str]:
    """All characters in blocks. Most blocks do not change as a whole, so their characters need no check."""
    for first in range(0x80, _LAST_CASED + 1, _BLOCK):
        yield "".join(map(chr, range(first, first + _BLOCK)))
