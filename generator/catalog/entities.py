"""The linked catalog: names resolved, scheduled chapters gone, orders fixed, URLs made. `link.py` makes it.

Whatever the wire says stands here once; the payloads only arrange it. `modified` is in seconds since 1970.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from math import inf
from typing import Any, NamedTuple

from . import records

_NO_VOLUME, _LATEST, _HIGHEST = 2**32 - 1, 2**48 - 1, 2**48 - 1


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

    @property
    def has_path(self) -> bool:
        """A name with a slash is no segment of a path, and one with a comma is none of a list of names."""
        return not {"/", ","} & set(self.name)


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    record: records.Member
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

    record: records.Group
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
    def newest_first(self) -> bytes:
        """Sorts chapters by publication, then volume (none is the newest), then number, all descending; then series.

        As bytes, so that a database sorts them as we do.
        """
        volume, number = self.volume or _NO_VOLUME, int(Decimal(self.number).scaleb(4))
        descending = (_LATEST - self.published, 6), (_NO_VOLUME - volume, 4), (_HIGHEST - number, 6)
        return b"".join(value.to_bytes(width, "big") for value, width in descending) + self.slug.encode()

    @property
    def reading_order(self) -> tuple[float, Decimal]:
        """By volume, those without one last, then by number."""
        return self.volume or inf, Decimal(self.number)


class Latest(NamedTuple):
    """As much of a chapter as a list of releases says."""

    title: str
    volume: int | None
    number: str
    published: int
    modified: int


@dataclass(frozen=True, eq=False)
class SeriesSummary:
    """What lists say of a series: all of them together lie in memory, their chapters do not."""

    slug: str
    title: str
    aliases: tuple[str, ...]
    authors: tuple[Person, ...]
    artists: tuple[Person, ...]
    categories: tuple[Category, ...]
    # Those that published a chapter.
    groups: tuple[Group, ...]
    status: str
    licensed: bool
    restricted: bool
    # Whether the families that know neither keys nor licences have it.
    is_open: bool
    cover: str
    path: str
    url: str
    modified: int
    # The chapter published last; of several at once the highest.
    latest: Latest | None
    # How many chapters v2 can name, which is by their ids, and how many it cannot.
    identified: int
    unidentified: int
    # Of those that it can: when one was published last, and how often they were read.
    updated: int
    views: int


@dataclass(frozen=True, eq=False)
class Series(SeriesSummary):
    """A series with its published chapters, in the order of their volumes and numbers."""

    description: str
    chapters: tuple[Chapter, ...]

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
    def identified_chapters(self) -> tuple[Chapter, ...]:
        """The chapters that v2 can name."""
        return tuple(chapter for chapter in self.chapters if chapter.id is not None)

    @cached_property
    def newest_first(self) -> tuple[Chapter, ...]:
        return tuple(sorted(self.identified_chapters, key=lambda one: one.newest_first))


@dataclass(frozen=True, slots=True, eq=False)
class Membership:
    """A member with its roles in each of its groups."""

    member: Member
    groups: tuple[tuple[Group, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Account:
    """Whoever is behind a key; `bookmarks` are slugs, `avatar` and `url` are addresses."""

    record: records.Account
    avatar: str | None
    url: str
    modified: int


@dataclass(frozen=True, slots=True, eq=False)
class Contributor:
    """A person with the series that the old families show of them."""

    person: Person
    series: tuple[SeriesSummary, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PublishingGroup:
    """A group with the series that have a chapter of it."""

    group: Group
    series: tuple[SeriesSummary, ...]


@dataclass(frozen=True, eq=False)
class Catalog:
    """All of it, in the order in which it is listed: people and groups by id, series by title."""

    site: records.Site
    site_modified: int
    authors: tuple[Person, ...]
    artists: tuple[Person, ...]
    categories: tuple[Category, ...]
    groups: tuple[Group, ...]
    members: tuple[Member, ...]
    accounts: tuple[Account, ...]
    # The digests of all keys, and the account behind each, if it is somebody's.
    keys: Mapping[str, str | None]
    series: tuple[SeriesSummary, ...]

    @cached_property
    def open_series(self) -> tuple[SeriesSummary, ...]:
        """The series of the families that know neither keys nor licences."""
        return tuple(one for one in self.series if one.is_open)

    @cached_property
    def listed_series(self) -> tuple[SeriesSummary, ...]:
        """The series of v2: those that have a chapter which can be named."""
        return tuple(one for one in self.series if one.identified)

    @cached_property
    def contributing_authors(self) -> tuple[Contributor, ...]:
        return _contributors(self.authors, self.open_series, lambda series: series.authors)

    @cached_property
    def contributing_artists(self) -> tuple[Contributor, ...]:
        return _contributors(self.artists, self.open_series, lambda series: series.artists)

    @cached_property
    def publishing_groups(self) -> tuple[PublishingGroup, ...]:
        by_group = _grouped(self.open_series, lambda series: series.groups)
        return tuple(PublishingGroup(group, by_group.get(group, ())) for group in self.groups)

    @cached_property
    def memberships(self) -> tuple[Membership, ...]:
        found: dict[Member, list[tuple[Group, tuple[str, ...]]]] = {}
        for group in self.groups:
            for member, roles in group.members.items():
                found.setdefault(member, []).append((group, tuple(roles)))
        return tuple(Membership(member, tuple(found.get(member, ()))) for member in self.members)


def _contributors(
    people: Iterable[Person], series: Iterable[SeriesSummary], of: Callable[[SeriesSummary], Iterable[Person]]
) -> tuple[Contributor, ...]:
    by_person = _grouped(series, of)
    return tuple(Contributor(person, by_person.get(person, ())) for person in people)


def _grouped(
    series: Iterable[SeriesSummary], of: Callable[[SeriesSummary], Iterable[Any]]
) -> dict[Any, tuple[SeriesSummary, ...]]:
    found: dict[Any, dict[SeriesSummary, None]] = {}
    for one in series:
        for thing in of(one):
            found.setdefault(thing, {})[one] = None
    return {thing: tuple(ones) for thing, ones in found.items()}
