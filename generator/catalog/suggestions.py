"""Suggestions for misspelt names and misplaced files."""

import re
from bisect import bisect
from collections.abc import Collection, Iterable
from difflib import get_close_matches

# Comparing names is slow. A word is compared with at most this many names before and after it in the alphabet,
# and only if it has at most this many characters.
_MAX_COMPARED = 200
_SUFFIX = re.compile(r"(?:\.ya?ml)+(?:\.txt)?$", re.IGNORECASE)


def nearest(word: str, names: Iterable[str]) -> str | None:
    """Return the name most similar to `word`, ignoring case; None if no name is similar."""
    if len(word) > _MAX_COMPARED:
        return None
    spellings = {name.lower(): name for name in sorted(set(names), reverse=True)}
    candidates = [*spellings]
    if len(spellings) > _MAX_COMPARED:
        candidates = _near_in_alphabet(word.lower(), sorted(spellings))
    matches = get_close_matches(word.lower(), candidates, n=1, cutoff=0.7)
    return spellings[matches[0]] if matches else None


def _near_in_alphabet(word: str, names: list[str]) -> list[str]:
    """Return the names close to `word` in a sorted list that share its first two characters."""
    place = bisect(names, word)
    return [name for name in names[max(0, place - _MAX_COMPARED) : place + _MAX_COMPARED] if name[:2] == word[:2]]


def did_you_mean(word: object, names: Iterable[str], otherwise: str = "") -> str:
    """Return the end of a message: the name most similar to `word`, or else another hint."""
    name = nearest(str(word), names)
    hint = f"did you mean {name}?" if name else otherwise
    return f"; {hint}" if hint else ""


def misplaced_file_hint(folder: str, name: str, expected: Collection[str] | None, similar_folder: str) -> str:
    """Return where an unexpected file probably belongs.

    `expected` are the file names allowed in the folder; None allows every name that ends in .yaml.
    `similar_folder` is the correct path of a folder whose name is misspelt.
    """
    right_name = f"{_SUFFIX.sub('', name)}.yaml"
    if similar_folder:
        return f"did you mean {similar_folder}/{right_name}?"
    if similar := right_name if expected is None else nearest(name, expected):
        return f"did you mean {similar}?"
    if not expected:
        return "rename, move or remove it"
    place = f"{folder}/chapters/{right_name} if it is a chapter" if folder else f"series/{right_name} if it is a series"
    return f"rename or remove it, or move it to {place}"
