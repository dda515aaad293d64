"""The documentation page of the API: unmodified Swagger UI and a page that loads it."""

from functools import lru_cache
from pathlib import Path
from typing import Annotated

from ...catalog.entities import Catalog
from ..payloads.resources import Body

_HERE = Path(__file__).parent


def page(catalog: Catalog) -> Body[Annotated[bytes, str]]:
    return _file("index.html", catalog)


def start(catalog: Catalog) -> Body:
    return _file("start.js", catalog)


def script(catalog: Catalog) -> Body:
    return _file("swagger-ui-bundle.js", catalog)


def style(catalog: Catalog) -> Body:
    return _file("swagger-ui.css", catalog)


def _file(name: str, catalog: Catalog) -> Body[bytes]:
    """A file of the page. It has the date of the site; a new version with other bytes gets a later date."""
    return Body(_read(name), catalog.site_modified)


@lru_cache
def _read(name: str) -> bytes:
    return (_HERE / name).read_bytes()
