"""Render Jinja templates: the nginx configuration, and pages for people.

A value that a template uses and that is missing is an error. Values are escaped in HTML templates; a configuration
template chooses a filter for each value. Templates of a theme: see `api/pages/themed_templates.py`.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import BaseLoader, Environment, Undefined


class Html(str):
    """Text that is markup already: templates insert it as it is."""

    __slots__ = ()

    def __html__(self) -> str:
        return self


class Templates:
    """The templates of one folder, with the filters that they may use."""

    def __init__(self, folder: Path, **filters: Callable[..., str]) -> None:
        self.folder = folder
        self._filters = filters

    @cached_property
    def _environment(self) -> "Environment":
        # Imported here: most builds render no template, and jinja2 takes long to import.
        from jinja2 import Environment, FileSystemLoader, StrictUndefined

        return self._made(Environment, FileSystemLoader(self.folder), StrictUndefined)

    def _made(self, kind: "type[Environment]", loader: "BaseLoader", undefined: "type[Undefined]") -> "Environment":
        environment = kind(
            loader=loader,
            undefined=undefined,
            autoescape=lambda name: str(name).endswith(".html"),
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            # Without a look at the file for each page.
            auto_reload=False,
        )
        environment.filters.update(self._filters)
        return environment

    def render(self, name: str, values: Mapping[str, object]) -> bytes:
        """Return the template `name` filled with `values`."""
        return self._environment.get_template(name).render(values).encode()
