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
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from . import route_items as each
from .opds import catalog as opds
from .pages.context import PageContext
from .payloads.resources import JSON, NAVIGATION, Body, Gate, Resource
from .route_items import InSeries, ItemSource, RouteItems


class AppRoute(NamedTuple):
    """A URL template with the items that fill it."""

    path: str
    for_each: ItemSource
    payload: Callable[[PageContext, Any], Body]
    type: str = JSON
    needs: tuple[str, ...] = ()

    def resources(self, items: RouteItems, page: PageContext) -> Iterator[Resource]:
        is_shown = all(getattr(page.visible, flag) for flag in self.needs)
        for item in items if is_shown else ():
            url, body = self.path.format(**item.parameters), self.payload(page, item.value)
            yield Resource(url, body, page.site.cache.v2.series, type=self.type)


class AppRedirect(NamedTuple):
    """A URL template whose URLs redirect to a path or a URL."""

    path: str
    for_each: InSeries
    target: Callable[[Any], str]

    def gates(self, items: RouteItems) -> Iterator[Gate]:
        return (Gate(self.path.format(**item.parameters), 302, self.target(item.value)) for item in items)


# fmt: off
BODIES = (
    #        path                                      one for each          payload                   type, needs
    AppRoute("/opds/v1.2/catalog",                     each.once,            opds.catalog,             NAVIGATION),
)

REDIRECTS = (
    #           path                                   one for each          target
    AppRedirect("/komga/series/{slug}",                each.public_series,   lambda series: series.path),
)
# fmt: on


def bodies_of(apps: Iterable[str]) -> tuple[AppRoute, ...]:
    """The rows of these apps with a body."""
    return tuple(route for route in BODIES if app(route.path) in apps)


def redirects_of(apps: Iterable[str]) -> tuple[AppRedirect, ...]:
    """The rows of these apps with a redirect."""
    return tuple(route for route in REDIRECTS if app(route.path) in apps)


def app(path: str) -> str:
    """The app that a path belongs to."""
    return path.split("/")[1]


def typed_paths(name: str) -> dict[str, list[str]]:
    """For each type of an app's bodies but JSON, patterns of its paths."""
    patterns: dict[str, list[str]] = {}
    for route in bodies_of((name,)):
        if route.type != JSON:
            patterns.setdefault(route.type, []).append(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(route.path)))
    return patterns
