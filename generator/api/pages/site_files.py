"""The files of all pages: style, scripts and icon; and the page of errors. All have the date of the site."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from ... import encoding
from ...catalog.entities import Catalog
from ...catalog.linking import offers_archives
from ...catalog.theme_files import ICONS
from ..payloads.resources import PNG, SVG, Body
from .context import PageContext, PageHead
from .texts import SCRIPT_TEXTS

# Texts of pages that scripts need, too.
SHARED_TEXTS = ("lang", "page_name", "series_one", "series_many", "continue_reading")
_ASSETS = Path(__file__).parent / "assets"
# The listener of sw.js gets no request for an archive, and so keeps none: they are large.
_ARCHIVES_ARE_NOT_KEPT = b"""addEventListener("fetch", (event) => {
  if (new URL(event.request.url).pathname.endsWith(".cbz")) event.stopImmediatePropagation();
});
"""
# Each has one subject. Pages name those of chapters, series and searches, which import the others.
SCRIPTS = (
    *("bar", "cards", "chapter", "dom", "former", "home", "images", "layout", "missing", "notice", "progress"),
    *("reader", "search", "series", "shelf", "offline", "store", "theme", "turning"),
)
# Those of pages of chapters, and of pages of explicit series.
STYLES = ("reader.css", "notice.css")


def style(page: PageContext, catalog: Catalog) -> Body:
    """The style sheet, or that of the theme, and what the theme adds to it."""
    text = page.assets.get("style.css", _read("style.css").decode())
    return Body(f"{text}{page.assets.get('extra.css', '')}".encode(), catalog.site_modified)


def asset(name: str) -> Callable[[PageContext, Catalog], Body]:
    """The payload of a file that each site has as it is, beside the style sheet of a theme, too."""
    return lambda page, catalog: Body(_read(name), catalog.site_modified)


def site_script(page: PageContext, catalog: Catalog) -> Body:
    """The texts of the scripts: no page has to contain them."""
    texts = {name: getattr(page.text, name) for name in (*SHARED_TEXTS, *SCRIPT_TEXTS)}
    lines = (
        b"// The texts of this site, and whether devices may remember something.\n",
        b"export const shelf = " + (b"true" if page.site.shelf else b"false") + b";\n",
        b"export const texts = ",
        encoding.json(texts),
        b";\n",
    )
    return Body(b"".join(lines), catalog.site_modified)


def icon(page: PageContext, catalog: Catalog) -> Body:
    return Body(page.assets.get("icon.svg", _read("icon.svg").decode()).encode(), catalog.site_modified)


def png_icon(page: PageContext, item: tuple[str, Catalog]) -> Body:
    """An icon of the theme for devices that show no SVG."""
    name, catalog = item
    return Body(page.icons[name], catalog.site_modified)


def own_page(page: PageContext, item: tuple[str, Catalog]) -> Body:
    """A text of the owner."""
    name, catalog = item
    own = page.own_pages[name]
    description = page.fill(page.text.about_list, name=own.title)
    return Body(page.html("own.html", PageHead(own.title, own.path, description), own=own), catalog.site_modified)


def apps(page: PageContext, catalog: Catalog) -> Body:
    """The addresses that readers copy into apps."""
    text, base_url = page.text, page.site.base_url
    choices = (
        ("komga", text.apps_komga, "/komga"),
        ("opds", text.apps_opds_1, "/opds/v1.2/catalog"),
        ("opds", text.apps_opds_2, "/opds/v2/catalog"),
    )
    addresses = [(use, f"{base_url}{path}") for app, use, path in choices if app in page.site.apps]
    head = PageHead(text.apps, page.paths.apps, page.fill(text.apps_intro))
    return Body(page.html("apps.html", head, addresses=addresses), catalog.site_modified)


def worker(page: PageContext, catalog: Catalog) -> Body:
    """The service worker. On a site without shelf, and in a preview, it deletes what an earlier one kept."""
    if page.preview or not page.site.shelf:
        return Body(_read("no-sw.js"), catalog.site_modified)
    assets = ("style.css", *STYLES, "site.js", "icon.svg", *(f"{name}.js" for name in SCRIPTS))
    files = ["/", "/shelf/", "/manifest.webmanifest", *(f"/assets/{name}" for name in assets)]
    lines = b"const FILES = " + encoding.json(files) + b";\n"
    if offers_archives(page.site):
        lines += _ARCHIVES_ARE_NOT_KEPT
    # One script: not every browser runs a worker that imports modules.
    return Body(lines + _read("sw.js") + _read("kept.js"), catalog.site_modified)


def manifest(page: PageContext, catalog: Catalog) -> Body:
    """With it, a browser can install the site as an app."""
    sizes = {name: f"{size}x{size}" for name, size in ICONS.items() if name in page.icons}
    icons = [{"src": f"/assets/{name}", "sizes": size, "type": PNG} for name, size in sizes.items()]
    value = {
        "name": page.title,
        "short_name": page.title,
        "lang": page.text.lang,
        "dir": page.text.dir,
        "id": "/",
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "background_color": "#faf8f5",
        "theme_color": "#faf8f5",
        "icons": [{"src": "/assets/icon.svg", "sizes": "any", "type": SVG}, *icons],
    }
    return Body(value, catalog.site_modified)


def shelf(page: PageContext, catalog: Catalog) -> Body:
    """What a device remembers; scripts write it."""
    return Body(page.html("shelf.html", PageHead(page.text.shelf, "")), catalog.site_modified)


def error(page: PageContext, catalog: Catalog) -> Body:
    """The body of 404 responses outside of /api."""
    return Body(page.html("error.html", PageHead(page.text.not_found, "")), catalog.site_modified)


@lru_cache
def _read(name: str) -> bytes:
    return (_ASSETS / name).read_bytes()
