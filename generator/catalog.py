"""The linked catalog: names resolved, scheduled chapters gone, orders fixed, URLs made. `link.py` makes it.

Whatever the wire says stands here once; the payloads only arrange it. `modified` is in seconds since 1970.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from . import model


@dataclass(frozen=True, slots=True, eq=False)
class Person:
    id: int
    name: str
    aliases: tuple[str, ...]
    modified: int


@dataclass(frozen=True, slots=True, eq=False)
class Category:
    id: str
    name: str
    description: str
    modified: int


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    record: model.Member
    modified: int

    @property
    def id(self) -> int:
        return self.record.id

    @property
    def name(self) -> str:
        return self.record.name


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """A group; `members` are its members with their roles in it, `logo` is an address."""

    record: model.Group
    logo: str | None
    members: tuple[tuple[Member, tuple[str, ...]], ...]
    modified: int

    @property
    def id(self) -> int:
        return self.record.id

    @property
    def name(self) -> str:
        return self.record.name


@dataclass(frozen=True, slots=True, eq=False)
class Chapter:
    """A published chapter; `path` and `pages` are as they stand in URLs."""

    id: int | None
    volume: int | None
    number: str
    title: str
    full_title: str
    path: str
    url: str
    pages_root: str
    pages: tuple[str, ...]
    published: int
    final: bool
    groups: tuple[Group, ...]
    views: int
    modified: int

    @property
    def order(self) -> tuple[int, Decimal]:
        """By volume, those without one first, then by number."""
        return self.volume or 0, Decimal(self.number)


@dataclass(frozen=True, eq=False)
class Series:
    """A series with its published chapters, in the order of their volumes and numbers."""

    slug: str
    title: str
    aliases: tuple[str, ...]
    description: str
    authors: tuple[Person, ...]
    artists: tuple[Person, ...]
    categories: tuple[Category, ...]
    status: str
    licensed: bool
    restricted: bool
    cover: str
    path: str
    url: str
    chapters: tuple[Chapter, ...]
    modified: int

    @property
    def completed(self) -> bool:
        return self.status in ("completed", "canceled")

    @cached_property
    def volumes(self) -> dict[int, tuple[Chapter, ...]]:
        """Chapters by volume; 0 holds those without one."""
        found: dict[int, list[Chapter]] = {}
        for chapter in self.chapters:
            found.setdefault(chapter.volume or 0, []).append(chapter)
        return {volume: tuple(chapters) for volume, chapters in found.items()}

    @cached_property
    def latest(self) -> Chapter | None:
        """The chapter published last; of several at once the highest."""
        return max(self.chapters, key=lambda chapter: (chapter.published, chapter.order), default=None)


@dataclass(frozen=True, slots=True, eq=False)
class Contributor:
    """A person with the series that the old families show of them."""

    person: Person
    series: tuple[Series, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Publisher:
    """A group with the series that have a chapter of it."""

    group: Group
    series: tuple[Series, ...]


@dataclass(frozen=True, eq=False)
class Catalog:
    """All of it, in the order in which it is listed: people and groups by id, series by title."""

    site: model.Site
    site_modified: int
    authors: tuple[Person, ...]
    artists: tuple[Person, ...]
    categories: tuple[Category, ...]
    groups: tuple[Group, ...]
    series: tuple[Series, ...]
    next_publication: int | None

    @cached_property
    def open_series(self) -> tuple[Series, ...]:
        """The series of the families that know neither keys nor licences."""
        hidden = self.site.hide_licensed
        return tuple(one for one in self.series if not one.restricted and not (one.licensed and hidden))

    @cached_property
    def contributing_authors(self) -> tuple[Contributor, ...]:
        return _contributors(self.authors, self.open_series, lambda series: series.authors)

    @cached_property
    def contributing_artists(self) -> tuple[Contributor, ...]:
        return _contributors(self.artists, self.open_series, lambda series: series.artists)

    @cached_property
    def publishers(self) -> tuple[Publisher, ...]:
        by_group = _grouped(self.open_series, lambda series: (g for c in series.chapters for g in c.groups))
        return tuple(Publisher(group, by_group.get(group, ())) for group in self.groups)


def _contributors(
    people: Iterable[Person], series: Iterable[Series], of: Callable[[Series], Iterable[Person]]
) -> tuple[Contributor, ...]:
    by_person = _grouped(series, of)
    return tuple(Contributor(person, by_person.get(person, ())) for person in people)


def _grouped(series: Iterable[Series], of: Callable[[Series], Iterable[Any]]) -> dict[Any, tuple[Series, ...]]:
    found: dict[Any, dict[Series, None]] = {}
    for one in series:
        for thing in of(one):
            found.setdefault(thing, {})[one] = None
    return {thing: tuple(ones) for thing, ones in found.items()}
