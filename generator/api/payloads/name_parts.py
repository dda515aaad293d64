"""Parts of names, so that the njs shim finds the names with a text without reading all of them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import islice, pairwise

# All parts of one or two characters are listed, and longer ones that many texts contain: the shim compares every
# candidate of a text that is not a listed part.
LONGEST = 8
# A part is common if more than one of this many texts contains it.
COMMON = 8

# Thousands of names of a few series have so many common parts that a search is faster without them.
MAX_CANDIDATES = 10_000
# Taking all parts of a text costs as much as looking for this many in it.
_FEW = 40

# The positions that have a text or a part.
_Positions = Mapping[str, Sequence[int]]


def positions_by_part(texts: Sequence[str]) -> dict[str, Sequence[int]]:
    """The listed parts with the positions of the texts that contain them. A text has one name per line."""
    positions: defaultdict[str, list[int]] = defaultdict(list)
    for position, text in enumerate(texts):
        positions[text].append(position)
    parts: dict[str, Sequence[int]] = {**_letters(positions), **(longer := _pairs(positions))}
    while longer := _longer(longer, positions, len(texts) / COMMON):
        parts |= longer
    return dict(sorted(parts.items()))


def _letters(texts: _Positions) -> _Positions:
    letters: defaultdict[str, list[int]] = defaultdict(list)
    for text, positions in texts.items():
        for letter in set(text):
            letters[letter] += positions
    letters.pop("\n", None)
    return letters


def _pairs(texts: _Positions) -> _Positions:
    pairs: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for text, positions in texts.items():
        for pair in set(pairwise(text)):
            pairs[pair] += positions
    return {"".join(pair): positions for pair, positions in pairs.items() if "\n" not in pair}


def _longer(parts: _Positions, texts: _Positions, least: float) -> _Positions:
    """Common parts that are one character longer. Both ends of such a part are common parts, too."""
    common = [part for part, positions in parts.items() if len(positions) > least and len(part) < LONGEST]
    by_begin: defaultdict[str, list[str]] = defaultdict(list)
    for part in common:
        by_begin[part[:-1]].append(part[-1])
    joined = (part + letter for part in common for letter in by_begin[part[1:]])
    candidates = set(islice(joined, MAX_CANDIDATES + 1))
    if not 0 < len(candidates) <= MAX_CANDIDATES:
        return {}
    length = len(next(iter(candidates)))
    longer: defaultdict[str, list[int]] = defaultdict(list)
    for text, positions in texts.items():
        if len(candidates) <= _FEW:
            contained = {part for part in candidates if part in text}
        else:
            contained = candidates.intersection(text[start : start + length] for start in range(len(text)))
        for part in contained:
            longer[part] += positions
    return {part: positions for part, positions in longer.items() if len(positions) > least}
