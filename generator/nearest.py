"""The name that somebody may have meant."""

from collections.abc import Iterable
from difflib import get_close_matches

# So many names are compared with a word, and only with one of so many letters: comparing is slow, and somebody may
# have misspelt everything.
_COMPARED = 200


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The one of the known names that is most like a word, if any is; case makes no difference."""
    if len(word) > _COMPARED:
        return None
    names = {one.lower(): one for one in sorted(set(known), reverse=True)}
    among = [*names]
    if len(among) > _COMPARED:
        among = [one for one in among if one[:2] == word[:2].lower()][:_COMPARED]
    found = get_close_matches(word.lower(), among, n=1, cutoff=0.7)
    return names[found[0]] if found else None
