"""The index that the njs shim searches to answer filters of the series list.

The JavaScript engine of njs has no case folding, so the index has the folded form of characters. Parts of names find
the names with a text without reading all of them. Sets of series are texts, since preloaded arrays of numbers take
long to read in njs.
"""

import base64
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice, pairwise
from typing import Any

from ... import encoding
from ...catalog.entities import Catalog, Person, SeriesSummary
from . import komga_search, v2
from .resources import Body, array, newest_of
from .series_list import DEFAULT_ORDER, ordered


def index(catalog: Catalog) -> Body:
    """All values that a filter can match, case-folded, and the items as they are sent.

    The index is stored by column, because a filter reads one field of all series. A number in it is the position of
    a series in `items`, which are sorted by title.
    """
    orders = dict(ordered(catalog))
    series = orders[DEFAULT_ORDER]
    filters = _filters(orders)
    lists = PositionLists(len(series))
    # The names that a text is compared with, one text per series.
    texts = {
        "title": [_text((entry.title, *entry.aliases)) for entry in series],
        "author": [_text(_names_of(entry.authors)) for entry in series],
        "artist": [_text(_names_of(entry.artists)) for entry in series],
    }
    names = _names(texts, lists)
    komga = {"komga": _komga(series, filters["categories"], lists)} if "komga" in catalog.site.apps else {}
    return Body(
        {
            "page_size": catalog.site.page_size,
            "free": {
                _key(slug): entry.slug
                for entry in series
                if not entry.licensed and not entry.restricted
                for slug in _slugs(entry)
            },
            "fold": folded_characters([texts, filters["status"], filters["categories"], komga]),
            "items": [encoding.json_text(v2.series_item(entry).value) for entry in series],
            "slug": {_key(slug): position for position, entry in enumerate(series) for slug in _slugs(entry)},
            **filters,
            **names,
            "lists": lists.texts,
            "longest_part": LONGEST_PART,
            **komga,
        },
        _last_modified(catalog),
    )


def _filters(orders: Mapping[str, Sequence[SeriesSummary]]) -> dict[str, Any]:
    """The sets of series by status and category, in every order."""
    series = orders[DEFAULT_ORDER]
    sets = NamedSets(len(series))
    statuses = sets.by_name([[_key(entry.status)] for entry in series])
    categories = sets.by_name(
        [
            dict.fromkeys(_key(name.casefold()) for genre in entry.categories for name in (genre.id, genre.name))
            for entry in series
        ]
    )
    positions = {entry: position for position, entry in enumerate(series)}
    return {
        "words": words(len(series)),
        "status": statuses,
        "categories": categories,
        "longest_category": max(map(len, categories), default=1) - len(_key("")),
        "everything": sets.everything,
        "counts": sets.counts,
        "orders": {
            _key(name): sets.in_order([positions[entry] for entry in order], ranked=name != DEFAULT_ORDER)
            for name, order in orders.items()
        },
    }


def _names(texts: Mapping[str, Sequence[str]], lists: "PositionLists") -> dict[str, Any]:
    """The names of each field, and the sets of series by part of a name."""
    return {
        field: {
            "names": names,
            "parts": {part: lists.add(places) for part, places in positions_by_part(names).items()},
        }
        for field, names in texts.items()
    }


def _komga(series: Sequence[SeriesSummary], categories: Iterable[str], lists: "PositionLists") -> dict[str, Any]:
    """What searches in Komga's API read besides."""
    public, tables = komga_search.sets(series, lists.add)
    names = [*categories, *(name for table in tables.values() for name in table)]
    positions = {entry: position for position, entry in enumerate(series)}
    return {
        "public": public,
        **tables,
        "orders": {
            _key(name): _ranked([positions[entry] for entry in order])
            for name, order in komga_search.orders(series).items()
        },
        # Commas separate names, and a name may contain some.
        "commas": max((name.count(",") for name in names), default=0),
        "longest_name": max(map(len, names), default=1) - len(_key("")),
    }


