"""The list of series in every sort order, divided into pages."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ...catalog.entities import Catalog, SeriesSummary
from . import v2
from .resources import Body, array

ORDERS: dict[str, Callable[[SeriesSummary], Any]] = {
    "title": lambda series: series.title,
    "latest_upload": lambda series: series.updated,
    "chapter_count": lambda series: series.identified,
    "views": lambda series: series.views,
}
DEFAULT_ORDER = "title"


class Page(NamedTuple):
    """One page of the list in one order."""

    catalog: Catalog
    series: Sequence[SeriesSummary]
    total: int
    last: bool


def ordered(catalog: Catalog) -> Iterator[tuple[str, list[SeriesSummary]]]:
    """The list in every order, ascending and descending. Equal series are sorted by slug, ascending in both."""
    by_slug = sorted(catalog.listed_series, key=lambda series: series.slug)
    for name, order in ORDERS.items():
        yield name, sorted(by_slug, key=order)
        yield f"-{name}", sorted(by_slug, key=order, reverse=True)


def pages(catalog: Catalog) -> Iterator[tuple[str, int, Page]]:
    """Order, number and content of every page. An empty list has one page."""
    size = catalog.site.page_size
    for order, series in ordered(catalog):
        for number, start in enumerate(range(0, max(len(series), 1), size), 1):
            last = start + size >= len(series)
            yield order, number, Page(catalog, series[start : start + size], len(series), last)


def first_page(catalog: Catalog) -> Body[v2.V2SeriesPage]:
    order, number, first = next(pages(catalog))
    assert (order, number) == (DEFAULT_ORDER, 1)
    return page(first)


def page(page: Page) -> Body[v2.V2SeriesPage]:
    items = array(map(v2.series_item, page.series), page.catalog)
    return Body({"total": page.total, "last": page.last, "results": items.value}, items.last_modified)
