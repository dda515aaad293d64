"""The name that somebody may have meant."""

from bisect import bisect
from collections.abc import Iterable
from difflib import get_close_matches

# So many names before and after a word are compared with it, and only with one of so many letters: comparing is slow,
# and somebody may have misspelt everything.
_COMPARED = 200


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The one of the known names that is most like a word, if any is; case makes no difference."""
    if len(word) > _COMPARED:
        return None
    names = {one.lower(): one for one in sorted(set(known), reverse=True)}
    among = [*names] if len(names) <= _COMPARED else _beginning_alike(word.lower(), sorted(names))
    found = get_close_matches(word.lower(), among, n=1, cutoff=0.7)
    return names[found[0]] if found else None


def _beginning_alike(word: str, names: list[str]) -> list[str]:
    """Of names in the order of the alphabet those beside the word: the more of its beginning is right, the nearer."""
    place = bisect(names, word)
    return [one for one in names[max(0, place - _COMPARED) : place + _COMPARED] if one[:2] == word[:2]]
