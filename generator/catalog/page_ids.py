"""Page ids: unique in the catalog, and stable while a page keeps its chapter and its number.

A page id is the id of the chapter times 1000 plus the number of the page. Multiples of 1000 never occur that way. They
are allocated to the few pages without such an id: pages after the 999th, and pages of chapters with very large ids.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from .records import MAX_ID

_SPAN = 1000
_LAST_CHAPTER = MAX_ID // _SPAN - 1
_SLOTS = MAX_ID // _SPAN


def page_ids(chapter: int, count: int, allocated: Mapping[str, int]) -> Sequence[int]:
    """The ids of a chapter's pages in order. `allocated` is the result of `allocate_page_ids` for all chapters."""
    computed = _computed_count(chapter, count)
    ids = range(chapter * _SPAN + 1, chapter * _SPAN + 1 + computed)
    if computed == count:
        return ids
    return (*ids, *(allocated[name] for name in allocated_page_names(chapter, count)))


def needs_allocated_ids(chapter: int, count: int) -> bool:
    """Whether a chapter of `count` pages has a page whose id depends on other chapters."""
    return _computed_count(chapter, count) < count


def allocate_page_ids(chapters: Iterable[tuple[int, int]], before: Mapping[str, int]) -> dict[str, int]:
    """Allocate an id to each page that needs one; ids allocated `before` stay. Keys are "chapter/page".

    `chapters` are the ids and the page counts of all chapters that need allocated ids.
    """
    ids = dict(before)
    taken = set(ids.values())
    for name in (name for chapter in sorted(chapters) for name in allocated_page_names(*chapter)):
        if name not in ids:
            ids[name] = _free_id(name, taken)
            taken.add(ids[name])
    return ids


def allocated_page_names(chapter: int, count: int) -> Iterator[str]:
    """The keys of a chapter's pages that need an allocated id."""
    return (f"{chapter}/{number}" for number in range(_computed_count(chapter, count) + 1, count + 1))


def _computed_count(chapter: int, count: int) -> int:
    """The number of pages whose id depends on their own chapter only."""
    return min(count, _SPAN - 1) if chapter <= _LAST_CHAPTER else 0


def _free_id(name: str, taken: Set[int]) -> int:
    """A free multiple of 1000. The search starts at a hash of the page, so that other pages rarely matter."""
    slot = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") % _SLOTS
    while (slot + 1) * _SPAN in taken:
        slot = (slot + 1) % _SLOTS
    return (slot + 1) * _SPAN
