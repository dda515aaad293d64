"""The bodies of `/api/v1` that differ from those of `/api`."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, TypeAlias, TypedDict

from ...catalog.entities import Catalog, Category, Chapter, PublishingGroup, Series
from ...encoding import http_date
from . import fields, unversioned
from .resources import Body, JoinedBodies, array, joined_bodies, newest, newest_of


class _GroupOfChapter(TypedDict):
    id: fields.Id
    name: str


class V1Chapter(TypedDict):
    title: fields.Title
    full_title: fields.FullTitle
    url: fields.PageUrl
    pages_root: Annotated[
        fields.Uri, "A URL that ends with `/`. Together with a name of `pages_list`, it is the URL of an image."
    ]
    pages_list: fields.Files
    date: fields.Published
    final: fields.Final
    groups: Annotated[Sequence[_GroupOfChapter], "The groups of the chapter. Can be empty."]


# A chapter is part of three bodies, which are made one after the other.
@lru_cache(maxsize=4096)
def chapter(chapter: Chapter) -> Body[V1Chapter]:
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
        newest_of(chapter.modified, chapter.groups),
    )


V1Volume: TypeAlias = Annotated[dict[fields.Decimal, V1Chapter], "Chapters by number.", fields.Component("V1Volume")]


def volume(chapters: tuple[Chapter, ...]) -> Body[V1Volume]:
    return unversioned.by_number(chapters, chapter)


class _CategoryOfSeries(TypedDict):
    name: str
    description: fields.Paragraphs


class V1Series(TypedDict):
    slug: fields.Slug
    title: str
    aliases: fields.OtherTitles
    url: fields.PageUrl
    description: fields.Paragraphs
    authors: fields.PersonNames
    artists: fields.PersonNames
    categories: Annotated[Sequence[_CategoryOfSeries], "The categories, by id."]
    cover: fields.Image
    completed: fields.Completed
    volumes: Annotated[dict[fields.VolumeKey, V1Volume], unversioned.BY_VOLUME]


def series_list(catalog: Catalog) -> Body[Annotated[JoinedBodies, Sequence[V1Series]]]:
    return joined_bodies(f"/api/v1/series/{series.slug}" for series in catalog.open_series)


def series(series: Series) -> Body[V1Series]:
    volumes = {number: volume(chapters) for number, chapters in series.volumes.items()}
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
        newest(volumes.values(), newest_of(series.modified, series.authors, series.artists, series.categories)),
    )


class V1Category(TypedDict):
    id: Annotated[str, "Any text; can contain spaces."]
    name: str
    description: fields.Paragraphs


def categories(catalog: Catalog) -> Body[Sequence[V1Category]]:
    return array(map(category, catalog.categories), catalog)


def category(category: Category) -> Body[V1Category]:
    return Body({"id": category.id, "name": category.name, "description": category.description}, category.modified)


class _MemberOfGroup(TypedDict):
    id: fields.Id
    name: str
    roles: Annotated[Sequence[str], "The roles of the member in this group."]
    twitter: str
    discord: str


class V1Group(TypedDict):
    id: fields.Id
    name: str
    description: fields.Paragraphs
    website: str
    discord: str
    twitter: str
    logo: Annotated[str, "The URL of an image, or an empty string."]
    members: Sequence[_MemberOfGroup]
    series: Annotated[
        Sequence[unversioned.SeriesReference], "The series with a published chapter of the group, by title."
    ]


def groups(catalog: Catalog) -> Body[Sequence[V1Group]]:
    return array(map(group, catalog.publishing_groups), catalog)


def group(publisher: PublishingGroup) -> Body[V1Group]:
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
        newest(works, newest_of(publisher.group.modified, publisher.group.members)),
    )
