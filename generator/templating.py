"""Templates -> text: the configuration of nginx, and a page for people. The only importer of jinja2.

Nothing is left out silently: a value that a template wants and nobody gave is an error. In a page, every value is
escaped; in a configuration, a template says which form a value takes.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from .words import ngx, place

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).parent / "templates"


@cache
def _environment() -> "Environment":
    # Most builds have no template to fill, and the library takes its time to load.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        undefined=StrictUndefined,
        autoescape=lambda name: str(name).endswith(".html"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(ngx=ngx, place=place)
    return environment


def filled(name: str, values: Mapping[str, object]) -> bytes:
    """The template with the values in it."""
    return _environment().get_template(name).render(values).encode()