def _last_modified(catalog: Catalog) -> int:
    series = catalog.listed_series
    items = array(map(v2.series_item, series), catalog)
    return newest_of(items.last_modified, *(entry.authors + entry.artists + entry.categories for entry in series))


def _key(name: str) -> str:
    """The name after a slash, so that it differs from the properties that every JavaScript object has."""
    return f"/{name}"


def _slugs(series: SeriesSummary) -> Iterator[str]:
    """The slugs that find a series: the present one and the old ones."""
    return (slug.lower() for slug in (series.slug, *series.formerly))


def _text(names: Iterable[str]) -> str:
    """The names in one text. A line break separates them, because no name and no filter contains one."""
    return "\n".join(name.casefold() for name in names)


def _names_of(people: Sequence[Person]) -> Iterator[str]:
    return (name for person in people for name in (person.name, *person.aliases))


# Case folding

# No character above this one has another case.
_LAST_CASED = 0x1E921
_BLOCK = 0x80


def folded_characters(columns: object) -> dict[str, str]:
    """The folded form of each character beyond ASCII whose folded form occurs in the columns.

    Other characters can match nothing, so the shim can leave them as they are.
    """
    present = set(encoding.json_text(columns))
    return {character: folded for character, folded in _all_folded().items() if present.issuperset(folded)}


@cache
def _all_folded() -> dict[str, str]:
    """Every character beyond ASCII that changes when it is folded, with its folded form."""
    blocks = ("".join(map(chr, range(first, first + _BLOCK))) for first in range(0x80, _LAST_CASED + 1, _BLOCK))
    return {
        character: folded
        for block in blocks
        # Most blocks do not change as a whole, so their characters need no check.
        if block.casefold() != block
        for character in block
        if (folded := character.casefold()) != character
    }


# Parts of names

# All parts of one or two characters are listed, and longer ones that many texts contain: the shim compares every
# candidate of a text that is not a listed part.
LONGEST_PART = 8
# A part is common if more than one of this many texts contains it.
COMMON_PART = 8

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
    while longer := _longer(longer, positions, len(texts) / COMMON_PART):
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
    common = [part for part, positions in parts.items() if len(positions) > least and len(part) < LONGEST_PART]
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


# Sets of series

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


class Sets:
    """Distinct sets of positions. A set is named by its number."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._places: dict[tuple[int, ...], int] = {}

    def add(self, positions: Iterable[int]) -> int:
        """The number of the set."""
        return self._places.setdefault(tuple(positions), len(self._places))


class PositionLists(Sets):
    """Sets, each in the shorter form: its positions or its bits."""

    @property
    def texts(self) -> list[str]:
        few = words(self._total)
        return [
            integers(sorted(positions)) if len(positions) < few else bits(positions, self._total)
            for positions in self._places
        ]


class NamedSets(Sets):
    """Sets of series that have a name, in every order of the list."""

    def __init__(self, total: int) -> None:
        super().__init__(total)
        self.everything = self.add(range(total))

    def by_name(self, names: Sequence[Iterable[str]]) -> dict[str, int]:
        """The number of the set of all series that have a name, by name. Takes the names of each series."""
        positions: dict[str, list[int]] = {}
        for position, own in enumerate(names):
            for name in own:
                positions.setdefault(name, []).append(position)
        return {name: self.add(places) for name, places in positions.items()}

    @property
    def counts(self) -> list[int]:
        return [len(positions) for positions in self._places]

    def in_order(self, order: Sequence[int], *, ranked: bool) -> dict[str, object]:
        """An order of all series, and every set with positions in this order."""
        ranks = _ranks(order)
        sets = [bits([ranks[position] for position in positions], self._total) for positions in self._places]
        return {"sets": sets, **(_ranked(order) if ranked else {})}


def _ranks(order: Sequence[int]) -> list[int]:
    ranks = [0] * len(order)
    for rank, position in enumerate(order):
        ranks[position] = rank
    return ranks


def _ranked(order: Sequence[int]) -> dict[str, object]:
    """An order of all series, and the place of each in it."""
    return {"series": order, "ranks": integers(_ranks(order))}
