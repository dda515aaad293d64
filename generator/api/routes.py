"""Every URL of the API, top to bottom.

A row of ROUTES names a path, the items that have such a URL, the function that makes the body from an item, and the
setting below `cache` in `site.yaml` that gives the max-age. A `?` in a path begins a parameter that selects the body;
a `#` marks a body that an API key selects, or that only the server reads.
A row of GATES answers with a status instead of a body. The deprecated `/api/v2/pages` is in `aliases_of`. Servers
assemble filtered lists, redirect old slugs (308) and refuse malformed numbers and parameters (400). Any other URL below
`/api` is a 404. A slash may end every path.
Pages and feeds have a table of their own, PAGES in `page_routes`; URLs of apps have theirs in `app_routes`.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..catalog.entities import Catalog, Series
from ..catalog.linking import offers_archives
from ..catalog.site_paths import APPS
from ..catalog.site_settings import Site, VersionAges
from . import docs_page as docs
from . import route_items as each
from .openapi import document
from .pages.context import PageContext
from .payloads import series_index, series_list, unversioned, v1, v2
from .payloads.resources import (
    ANY_NUMBER,
    EMPTY_RESULTS_URL,
    HTML,
    JSON,
    LOCKED_RESULTS_URL,
    SERIES_INDEX_URL,
    Alias,
    Body,
    Gate,
    Resource,
)
from .route_items import InSeries, ItemSource, RouteItem, RouteItems, ShownRoute

if TYPE_CHECKING:
    from .app_routes import AppRedirect


class Route(NamedTuple):
    """A URL template with the items that fill it."""

    path: str
    for_each: ItemSource
    payload: Callable[[Any], Body]
    max_age_setting: str
    type: str = JSON

    def resources(self, items: RouteItems, site: Site) -> Iterator[Resource]:
        max_age = self.max_age(site)
        restricted = is_restricted(self.path, site)
        for item in items:
            url, body = self.path.format(**item.parameters), self.payload(item.value)
            yield Resource(url, body, max_age, restricted or item.restricted, self.type)

    def max_age(self, site: Site) -> int:
        if self.max_age_setting == "index":
            return site.cache.index
        version = self.path.split("/")[2]
        ages: VersionAges = {"v1": site.cache.v1, "v2": site.cache.v2}.get(version, site.cache.unversioned)
        max_age: int = getattr(ages, self.max_age_setting)
        return max_age


class GateRoute(NamedTuple):
    """A URL template whose URLs have a status instead of a body."""

    path: str
    for_each: InSeries
    status: int
    target: Callable[[Any], str] = lambda _: ""

    def gates(self, items: RouteItems, site: Site) -> Iterator[Gate]:
        restricted = is_restricted(self.path, site)
        for item in items:
            url = self.path.format(**item.parameters)
            yield Gate(url, self.status, self.target(item.value), restricted or item.restricted)


def is_restricted(path: str, site: Site) -> bool:
    """Check whether `site.yaml` restricts the whole route, with every body that its parameters select."""
    return _without_selector(path).removeprefix("/api/v2") in site.restricted


def path_table(catalog: Catalog) -> RouteItems:
    """The paths of the tables below: the value from which the OpenAPI document is made."""
    yield RouteItem({}, document.PathTable(catalog, list(described_paths(catalog.site))))


# fmt: off
ROUTES: tuple[Route, ...] = (
    #     path                                        one for each              payload                  max-age setting
    Route("/index.json",                              each.once,                unversioned.index,       "index"),
    # Unless the site has pages: then it is one of them.
    Route("/",                                        each.without_pages,       unversioned.index,       "index"),

    Route("/api/authors",                             each.once,                unversioned.authors,     "people"),
    Route("/api/authors/{id}",                        each.contributing_author, unversioned.contributor, "people"),
    Route("/api/artists",                             each.once,                unversioned.artists,     "people"),
    Route("/api/artists/{id}",                        each.contributing_artist, unversioned.contributor, "people"),
    Route("/api/series",                              each.once,                unversioned.series_list, "series"),
    Route("/api/series/{slug}",                       each.open_series,         unversioned.series,      "series"),
    Route("/api/series/{slug}/{volume}",              each.open_volume,         unversioned.volume,      "series"),
    Route("/api/series/{slug}/{volume}/{chapter}",    each.open_chapter,        unversioned.chapter,     "series"),
    Route("/api/releases",                            each.once,                unversioned.releases,    "releases"),

    Route("/api/v1/authors",                          each.once,                unversioned.authors,     "people"),
    Route("/api/v1/authors/{id}",                     each.contributing_author, unversioned.contributor, "people"),
    Route("/api/v1/artists",                          each.once,                unversioned.artists,     "people"),
    Route("/api/v1/artists/{id}",                     each.contributing_artist, unversioned.contributor, "people"),
    Route("/api/v1/series",                           each.once,                v1.series_list,          "series"),
    Route("/api/v1/series/{slug}",                    each.open_series,         v1.series,               "series"),
    Route("/api/v1/series/{slug}/{volume}",           each.open_volume,         v1.volume,               "series"),
    Route("/api/v1/series/{slug}/{volume}/{chapter}", each.open_chapter,        v1.chapter,              "series"),
    Route("/api/v1/releases",                         each.once,                unversioned.releases,    "releases"),
    Route("/api/v1/categories",                       each.once,                v1.categories,           "categories"),
    Route("/api/v1/groups",                           each.once,                v1.groups,               "groups"),
    Route("/api/v1/groups/{id}",                      each.publisher,           v1.group,                "groups"),

    Route("/api/v2/series",                           each.once,                series_list.first_page,  "series"),
    Route("/api/v2/series?sort={sort}&page={page}",   each.page_of_series,      series_list.page,        "series"),
    Route(SERIES_INDEX_URL,                           each.once,                series_index.index,      "series"),
    Route("/api/v2/series/{slug}",                    each.listed_series,       v2.series_detail,        "series"),
    Route("/api/v2/series/{slug}/chapters",           each.chapters_of_series,  v2.chapters,             "series"),
    Route("/api/v2/series/{slug}/chapters?date_format={date_format}",
                                                      each.dated_chapters,      v2.chapters,             "series"),
    Route("/api/v2/chapters",                         each.default_date_format, v2.all_chapters,         "releases"),
    Route("/api/v2/chapters?date_format={date_format}",
                                                      each.other_date_format,   v2.all_chapters,         "releases"),
    Route("/api/v2/chapters/{id}",                    each.readable_chapter,    v2.chapter,              "series"),
    Route("/api/v2/chapters/{id}/pages",              each.readable_chapter,    v2.pages,                "series"),
    # Requests of the deprecated /pages?series=&volume=&number= that name no chapter.
    Route(EMPTY_RESULTS_URL,                          each.once,                v2.no_results,           "series"),
    Route(LOCKED_RESULTS_URL,                         each.with_locked_pages,   v2.no_results,           "series"),
    Route("/api/v2/categories",                       each.once,                v2.categories,           "categories"),
    Route("/api/v2/categories/{name}",                each.category,            v2.category,             "categories"),
    Route("/api/v2/authors",                          each.once,                v2.authors,              "people"),
    Route("/api/v2/authors/{id}",                     each.author,              v2.person,               "people"),
    Route("/api/v2/artists",                          each.once,                v2.artists,              "people"),
    Route("/api/v2/artists/{id}",                     each.artist,              v2.person,               "people"),
    Route("/api/v2/groups",                           each.once,                v2.groups,               "groups"),
    Route("/api/v2/groups/{id}",                      each.group,               v2.group,                "groups"),
    Route("/api/v2/members",                          each.once,                v2.members,              "groups"),
    Route("/api/v2/members/{id}",                     each.member,              v2.member,               "groups"),
    Route("/api/v2/cubari/{slug}",                    each.readable_series,     v2.cubari_series,        "series"),
    Route("/api/v2/bookmarks#{username}",             each.account,             v2.bookmarks,            "people"),
    Route("/api/v2/profile#{username}",               each.account,             v2.profile,              "people"),

    Route("/api/v2/openapi.json",                     path_table,               document.document,       "index"),
    Route("/api/v2/docs",                             each.once,                docs.page,               "index", HTML),
    *(Route(f"/api/v2/docs/{name}",                   each.once,                docs.file(name),         "index", type)
                                                      for name, type in docs.FILES.items()),
)

GATES = (
    #         path                                        one for each              status and target
    GateRoute("/api/v2/chapters/{id}/read",               each.readable_chapter,    308, lambda chapter: chapter.path),
    GateRoute("/api/v2/chapters/{id}/read",               each.licensed_chapter,    451),
    GateRoute("/api/v2/chapters/{id}",                    each.licensed_chapter,    451),
    GateRoute("/api/v2/chapters/{id}/pages",              each.licensed_chapter,    451),
    GateRoute("/api/v2/series/{slug}/chapters",           each.licensed_series,     451),
    GateRoute("/api/v2/series/{slug}/chapters?date_format={date_format}",
                                                          each.dated_licensed_series, 451),
    GateRoute("/api/v2/cubari/{slug}",                    each.licensed_series,     451),
)
# fmt: on


def resources(catalog: Catalog) -> Iterator[Resource]:
    """All resources of the API for the catalog as a whole, in the order of ROUTES."""
    for route in ROUTES:
        if not isinstance(route.for_each, InSeries):
            yield from route.resources(route.for_each(catalog), catalog.site)


def pages(catalog: Catalog, page: PageContext, position: int) -> Iterator[Resource]:
    """The pages and feeds of the catalog as a whole that one row of PAGES has."""
    route = page_routes(catalog.site)[position]
    if not isinstance(route.for_each, InSeries):
        yield from route.resources(route.for_each(catalog), page)


def apps(catalog: Catalog, page: PageContext) -> Iterator[Resource]:
    """The resources of apps for the catalog as a whole."""
    for route in app_routes(catalog.site):
        if not isinstance(route.for_each, InSeries):
            yield from route.resources(route.for_each(catalog), page)


def resources_of(series: Series, page: PageContext) -> Iterator[Resource]:
    """All resources of a series."""
    for route in ROUTES:
        if isinstance(route.for_each, InSeries):
            yield from route.resources(route.for_each.items_of(series), page.site)
    for shown in (*app_routes(page.site), *page_routes(page.site)):
        if isinstance(shown.for_each, InSeries):
            yield from shown.resources(shown.for_each.items_of(series), page)


def page_routes(site: Site) -> tuple[ShownRoute, ...]:
    """The routes of pages and feeds, if the site has any."""
    if not site.pages:
        return ()
    # Imported here: an edit of a site without pages would take longer by these 20 modules.
    from .page_routes import PAGES

    return PAGES


def app_routes(site: Site) -> tuple[ShownRoute, ...]:
    """The routes of apps with a body, if the site has any."""
    if not site.apps:
        return ()
    # Imported here, as above.
    from .app_routes import bodies_of

    return bodies_of(site.apps)


def app_redirects(site: Site) -> "tuple[AppRedirect, ...]":
    """The routes of apps with a redirect, if the site has any."""
    if not site.apps:
        return ()
    # Imported here, as above.
    from .app_routes import redirects_of

    return redirects_of(site.apps)


def gates_of(series: Series, page: PageContext) -> Iterator[Gate]:
    """All gates of a series."""
    for route in GATES:
        yield from route.gates(route.for_each.items_of(series), page.site)
    for redirect in app_redirects(page.site):
        yield from redirect.gates(redirect.for_each.items_of(series), page.visible)
    if page.site.pages and offers_archives(page.site):
        # Imported here, as above.
        from .app_routes import archive_redirects

        yield from archive_redirects(series, page.site)


def aliases_of(series: Series, site: Site) -> Iterator[Alias]:
    """The deprecated /pages?series=&volume=&number=, which answer with the pages of a chapter."""
    slugs = (series.slug, *series.formerly)
    for chapter in () if series.licensed else series.numbered_chapters:
        if chapter.id is not None:
            for slug in slugs:
                url = f"/api/v2/pages?series={slug}&volume={chapter.volume or 0}&number={chapter.number}"
                yield Alias(url, f"/api/v2/chapters/{chapter.id}/pages")
    if each.has_locked_pages(series, site):
        urls = (f"/api/v2/pages?series={slug}&volume=0&number={ANY_NUMBER}" for slug in slugs)
        yield from (Alias(url, LOCKED_RESULTS_URL) for url in urls)


def described_paths(site: Site) -> Iterator[document.PathDescription]:
    """Every path once, for the OpenAPI document.

    Without the scripts and styles of the documentation page, and without `/`, which may be a page.
    """
    routes = {_without_selector(route.path): route for route in reversed(ROUTES) if route.type in (JSON, HTML)}
    del routes["/"]
    for path in _templates():
        statuses = {gate.status for gate in GATES if gate.path == path}
        if path in routes:
            route = routes[path]
            # A body that belongs to an account always needs that account's key.
            restricted = is_restricted(path, site) or "#{" in route.path
            yield document.PathDescription(path, route.payload, route.type, statuses, restricted)
        elif statuses:
            yield document.PathDescription(path, None, JSON, statuses, is_restricted(path, site))


def route_of(url: str) -> str:
    """The path template that a URL of the API belongs to, or `others`; the name of an app; or `pages` or `feeds`."""
    paths, pattern = _paths()
    if match := pattern.fullmatch(_without_selector(url)):
        return paths[int(str(match.lastgroup)[1:])]
    if url.startswith("/api/"):
        return "others"
    if (app := url.split("/")[1]) in APPS:
        return app
    from .page_routes import family

    return family(url)


@cache
def _paths() -> tuple[list[str], re.Pattern[str]]:
    """All path templates, and one pattern of them. The group `r7` is the template at index 7."""
    paths = _templates()
    patterns = (re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path)) for path in paths)
    return paths, re.compile("|".join(f"(?P<r{index}>{pattern})" for index, pattern in enumerate(patterns)))


def _templates() -> list[str]:
    """The path of each row of ROUTES and GATES, once."""
    paths = (*(route.path for route in ROUTES), *(gate.path for gate in GATES))
    return list(dict.fromkeys(map(_without_selector, paths)))


def _without_selector(path: str) -> str:
    """The path without the `?…` or `#…` that selects a body."""
    return path.partition("?")[0].partition("#")[0]
