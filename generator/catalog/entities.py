"""The linked catalog: references resolved, scheduled chapters removed, lists sorted, URLs made. `linking` makes it.

The payloads only arrange these values. `modified` and `published` are seconds since 1970.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from math import inf
from typing import Any, NamedTuple

from . import records, site_settings

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
        """Whether the category has a URL: its name may contain neither a slash nor the comma that separates names."""
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
    """A group; `roles` has one pair for each role of a member, `logo` is a URL."""

    record: records.Group
    logo: str | None
    roles: tuple[tuple[Member, str], ...]
    modified: int

    @property
    def members(self) -> dict[Member, list[str]]:
        """Each member with all of its roles."""
        members: dict[Member, list[str]] = {}
        for member, role in self.roles:
            members.setdefault(member, []).append(role)
        return members

    @property
    def id(self) -> int:
        return self.record.id

    @property
    def name(self) -> str:
        return self.record.name


@dataclass(frozen=True, slots=True, eq=False)
class Chapter:
    """A published chapter; `path` and `pages` are percent-encoded."""

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
        """Order of /api and /api/v1: by volume, chapters without one first, then by number."""
        return self.volume or 0, Decimal(self.number)

    @property
    def newest_first(self) -> bytes:
        """Sort key: publication, volume (none is the newest) and number, all descending; then the slug.

        As bytes, so that SQLite sorts in the same order.
        """
        volume, number = self.volume or _NO_VOLUME, int(Decimal(self.number).scaleb(4))
        descending = (_LATEST - self.published, 6), (_NO_VOLUME - volume, 4), (_HIGHEST - number, 6)
        return b"".join(value.to_bytes(width, "big") for value, width in descending) + self.slug.encode()

    @property
    def reading_order(self) -> tuple[float, Decimal]:
        """Sort key: volume (chapters without one last), then number."""
        return self.volume or inf, Decimal(self.number)


class Latest(NamedTuple):
    """The fields of a chapter that lists of releases contain."""

    title: str
    volume: int | None
    number: str
    published: int
    modified: int


@dataclass(frozen=True, eq=False)
class SeriesSummary:
    """A series without its chapters. A build holds the summaries of all series in memory."""

    slug: str
    title: str
    aliases: tuple[str, ...]
    authors: tuple[Person, ...]
    artists: tuple[Person, ...]
    categories: tuple[Category, ...]
    # The groups of its published chapters.
    groups: tuple[Group, ...]
    status: str
    licensed: bool
    restricted: bool
    # Whether the series is in /api and /api/v1, which have no access control.
    is_open: bool
    cover: str
    path: str
    url: str
    modified: int
    # The chapter published last; of several published at once, the one with the highest number.
    latest: Latest | None
    # The number of chapters with an id, which /api/v2 contains, and of those without.
    identified: int
    unidentified: int
    # Over the chapters with an id: the last publication and the sum of the views.
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
        volumes: dict[int, list[Chapter]] = {}
        for chapter in self.chapters:
            volumes.setdefault(chapter.volume or 0, []).append(chapter)
        return {volume: tuple(chapters) for volume, chapters in volumes.items()}

    @cached_property
    def identified_chapters(self) -> tuple[Chapter, ...]:
        """The chapters with an id, which /api/v2 contains."""
        return tuple(chapter for chapter in self.chapters if chapter.id is not None)

    @cached_property
    def newest_first(self) -> tuple[Chapter, ...]:
        return tuple(sorted(self.identified_chapters, key=lambda chapter: chapter.newest_first))


@dataclass(frozen=True, slots=True, eq=False)
class Membership:
    """A member, and its roles in each of its groups."""

    member: Member
    groups: tuple[tuple[Group, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Account:
    """The account that keys belong to; its bookmarks are slugs, `avatar` and `url` are URLs."""

    record: records.Account
    avatar: str | None
    url: str
    modified: int


@dataclass(frozen=True, slots=True, eq=False)
class Contributor:
    """A person, and its series in /api and /api/v1."""

    person: Person
    series: tuple[SeriesSummary, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PublishingGroup:
    """A group, and its series in /api and /api/v1."""

    group: Group
    series: tuple[SeriesSummary, ...]


@dataclass(frozen=True, eq=False)
class Catalog:
    """The whole catalog, in the order of lists: people and groups by id, series by title."""

    site: site_settings.Site
    site_modified: int
    authors: tuple[Person, ...]
    artists: tuple[Person, ...]
    categories: tuple[Category, ...]
    groups: tuple[Group, ...]
    members: tuple[Member, ...]
    accounts: tuple[Account, ...]
    # The SHA-256 of each key, with the username of its account, if it has one.
    keys: Mapping[str, str | None]
    series: tuple[SeriesSummary, ...]

    @cached_property
    def open_series(self) -> tuple[SeriesSummary, ...]:
        """The series in /api and /api/v1."""
        return tuple(series for series in self.series if series.is_open)

    @cached_property
    def listed_series(self) -> tuple[SeriesSummary, ...]:
        """The series in /api/v2: those with a chapter that has an id."""
        return tuple(series for series in self.series if series.identified)

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
        groups: dict[Member, list[tuple[Group, tuple[str, ...]]]] = {}
        for group in self.groups:
            for member, roles in group.members.items():
                groups.setdefault(member, []).append((group, tuple(roles)))
        return tuple(Membership(member, tuple(groups.get(member, ()))) for member in self.members)


def _contributors(
    people: Iterable[Person], series: Iterable[SeriesSummary], people_of: Callable[[SeriesSummary], Iterable[Person]]
) -> tuple[Contributor, ...]:
    by_person = _grouped(series, people_of)
    return tuple(Contributor(person, by_person.get(person, ())) for person in people)


def _grouped(
    all_series: Iterable[SeriesSummary], keys_of: Callable[[SeriesSummary], Iterable[Any]]
) -> dict[Any, tuple[SeriesSummary, ...]]:
    """The series of each key; a series with several keys is in several groups."""
    groups: dict[Any, dict[SeriesSummary, None]] = {}
    for series in all_series:
        for key in keys_of(series):
            groups.setdefault(key, {})[series] = None
    return {key: tuple(members) for key, members in groups.items()}
