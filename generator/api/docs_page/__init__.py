"""The documentation page of the API: unmodified Swagger UI and a page that loads it."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from ...catalog.entities import Catalog
from ..payloads.resources import CSS, JS, Body

_HERE = Path(__file__).parent
# The files that the page loads, with their types.
FILES = {"start.js": JS, "swagger-ui-bundle.js": JS, "swagger-ui.css": CSS}


def page(catalog: Catalog) -> Body[Annotated[bytes, str]]:
    return Body(_read("index.html"), catalog.site_modified)


def file(name: str) -> Callable[[Catalog], Body]:
    """The payload of such a file. It has the date of the site; a new version with other bytes a later date."""
    return lambda catalog: Body(_read(name), catalog.site_modified)


@lru_cache
def _read(name: str) -> bytes:
    return (_HERE / name).read_bytes()
