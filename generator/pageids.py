"""Ids of pages: unique in the whole catalog, and the same for as long as a page keeps its chapter and number.

An id is a chapter's id times 1000 plus the page's number; the thousands themselves are never used that way,
and take the few pages for which there is no such id: those of chapters with huge ids, and pages after the 999th.
"""

import hashlib
from collections.abc import Iterable, Sequence

from .model import MAX_ID

_SPAN = 1000
_LAST_CHAPTER = MAX_ID // _SPAN - 1
_SLOTS = MAX_ID // _SPAN


def page_ids(chapters: Iterable[tuple[int, int]]) -> dict[int, Sequence[int]]:
    """For each chapter's id and number of pages, the ids of its pages in order."""
    taken: set[int] = set()
    return {chapter: _ids(chapter, count, taken) for chapter, count in sorted(chapters)}


def _ids(chapter: int, count: int, taken: set[int]) -> Sequence[int]:
    plain = min(count, _SPAN - 1) if chapter <= _LAST_CHAPTER else 0
    first = range(chapter * _SPAN + 1, chapter * _SPAN + 1 + plain)
    if plain == count:
        return first
    return (*first, *(_slot(chapter, number, taken) for number in range(plain + 1, count + 1)))


def _slot(chapter: int, number: int, taken: set[int]) -> int:
    """A free thousand, found from the page itself, so that it rarely depends on which other pages there are."""
    slot = int.from_bytes(hashlib.sha256(f"{chapter}/{number}".encode()).digest()[:8], "big") % _SLOTS
    while slot in taken:
        slot = (slot + 1) % _SLOTS
    taken.add(slot)
    return (slot + 1) * _SPAN
