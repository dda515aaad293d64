"""The linked catalog: names resolved, scheduled chapters gone, orders fixed, URLs made. `link.py` makes it.

Whatever the wire says stands here once; the payloads only arrange it. `modified` is in seconds since 1970.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from math import inf
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
    """A group; `roles` are what its members do in it, one at a time, `logo` is an address."""

    record: model.Group
    logo: str | None
    roles: tuple[tuple[Member, str], ...]
    modified: int

    @property
    def members(self) -> dict[Member, list[str]]:
        """Each member with all of its roles."""
        found: dict[Member, list[str]] = {}
        for member, role in self.roles:
            found.setdefault(member, []).append(role)
        return found

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
    slug: str
    volume: int | None
    number: str
    title: str
    full_title: str
    path: str
    url: str
    pages_root: str
    pages: tuple[str, ...]
    page_ids: Sequence[int]
    published: int
    final: bool
    groups: tuple[Group, ...]
    views: int
    modified: int

    @property
    def order(self) -> tuple[int, Decimal]:
        """By volume, those without one first, then by number: the order of the old families."""
        return self.volume or 0, Decimal(self.number)

    @property
    def reading_order(self) -> tuple[float, Decimal]:
        """By volume, those without one last, then by number."""
        return self.volume or inf, Decimal(self.number)


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

    @property
    def updated(self) -> int:
        """When a chapter was published last; only series that have one are asked."""
        return max(chapter.published for chapter in self.chapters)

    @property
    def views(self) -> int:
        return sum(chapter.views for chapter in self.chapters)

    @cached_property
    def newest_first(self) -> tuple[Chapter, ...]:
        return newest_first(self.chapters)

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
class Membership:
    """A member with its roles in each of its groups."""

    member: Member
    groups: tuple[tuple[Group, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Account:
    """Whoever is behind a key; `bookmarks` are slugs, `avatar` and `url` are addresses."""

    record: model.Account
    avatar: str | None
    url: str
    modified: int


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
    members: tuple[Member, ...]
    accounts: tuple[Account, ...]
    # The digests of all keys, and the account behind each, if it is somebody's.
    keys: Mapping[str, str | None]
    series: tuple[Series, ...]
    highest_id: int
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

    @cached_property
    def listed_series(self) -> tuple[Series, ...]:
        """The series of v2, where a chapter is known by its id: those that have one published."""
        return tuple(one for one in map(_with_ids, self.series) if one.chapters)

    @property
    def without_id(self) -> list[Chapter]:
        """The published chapters that v2 cannot name."""
        return [chapter for one in self.series for chapter in one.chapters if chapter.id is None]

    @cached_property
    def newest_chapters(self) -> tuple[Chapter, ...]:
        """The chapters that anybody may read, newest first."""
        free = (one for one in self.listed_series if not one.licensed and not one.restricted)
        return newest_first(chapter for one in free for chapter in one.chapters)

    @cached_property
    def memberships(self) -> tuple[Membership, ...]:
        found: dict[Member, list[tuple[Group, tuple[str, ...]]]] = {}
        for group in self.groups:
            for member, roles in group.members.items():
                found.setdefault(member, []).append((group, tuple(roles)))
        return tuple(Membership(member, tuple(found.get(member, ()))) for member in self.members)


def _with_ids(series: Series) -> Series:
    known = tuple(chapter for chapter in series.chapters if chapter.id is not None)
    return series if len(known) == len(series.chapters) else replace(series, chapters=known)


def newest_first(chapters: Iterable[Chapter]) -> tuple[Chapter, ...]:
    """By publication, then volume (none is the newest), then number, then series."""
    by_slug = sorted(chapters, key=lambda one: one.slug)
    return tuple(sorted(by_slug, key=lambda one: (one.published, *one.reading_order), reverse=True))


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
