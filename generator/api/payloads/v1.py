"""The bodies of `/api/v1` that differ from those of `/api`."""

from functools import lru_cache

from ...catalog.entities import Catalog, Category, Chapter, PublishingGroup, Series
from ...encoding import http_date
from ..resources import Body, array, joined_bodies, newest
from . import unversioned


def series_list(catalog: Catalog) -> Body:
    return joined_bodies(f"/api/v1/series/{series.slug}" for series in catalog.open_series)


def series(series: Series) -> Body:
    volumes = {number: volume(chapters) for number, chapters in series.volumes.items()}
    people = (person.modified for person in series.authors + series.artists)
    genres = (genre.modified for genre in series.categories)
    return Body(
        {
            "slug": series.slug,
            "title": series.title,
            "aliases": series.aliases,
            "url": series.url,
            "description": series.description,
            "authors": [unversioned.names(person) for person in series.authors],
            "artists": [unversioned.names(person) for person in series.artists],
            "categories": [{"name": genre.name, "description": genre.description} for genre in series.categories],
            "cover": series.cover,
            "completed": series.completed,
            "volumes": {str(number): body.value for number, body in volumes.items()},
        },
        newest(volumes.values(), series.modified, *people, *genres),
    )


def volume(chapters: tuple[Chapter, ...]) -> Body:
    return unversioned.volume(chapters, chapter)


# A chapter is part of three bodies, which are made one after the other.
@lru_cache(maxsize=4096)
def chapter(chapter: Chapter) -> Body:
    return Body(
        {
            "title": chapter.title,
            "full_title": chapter.full_title,
            "url": chapter.url,
            "pages_root": chapter.pages_root,
            "pages_list": chapter.pages,
            "date": http_date(chapter.published),
            "final": chapter.final,
            "groups": [{"id": group.id, "name": group.name} for group in chapter.groups],
        },
        max(chapter.modified, chapter.published, *(group.modified for group in chapter.groups)),
    )


def categories(catalog: Catalog) -> Body:
    return array(map(category, catalog.categories), catalog)


def category(category: Category) -> Body:
    return Body({"id": category.id, "name": category.name, "description": category.description}, category.modified)


def groups(catalog: Catalog) -> Body:
    return array(map(group, catalog.publishing_groups), catalog)


def group(publisher: PublishingGroup) -> Body:
    record, works = publisher.group.record, [unversioned.reference(series) for series in publisher.series]
    return Body(
        {
            "id": record.id,
            "name": record.name,
            "description": record.description,
            "website": record.website,
            "discord": record.discord,
            "twitter": record.twitter,
            "logo": publisher.group.logo or "",
            "members": [
                {
                    "id": member.id,
                    "name": member.name,
                    "roles": roles,
                    "twitter": member.record.twitter,
                    "discord": member.record.discord,
                }
                for member, roles in publisher.group.members.items()
            ],
            "series": [work.value for work in works],
        },
        newest(works, publisher.group.modified, *(member.modified for member in publisher.group.members)),
    )
