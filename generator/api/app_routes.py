"""Every URL of apps, which a site has with `apps` in `site.yaml`: OPDS in `/opds`, the read calls of Komga in `/komga`.

A row of BODIES is one of ROUTES in `routes`, with the page context as first argument of the function. Its first segment
is the app that it belongs to, and the max-age is that of series in `/api/v2`. A row with flags of `visibility.Visible`
needs all of them: without one, its URLs are 404s.
A row of REDIRECTS answers with 302 and a URL: 308 is unknown to some apps.

No API key is looked at below these paths, so they have only what is public: the items are those of `route_items` whose
names begin with `public`.

Servers answer these from bodies of `/api/v2` (`generator/javascript/core/app_calls.js`); they also redirect old slugs.

    /opds/v1.2/pages/{id}/{index}              302 to an image of /api/v2/chapters/{id}/pages
    /komga/api/v1/books/{id}/pages/{number}    the same
    /komga/api/v1/books/{id}/thumbnail         the same, to the first
    /komga/api/v1/books/{id}/pages             the images as Komga lists them
    /komga/book/{id}                           302 as /api/v2/chapters/{id}/read.

`archive_redirects` has the only URLs of apps below other paths, on a site with pages.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from ..catalog.entities import Series
from ..catalog.linking import media_root
from ..catalog.site_settings import Site
from . import route_items as each
from .komga import lists as komga
from .komga import series as books
from .opds import atom, json_feeds, lists
from .opds.lists import CATEGORIES, CATEGORY, GROUP, GROUPS, LATEST, LISTS, READ, ListPage
from .pages.context import PageContext
from .pages.values import own_path
from .pages.visibility import Visible
from .payloads.resources import ACQUISITION, DIVINA, JSON, NAVIGATION, OPDS, Body, Gate
from .route_items import InSeries, ItemSource, RouteItem, RouteItems, ShownRoute


class AppRedirect(NamedTuple):
    """A URL template whose URLs redirect to a path or a URL."""

    path: str
    for_each: InSeries
    target: Callable[[Any], str]
    needs: tuple[str, ...] = ()

    def gates(self, items: RouteItems, shown: Visible) -> Iterator[Gate]:
        items = items if shown.has(self.needs) else ()
        return (Gate(self.path.format(**item.parameters), 302, self.target(item.value)) for item in items)


# The parts of `visibility.Visible` that series of Komga and their list need.
KOMGA = (*READ, "details")
KOMGA_LISTS = (*LISTS, "details")


def _paged(
    version: str,
    path: str,
    pages: Callable[[Any], lists.Pages],
    payload: Callable[[PageContext, Any], Body],
    type: str,
    needs: tuple[str, ...],
) -> tuple[ShownRoute, ShownRoute]:
    """The first page of a list, and the others; a list is of the catalog, or of the series that the path names."""

    def only(condition: Callable[[ListPage], bool]) -> ItemSource:
        def items(source: Any) -> RouteItems:
            return (RouteItem(parameters, page) for parameters, page in pages(source) if condition(page))

        return InSeries(items) if "{slug}" in path else items

    first, others = only(lambda page: page.number == 1), only(lambda page: page.number > 1)
    return (
        ShownRoute(version + path, first, payload, type, needs),
        ShownRoute(f"{version}/page/{{page}}{path}", others, payload, type, needs),
    )


@InSeries
def each_manifest(series: Series) -> RouteItems:
    """The chapters of OPDS 2.0, each with its series."""
    chapters = (chapter for chapter in lists.public_chapters(series) if chapter.summary.is_in_2_0)
    return (RouteItem({"id": chapter.summary.id}, (series, chapter)) for chapter in chapters)


@InSeries
def each_book(series: Series) -> RouteItems:
    if series.is_public:
        yield from (RouteItem({"id": book.chapter.id}, book) for book in books.books(series))


# fmt: off
BODIES = (
    #        path                                   one for each           payload              type, needs
    ShownRoute("/opds/v1.2/catalog",                each.once,             atom.catalog,        NAVIGATION),
    ShownRoute("/opds/v1.2/new",                    each.once,             atom.new,            ACQUISITION, LATEST),
    *_paged("/opds/v1.2", "/series",                lists.all_series,      atom.series_list,    NAVIGATION, LISTS),
    *_paged("/opds/v1.2", "/series/{slug}",         lists.chapters_in_1_2, atom.chapters,       ACQUISITION, READ),
    *_paged("/opds/v1.2", "/categories",            lists.categories,      atom.categories,     NAVIGATION, CATEGORIES),
    *_paged("/opds/v1.2", "/categories/{category}", lists.in_category,     atom.series_list,    NAVIGATION, CATEGORY),
    *_paged("/opds/v1.2", "/groups",                lists.groups,          atom.groups,         NAVIGATION, GROUPS),
    *_paged("/opds/v1.2", "/groups/{id}",           lists.of_group,        atom.series_list,    NAVIGATION, GROUP),
    *_paged("/opds/v2", "/catalog",                 lists.whole_catalog,   json_feeds.catalog,  OPDS, LISTS),
    *_paged("/opds/v2", "/series/{slug}",           lists.chapters_in_2_0, json_feeds.chapters, OPDS, READ),
    ShownRoute("/opds/v2/chapters/{id}/manifest",   each_manifest,         json_feeds.manifest, DIVINA, READ),

    # With a query, servers divide and search it: `generator/javascript/core/komga_list.js`.
    ShownRoute("/komga/api/v1/series",              each.once,             komga.all_series,    JSON, KOMGA_LISTS),
    ShownRoute("/komga/api/v1/series/{slug}",       each.public_series,    books.series,        JSON, KOMGA),
    ShownRoute("/komga/api/v1/series/{slug}/books", each.public_series,    books.books_of_series, JSON, KOMGA),
    ShownRoute("/komga/api/v1/books/{id}",          each_book,             books.book,          JSON, KOMGA),
    ShownRoute("/komga/api/v1/books",               each.once,             komga.nothing),
    ShownRoute("/komga/api/v1/readlists",           each.once,             komga.nothing),
    ShownRoute("/komga/api/v1/collections",         each.once,             komga.nothing),
    ShownRoute("/komga/api/v1/libraries",           each.once,             komga.libraries),
    ShownRoute("/komga/api/v1/genres",              each.once,             komga.genres),
    ShownRoute("/komga/api/v1/tags",                each.once,             komga.tags),
    ShownRoute("/komga/api/v1/publishers",          each.once,             komga.publishers),
    ShownRoute("/komga/api/v1/authors",             each.once,             komga.authors),
)

REDIRECTS = (
    #           path                                   one for each          target
    AppRedirect("/komga/series/{slug}",             each.public_series,    lambda series: series.path),
    AppRedirect("/komga/api/v1/series/{slug}/thumbnail", each.public_series, lambda series: series.cover, KOMGA),
)
# fmt: on


def bodies_of(apps: Iterable[str]) -> tuple[ShownRoute, ...]:
    """The rows of these apps with a body."""
    return tuple(route for route in BODIES if app(route.path) in apps)


def redirects_of(apps: Iterable[str]) -> tuple[AppRedirect, ...]:
    """The rows of these apps with a redirect."""
    return tuple(route for route in REDIRECTS if app(route.path) in apps)


def app(path: str) -> str:
    """The app that a path belongs to."""
    return path.split("/")[1]


def archive_redirects(series: Series, site: Site) -> Iterator[Gate]:
    """The paths that archives had in the old service, below the pages of chapters."""
    root = own_path(media_root(site), site.base_url)
    for chapter in series.numbered_chapters:
        if chapter.archive:
            yield Gate(f"{chapter.path.removesuffix('/')}.cbz", 302, root + chapter.archive.path)


def typed_paths(name: str) -> dict[str, list[str]]:
    """For each type of an app's bodies but JSON, patterns of its paths."""
    patterns: dict[str, list[str]] = {}
    for route in bodies_of((name,)):
        if route.type != JSON:
            patterns.setdefault(route.type, []).append(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(route.path)))
    return patterns
