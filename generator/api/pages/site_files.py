"""The files of all pages: style, scripts and icon; and the page of errors. All have the date of the site."""

from functools import lru_cache
from pathlib import Path

from ...catalog.entities import Catalog
from ..payloads.resources import Body
from .context import PageContext, PageHead

_ASSETS = Path(__file__).parent / "assets"


def style(page: PageContext, catalog: Catalog) -> Body:
    """The style sheet, or that of the theme, and what the theme adds to it."""
    text = page.assets.get("style.css", _read("style.css").decode())
    return Body(f"{text}{page.assets.get('extra.css', '')}".encode(), catalog.site_modified)


def reader(page: PageContext, catalog: Catalog) -> Body:
    return _file("reader.js", catalog)


def search(page: PageContext, catalog: Catalog) -> Body:
    return _file("search.js", catalog)


def icon(page: PageContext, catalog: Catalog) -> Body:
    return Body(page.assets.get("icon.svg", _read("icon.svg").decode()).encode(), catalog.site_modified)


def own_page(page: PageContext, item: tuple[str, Catalog]) -> Body:
    """A text of the owner."""
    name, catalog = item
    own = page.own_pages[name]
    description = page.fill(page.text.about_list, name=own.title)
    return Body(page.html("own.html", PageHead(own.title, own.path, description), own=own), catalog.site_modified)


def error(page: PageContext, catalog: Catalog) -> Body:
    """The body of 404 responses outside of /api."""
    return Body(page.html("error.html", PageHead(page.text.not_found, "")), catalog.site_modified)


def _file(name: str, catalog: Catalog) -> Body:
    return Body(_read(name), catalog.site_modified)


@lru_cache
def _read(name: str) -> bytes:
    return (_ASSETS / name).read_bytes()
