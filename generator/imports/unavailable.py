"""Responses that the last import had and this one has not: the records that depend on them are not changed.

A temporary failure or a missing key must not be treated as a deletion. A path that never had a usable response does
not matter: no record came from there.
"""

import re
from collections.abc import Iterable

from ..reading_sites.responses import OPENAPI, V2, Responses

# Statuses that state by themselves that nothing is available.
_NOTHING = (404, 410, 451)
_SERIES = re.compile(r"/api/(?:(?:v[12]/)?series/|v2/cubari/|v2/chapters\?series=)([^/?]+).*")
# Whole lists: they name the series, or the people and groups that series reference.
_WHOLE = re.compile(r"/api/(?:v[12]/)?[a-z]+")
_LIST = re.compile(rf"{_WHOLE.pattern}(?:\?page=[0-9]+)?")
_CHAPTERS = re.compile(r"/api/v2/series/[^/]+/chapters")


def usable(responses: Responses) -> dict[str, bool]:
    """Return the paths that records depend on, and whether their responses are usable.

    A whole list with status 404 is not an empty list: the site may have switched that version off.
    """
    paths = {
        path: response.understood or (response.status in _NOTHING and not _WHOLE.fullmatch(path))
        for path, response in sorted(responses.items())
        if path == OPENAPI or _LIST.fullmatch(path) or _SERIES.fullmatch(path)
    }
    return paths | _single_chapters(responses)


def _single_chapters(responses: Responses) -> dict[str, bool]:
    """Return whether single chapters are usable where their list fails, below the path of their list."""
    failed = [path for path in responses if _CHAPTERS.fullmatch(path) and responses.failed(path)]
    return {
        f"{path}/{id}": responses[f"{V2}/chapters/{id}"].understood
        for path in failed
        for id in responses.cubari(path.split("/")[4])
    }


def lists(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if _LIST.fullmatch(path)]


def series(paths: Iterable[str]) -> set[str]:
    """Return the slugs of the series that the paths belong to."""
    return {match[1] for path in paths if (match := _SERIES.fullmatch(path))}
