"""The list of series: its orders, its pages, and the index from which every other question about it is answered."""

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from ... import encoding
from ...catalog.entities import Catalog, Person, SeriesSummary
from ..resources import Body
from . import v2
from .last_modified import array

ORDERS: dict[str, Callable[[SeriesSummary], Any]] = {
    "title": lambda one: one.title,
    "latest_upload": lambda one: one.updated,
    "chapter_count": lambda one: one.known,
    "views": lambda one: one.views,
}
DEFAULT_ORDER = "title"


class Page(NamedTuple):
    """One page of the list in one order."""

    catalog: Catalog
    series: Sequence[SeriesSummary]
    total: int
    last: bool


def ordered(catalog: Catalog) -> Iterator[tuple[str, list[SeriesSummary]]]:
    """The list in every order; whatever is equal stands by slug, ascending in both directions."""
    by_slug = sorted(catalog.listed_series, key=lambda one: one.slug)
    for name, order in ORDERS.items():
        yield name, sorted(by_slug, key=order)
        yield f"-{name}", sorted(by_slug, key=order, reverse=True)


def pages(catalog: Catalog) -> Iterator[tuple[str, int, Page]]:
    """Order, number and content of every page; the first exists even if nothing does."""
    size = catalog.site.page_size
    for order, series in ordered(catalog):
        for number, start in enumerate(range(0, max(len(series), 1), size), 1):
            last = start + size >= len(series)
            yield order, number, Page(catalog, series[start : start + size], len(series), last)


def first_page(catalog: Catalog) -> Body:
    order, number, found = next(pages(catalog))
    assert (order, number) == (DEFAULT_ORDER, 1)
    return page(found)


def page(one: Page) -> Body:
    items = array(map(v2.series_item, one.series), one.catalog)
    return Body({"total": one.total, "last": one.last, "results": items.value}, items.last_modified)


def index(catalog: Catalog) -> Body:
    """Everything that a filter may ask, folded as far as it can be, and the items as they are sent.

    By columns and not by series, since a filter looks at one thing of all of them; positions stand for series.
    """
    series = catalog.listed_series
    columns = {
        "title": [_text((one.title, *one.aliases)) for one in series],
        "author": [_text(_names(one.authors)) for one in series],
        "artist": [_text(_names(one.artists)) for one in series],
    }
    sets = _Sets(series)
    filters = {"status": sets.of(lambda one: [one.status]), "categories": sets.of(_categories)}
    items = array(map(v2.series_item, series), catalog)
    people = (person.modified for one in series for person in one.authors + one.artists)
    genres = (genre.modified for one in series for genre in one.categories)
    positions = {one: position for position, one in enumerate(series)}
    return Body(
        {
            "page_size": catalog.site.page_size,
            "orders": {name: [positions[one] for one in found] for name, found in ordered(catalog)},
            "free": {_key(one.slug.lower()): one.slug for one in series if not one.licensed and not one.restricted},
            "fold": folding([columns, filters]),
            "items": [encoding.json(v2.series_item(one).value).decode() for one in series],
            "slug": {_key(one.slug.lower()): position for one, position in positions.items()},
            "words": sets.words,
            **filters,
            "sets": sets.numbers,
            **columns,
        },
        max((items.last_modified, *people, *genres)),
    )


class _Sets:
    """Sets of series, each once: a bit a series, 32 of them a number, as the operators of JavaScript have it.

    Joining 64 sets reads two numbers a series, where 64 lists of positions would be as long as all of them together.
    """

    def __init__(self, series: Sequence[SeriesSummary]) -> None:
        self._series = series
        self.words = -(-len(series) // 32)
        self._places: dict[int, int] = {}

    def of(self, names: Callable[[SeriesSummary], Iterable[str]]) -> dict[str, int]:
        """The place of each name's set among all sets."""
        found: dict[str, int] = {}
        for position, one in enumerate(self._series):
            for name in map(_key, names(one)):
                found[name] = found.get(name, 0) | 1 << position
        return {name: self._places.setdefault(bits, len(self._places)) for name, bits in found.items()}

    @property
    def numbers(self) -> list[tuple[int, ...]]:
        """All sets, in the order of their places."""
        form = f"<{self.words}i"
        return [struct.unpack(form, bits.to_bytes(4 * self.words, "little")) for bits in self._places]


def _key(name: str) -> str:
    """A slash begins each name, so that none is called what every JavaScript object has."""
    return f"/{name}"


def _text(names: Iterable[str]) -> str:
    """Names in which one text is looked for; no name and no text holds a line break."""
    return "\n".join(name.casefold() for name in names)


def _names(people: Sequence[Person]) -> Iterator[str]:
    return (name for person in people for name in (person.name, *person.aliases))


def _categories(one: SeriesSummary) -> Iterator[str]:
    return (name.casefold() for genre in one.categories for name in (genre.id, genre.name))


def folding(columns: object) -> dict[str, str]:
    """How to fold what a client sends: each character that differs from its folded form and could be looked for.

    The module inside nginx knows less of Unicode than Python does, so it is given the few lines that matter here.
    """
    present = set(encoding.json(columns).decode())
    return {one: folded for one, folded in _folded().items() if present.issuperset(folded)}


@cache
def _folded() -> dict[str, str]:
    """Every character that has another form when it is folded, and that form."""
    return {one: folded for row in _rows() if row.casefold() != row for one in row if (folded := one.casefold()) != one}


def _rows() -> Iterator[str]:
    """All characters that may have another case; most rows have none of them, which is seen at once."""
    for first in range(0x80, _LAST_CASED + 1, _ROW):
        yield "".join(map(chr, range(first, first + _ROW)))


# No character above this one has another case.
_LAST_CASED = 0x1E921
_ROW = 0x80
