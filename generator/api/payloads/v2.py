"""The shapes of `/api/v2`, as clients with strict decoders read them: no key is ever missing."""

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from ...catalog.entities import Account, Catalog, Category, Chapter, Group, Membership, Person, Series, SeriesSummary
from ...catalog.field_values import iso
from ...encoding import decimal, http_date, json
from ..resources import AllChapters, Body
from .last_modified import array, newest

# How `published` can be written; the first is what a client gets that does not ask.
DATE_FORMATS: dict[str, Callable[[int], str]] = {
    "iso-8601": iso,
    "rfc-5322": http_date,
    # Milliseconds as text: one client reads a string of digits and nothing else.
    "timestamp": lambda seconds: str(seconds * 1000),
}
DEFAULT_DATE_FORMAT = next(iter(DATE_FORMATS))


def results(parts: Iterable[Body], catalog: Catalog) -> Body:
    found = array(parts, catalog)
    return Body({"results": found.value}, found.last_modified)


def no_results(catalog: Catalog) -> Body:
    return results((), catalog)


# /series


# An item is part of a page in each order, and of the index.
@lru_cache(maxsize=1 << 14)
def series_item(one: SeriesSummary) -> Body:
    return Body(
        {
            "slug": one.slug,
            "title": one.title,
            "url": one.path,
            "cover": one.cover,
            "updated": iso(one.updated),
            "chapters": None if one.licensed else one.known,
        },
        max(one.modified, one.updated),
    )


def series_detail(one: Series) -> Body:
    people = (person.modified for person in one.authors + one.artists)
    genres = (genre.modified for genre in one.categories)
    return Body(
        {
            "slug": one.slug,
            "title": one.title,
            "url": one.path,
            "cover": one.cover,
            "updated": iso(one.updated),
            "description": one.description,
            "views": one.views,
            "status": one.status,
            "completed": one.completed,
            "licensed": one.licensed,
            "aliases": one.aliases,
            "authors": [person.name for person in one.authors],
            "artists": [person.name for person in one.artists],
            "categories": [genre.name for genre in one.categories],
        },
        max((one.modified, one.updated, *people, *genres)),
    )


# /chapters


# A chapter is part of two bodies and of the list of all; they are asked for one soon after the other.
@lru_cache(maxsize=4096)
def chapter(one: Chapter) -> Body:
    number = one.number if "." in one.number else f"{one.number}.0"
    return Body(
        {
            "id": one.id,
            "title": one.title,
            "number": decimal(number),
            "volume": one.volume,
            "published": iso(one.published),
            "views": one.views,
            "final": one.final,
            "series": one.slug,
            "groups": [group.name for group in one.groups],
            "full_title": one.full_title,
            "url": one.path,
        },
        max(one.modified, one.published, *(group.modified for group in one.groups)),
    )


class SeriesChapters(NamedTuple):
    """A series, and the form in which the dates of its chapters are asked for."""

    series: Series
    date_format: str = DEFAULT_DATE_FORMAT


def chapters(asked: SeriesChapters) -> Body:
    found = [chapter(one) for one in asked.series.newest_first]
    body = json({"results": [one.value for one in found]})
    return Body(convert_dates(body, asked.date_format), newest(found))


def all_chapters(date_format: str) -> Body:
    """What it shows, and since when, is known by whoever puts it together."""
    return Body(AllChapters(date_format), 0)


# What stands before a date in an encoded chapter, inside a text with backslashes; and how long the date is.
_PUBLISHED, _DATE = b'"published":"', len(iso(0))


def convert_dates(encoded: bytes, date_format: str) -> bytes:
    """Encoded chapters with their dates in another form than the one in which they are kept."""
    if date_format == DEFAULT_DATE_FORMAT:
        return encoded
    before, *dated = encoded.split(_PUBLISHED)
    return _PUBLISHED.join([before, *(_redated(one[:_DATE], date_format) + one[_DATE:] for one in dated)])


@lru_cache(maxsize=8192)
def _redated(date: bytes, date_format: str) -> bytes:
    seconds = int(datetime.fromisoformat(date.decode()).timestamp())
    return DATE_FORMATS[date_format](seconds).encode()


def pages(one: Chapter) -> Body:
    found = [
        {
            "id": page_id,
            "image": one.pages_root + page,
            "number": number,
            "url": f"{one.path}{number}/",
        }
        for number, (page_id, page) in enumerate(zip(one.page_ids, one.pages, strict=True), 1)
    ]
    return Body({"results": found}, max(one.modified, one.published))


# People, categories, groups


def categories(catalog: Catalog) -> Body:
    return results(map(category, catalog.categories), catalog)


def category(one: Category) -> Body:
    return Body({"name": one.name, "description": one.description}, one.modified)


def authors(catalog: Catalog) -> Body:
    return results(map(person, catalog.authors), catalog)


def artists(catalog: Catalog) -> Body:
    return results(map(person, catalog.artists), catalog)


def person(one: Person) -> Body:
    return Body({"id": one.id, "name": one.name}, one.modified)


def groups(catalog: Catalog) -> Body:
    return results(map(group, catalog.groups), catalog)


def group(one: Group) -> Body:
    record = one.record
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
            "logo": one.logo,
            "members": [f"{role}: {member.name}" for member, role in one.roles],
        },
        max((one.modified, *(member.modified for member, _ in one.roles))),
    )


def members(catalog: Catalog) -> Body:
    return results(map(member, catalog.memberships), catalog)


def member(one: Membership) -> Body:
    record = one.member.record
    return Body(
        {
            "id": record.id,
            "name": record.name,
            "twitter": record.twitter,
            "discord": record.discord,
            "irc": record.irc,
            "reddit": record.reddit,
            "groups": [f"{group.name} ({', '.join(roles)})" for group, roles in one.groups],
        },
        max((one.member.modified, *(group.modified for group, _ in one.groups))),
    )


# The reader format


def cubari_series(one: Series) -> Body:
    author = ", ".join(person.name for person in one.authors)
    artist = ", ".join(person.name for person in one.artists)
    ordered = sorted(one.named, key=lambda chapter: chapter.reading_order)
    people = (person.modified for person in one.authors + one.artists)
    groups = (group.modified for chapter in one.named for group in chapter.groups)
    return Body(
        {
            "title": one.title,
            "cover": one.cover,
            "original_url": one.path,
            "description": one.description,
            "author": author,
            "artist": artist,
            "alt_titles": one.aliases,
            "metadata": [["Author", author], ["Artist", artist]],
            "chapters": {str(chapter.id): cubari_chapter(chapter) for chapter in ordered},
        },
        max((one.modified, *(chapter.modified for chapter in one.named), *people, *groups)),
    )


def cubari_chapter(one: Chapter) -> dict[str, object]:
    groups = ", ".join(group.name for group in one.groups) or "N/A"
    return {
        "title": one.title,
        "volume": str(one.volume or 0),
        "number": one.number,
        "groups": {groups: [one.pages_root + page for page in one.pages]},
        "last_updated": str(one.modified),
    }


# Accounts


def bookmarks(one: Account) -> Body:
    return Body({"bookmarks": [{"series": slug} for slug in one.record.bookmarks]}, one.modified)


def profile(one: Account) -> Body:
    record = one.record
    return Body(
        {
            "username": record.username,
            "first_name": record.first_name,
            "last_name": record.last_name,
            "email": record.email,
            "bio": record.bio,
            "avatar": one.avatar,
            "url": one.url,
        },
        one.modified,
    )
