"""Every URL of the site, top to bottom: the API's table of contents.

A route is a path, what there is one of it for, the shape that it answers with, and what its body is about
(`site.yaml` says for how long a cache may keep each kind). A `?` in a path is a parameter that chooses between
bodies, a `#` a body that is chosen by a key or used by the server alone.
Every path answers the same with a slash at its end. What stands in no route is a 404.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..catalog.entities import Catalog, Series
from ..catalog.records import Ages, Site
from . import docs_page as docs
from . import route_items as each
from .openapi import document
from .payloads import index, series_list, unversioned, v1, v2
from .resources import CSS, HTML, JS, JSON, NOTHING, Body, Gate, Resource
from .route_items import InSeries, Subject, Subjects

Walk = Callable[[Catalog], Subjects] | InSeries


@dataclass(frozen=True, slots=True)
class Route:
    """A template of URLs and how to fill it."""

    path: str
    for_each: Walk
    shape: Callable[[Any], Body]
    about: str
    type: str = JSON

    def resources(self, subjects: Subjects, site: Site) -> Iterator[Resource]:
        max_age = self.max_age(site)
        restricted = is_restricted(self.path, site)
        for one in subjects:
            url, shown = self.path.format(**one.names), self.shape(one.value)
            yield Resource(url, shown, max_age, restricted or one.restricted, self.type)

    def max_age(self, site: Site) -> int:
        if self.about == "index":
            return site.cache.index
        version = self.path.split("/")[2]
        family: Ages = getattr(site.cache, version, site.cache.unversioned)
        age: int = getattr(family, self.about)
        return age


@dataclass(frozen=True, slots=True)
class GateRoute:
    """A template of URLs that have no body of their own."""

    path: str
    for_each: InSeries
    status: int
    target: Callable[[Any], str] = lambda _: ""

    def gates(self, subjects: Subjects, site: Site) -> Iterator[Gate]:
        restricted = is_restricted(self.path, site)
        for one in subjects:
            url = self.path.format(**one.names)
            yield Gate(url, self.status, self.target(one.value), restricted or one.restricted)


def is_restricted(path: str, site: Site) -> bool:
    """Whether `site.yaml` puts a whole route behind a key, with all that its parameters choose."""
    return _plain(path).removeprefix("/api/v2") in site.restricted


def table(catalog: Catalog) -> Subjects:
    """The tables below, for the document that describes them."""
    yield Subject({}, document.Table(catalog, list(described(catalog.site))))


# fmt: off
ROUTES = (
    #     path                                        one for each            shape                      about
    Route("/",                                        each.once,              index.index,               "index"),

    Route("/api/authors",                             each.once,              unversioned.authors,       "people"),
    Route("/api/authors/{id}",                        each.author,            unversioned.contributor,   "people"),
    Route("/api/artists",                             each.once,              unversioned.artists,       "people"),
    Route("/api/artists/{id}",                        each.artist,            unversioned.contributor,   "people"),
    Route("/api/series",                              each.once,              unversioned.series_list,   "series"),
    Route("/api/series/{slug}",                       each.series,            unversioned.series,        "series"),
    Route("/api/series/{slug}/{volume}",              each.volume,            unversioned.volume,        "series"),
    Route("/api/series/{slug}/{volume}/{chapter}",    each.chapter,           unversioned.chapter,       "series"),
    Route("/api/releases",                            each.once,              unversioned.releases,      "releases"),

    Route("/api/v1/authors",                          each.once,              unversioned.authors,       "people"),
    Route("/api/v1/authors/{id}",                     each.author,            unversioned.contributor,   "people"),
    Route("/api/v1/artists",                          each.once,              unversioned.artists,       "people"),
    Route("/api/v1/artists/{id}",                     each.artist,            unversioned.contributor,   "people"),
    Route("/api/v1/series",                           each.once,              v1.series_list,            "series"),
    Route("/api/v1/series/{slug}",                    each.series,            v1.series,                 "series"),
    Route("/api/v1/series/{slug}/{volume}",           each.volume,            v1.volume,                 "series"),
    Route("/api/v1/series/{slug}/{volume}/{chapter}", each.chapter,           v1.chapter,                "series"),
    Route("/api/v1/releases",                         each.once,              unversioned.releases,      "releases"),
    Route("/api/v1/categories",                       each.once,              v1.categories,             "categories"),
    Route("/api/v1/groups",                           each.once,              v1.groups,                 "groups"),
    Route("/api/v1/groups/{id}",                      each.publisher,         v1.group,                  "groups"),

    Route("/api/v2/series",                           each.once,              series_list.first_page,        "series"),
    Route("/api/v2/series?sort={sort}&page={page}",   each.page_of_series,    series_list.page,              "series"),
    Route("/api/v2/series#index",                     each.once,              series_list.index,             "series"),
    Route("/api/v2/series/{slug}",                    each.listed_series,     v2.series_detail,          "series"),
    Route("/api/v2/series/{slug}/chapters",           each.chapters_of_series, v2.chapters,              "series"),
    Route("/api/v2/series/{slug}/chapters?date_format={date_format}",
                                                      each.dated_chapters_of_series, v2.chapters,        "series"),
    Route("/api/v2/chapters",                         each.every_chapter,     v2.every_chapter,          "releases"),
    Route("/api/v2/chapters?date_format={date_format}", each.dated_chapters,  v2.every_chapter,          "releases"),
    Route("/api/v2/chapters/{id}",                    each.readable_chapter,  v2.chapter,                "series"),
    Route("/api/v2/chapters/{id}/pages",              each.readable_chapter,  v2.pages,                  "series"),
    # The deprecated /pages?series=&volume=&number= finds the same bodies; this is what it answers to all others.
    Route(NOTHING,                                    each.once,              v2.no_results,             "series"),
    Route("/api/v2/categories",                       each.once,              v2.categories,             "categories"),
    Route("/api/v2/categories/{name}",                each.category,          v2.category,               "categories"),
    Route("/api/v2/authors",                          each.once,              v2.authors,                "people"),
    Route("/api/v2/authors/{id}",                     each.author_alone,      v2.person,                 "people"),
    Route("/api/v2/artists",                          each.once,              v2.artists,                "people"),
    Route("/api/v2/artists/{id}",                     each.artist_alone,      v2.person,                 "people"),
    Route("/api/v2/groups",                           each.once,              v2.groups,                 "groups"),
    Route("/api/v2/groups/{id}",                      each.group,             v2.group,                  "groups"),
    Route("/api/v2/members",                          each.once,              v2.members,                "groups"),
    Route("/api/v2/members/{id}",                     each.member,            v2.member,                 "groups"),
    Route("/api/v2/cubari/{slug}",                    each.readable_series,   v2.reader_series,          "series"),
    Route("/api/v2/bookmarks#{username}",             each.account,           v2.bookmarks,              "people"),
    Route("/api/v2/profile#{username}",               each.account,           v2.profile,                "people"),

    Route("/api/v2/openapi.json",                     table,                  document.document,          "index"),
    Route("/api/v2/docs",                             each.once,              docs.page,                 "index", HTML),
    Route("/api/v2/docs/start.js",                    each.once,              docs.start,                "index", JS),
    Route("/api/v2/docs/swagger-ui-bundle.js",        each.once,              docs.script,               "index", JS),
    Route("/api/v2/docs/swagger-ui.css",              each.once,              docs.style,                "index", CSS),
)

GATES = (
    #         path                                    one for each            status  target
    GateRoute("/api/v2/chapters/{id}/read",           each.readable_chapter,  308,    lambda one: one.path),
    GateRoute("/api/v2/chapters/{id}/read",           each.licensed_chapter,  451),
    GateRoute("/api/v2/chapters/{id}",                each.licensed_chapter,  451),
    GateRoute("/api/v2/chapters/{id}/pages",          each.licensed_chapter,  451),
    GateRoute("/api/v2/series/{slug}/chapters",       each.licensed_series,   451),
    GateRoute("/api/v2/series/{slug}/chapters?date_format={date_format}", each.dates_of_licensed_series, 451),
    GateRoute("/api/v2/cubari/{slug}",                each.licensed_series,   451),
)
# fmt: on


def resources(catalog: Catalog) -> Iterator[Resource]:
    """Everything that is about the catalog as a whole, in the order of the table."""
    for route in ROUTES:
        if not isinstance(route.for_each, InSeries):
            yield from route.resources(route.for_each(catalog), catalog.site)


def resources_of(series: Series, site: Site) -> Iterator[Resource]:
    """Everything that a series answers with a body."""
    for route in ROUTES:
        if isinstance(route.for_each, InSeries):
            yield from route.resources(route.for_each.walk(series), site)


def gates_of(series: Series, site: Site) -> Iterator[Gate]:
    """Everything that it answers without one."""
    for route in GATES:
        yield from route.gates(route.for_each.walk(series), site)


def deprecated_pages_of(series: Series) -> Iterator[tuple[str, str]]:
    """Which chapter's pages /pages?series=&volume=&number= asks for: both as keys."""
    for _, one, _ in each.readable_chapter.walk(series):
        yield f"/query/pages/{one.slug}/{one.volume or 0}/{one.number}", f"/api/v2/chapters/{one.id}/pages"


