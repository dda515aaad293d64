"""The bodies of `/api/v2`: of each, the shape, and the function that makes it.

Every key is always present, because some clients decode strictly.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Generic, NamedTuple, TypedDict, TypeVar, cast

from ...catalog.entities import Account, Catalog, Category, Chapter, Group, Membership, Person, Series, SeriesSummary
from ...catalog.field_values import iso
from ...catalog.records import Kind, Rating, Status
from ...encoding import decimal, http_date, json
from . import fields
from .fields import Keywords
from .resources import AllChapters, Body, array, newest, newest_of

# The formats of `published`. The first is the default.
DATE_FORMATS: dict[str, Callable[[int], str]] = {
    "iso-8601": iso,
    "rfc-5322": http_date,
    # Milliseconds as a string: one client accepts nothing else.
    "timestamp": lambda seconds: str(seconds * 1000),
}
DEFAULT_DATE_FORMAT = next(iter(DATE_FORMATS))


Item = TypeVar("Item")


class _Results(TypedDict, Generic[Item]):
    """A list of bodies."""

    results: Sequence[Item]


def results(parts: Iterable[Body[Item]], catalog: Catalog) -> Body[_Results[Item]]:
    items = array(parts, catalog)
    return Body({"results": items.value}, items.last_modified)


# /series


class V2SeriesItem(TypedDict):
    slug: fields.Slug
    title: str
    url: fields.PagePath
    cover: fields.Image
    updated: Annotated[fields.Instant, "The time at which the newest chapter was published."]
    chapters: Annotated[fields.Count | None, "The number of published chapters. null for a licensed series."]


# An item is part of one page in every sort order, and of the index.
@lru_cache(maxsize=1 << 14)
def series_item(series: SeriesSummary) -> Body[V2SeriesItem]:
    return Body(
        {
            "slug": series.slug,
            "title": series.title,
            "url": series.path,
            "cover": series.cover,
            "updated": iso(series.updated),
            "chapters": None if series.licensed else series.identified,
        },
        max(series.modified, series.updated),
    )


class V2SeriesPage(TypedDict):
    total: Annotated[fields.Count, "The number of series on all pages, after filtering."]
    last: Annotated[bool, "Whether this is the last page."]
    results: Sequence[V2SeriesItem]


class V2SeriesLinks(TypedDict, total=False):
    official: Annotated[fields.Uri, "Where the publisher or the author offers the series."]
    anilist: Annotated[fields.Id, "The id on AniList."]
    mal: Annotated[fields.Id, "The id on MyAnimeList."]
    mangaupdates: Annotated[fields.ForeignId, "The id on MangaUpdates."]
    discussion: Annotated[fields.Uri, "Where readers discuss the series."]


class V2Series(TypedDict):
    slug: fields.Slug
    title: str
    url: fields.PagePath
    cover: fields.Image
    updated: Annotated[fields.Instant, "The time at which the newest chapter was published."]
    description: fields.Paragraphs
    views: Annotated[fields.Count, "The views of all chapters."]
    status: Status
    completed: Annotated[fields.Completed, "Use `status` instead.", Keywords(deprecated=True)]
    licensed: Annotated[bool, "Whether the chapters return 451."]
    aliases: fields.OtherTitles
    authors: fields.Names
    artists: fields.Names
    categories: fields.Names
    kind: Annotated[Kind | None, "null if unknown."]
    rating: Annotated[Rating | None, "For which readers the series is; null if unknown."]
    language: Annotated[
        fields.Language | None, "The language of titles and pages, as a tag of BCP 47; null if unknown."
    ]
    links: Annotated[V2SeriesLinks, "The series elsewhere. Has only what is known, so it can be empty."]


def series_detail(series: Series) -> Body[V2Series]:
    record = series.record
    return Body(
        {
            "slug": series.slug,
            "title": record.title,
            "url": series.path,
            "cover": series.cover,
            "updated": iso(series.updated),
            "description": record.description,
            "views": series.views,
            "status": record.status,
            "completed": series.completed,
            "licensed": record.licensed,
            "aliases": record.aliases,
            "authors": [person.name for person in series.authors],
            "artists": [person.name for person in series.artists],
            "categories": [genre.name for genre in series.categories],
            "kind": record.kind,
            "rating": record.rating,
            "language": series.language,
            "links": cast(V2SeriesLinks, record.links.to_values()),
        },
        newest_of(max(series.modified, series.updated), series.authors, series.artists, series.categories),
    )


# /chapters


class V2Chapter(TypedDict):
    id: Annotated[fields.Id, "Never changes, and is never used for another chapter."]
    title: fields.Title
    number: Annotated[fields.Float, "Always with a decimal point: `1.0`, `10.5`."]
    volume: Annotated[
        Annotated[fields.VolumeNumber, Keywords(minimum=1)] | None, "null for a chapter without a volume."
    ]
    published: Annotated[
        str,
        "In the format of `date_format`. Milliseconds since 1970 are a string, too.",
        Keywords(anyOf=[fields.Instant, fields.HttpDate, fields.Milliseconds]),
    ]
    views: Annotated[fields.Count, "The number of views at the last build."]
    final: fields.Final
    series: Annotated[fields.Slug, "The slug of the series."]
    groups: fields.Names
    full_title: fields.FullTitle
    url: fields.PagePath


# A chapter is part of two bodies and of the list of all chapters, which are made one after the other.
@lru_cache(maxsize=4096)
def chapter(chapter: Chapter) -> Body[V2Chapter]:
    assert chapter.id, "/api/v2 contains only chapters with an id"
    number = chapter.number if "." in chapter.number else f"{chapter.number}.0"
    return Body(
        {
            "id": chapter.id,
            "title": chapter.title,
            "number": decimal(number),
            "volume": chapter.volume,
            "published": iso(chapter.published),
            "views": chapter.views,
            "final": chapter.final,
            "series": chapter.slug,
            "groups": [group.name for group in chapter.groups],
            "full_title": chapter.full_title,
            "url": chapter.path,
        },
        newest_of(chapter.modified, chapter.groups),
    )


class SeriesChapters(NamedTuple):
    """A series with the date format of its list of chapters."""

    series: Series
    date_format: str = DEFAULT_DATE_FORMAT


def chapters(listed: SeriesChapters) -> Body[Annotated[bytes, _Results[V2Chapter]]]:
    items = [chapter(entity) for entity in listed.series.newest_first]
    body = json({"results": [item.value for item in items]})
    return Body(convert_dates(body, listed.date_format), newest(items))


def all_chapters(date_format: str) -> Body[Annotated[AllChapters, _Results[V2Chapter]]]:
    """A placeholder: the list and its date are computed when it is written."""
    return Body(AllChapters(date_format), 0)


# The start of a date in an encoded chapter, and the length of the date. A quote inside a JSON string is escaped, so no
# title can contain this start.
_PUBLISHED, _DATE_LENGTH = b'"published":"', len(iso(0))


def convert_dates(encoded: bytes, date_format: str) -> bytes:
    """Replace the default dates in encoded chapters by another format."""
    if date_format == DEFAULT_DATE_FORMAT:
        return encoded
    start, *parts = encoded.split(_PUBLISHED)
    dated = [_convert_date(part[:_DATE_LENGTH], date_format) + part[_DATE_LENGTH:] for part in parts]
    return _PUBLISHED.join([start, *dated])


@lru_cache(maxsize=8192)
def _convert_date(date: bytes, date_format: str) -> bytes:
    seconds = int(datetime.fromisoformat(date.decode()).timestamp())
    return DATE_FORMATS[date_format](seconds).encode()


class V2Page(TypedDict):
    id: Annotated[fields.Id, "Unique. Stays the same while the page keeps its chapter and its number."]
    image: fields.Image
    number: Annotated[int, Keywords(minimum=1), "From 1."]
    url: fields.PagePath


def pages(chapter: Chapter) -> Body[_Results[V2Page]]:
    pages: list[V2Page] = [
        {
            "id": page_id,
            "image": chapter.pages_root + page,
            "number": number,
            "url": f"{chapter.path}{number}/",
        }
        for number, (page_id, page) in enumerate(zip(chapter.page_ids, chapter.pages, strict=True), 1)
    ]
    return Body({"results": pages}, chapter.modified)


def no_results(catalog: Catalog) -> Body[_Results[V2Page]]:
    return Body({"results": []}, catalog.site_modified)


# People, categories, groups


class V2Category(TypedDict):
    name: str
    description: fields.Paragraphs


def categories(catalog: Catalog) -> Body[_Results[V2Category]]:
    return results(map(category, catalog.categories), catalog)


def category(category: Category) -> Body[V2Category]:
    return Body({"name": category.name, "description": category.description}, category.modified)


class V2Person(TypedDict):
    id: fields.Id
    name: str


def authors(catalog: Catalog) -> Body[_Results[V2Person]]:
    return results(map(person, catalog.authors), catalog)


def artists(catalog: Catalog) -> Body[_Results[V2Person]]:
    return results(map(person, catalog.artists), catalog)


def person(person: Person) -> Body[V2Person]:
    return Body({"id": person.id, "name": person.name}, person.modified)


class V2Group(TypedDict):
    id: fields.Id
    name: str
    website: str
    description: fields.Paragraphs
    email: str
    discord: str
    twitter: str
    reddit: str
    irc: str
    logo: fields.ImageOrNull
    members: Annotated[Sequence[str], "`Role: Name`, one for each role of a member."]


def groups(catalog: Catalog) -> Body[_Results[V2Group]]:
    return results(map(group, catalog.groups), catalog)


def group(group: Group) -> Body[V2Group]:
    record = group.record
    return Body(
        {
            "id": record.id,
            "name": record.name,
            "website": record.website,
            "description": record.description,
            "email": record.email,
            "discord": record.discord,
            "twitter": record.twitter,
            "reddit": record.reddit,
            "irc": record.irc,
            "logo": group.logo,
            "members": [f"{role}: {member.name}" for member, role in group.roles],
        },
        newest_of(group.modified, group.members),
    )


class V2Member(TypedDict):
    id: fields.Id
    name: str
    twitter: str
    discord: str
    irc: str
    reddit: str
    groups: Annotated[Sequence[str], "`Group (Role, Role)`, one for each group."]


def members(catalog: Catalog) -> Body[_Results[V2Member]]:
    return results(map(member, catalog.memberships), catalog)


def member(membership: Membership) -> Body[V2Member]:
    record = membership.member.record
    return Body(
        {
            "id": record.id,
            "name": record.name,
            "twitter": record.twitter,
            "discord": record.discord,
            "irc": record.irc,
            "reddit": record.reddit,
            "groups": [f"{group.name} ({', '.join(roles)})" for group, roles in membership.groups],
        },
        newest_of(membership.member.modified, (group for group, _ in membership.groups)),
    )


# Cubari JSON


class V2ReaderSeries(TypedDict):
    title: str
    cover: Annotated[fields.Uri, "The URL of an image.", Keywords(default="")]
    original_url: fields.PagePath
    description: Annotated[str, "Plain text. Can have several lines.", Keywords(default="")]
    author: Annotated[str, "Names, separated by commas.", Keywords(default="")]
    artist: Annotated[str, "Names, separated by commas.", Keywords(default="")]
    alt_titles: fields.OtherTitles
    metadata: Annotated[
        Sequence[Annotated[Sequence[str], Keywords(minItems=2, maxItems=2)]],
        "Pairs: `Author` and the authors, `Artist` and the artists.",
        Keywords(uniqueItems=True),
    ]
    chapters: Annotated[
        dict[fields.ChapterIdKey, "V2ReaderChapter"],
        "Chapters by id, in reading order. Those without a volume are the last.",
    ]


class V2ReaderChapter(TypedDict):
    title: fields.Title
    # The format has numbers as strings.
    volume: Annotated[
        str,
        Keywords(format="uint32", pattern="^(0|[1-9][0-9]*)$", default="0"),
        '`"0"` for a chapter without a volume.',
    ]
    number: Annotated[fields.Decimal, 'As in `"1"` and `"10.5"`.', Keywords(format="float", default="0")]
    groups: Annotated[
        dict[str, Sequence[fields.Uri]],
        "The URLs of the images, under the names of the groups, separated by commas, or `N/A`.",
        Keywords(minProperties=1, maxProperties=1),
    ]
    last_updated: Annotated[str, Keywords(format="uint64", pattern="^[0-9]*$", default=""), "Seconds since 1970."]


def cubari_series(series: Series) -> Body[V2ReaderSeries]:
    author = ", ".join(person.name for person in series.authors)
    artist = ", ".join(person.name for person in series.artists)
    ordered = sorted(series.identified_chapters, key=lambda chapter: chapter.reading_order)
    groups = (chapter.groups for chapter in ordered)
    return Body(
        {
            "title": series.title,
            "cover": series.cover,
            "original_url": series.path,
            "description": series.description,
            "author": author,
            "artist": artist,
            "alt_titles": series.aliases,
            "metadata": [["Author", author], ["Artist", artist]],
            "chapters": {str(chapter.id): cubari_chapter(chapter) for chapter in ordered},
        },
        newest_of(series.modified, ordered, series.authors, series.artists, *groups),
    )


def cubari_chapter(chapter: Chapter) -> V2ReaderChapter:
    groups = ", ".join(group.name for group in chapter.groups) or "N/A"
    return {
        "title": chapter.title,
        "volume": str(chapter.volume or 0),
        "number": chapter.number,
        "groups": {groups: [chapter.pages_root + page for page in chapter.pages]},
        "last_updated": str(chapter.modified),
    }


# Accounts


class _Bookmark(TypedDict):
    series: Annotated[fields.Slug, "The slug of the series."]


class V2Bookmarks(TypedDict):
    bookmarks: Sequence[_Bookmark]


def bookmarks(account: Account) -> Body[V2Bookmarks]:
    return Body({"bookmarks": [{"series": slug} for slug in account.record.bookmarks]}, account.modified)


class V2Profile(TypedDict):
    username: Annotated[str, "Letters and digits of any script, `@`, `.`, `+`, `-` and `_`."]
    first_name: str
    last_name: str
    email: str
    bio: fields.Paragraphs
    avatar: fields.ImageOrNull
    url: Annotated[fields.Uri, "The URL of the person's page."]


def profile(account: Account) -> Body[V2Profile]:
    record = account.record
    return Body(
        {
            "username": record.username,
            "first_name": record.first_name,
            "last_name": record.last_name,
            "email": record.email,
            "bio": record.bio,
            "avatar": account.avatar,
            "url": account.url,
        },
        account.modified,
    )
