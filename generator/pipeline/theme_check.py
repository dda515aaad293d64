"""Check a theme: its files, then its templates with a sample of the catalog, in bounded processes.

The build renders every page in bounded processes as well. The sample finds most mistakes before, and all of them at
once; `check` has nothing else. Results without problems are cached for the same theme.
"""

from collections import defaultdict
from collections.abc import Callable
from functools import partial

from .. import encoding
from ..api import routes
from ..api.pages import theme
from ..api.resources import HTML
from ..api.route_items import InSeries
from ..catalog import reader, theme_files
from ..catalog.confined_folder import ConfinedFolder
from ..catalog.layout import SeriesFiles
from ..catalog.linking import Linker
from ..catalog.site_settings import Site
from ..catalog.theme_files import NO_THEME, Text, ThemeFiles
from ..errors import CatalogError, Problem
from . import parsed_files
from .cache import Cache
from .process_pool import ordered_map



def read(catalog: ConfinedFolder, site: Site | None, cache: Cache) -> tuple[ThemeFiles, list[Problem]]:
    """The theme, and what is wrong with its files. A site without pages has none."""
    if not site or not site.pages:
        return NO_THEME, []
    files, problems = theme_files.read(catalog)
    problems += theme.problems(files, site)
    if theme.needs_examination(files):
        try:
            texts = cache.cached("theme", files.digest, partial(_examined, files))
        except CatalogError as error:
            return files, [*problems, *error.problems]
        pages = {name: Text(html, title, tuple(origins)) for name, (html, title, origins) in texts.items()}
        files = ThemeFiles(files.folder, files.files, pages)
    return files, problems


def _examined(files: ThemeFiles) -> dict[str, list[object]]:
    ((problems, texts),) = ordered_map(1, lambda: theme.examine, [files], files.folder)
    if problems:
        raise CatalogError(problems)
    return {name: list(text) for name, text in texts.items()}


