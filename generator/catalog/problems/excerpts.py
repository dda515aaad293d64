"""The line of a problem, prepared for a terminal: control characters escaped, shortened, without secrets.

Columns are those of a terminal: East Asian characters take two.
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

# Columns of an excerpt, and columns before the problem if the line is longer.
_WIDTH = 100
_BEFORE = 60
_ELLIPSIS = "…"
_TAB = "    "
# The field with digests, and by mistake keys.
_KEYS = "keys"
# Fields with secrets, in any file.
_SECRET = re.compile(r"""(?:key|sha\d+|digest|secret|token|passw)\w*["']?\s*:""", re.IGNORECASE)


class SourceLines:
    """The lines of a file, except those that may contain a secret."""

    def __init__(self, file: str, content: bytes, positions: Positions) -> None:
        self._lines = LINE_BREAK.split(content.decode("utf-8-sig", "replace"))
        # The position of keys is unknown in a file with YAML errors.
        is_broken = file == "accounts.yaml" and bool(positions.flaws)
        if file == "keys.yaml" or is_broken or api_keys.has_escaped_key(content):
            self._lines.clear()
        self._secret_lines = set(self._lines_below_keys(positions))

    def _lines_below_keys(self, positions: Positions) -> Iterator[int]:
        """Yield the lines of everything below `keys`. A value ends where the next value or key begins."""
        if not any(_KEYS in path for path in positions.keys):
            return
        starts = sorted(
            (position, _KEYS in path)
            for items in (positions.starts, positions.keys)
            for path, position in items.items()
        )
        end_of_file = ((len(self._lines) + 1, 1), False)
        for ((line, _), is_secret), ((end, column), _) in pairwise([*starts, end_of_file]):
            if is_secret:
                yield line
                yield from range(line, end)
                if self._lines[end - 1 :] and self._lines[end - 1][: column - 1].strip(" -"):
                    yield end

    def excerpt(self, position: Position) -> Excerpt | None:
        """Return the line at a position; None if the line does not exist or may contain a secret."""
        number, column = position
        if number > len(self._lines) or number in self._secret_lines or _SECRET.search(self._lines[number - 1]):
            return None
        line = self._lines[number - 1]
        # A redacted key is shorter.
        return excerpt(api_keys.redacted(line), len(api_keys.redacted(line[: column - 1])))


def excerpt(line: str, offset: int) -> Excerpt:
    """Return the part of a line around the character at `offset`."""
    before, after = line[max(0, offset - _WIDTH) : offset][::-1], line[offset : offset + _WIDTH]
    right = _fitting(after, _WIDTH - _columns(_fitting(before, _BEFORE)))
    left = _fitting(before, _WIDTH - _columns(right))
    start = (_ELLIPSIS if len(left) < offset else "") + "".join(left[::-1])
    end = _ELLIPSIS if offset + len(right) < len(line) else ""
    return Excerpt(f"{start}{''.join(right)}{end}".rstrip(), _columns(start))


def _fitting(characters: str, columns: int) -> list[str]:
    """Return the first characters, escaped, that fit into a number of columns."""
    fitting = []
    for character in characters:
        printed = _TAB if character == "\t" else escaped(character)
        columns -= _columns(printed)
        if columns < 0:
            break
        fitting.append(printed)
    return fitting


def _columns(texts: Iterable[str]) -> int:
    return sum(_width(character) for text in texts for character in text)


def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
