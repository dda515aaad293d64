"""Rules for paths with another status on a site of the original service than on its successor."""

from urllib.parse import unquote

from ..model import STATUS, V2, Difference
from .facts import Facts

_BROKEN, _LICENSED, _MISSING = 500, 451, 404


def broken(difference: Difference, facts: Facts) -> bool:
    return difference.kind == STATUS and (difference.first, difference.second) == (_BROKEN, 200)


def comma(difference: Difference, facts: Facts) -> bool:
    if difference.kind != STATUS or difference.route != f"{V2}/categories/{{name}}":
        return False
    return difference.second == _MISSING and "," in unquote(difference.path)


def empty_cubari(difference: Difference, facts: Facts) -> bool:
    """Neither site has the series in version 2: it has no published chapter."""
    if difference.kind != STATUS or difference.route != f"{V2}/cubari/{{slug}}":
        return False
    path = f"{V2}/series/{difference.path.rpartition('/')[2]}"
    missing = facts.first.get(path).status == facts.second.get(path).status == _MISSING
    return missing and difference.first in (200, _LICENSED) and difference.second == _MISSING
