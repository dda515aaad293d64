"""The sizes of the pages of a chapter as one text: `784x1145*23 - 1568x1145`.

A size is width and height in pixels. `*23` repeats it for 23 pages; `-` is a page whose size is not known.
"""

from collections.abc import Sequence
from itertools import chain, groupby, repeat
from typing import TypeAlias

PageSize: TypeAlias = tuple[int, int]
# The largest width and height that a text can contain.
MAX_PIXELS = 999_999
_UNKNOWN = "-"


def sizes(text: str, count: int) -> tuple[PageSize | None, ...]:
    """Return the sizes of a checked text; empty if the number of pages is not `count`."""
    runs = [run.partition("*")[::2] for run in text.split()]
    # Counted first: a short text can have billions of pages.
    if sum(int(times or 1) for _, times in runs) != count:
        return ()
    return tuple(chain.from_iterable(repeat(_size(size), int(times or 1)) for size, times in runs))


def text(sizes: Sequence[PageSize | None]) -> str:
    """Return the text of sizes."""
    runs = [(size, len(list(run))) for size, run in groupby(map(_text, sizes))]
    return " ".join(size if count == 1 else f"{size}*{count}" for size, count in runs)


def _size(text: str) -> PageSize | None:
    width, _, height = text.partition("x")
    return None if text == _UNKNOWN else (int(width), int(height))


def _text(size: PageSize | None) -> str:
    return f"{size[0]}x{size[1]}" if size and max(size) <= MAX_PIXELS else _UNKNOWN
