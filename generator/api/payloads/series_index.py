"""The index that the njs shim searches to answer filters of the series list."""

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence

from ... import encoding
from ...catalog.entities import Catalog, Person, SeriesSummary
from ..resources import Body
from . import v2
from .case_folding import folded_characters
from .last_modified import array
from .series_list import ordered


def index(catalog: Catalog) -> Body:
    """All values that a filter can match, case-folded, and the items as they are sent.

    The index is stored by column, because a filter reads one field of all series. A number in it is the position of
    a series in `items`.
    """
    series = catalog.listed_series
    texts = {
        "title": [_text((entry.title, *entry.aliases)) for entry in series],
        "author": [_text(_names(entry.authors)) for entry in series],
        "artist": [_text(_names(entry.artists)) for entry in series],
    }
    sets = _Sets(series)
    filters = {"status": sets.by_name(lambda entry: [entry.status]), "categories": sets.by_name(_categories)}
    positions = {entry: position for position, entry in enumerate(series)}
    return Body(
        {
            "page_size": catalog.site.page_size,
            "orders": {name: [positions[entry] for entry in order] for name, order in ordered(catalog)},
            "free": {
                _key(entry.slug.lower()): entry.slug for entry in series if not entry.licensed and not entry.restricted
            },
            "fold": folded_characters([texts, filters]),
            "items": [encoding.json(v2.series_item(entry).value).decode() for entry in series],
            "slug": {_key(entry.slug.lower()): position for entry, position in positions.items()},
            "words": sets.words,
            **filters,
            "sets": sets.numbers,
            **texts,
        },
        _last_modified(catalog),
    )


def _last_modified(catalog: Catalog) -> int:
    series = catalog.listed_series
    items = array(map(v2.series_item, series), catalog)
    people = (person.modified for entry in series for person in entry.authors + entry.artists)
    genres = (genre.modified for entry in series for genre in entry.categories)
    return max((items.last_modified, *people, *genres))


class _Sets:
    """Sets of series as bits, 32 series in an integer, which is the size of JavaScript's bit operators.

    Equal sets are stored once. The union of 64 sets then reads two integers for each series; the union of 64 lists of
    positions would read all of their entries.
    """

    def __init__(self, series: Sequence[SeriesSummary]) -> None:
        self._series = series
        # The number of integers in a set.
        self.words = -(-len(series) // 32)
        self._places: dict[int, int] = {}

    def by_name(self, names: Callable[[SeriesSummary], Iterable[str]]) -> dict[str, int]:
        """The index in `numbers` of the set of all series that have a name, by name."""
        sets: dict[str, int] = {}
        for position, series in enumerate(self._series):
            for name in map(_key, names(series)):
                sets[name] = sets.get(name, 0) | 1 << position
        return {name: self._places.setdefault(bits, len(self._places)) for name, bits in sets.items()}

    @property
    def numbers(self) -> list[tuple[int, ...]]:
        form = f"<{self.words}i"
        return [struct.unpack(form, bits.to_bytes(4 * self.words, "little")) for bits in self._places]


def _key(name: str) -> str:
    """The name after a slash, so that it differs from the properties that every JavaScript object has."""
    return f"/{name}"


def _text(names: Iterable[str]) -> str:
    """The names in one text. A line break separates them, because no name and no filter contains one."""
    return "\n".join(name.casefold() for name in names)


def _names(people: Sequence[Person]) -> Iterator[str]:
    return (name for person in people for name in (person.name, *person.aliases))


def _categories(series: SeriesSummary) -> Iterator[str]:
    return (name.casefold() for genre in series.categories for name in (genre.id, genre.name))
