"""The bodies of `/api/v2`. Every key is always present, because some clients decode strictly."""

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from ...catalog.entities import Account, Catalog, Category, Chapter, Group, Membership, Person, Series, SeriesSummary
from ...catalog.field_values import iso
from ...encoding import decimal, http_date, json
from ..resources import AllChapters, Body, array, newest

# The formats of `published`. The first is the default.
DATE_FORMATS: dict[str, Callable[[int], str]] = {
    "iso-8601": iso,
    "rfc-5322": http_date,
    # Milliseconds as a string: one client accepts nothing else.
    "timestamp": lambda seconds: str(seconds * 1000),
}
DEFAULT_DATE_FORMAT = next(iter(DATE_FORMATS))


def results(parts: Iterable[Body], catalog: Catalog) -> Body:
    items = array(parts, catalog)
    return Body({"results": items.value}, items.last_modified)


def no_results(catalog: Catalog) -> Body:
    return results((), catalog)


# /series


# An item is part of one page in every sort order, and of the index.
@lru_cache(maxsize=1 << 14)
def series_item(series: SeriesSummary) -> Body:
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


def series_detail(series: Series) -> Body:
    people = (person.modified for person in series.authors + series.artists)
    genres = (genre.modified for genre in series.categories)
    return Body(
        {
            "slug": series.slug,
            "title": series.title,
            "url": series.path,
            "cover": series.cover,
            "updated": iso(series.updated),
            "description": series.description,
            "views": series.views,
            "status": series.status,
            "completed": series.completed,
            "licensed": series.licensed,
            "aliases": series.aliases,
            "authors": [person.name for person in series.authors],
            "artists": [person.name for person in series.artists],
            "categories": [genre.name for genre in series.categories],
        },
        max((series.modified, series.updated, *people, *genres)),
    )


# /chapters


# A chapter is part of two bodies and of the list of all chapters, which are made one after the other.
@lru_cache(maxsize=4096)
def chapter(chapter: Chapter) -> Body:
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
        max(chapter.modified, chapter.published, *(group.modified for group in chapter.groups)),
    )


class SeriesChapters(NamedTuple):
    """A series with the date format of its list of chapters."""

    series: Series
    date_format: str = DEFAULT_DATE_FORMAT


def chapters(listed: SeriesChapters) -> Body:
    items = [chapter(entity) for entity in listed.series.newest_first]
    body = json({"results": [item.value for item in items]})
    return Body(convert_dates(body, listed.date_format), newest(items))


def all_chapters(date_format: str) -> Body:
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


def pages(chapter: Chapter) -> Body:
    pages = [
        {
            "id": page_id,
            "image": chapter.pages_root + page,
            "number": number,
            "url": f"{chapter.path}{number}/",
        }
        for number, (page_id, page) in enumerate(zip(chapter.page_ids, chapter.pages, strict=True), 1)
    ]
    return Body({"results": pages}, max(chapter.modified, chapter.published))


# People, categories, groups


def categories(catalog: Catalog) -> Body:
    return results(map(category, catalog.categories), catalog)


def category(category: Category) -> Body:
    return Body({"name": category.name, "description": category.description}, category.modified)


def authors(catalog: Catalog) -> Body:
    return results(map(person, catalog.authors), catalog)


def artists(catalog: Catalog) -> Body:
    return results(map(person, catalog.artists), catalog)


def person(person: Person) -> Body:
    return Body({"id": person.id, "name": person.name}, person.modified)


def groups(catalog: Catalog) -> Body:
    return results(map(group, catalog.groups), catalog)


def group(group: Group) -> Body:
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
        max((group.modified, *(member.modified for member, _ in group.roles))),
    )


def members(catalog: Catalog) -> Body:
    return results(map(member, catalog.memberships), catalog)


def member(membership: Membership) -> Body:
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
        max((membership.member.modified, *(group.modified for group, _ in membership.groups))),
    )


# Cubari JSON


def cubari_series(series: Series) -> Body:
    author = ", ".join(person.name for person in series.authors)
    artist = ", ".join(person.name for person in series.artists)
    ordered = sorted(series.identified_chapters, key=lambda chapter: chapter.reading_order)
    people = (person.modified for person in series.authors + series.artists)
    groups = (group.modified for chapter in series.identified_chapters for group in chapter.groups)
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
        max((series.modified, *(chapter.modified for chapter in series.identified_chapters), *people, *groups)),
    )


def cubari_chapter(chapter: Chapter) -> dict[str, object]:
    groups = ", ".join(group.name for group in chapter.groups) or "N/A"
    return {
        "title": chapter.title,
        "volume": str(chapter.volume or 0),
        "number": chapter.number,
        "groups": {groups: [chapter.pages_root + page for page in chapter.pages]},
        "last_updated": str(chapter.modified),
    }


# Accounts


def bookmarks(account: Account) -> Body:
    return Body({"bookmarks": [{"series": slug} for slug in account.record.bookmarks]}, account.modified)


def profile(account: Account) -> Body:
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
