"""A line of a catalog file and the place in it that is meant, as a terminal shows them; and no line with a secret.

What a terminal would obey is escaped, long lines are cut around the place, and what is wide counts as two columns.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import pairwise

from ...errors import Excerpt
from ...escaping import escaped
from .. import api_keys
from ..yaml.positions import LINE_BREAK, Positions
from ..yaml.typing_errors import Position

# So many columns at most, and so many before the place where there is more behind it than fits.
_WIDTH = 100
_BEFORE = 60
_CUT = "…"
_TAB = "    "
# Below this field stand digests, and by mistake keys; fields of these names hold secrets whatever the file is.
_KEYS = "keys"
_SECRET = re.compile(r"""(?:key|sha\d+|digest|secret|token|passw)\w*["']?\s*:""", re.IGNORECASE)


class SourceLines:
    """The lines of a file, but for those that may hold a secret."""

    def __init__(self, file: str, content: bytes, positions: Positions) -> None:
        self.lines = LINE_BREAK.split(content.decode("utf-8-sig", "replace"))
        # Of a file that cannot be read to its end, nobody knows where its keys stand.
        if file == "keys.yaml" or (file == "accounts.yaml" and positions.flaws) or api_keys.has_escaped_key(content):
            self.lines.clear()
        self.hidden = set(self._of_keys(positions)) if any(_KEYS in path for path in positions.keys) else set()

    def _of_keys(self, positions: Positions) -> Iterator[int]:
        """The lines of all that stands below `keys`: each value ends before the next thing begins."""
        starts = sorted(
            (place, _KEYS in path) for one in (positions.starts, positions.keys) for path, place in one.items()
        )
        for ((line, _), secret), ((end, column), _) in pairwise([*starts, ((len(self.lines) + 1, 1), False)]):
            if secret:
                yield line
                yield from range(line, end)
                if self.lines[end - 1 :] and self.lines[end - 1][: column - 1].strip(" -"):
                    yield end

    def excerpt(self, place: Position) -> Excerpt | None:
        """The line of a place, if there is one to be shown."""
        line, column = place
        if line > len(self.lines) or line in self.hidden or _SECRET.search(self.lines[line - 1]):
            return None
        whole = self.lines[line - 1]
        # A key that is hidden takes less room.
        return excerpt(api_keys.redacted(whole), len(api_keys.redacted(whole[: column - 1])))


def excerpt(line: str, offset: int) -> Excerpt:
    """As much of a line as fits around the letter with this number, counted from 0."""
    before, after = line[max(0, offset - _WIDTH) : offset][::-1], line[offset : offset + _WIDTH]
    right = _fitting(after, _WIDTH - _columns(_fitting(before, _BEFORE)))
    left = _fitting(before, _WIDTH - _columns(right))
    start = (_CUT if len(left) < offset else "") + "".join(left[::-1])
    end = _CUT if offset + len(right) < len(line) else ""
    return Excerpt(f"{start}{''.join(right)}{end}".rstrip(), _columns(start))


def _fitting(letters: str, room: int) -> list[str]:
    """As many letters from the first on as there is room for, each as it is shown."""
    found = []
    for letter in letters:
        shown = _TAB if letter == "\t" else escaped(letter)
        room -= _columns(shown)
        if room < 0:
            break
        found.append(shown)
    return found


def _columns(texts: Iterable[str]) -> int:
    """What text takes up on a terminal: letters of East Asia are wide, marks stand above or below others."""
    return sum(_width(letter) for text in texts for letter in text)


def _width(letter: str) -> int:
    if unicodedata.category(letter) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1
