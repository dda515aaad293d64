"""The shapes of `/api/v1`, where they differ from those of `/api`."""

from functools import lru_cache

from ...catalog.entities import Catalog, Category, Chapter, Publisher, Series
from ...encoding import http_date
from ..resources import Body
from . import unversioned
from .last_modified import array, joined_bodies, newest


def series_list(catalog: Catalog) -> Body:
    return joined_bodies(f"/api/v1/series/{one.slug}" for one in catalog.open_series)


def series(one: Series) -> Body:
    volumes = {number: volume(chapters) for number, chapters in one.volumes.items()}
    people = (person.modified for person in one.authors + one.artists)
    genres = (genre.modified for genre in one.categories)
    return Body(
        {
            "slug": one.slug,
            "title": one.title,
            "aliases": one.aliases,
            "url": one.url,
            "description": one.description,
            "authors": [unversioned.names(person) for person in one.authors],
            "artists": [unversioned.names(person) for person in one.artists],
            "categories": [{"name": genre.name, "description": genre.description} for genre in one.categories],
            "cover": one.cover,
            "completed": one.completed,
            "volumes": {str(number): shown.value for number, shown in volumes.items()},
        },
        newest(volumes.values(), one.modified, *people, *genres),
    )


def volume(chapters: tuple[Chapter, ...]) -> Body:
    return unversioned.volume(chapters, chapter)


# A chapter is part of three bodies; they are asked for one soon after the other.
@lru_cache(maxsize=4096)
def chapter(one: Chapter) -> Body:
    return Body(
        {
            "title": one.title,
            "full_title": one.full_title,
            "url": one.url,
            "pages_root": one.pages_root,
            "pages_list": one.pages,
            "date": http_date(one.published),
            "final": one.final,
            "groups": [{"id": group.id, "name": group.name} for group in one.groups],
        },
        max(one.modified, one.published, *(group.modified for group in one.groups)),
    )


def categories(catalog: Catalog) -> Body:
    return array(map(category, catalog.categories), catalog)


def category(one: Category) -> Body:
    return Body({"id": one.id, "name": one.name, "description": one.description}, one.modified)


def groups(catalog: Catalog) -> Body:
    return array(map(group, catalog.publishers), catalog)


def group(one: Publisher) -> Body:
    record, works = one.group.record, [unversioned.reference(series) for series in one.series]
    return Body(
        {
            "id": record.id,
            "name": record.name,
            "description": record.description,
            "website": record.website,
            "discord": record.discord,
            "twitter": record.twitter,
            "logo": one.group.logo or "",
            "members": [
                {
                    "id": member.id,
                    "name": member.name,
                    "roles": roles,
                    "twitter": member.record.twitter,
                    "discord": member.record.discord,
                }
                for member, roles in one.group.members.items()
            ],
            "series": [work.value for work in works],
        },
        newest(works, one.group.modified, *(member.modified for member in one.group.members)),
    )
