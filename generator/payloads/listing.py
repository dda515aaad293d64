"""The list of series: its orders, its pages, and the index from which every other question about it is answered."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from .. import encode
from ..artifact import Shown
from ..catalog import Catalog, Person, Series
from . import v2
from .moments import sequence

ORDERS: dict[str, Callable[[Series], Any]] = {
    "title": lambda one: one.title,
    "latest_upload": lambda one: one.updated,
    "chapter_count": lambda one: len(one.chapters),
    "views": lambda one: one.views,
}
DEFAULT_ORDER = "title"


class Page(NamedTuple):
    """One page of the list in one order."""

    catalog: Catalog
    series: Sequence[Series]
    total: int
    last: bool


def ordered(catalog: Catalog) -> Iterator[tuple[str, list[Series]]]:
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


def first_page(catalog: Catalog) -> Shown:
    order, number, found = next(pages(catalog))
    assert (order, number) == (DEFAULT_ORDER, 1)
    return page(found)


def page(one: Page) -> Shown:
    items = sequence(map(v2.series_item, one.series), one.catalog)
    return Shown({"total": one.total, "last": one.last, "results": items.json}, items.modified)


def index(catalog: Catalog) -> Shown:
    """Everything that a filter may ask of a series, folded as far as it can be, and its item as it is sent."""
    series = catalog.listed_series
    positions = {one: position for position, one in enumerate(series)}
    entries = [entry(one) for one in series]
    items = sequence(map(v2.series_item, series), catalog)
    people = (person.modified for one in series for person in one.authors + one.artists)
    genres = (genre.modified for one in series for genre in one.categories)
    return Shown(
        {
            "page_size": catalog.site.page_size,
            "orders": {name: [positions[one] for one in found] for name, found in ordered(catalog)},
            # A slash begins each name, so that no series is called what every JavaScript object has.
            "free": {f"/{one.slug.lower()}": one.slug for one in series if not one.licensed and not one.restricted},
            "fold": folding(entries),
            "series": entries,
        },
        max((items.modified, *people, *genres)),
    )


def entry(one: Series) -> dict[str, object]:
    names = [word for genre in one.categories for word in (genre.id, genre.name)]
    return {
        "item": encode.json(v2.series_item(one).json).decode(),
        "slug": one.slug.lower(),
        "status": one.status,
        "categories": [name.casefold() for name in names],
        "title": [name.casefold() for name in (one.title, *one.aliases)],
        "author": _names(one.authors),
        "artist": _names(one.artists),
    }


def _names(people: Sequence[Person]) -> list[str]:
    return [name.casefold() for person in people for name in (person.name, *person.aliases)]


def folding(entries: Sequence[dict[str, object]]) -> dict[str, str]:
    """How to fold what a client sends: each character that differs from its folded form and could be looked for.

    The module inside nginx knows less of Unicode than Python does, so it is given the few lines that matter here.
    """
    present = set(encode.json(entries).decode())
    return {
        one: folded
        for one in map(chr, range(0x80, _LAST_CASED + 1))
        if not 0xD800 <= ord(one) <= 0xDFFF and (folded := one.casefold()) != one and present.issuperset(folded)
    }


# No character above this one has another case.
_LAST_CASED = 0x1E921
