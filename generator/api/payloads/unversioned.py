"""The bodies of `/api`, and of `/index.json`."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Annotated, TypeAlias, TypedDict, TypeVar

from ...catalog.entities import Catalog, Chapter, Contributor, Latest, Person, Series, SeriesSummary
from ...encoding import decimal, http_date
from . import fields
from .resources import Body, JoinedBodies, array, joined_bodies, newest, newest_of

BY_VOLUME = "Chapters by volume and number. Volume 0 contains chapters without a volume."


class SeriesReference(TypedDict):
    slug: fields.Slug
    title: str
    aliases: fields.OtherTitles


def reference(series: SeriesSummary) -> Body[SeriesReference]:
    """A series in the list of a person or a group."""
    return Body({"slug": series.slug, "title": series.title, "aliases": series.aliases}, series.modified)


class UnversionedPerson(TypedDict):
    id: fields.Id
    name: str
    aliases: fields.OtherNames
    series: Annotated[Sequence[SeriesReference], "The series of the person, by title."]


def authors(catalog: Catalog) -> Body[Sequence[UnversionedPerson]]:
    return array(map(contributor, catalog.contributing_authors), catalog)


def artists(catalog: Catalog) -> Body[Sequence[UnversionedPerson]]:
    return array(map(contributor, catalog.contributing_artists), catalog)


def contributor(contributor: Contributor) -> Body[UnversionedPerson]:
    person, works = contributor.person, [reference(series) for series in contributor.series]
    return Body(
        {
            "id": person.id,
            "name": person.name,
            "aliases": person.aliases,
            "series": [work.value for work in works],
        },
        newest(works, person.modified),
    )


class UnversionedChapter(TypedDict):
    title: fields.Title
    url: fields.PageUrl
    pages: fields.Files
    date: fields.Published
    final: fields.Final


# A chapter is part of three bodies, which are made one after the other.
@lru_cache(maxsize=4096)
def chapter(chapter: Chapter) -> Body[UnversionedChapter]:
    return Body(
        {
            "title": chapter.title,
            "url": chapter.url,
            "pages": chapter.pages,
            "date": http_date(chapter.published),
            "final": chapter.final,
        },
        chapter.modified,
    )


UnversionedVolume: TypeAlias = Annotated[
    dict[fields.Decimal, UnversionedChapter], "Chapters by number.", fields.Component("Volume")
]


def volume(chapters: tuple[Chapter, ...]) -> Body[UnversionedVolume]:
    return by_number(chapters, chapter)


_Chapter = TypeVar("_Chapter")


def by_number(chapters: tuple[Chapter, ...], payload: Callable[[Chapter], Body[_Chapter]]) -> Body[dict[str, _Chapter]]:
    bodies = {chapter.number: payload(chapter) for chapter in chapters}
    return Body({number: body.value for number, body in bodies.items()}, newest(bodies.values()))


class UnversionedSeries(TypedDict):
    slug: fields.Slug
    title: str
    aliases: fields.OtherTitles
    url: fields.PageUrl
    description: fields.Paragraphs
    authors: fields.PersonNames
    artists: fields.PersonNames
    cover: fields.Image
    completed: fields.Completed
    volumes: Annotated[dict[fields.VolumeKey, UnversionedVolume], BY_VOLUME]


def series_list(catalog: Catalog) -> Body[Annotated[JoinedBodies, Sequence[UnversionedSeries]]]:
    return joined_bodies(f"/api/series/{series.slug}" for series in catalog.open_series)


def series(series: Series) -> Body[UnversionedSeries]:
    volumes = {number: volume(chapters) for number, chapters in series.volumes.items()}
    return Body(
        {
            "slug": series.slug,
            "title": series.title,
            "aliases": series.aliases,
            "url": series.url,
            "description": series.description,
            "authors": [names(person) for person in series.authors],
            "artists": [names(person) for person in series.artists],
            "cover": series.cover,
            "completed": series.completed,
            "volumes": {str(number): body.value for number, body in volumes.items()},
        },
        newest(volumes.values(), newest_of(series.modified, series.authors, series.artists)),
    )


def names(person: Person) -> list[str]:
    return [person.name, *person.aliases]


class _LatestChapter(TypedDict):
    title: fields.Title
    volume: Annotated[fields.VolumeNumber, "0 for a chapter without a volume."]
    number: Annotated[fields.Float, "Without a decimal point for a whole number."]
    date: fields.Published


class Release(TypedDict):
    slug: fields.Slug
    title: str
    url: fields.PageUrl
    cover: fields.Image
    latest_chapter: _LatestChapter


def releases(catalog: Catalog) -> Body[Sequence[Release]]:
    """The latest chapter of every series that has one, newest first."""
    pairs = [(series, series.latest) for series in catalog.open_series if series.latest]
    pairs.sort(key=lambda pair: (-pair[1].published, pair[0].slug))
    return array((release(series, latest) for series, latest in pairs), catalog)


def release(series: SeriesSummary, latest: Latest) -> Body[Release]:
    return Body(
        {
            "slug": series.slug,
            "title": series.title,
            "url": series.url,
            "cover": series.cover,
            "latest_chapter": {
                "title": latest.title,
                "volume": latest.volume or 0,
                "number": decimal(latest.number),
                "date": http_date(latest.published),
            },
        },
        max(series.modified, latest.modified),
    )


# /index.json, and `/` on a site without pages: the URLs of all lists, by API version

_LISTS = ("authors", "artists", "series", "releases")
_V2_LISTS = ("series", "chapters", "categories", "authors", "artists", "groups", "members")


class Index(TypedDict):
    api: Annotated[dict[str, fields.Uri], "The URLs of `authors`, `artists`, `series` and `releases`."]
    v1: Annotated[dict[str, fields.Uri], "The same, `categories` and `groups`."]
    v2: Annotated[
        dict[str, fields.Uri],
        "The URLs of `series`, `chapters`, `categories`, `authors`, `artists`, `groups` and `members`; the OpenAPI "
        "document is `openapi`.",
    ]


def index(catalog: Catalog) -> Body[Index]:
    base = catalog.site.base_url
    return Body(
        {
            "api": {name: f"{base}/api/{name}" for name in _LISTS},
            "v1": {name: f"{base}/api/v1/{name}" for name in (*_LISTS, "categories", "groups")},
            "v2": {name: f"{base}/api/v2/{name}" for name in _V2_LISTS} | {"openapi": f"{base}/api/v2/openapi.json"},
        },
        catalog.site_modified,
    )
