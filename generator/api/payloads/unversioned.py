"""The bodies of `/api`."""

from collections.abc import Callable
from functools import lru_cache

from ...catalog.chapter_fields import Latest
from ...catalog.entities import Catalog, Chapter, Contributor, Person, Series, SeriesSummary
from ...encoding import decimal, http_date
from ..resources import Body, array, joined_bodies, newest


def authors(catalog: Catalog) -> Body:
    return array(map(contributor, catalog.contributing_authors), catalog)


def artists(catalog: Catalog) -> Body:
    return array(map(contributor, catalog.contributing_artists), catalog)


def contributor(contributor: Contributor) -> Body:
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


def reference(series: SeriesSummary) -> Body:
    """A series in the list of a person or a group."""
    return Body({"slug": series.slug, "title": series.title, "aliases": series.aliases}, series.modified)


def series_list(catalog: Catalog) -> Body:
    return joined_bodies(f"/api/series/{series.slug}" for series in catalog.open_series)


def series(series: Series) -> Body:
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
        newest(volumes.values(), series.modified, *(person.modified for person in series.authors + series.artists)),
    )


def names(person: Person) -> list[str]:
    return [person.name, *person.aliases]


# A chapter is part of three bodies, which are made one after the other.
@lru_cache(maxsize=4096)
def chapter(chapter: Chapter) -> Body:
    return Body(
        {
            "title": chapter.title,
            "url": chapter.url,
            "pages": chapter.pages,
            "date": http_date(chapter.published),
            "final": chapter.final,
        },
        max(chapter.modified, chapter.published),
    )


def volume(chapters: tuple[Chapter, ...], payload: Callable[[Chapter], Body] = chapter) -> Body:
    bodies = {chapter.number: payload(chapter) for chapter in chapters}
    return Body({number: body.value for number, body in bodies.items()}, newest(bodies.values()))


def releases(catalog: Catalog) -> Body:
    """The latest chapter of every series that has one, newest first."""
    pairs = [(series, series.latest) for series in catalog.open_series if series.latest]
    pairs.sort(key=lambda pair: (-pair[1].published, pair[0].slug))
    return array((release(series, latest) for series, latest in pairs), catalog)


def release(series: SeriesSummary, latest: Latest) -> Body:
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
