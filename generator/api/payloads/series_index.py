"""The index that the njs shim searches to answer filters of the series list."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ... import encoding
from ...catalog.entities import Catalog, Person, SeriesSummary
from ..resources import Body
from . import name_parts, series_sets, v2
from .case_folding import folded_characters
from .last_modified import array
from .series_list import DEFAULT_ORDER, ordered


def index(catalog: Catalog) -> Body:
    """All values that a filter can match, case-folded, and the items as they are sent.

    The index is stored by column, because a filter reads one field of all series. A number in it is the position of
    a series in `items`, which are sorted by title.
    """
    orders = dict(ordered(catalog))
    series = orders[DEFAULT_ORDER]
    filters, texts = _filters(orders), _texts(series)
    return Body(
        {
            "page_size": catalog.site.page_size,
            "free": {
                _key(slug): entry.slug
                for entry in series
                if not entry.licensed and not entry.restricted
                for slug in _slugs(entry)
            },
            "fold": folded_characters([texts, filters["status"], filters["categories"]]),
            "items": [encoding.json(v2.series_item(entry).value).decode() for entry in series],
            "slug": {_key(slug): position for position, entry in enumerate(series) for slug in _slugs(entry)},
            **filters,
            **_names(texts),
        },
        _last_modified(catalog),
    )


def _filters(orders: Mapping[str, Sequence[SeriesSummary]]) -> dict[str, Any]:
    """The sets of series by status and category, in every order."""
    series = orders[DEFAULT_ORDER]
    sets = series_sets.NamedSets(len(series))
    statuses = sets.by_name([[_key(entry.status)] for entry in series])
    categories = sets.by_name([dict.fromkeys(map(_key, _categories(entry))) for entry in series])
    positions = {entry: position for position, entry in enumerate(series)}
    return {
        "words": series_sets.words(len(series)),
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


def _texts(series: Sequence[SeriesSummary]) -> dict[str, list[str]]:
    """The names that a text is compared with, one text per series."""
    return {
        "title": [_text((entry.title, *entry.aliases)) for entry in series],
        "author": [_text(_names_of(entry.authors)) for entry in series],
        "artist": [_text(_names_of(entry.artists)) for entry in series],
    }


def _names(texts: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The names of each field, and the sets of series by part of a name."""
    lists = series_sets.PositionLists(max(map(len, texts.values())))
    fields = {
        field: {
            "names": names,
            "parts": {part: lists.add(places) for part, places in name_parts.positions_by_part(names).items()},
        }
        for field, names in texts.items()
    }
    return {**fields, "lists": lists.texts, "longest_part": name_parts.LONGEST}


def _last_modified(catalog: Catalog) -> int:
    series = catalog.listed_series
    items = array(map(v2.series_item, series), catalog)
    people = (person.modified for entry in series for person in entry.authors + entry.artists)
    genres = (genre.modified for entry in series for genre in entry.categories)
    return max((items.last_modified, *people, *genres))


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


def _categories(series: SeriesSummary) -> Iterator[str]:
    return (name.casefold() for genre in series.categories for name in (genre.id, genre.name))
