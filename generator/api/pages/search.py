"""The search page, and the index of titles that it uses where a host has no filters."""

from ...catalog.entities import Catalog
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
        categories=catalog.categories if page.visible.details and page.visible.categories else (),
        statuses=[(status, getattr(text, status)) for status in STATUSES] if page.visible.details else (),
    )
    return Body(body, max((catalog.site_modified, *(category.modified for category in catalog.categories))))


def titles(page: PageContext, catalog: Catalog) -> Body:
    """Path, titles and cover of every series, by title."""
    shown = [series for series in catalog.series if series.has_page]
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
