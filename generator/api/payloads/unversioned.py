"""The shapes of `/api`."""

from collections.abc import Callable
from functools import lru_cache

from ...catalog.entities import Catalog, Chapter, Contributor, Latest, Person, Series, SeriesSummary
from ...encoding import decimal, http_date
from ..resources import Body
from .last_modified import array, joined_bodies, newest


def authors(catalog: Catalog) -> Body:
    return array(map(contributor, catalog.contributing_authors), catalog)


def artists(catalog: Catalog) -> Body:
    return array(map(contributor, catalog.contributing_artists), catalog)


def contributor(one: Contributor) -> Body:
    person, works = one.person, [reference(series) for series in one.series]
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
    """A series as people and groups name it."""
    return Body({"slug": series.slug, "title": series.title, "aliases": series.aliases}, series.modified)


def series_list(catalog: Catalog) -> Body:
    return joined_bodies(f"/api/series/{one.slug}" for one in catalog.open_series)


def series(one: Series) -> Body:
    volumes = {number: volume(chapters) for number, chapters in one.volumes.items()}
    return Body(
        {
            "slug": one.slug,
            "title": one.title,
            "aliases": one.aliases,
            "url": one.url,
            "description": one.description,
            "authors": [names(person) for person in one.authors],
            "artists": [names(person) for person in one.artists],
            "cover": one.cover,
            "completed": one.completed,
            "volumes": {str(number): shown.value for number, shown in volumes.items()},
        },
        newest(volumes.values(), one.modified, *(person.modified for person in one.authors + one.artists)),
    )


def names(person: Person) -> list[str]:
    return [person.name, *person.aliases]


# A chapter is part of three bodies; they are asked for one soon after the other.
@lru_cache(maxsize=4096)
def chapter(one: Chapter) -> Body:
    return Body(
        {
            "title": one.title,
            "url": one.url,
            "pages": one.pages,
            "date": http_date(one.published),
            "final": one.final,
        },
        max(one.modified, one.published),
    )


def volume(chapters: tuple[Chapter, ...], shape: Callable[[Chapter], Body] = chapter) -> Body:
    found = {one.number: shape(one) for one in chapters}
    return Body({number: shown.value for number, shown in found.items()}, newest(found.values()))


def releases(catalog: Catalog) -> Body:
    """The latest chapter of every series that has one, newest first."""
    pairs = [(one, one.latest) for one in catalog.open_series if one.latest]
    pairs.sort(key=lambda pair: (-pair[1].published, pair[0].slug))
    return array((release(one, latest) for one, latest in pairs), catalog)


def release(one: SeriesSummary, latest: Latest) -> Body:
    return Body(
        {
            "slug": one.slug,
            "title": one.title,
            "url": one.url,
            "cover": one.cover,
            "latest_chapter": {
                "title": latest.title,
                "volume": latest.volume or 0,
                "number": decimal(latest.number),
                "date": http_date(latest.published),
            },
        },
        max(one.modified, latest.modified),
    )
