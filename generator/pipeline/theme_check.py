"""Check a theme: its files, then its templates with a sample of the catalog, in bounded processes.

The build renders every page in bounded processes as well. The sample finds most mistakes before, and all of them at
once; `check` has nothing else. Results without problems are cached for the same theme.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from .. import encoding
from ..api import routes
from ..api.pages import theme
from ..api.payloads.resources import HTML
from ..api.route_items import InSeries
from ..catalog import reader, theme_files
from ..catalog.confined_folder import ConfinedFolder
from ..catalog.layout import SeriesFiles
from ..catalog.linking import Linker
from ..catalog.site_settings import Site
from ..catalog.theme_files import NO_THEME, Text, ThemeFiles
from ..errors import CatalogError, Problem
from . import parsed_files
from .cache import SAMPLE, THEME, Cache
from .process_pool import ordered_map

# Series with the values of their files, as JSON.
Sample = list[tuple[SeriesFiles, dict[str, bytes]]]


def read(catalog: ConfinedFolder, site: Site | None, cache: Cache) -> tuple[ThemeFiles, list[Problem]]:
    """The theme, and what is wrong with its files. A site without pages has none."""
    if not site or not site.pages:
        return NO_THEME, []
    files, problems = theme_files.read(catalog)
    problems += theme.problems(files, site)
    if theme.needs_examination(files):
        try:
            texts = cache.cached(THEME, theme.examination_key(files), partial(_examined, files))
        except CatalogError as error:
            return files, [*problems, *error.problems]
        pages = {name: Text(html, title, tuple(origins)) for name, (html, title, origins) in texts.items()}
        files = replace(files, texts=pages)
    return files, problems


def warnings(files: ThemeFiles) -> list[Problem]:
    return list(theme.warnings(files))


def _examined(files: ThemeFiles) -> dict[str, list[object]]:
    ((problems, texts),) = ordered_map(1, lambda: theme.examine, [files], files.folder)
    if problems:
        raise CatalogError(problems)
    return {name: list(text) for name, text in texts.items()}


def fill_in_sample(linker: Linker, sample: Callable[[], Sample], cache: Cache) -> None:
    """Fill in the templates of a theme with some series of a catalog without problems. Raises every problem."""
    files = linker.lists.theme
    if folder := files.template_folder:

        def check() -> bool:
            ((problems),) = ordered_map(1, lambda: partial(_sample_problems, linker), [sample()], folder)
            if problems:
                raise CatalogError(problems)
            return True

        settings = [linker.site.model_dump_json(), linker.preview, files.digest]
        cache.cached(SAMPLE, encoding.digest(encoding.json(settings)), check)


def _sample_problems(linker: Linker, sample: Sample) -> set[Problem]:
    """What is wrong with the first two pages and the last page of each kind."""
    page = theme.context(linker.site, linker.lists.theme, preview=linker.preview)
    records = (reader.series_from_values(files, parsed_files.from_json(values)) for files, values in sample)
    # No page shows the ids of pages.
    series = [linker.series(entry, linker.times, defaultdict(int)) for entry in records]
    catalog = linker.catalog(series)
    problems: set[Problem] = set()
    for route in routes.page_routes(linker.site):
        source = route.for_each
        instances = map(source.items_of, series) if isinstance(source, InSeries) else [source(catalog)]
        for items in map(list, instances if route.type == HTML else ()):
            for item in items[:2] + items[2:][-1:]:
                try:
                    list(route.resources([item], page))
                except CatalogError as error:
                    problems |= set(error.problems)
    return problems
