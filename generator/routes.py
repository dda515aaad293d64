"""Every URL of the site, top to bottom: the API's table of contents.

A route is a path, what there is one of it for, the shape that it answers with, and what its body is about
(`site.yaml` says for how long a cache may keep each kind).
Every path answers the same with a slash at its end. What stands in no route is a 404.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .artifact import Resource, Shown
from .catalog import Catalog
from .model import Cache
from .payloads import index, unversioned, v1

Subjects = Iterable[tuple[dict[str, object], Any]]


def once(catalog: Catalog) -> Subjects:
    yield {}, catalog


def author(catalog: Catalog) -> Subjects:
    return (({"id": one.person.id}, one) for one in catalog.contributing_authors)


def artist(catalog: Catalog) -> Subjects:
    return (({"id": one.person.id}, one) for one in catalog.contributing_artists)


def group(catalog: Catalog) -> Subjects:
    return (({"id": one.group.id}, one) for one in catalog.publishers)


def series(catalog: Catalog) -> Subjects:
    return (({"slug": one.slug}, one) for one in catalog.open_series)


def volume(catalog: Catalog) -> Subjects:
    for one in catalog.open_series:
        for number, chapters in one.volumes.items():
            yield {"slug": one.slug, "volume": number}, chapters


def chapter(catalog: Catalog) -> Subjects:
    for one in catalog.open_series:
        for found in one.chapters:
            yield {"slug": one.slug, "volume": found.volume or 0, "chapter": found.number}, found


@dataclass(frozen=True, slots=True)
class Route:
    """A template of URLs and how to fill it."""

    path: str
    for_each: Callable[[Catalog], Subjects]
    shape: Callable[[Any], Shown]
    about: str

    def resources(self, catalog: Catalog) -> Iterator[Resource]:
        max_age = self.max_age(catalog.site.cache)
        for names, subject in self.for_each(catalog):
            yield Resource(self.path.format(**names), self.shape(subject), max_age)

    def max_age(self, cache: Cache) -> int:
        if self.about == "index":
            return cache.index
        family = cache.v1 if self.path.startswith("/api/v1/") else cache.unversioned
        age: int = getattr(family, self.about)
        return age


# fmt: off
ROUTES = (
    #     path                                        one for each  shape                      about
    Route("/",                                        once,         index.index,               "index"),

    Route("/api/authors",                             once,         unversioned.authors,       "people"),
    Route("/api/authors/{id}",                        author,       unversioned.contributor,   "people"),
    Route("/api/artists",                             once,         unversioned.artists,       "people"),
    Route("/api/artists/{id}",                        artist,       unversioned.contributor,   "people"),
    Route("/api/series",                              once,         unversioned.series_list,   "series"),
    Route("/api/series/{slug}",                       series,       unversioned.series,        "series"),
    Route("/api/series/{slug}/{volume}",              volume,       unversioned.volume,        "series"),
    Route("/api/series/{slug}/{volume}/{chapter}",    chapter,      unversioned.chapter,       "series"),
    Route("/api/releases",                            once,         unversioned.releases,      "releases"),

    Route("/api/v1/authors",                          once,         unversioned.authors,       "people"),
    Route("/api/v1/authors/{id}",                     author,       unversioned.contributor,   "people"),
    Route("/api/v1/artists",                          once,         unversioned.artists,       "people"),
    Route("/api/v1/artists/{id}",                     artist,       unversioned.contributor,   "people"),
    Route("/api/v1/series",                           once,         v1.series_list,            "series"),
    Route("/api/v1/series/{slug}",                    series,       v1.series,                 "series"),
    Route("/api/v1/series/{slug}/{volume}",           volume,       v1.volume,                 "series"),
    Route("/api/v1/series/{slug}/{volume}/{chapter}", chapter,      v1.chapter,                "series"),
    Route("/api/v1/releases",                         once,         unversioned.releases,      "releases"),
    Route("/api/v1/categories",                       once,         v1.categories,             "categories"),
    Route("/api/v1/groups",                           once,         v1.groups,                 "groups"),
    Route("/api/v1/groups/{id}",                      group,        v1.group,                  "groups"),
)
# fmt: on


def resources(catalog: Catalog) -> Iterator[Resource]:
    """Everything that the catalog answers, in the order of the table."""
    for route in ROUTES:
        yield from route.resources(catalog)
