"""Answers that a site has, and does not give this time: what they told stays as it is, whatever others seem to say.

A site that fails for a minute, or wants a key that somebody forgot, has not changed its mind. Where it never answered,
nothing that an import wrote came from there.
"""

import re
from collections.abc import Iterable

from .answers import Responses

# What says by itself that there is nothing, or nothing for anybody.
_NOTHING = (404, 410, 451)
_SERIES = re.compile(r"/api/(?:v[12]/)?series/([^/?]+).*|/api/v2/cubari/([^/?]+)")
# Everything is found by these, or named by what they hold; other orders of the list only tell dates.
_WHOLE = re.compile(r"/api/(?:v[12]/)?[a-z]+")
_LIST = re.compile(rf"{_WHOLE.pattern}(?:\?page=[0-9]+)?")
_SETTINGS = "/api/v2/openapi.json"


def told(answers: Responses) -> dict[str, bool]:
    """The paths on which other things depend, and whether anything is known of their answers.

    A whole list that is not found any more is no empty list: a version that was switched off says nothing by that.
    """
    return {
        path: got.understood or (got.status in _NOTHING and not _WHOLE.fullmatch(path))
        for path, got in sorted(answers.items())
        if path == _SETTINGS or _LIST.fullmatch(path) or _SERIES.fullmatch(path)
    }


def lists(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if _LIST.fullmatch(path)]


def series(paths: Iterable[str]) -> set[str]:
    """The slugs of the series that they tell of."""
    return {found[1] or found[2] for path in paths if (found := _SERIES.fullmatch(path))}
