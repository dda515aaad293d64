"""A catalog without problems: read, check, locate the problems and raise them."""

from collections.abc import Callable
from dataclasses import replace
from itertools import chain

from ...errors import CatalogError, listed
from .. import cross_checks, reader
from ..confined_folder import Folder
from ..reader import SeriesEntry, Sources
from . import locate


def load_valid(
    folder: Folder,
    shown_as: Folder | None = None,
    in_memory: Callable[[SeriesEntry], SeriesEntry] = lambda series: series,
) -> Sources:
    """All records of a catalog. Raises every problem; with `shown_as`, as if the files were in that folder.

    `in_memory` may return a smaller form of a series that was read.
    """
    sources = reader.read(folder, in_memory)
    if problems := list(listed(chain(sources.problems, cross_checks.problems(sources)))):
        located = locate.locate(folder, problems)
        if shown_as is not None:
            located = [
                replace(problem, file=str(shown_as) + problem.file.removeprefix(str(folder))) for problem in located
            ]
        raise CatalogError(located)
    return sources
