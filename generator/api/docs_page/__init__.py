"""The page that shows the API's description: Swagger UI as it was published, and a few lines around it."""

from functools import lru_cache
from pathlib import Path

from ...catalog.entities import Catalog
from ..resources import Body

_HERE = Path(__file__).parent


def page(catalog: Catalog) -> Body:
    return _file("index.html", catalog)


def start(catalog: Catalog) -> Body:
    return _file("start.js", catalog)


def script(catalog: Catalog) -> Body:
    return _file("swagger-ui-bundle.js", catalog)


def style(catalog: Catalog) -> Body:
    return _file("swagger-ui.css", catalog)


def _file(name: str, catalog: Catalog) -> Body:
    """It is as old as the site; when a newer version changes it, its date moves on."""
    return Body(_read(name), catalog.site_modified)


@lru_cache
def _read(name: str) -> bytes:
    return (_HERE / name).read_bytes()