def described(site: Site) -> Iterator[document.Described]:
    """Every path once, without what chooses between its bodies, and without the parts of the page."""
    routes = {_plain(one.path): one for one in reversed(ROUTES) if one.type in (JSON, HTML)}
    for path in dict.fromkeys(_plain(one.path) for one in (*ROUTES, *GATES)):
        statuses = {gate.status for gate in GATES if gate.path == path}
        if path in routes:
            one = routes[path]
            # What belongs to somebody is given to nobody else.
            restricted = is_restricted(path, site) or "#{" in one.path
            yield document.Described(path, one.shape, one.type, statuses, restricted)
        elif statuses:
            yield document.Described(path, None, JSON, statuses, is_restricted(path, site))


def family(url: str) -> str:
    """The path of the route that a URL is of, without what chooses between its bodies."""
    found = _patterns().fullmatch(_plain(url))
    return _paths()[int(str(found.lastgroup)[1:])] if found else "others"


@cache
def _paths() -> list[str]:
    return list(dict.fromkeys(_plain(one.path) for one in (*ROUTES, *GATES)))


@cache
def _patterns() -> re.Pattern[str]:
    """All of them at once, each a group that is called after its place."""
    found = (re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path)) for path in _paths())
    return re.compile("|".join(f"(?P<r{index}>{pattern})" for index, pattern in enumerate(found)))


def _plain(path: str) -> str:
    """A path without what chooses between its bodies."""
    return path.partition("?")[0].partition("#")[0]
