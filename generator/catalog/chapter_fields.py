"""The fields of chapters that the summary of a series keeps, and functions that sort and choose chapters."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple, Protocol, TypeVar

_NO_VOLUME, _LATEST, _HIGHEST, _HIGHEST_ID = 2**32 - 1, 2**48 - 1, 2**48 - 1, 2**32 - 1


class Latest(NamedTuple):
    """The fields of a chapter that lists of releases contain."""

    title: str
    volume: int | None
    number: str
    published: int
    modified: int


class RecentChapter(NamedTuple):
    """The fields of a chapter in lists of the latest chapters and in feeds."""

    id: int | None
    heading: str
    path: str
    published: int
    modified: int
    # The ids of its groups.
    groups: tuple[int, ...]
    # Whether another published chapter has the same volume and number.
    shares_number: bool
    newest_first: str
    # In a preview.
    scheduled: bool = False


# A chapter needs its key for each order that it is part of.
@lru_cache(maxsize=4096)
def newest_first_key(published: int, volume: int | None, number: str, slug: str, id: int | None) -> bytes:
    """See `entities.Chapter`. As bytes, so that SQLite sorts in the same order."""
    numbers = volume or _NO_VOLUME, int(Decimal(number).scaleb(4))
    descending = (_LATEST - published, 6), (_NO_VOLUME - numbers[0], 4), (_HIGHEST - numbers[1], 6)
    before, after = b"".join(value.to_bytes(width, "big") for value, width in descending), slug.encode()
    return before + after + (_HIGHEST_ID - (id or 0)).to_bytes(5, "big")


class _Numbered(Protocol):
    @property
    def id(self) -> int | None: ...
    @property
    def volume(self) -> int | None: ...
    @property
    def number(self) -> str: ...


_Chapter = TypeVar("_Chapter", bound=_Numbered)


def one_per_number(chapters: Iterable[_Chapter]) -> tuple[_Chapter, ...]:
    """The chapters of URLs with a number. Of ordered chapters that share one, it is the last: the highest id."""
    return tuple({(chapter.volume, chapter.number): chapter for chapter in chapters}.values())


def with_url(chapters: Sequence[_Chapter]) -> list[_Chapter]:
    """The chapters with a URL, by id or number. Of those without an id that share a number, only the last has one."""
    numbered = {id(chapter) for chapter in one_per_number(chapters)}
    return [chapter for chapter in chapters if chapter.id is not None or id(chapter) in numbered]
