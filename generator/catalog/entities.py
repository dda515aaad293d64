"""The linked catalog: references resolved, scheduled chapters removed, lists sorted, URLs made. `linking` makes it.

That of a preview has scheduled chapters. Payloads arrange these values. `modified` and `published` are Unix times.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import chain, groupby, repeat
from math import inf
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

from . import records, site_settings
from .field_values import default_title
from .theme_files import NO_THEME, ThemeFiles

# The fields of chapters that the summary of a series keeps, and functions that sort and choose chapters

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
    page_path: str
    published: int
    modified: int
    # The ids of its groups.
    groups: tuple[int, ...]
    # See `Chapter`.
    is_later_version: bool
    newest_first: str
    # In a preview.
    scheduled: bool = False


class OpdsChapter(NamedTuple):
    """The fields of a chapter in lists of OPDS."""

    id: int
    heading: str
    path: str
    page_path: str
    published: int
    modified: int
    # See `Chapter`.
    is_later_version: bool
    # The names of the groups of a chapter that shares its number.
    groups: tuple[str, ...]
    newest_first: str
    # The number of its pages, and the type of the first; "" if that of a page is not known.
    pages: int
    image_type: str
    # Whether all pages have one of the formats that apps of OPDS 1.2 stream.
    streamed: bool
    archive: "Archive | None"
    # Whether another chapter of the series has the same heading, and whether one has the same groups, too.
    shares_heading: bool
    shares_title: bool

    @property
    def is_in_1_2(self) -> bool:
        """Whether OPDS 1.2 has a link for it."""
        return self.streamed or self.archive is not None

    @property
    def is_in_2_0(self) -> bool:
        """Whether it has a Divina manifest, which names the type of each page."""
        return self.image_type != ""


# A chapter needs its key for each order that it is part of.
@lru_cache(maxsize=4096)
def _newest_first_key(published: int, volume: int | None, number: str, slug: str, id: int | None) -> bytes:
    """See `Chapter.newest_first`. As bytes, whose order is that of the chapters, newest first."""
    numbers = volume or _NO_VOLUME, int(Decimal(number).scaleb(4))
    descending = (_LATEST - published, 6), (_NO_VOLUME - numbers[0], 4), (_HIGHEST - numbers[1], 6)
    before, after = b"".join(value.to_bytes(width, "big") for value, width in descending), slug.encode()
    return before + after + (_HIGHEST_ID - (id or 0)).to_bytes(5, "big")


class Numbered(Protocol):
    @property
    def id(self) -> int | None: ...
    @property
    def volume(self) -> int | None: ...
    @property
    def number(self) -> str: ...


_Chapter = TypeVar("_Chapter", bound=Numbered)


def one_per_number(chapters: Iterable[_Chapter]) -> tuple[_Chapter, ...]:
    """The chapters of URLs with a number. Of ordered chapters that share one, it is the last: the highest id."""
    return tuple({(chapter.volume, chapter.number): chapter for chapter in chapters}.values())


# Width and height in pixels.
PageSize: TypeAlias = tuple[int, int]


class Archive(NamedTuple):
    """A chapter as one file: its path below the media root, its bytes, and a digest of its content."""

    path: str
    size: int
    digest: str


class Variants(NamedTuple):
    """The widths of the smaller copies of an image, in ascending order, and the width of the image itself."""

    widths: tuple[int, ...]
    image: int


# A file name has 255 bytes: an id, a dot, an ETag, and a suffix such as `.html.headers`.
_LONGEST_ID = 200


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

    @property
    def has_page(self) -> bool:
        """Whether the category has a page: its id is one segment of a path, and can be the name of a folder."""
        return "/" not in self.id and self.id != "index.html" and len(self.id.encode()) <= _LONGEST_ID


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
    """A published chapter, in a preview also a scheduled one; paths and `pages` are percent-encoded.

    `path` is that of its number, and `page_path` that of its own page: the same, unless a chapter with a higher id has
    the same number. Then it is below the path of the number, or empty if this chapter has no id.
    """

    id: int | None
    slug: str
    volume: int | None
    number: str
    title: str
    full_title: str
    path: str
    page_path: str
    url: str
    pages_root: str
    pages: tuple[str, ...]
    page_ids: Sequence[int]
    published: int
    final: bool
    groups: tuple[Group, ...]
    views: int
    # At least `published`.
    modified: int
    # Whether another published chapter has the same volume and number, and whether one of them was published before.
    shares_number: bool = False
    is_later_version: bool = False
    scheduled: bool = False
    # Of each page, None if unknown; empty if sizes.yaml has no sizes of these pages.
    sizes: tuple[PageSize | None, ...] = ()
    # Of each page, None if it has none; empty if no page has some.
    variants: tuple[Variants | None, ...] = ()
    # Only of a chapter that all readers get, on a site whose `apps` has archives.
    archive: Archive | None = None

    @property
    def heading(self) -> str:
        """The full title for people: if that of the series is blank, in the default form."""
        return self.full_title if self.full_title.strip() else default_title(self.volume, self.number, self.title)

    @property
    def order(self) -> tuple[int, Decimal, int]:
        """Order of /api and /api/v1: by volume (none first), number, and id (none first)."""
        return self.volume or 0, Decimal(self.number), self.id or 0

    @property
    def newest_first(self) -> bytes:
        """Sort key: publication, volume (none is the newest) and number, all descending; slug; id, descending."""
        return _newest_first_key(self.published, self.volume, self.number, self.slug, self.id)

    @property
    def reading_order(self) -> tuple[float, Decimal]:
        """Sort key: volume (chapters without one last), then number."""
        return self.volume or inf, Decimal(self.number)


@dataclass(frozen=True, eq=False)
class SeriesSummary:
    """A series without its chapters; `formerly` are its old slugs. A build holds all summaries in memory."""

    slug: str
    formerly: tuple[str, ...]
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
    # Whether pages and feeds show its chapters: it is neither licensed nor restricted. A preview shows restricted ones.
    shows_chapters: bool
    # Whether the series is in /api and /api/v1, which have no access control.
    is_open: bool
    cover: str
    cover_variants: Variants | None
    path: str
    url: str
    modified: int
    # Of the chapters of URLs with a number, the one published last; of several published at once, the highest number.
    latest: Latest | None
    # The number of chapters with an id, which /api/v2 contains, and of those without.
    identified: int
    unidentified: int
    # Whether the series is in /api/v2: it has a chapter with an id, or it is licensed and has `updated` in its file.
    is_listed: bool
    # Over the chapters with an id: the last publication and the sum of the views. A later `updated` of the file wins.
    updated: int
    views: int
    # For pages and feeds:
    description: str
    direction: str
    kind: str | None
    rating: str | None
    layout: str
    # Of the series, or of the site; None if neither has one.
    language: str | None
    # The first publication of a chapter; 0 without chapters.
    since: int
    # The newest chapters of the series and of each of its groups, newest first; empty if no pages show them.
    recent: tuple[RecentChapter, ...]
    # The origins of its images, scheme and host: of the cover and of its pages.
    image_origins: tuple[str, ...]
    # For OPDS: the newest chapters in lists of 1.2, newest first, and the number of chapters in 1.2 and in 2.0; empty
    # if the site has no OPDS, or its readers need a key or a shop.
    newest_in_opds: tuple[OpdsChapter, ...]
    opds_counts: tuple[int, int]

    @property
    def is_in_lists(self) -> bool:
        """Whether pages list the series: /api/v2 lists it, or it has a chapter in /api and /api/v1, or in a preview."""
        return self.is_listed or ((self.is_open or self.shows_chapters) and self.latest is not None)

    @property
    def has_page(self) -> bool:
        """Whether the series has a page: pages list it, or /api and /api/v1 tell its URL, also without a chapter."""
        return self.is_in_lists or self.is_open

    @property
    def is_public(self) -> bool:
        """Whether the series is in apps, which have no API keys: it has a chapter with an id, and all may read it."""
        return bool(self.identified) and not self.licensed and not self.restricted


@dataclass(frozen=True, eq=False)
class Series(SeriesSummary):
    """A series with its published chapters, in the order of their volumes, numbers and ids.

    Its own bodies also have fields of `record`. Other lists are made from summaries, which have no record.
    """

    record: records.Series
    chapters: tuple[Chapter, ...]

    @property
    def completed(self) -> bool:
        return self.status in ("completed", "canceled")

    @cached_property
    def numbered_chapters(self) -> tuple[Chapter, ...]:
        return one_per_number(self.chapters)

    @cached_property
    def volumes(self) -> dict[int, tuple[Chapter, ...]]:
        """The chapters of URLs with a number by volume; 0 holds those without one."""
        return grouped(self.numbered_chapters, lambda chapter: (chapter.volume or 0,))

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
    theme: ThemeFiles = NO_THEME

    @cached_property
    def open_series(self) -> tuple[SeriesSummary, ...]:
        """The series in /api and /api/v1."""
        return tuple(series for series in self.series if series.is_open)

    @cached_property
    def listed_series(self) -> tuple[SeriesSummary, ...]:
        """The series in /api/v2."""
        return tuple(series for series in self.series if series.is_listed)

    @cached_property
    def shown_series(self) -> tuple[SeriesSummary, ...]:
        """The series in lists of pages."""
        return tuple(series for series in self.series if series.is_in_lists)

    @cached_property
    def contributing_authors(self) -> tuple[Contributor, ...]:
        return _contributors(self.authors, self.open_series, lambda series: series.authors)

    @cached_property
    def contributing_artists(self) -> tuple[Contributor, ...]:
        return _contributors(self.artists, self.open_series, lambda series: series.artists)

    @cached_property
    def publishing_groups(self) -> tuple[PublishingGroup, ...]:
        by_group = grouped(self.open_series, lambda series: series.groups)
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
    by_person = grouped(series, people_of)
    return tuple(Contributor(person, by_person.get(person, ())) for person in people)


_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value", bound=Hashable)


def grouped(values: Iterable[_Value], keys_of: Callable[[_Value], Iterable[_Key]]) -> dict[_Key, tuple[_Value, ...]]:
    """The values of each key, each once, in their order. A value may have several keys."""
    groups: dict[_Key, dict[_Value, None]] = {}
    for value in values:
        for key in keys_of(value):
            groups.setdefault(key, {})[value] = None
    return {key: tuple(members) for key, members in groups.items()}


# `sizes.yaml` has the sizes of the pages of a chapter as one text: `784x1145*23 - 1568x1145`. `*23` repeats a
# size for 23 pages; `-` is a page whose size is not known.

# The largest width and height that a text can contain.
MAX_PIXELS = 999_999
_UNKNOWN = "-"


def page_sizes(text: str, count: int) -> tuple[PageSize | None, ...]:
    """Return the sizes of a checked text; empty if the number of pages is not `count`."""
    runs = [run.partition("*")[::2] for run in text.split()]
    # Counted first: a short text can have billions of pages.
    if sum(int(times or 1) for _, times in runs) != count:
        return ()
    return tuple(chain.from_iterable(repeat(_size(size), int(times or 1)) for size, times in runs))


def sizes_text(sizes: Sequence[PageSize | None]) -> str:
    """Return the text of sizes."""
    runs = [(size, len(list(run))) for size, run in groupby(map(_size_text, sizes))]
    return " ".join(size if count == 1 else f"{size}*{count}" for size, count in runs)


def _size(text: str) -> PageSize | None:
    width, _, height = text.partition("x")
    return None if text == _UNKNOWN else (int(width), int(height))


def _size_text(size: PageSize | None) -> str:
    return f"{size[0]}x{size[1]}" if size and max(size) <= MAX_PIXELS else _UNKNOWN


# `variants.yaml` has the copies of an image as one text: `160 320 of 800, 0123456789abcdef`. The digest tells
# `media variants` whether the image has changed since.


def variants(text: str | None) -> Variants | None:
    """Return the copies of a checked text; None if there are none."""
    widths, _, image = (text or "").partition("of ")
    return Variants(tuple(map(int, widths.split())), int(image.partition(",")[0])) if widths else None


# `archives.yaml` has the archive of a chapter as one text: `archives/paper-moons/1/10.5.cbz 1234567 0123456789abcdef`.
# The path alone is that of an archive whose writing was interrupted.


def archive_path(text: str) -> str:
    """Return the path of a checked text, whether the archive is complete or not."""
    return text.partition(" ")[0]


def archive(text: str) -> Archive | None:
    """Return the archive of a checked text; None if it is not complete."""
    path, *rest = text.split(" ")
    return Archive(path, int(rest[0]), rest[1]) if rest else None
