"""The search page, and the index of titles that it uses where a host has no filters."""

from ...catalog.entities import Catalog, Category
from ..resources import Body
from .context import PageContext
from .head import PageHead
from .lists import STATUSES


def search(page: PageContext, catalog: Catalog) -> Body:
    text = page.text
    head = PageHead(text.search, page.paths.search, page.fill(text.about_list, name=text.search))
    body = page.html(
        "search.html",
        head,
        categories=_categories(catalog) if page.visible.details and page.visible.categories else (),
        statuses=[(status, getattr(text, status)) for status in STATUSES] if page.visible.details else (),
    )
    return Body(body, max((catalog.site_modified, *(category.modified for category in catalog.categories))))


def _categories(catalog: Catalog) -> list[tuple[str, str]]:
    """The categories that the filter of the API can select, each as its value there and its name."""
    values = ((_value(category), category.name) for category in catalog.categories)
    return [(value, name) for value, name in values if value]


def _value(category: Category) -> str:
    """The id or the name. In the filter, a comma separates values."""
    return next((text for text in (category.id, category.name) if "," not in text), "")


def titles(page: PageContext, catalog: Catalog) -> Body:
    """Path, titles and cover of every series, by title."""
    shown = [series for series in catalog.series if series.is_in_lists]
    value = [
        {
            "url": series.path,
            "title": series.title,
            "aliases": series.aliases if page.visible.details else (),
            "cover": page.image(series.cover),
        }
        for series in shown
    ]
    return Body({"results": value}, max((catalog.site_modified, *(series.modified for series in shown))))
