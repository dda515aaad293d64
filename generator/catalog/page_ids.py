"""Ids of pages: unique in the whole catalog, and the same for as long as a page keeps its chapter and number.

An id is a chapter's id times 1000 plus the page's number; the thousands themselves are never used that way,
and take the few pages for which there is no such id: those of chapters with huge ids, and pages after the 999th.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from .records import MAX_ID

_SPAN = 1000
_LAST_CHAPTER = MAX_ID // _SPAN - 1
_SLOTS = MAX_ID // _SPAN


def page_ids(chapter: int, count: int, odd: Mapping[str, int]) -> Sequence[int]:
    """The ids of a chapter's pages in order; `odd` has those that `odd_ids` found for all chapters together."""
    plain = _plain(chapter, count)
    first = range(chapter * _SPAN + 1, chapter * _SPAN + 1 + plain)
    return first if plain == count else (*first, *(odd[name] for name in allocated_page_names(chapter, count)))


def needs_allocated_ids(chapter: int, count: int) -> bool:
    """Whether a chapter with that id and so many pages has one whose id depends on other chapters."""
    return _plain(chapter, count) < count


def allocate_page_ids(chapters: Iterable[tuple[int, int]], before: Mapping[str, int]) -> dict[str, int]:
    """Chapter and number -> id, of every page that needs an id of its own: what was published `before` stays.

    `chapters` are the ids of all that are odd, and how many pages each has.
    """
    found = dict(before)
    taken = set(found.values())
    for name in (name for one in sorted(chapters) for name in allocated_page_names(*one)):
        if name not in found:
            found[name] = _free(name, taken)
            taken.add(found[name])
    return found


def allocated_page_names(chapter: int, count: int) -> Iterator[str]:
    """What the pages of a chapter are called that need an id of their own."""
    return (f"{chapter}/{number}" for number in range(_plain(chapter, count) + 1, count + 1))


def _plain(chapter: int, count: int) -> int:
    """How many pages have an id that only depends on their chapter."""
    return min(count, _SPAN - 1) if chapter <= _LAST_CHAPTER else 0


def _free(name: str, taken: Set[int]) -> int:
    """A thousand that no page has, found from the page itself, so that it rarely depends on which others there are."""
    slot = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") % _SLOTS
    while (slot + 1) * _SPAN in taken:
        slot = (slot + 1) % _SLOTS
    return (slot + 1) * _SPAN
