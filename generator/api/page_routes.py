"""Every URL of pages and feeds, which a site has with `pages: true` in `site.yaml`.

A row of PAGES names a path, the items that have such a URL, and the function that makes the body from an item. The
max-age is the setting `pages` below `cache`. `{reader}` is the setting of that name. A row with flags of
`visibility.Visible` needs all of them: without one, its URLs are 404s.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..catalog.entities import Catalog
from . import page_items as page_of
from . import route_items as each
from .feeds import items as feed_of
from .feeds import opensearch, sitemaps
from .feeds import payloads as feeds
from .feeds.entries import Feed
from .feeds.formats import FORMATS
from .pages import chapter_pages, lists, people, search, series_pages, site_files
from .pages.context import PageContext
from .resources import CSS, HTML, JS, JSON, OPENSEARCH, SVG, TEXT, XML, Body, Resource
from .route_items import InSeries, ItemSource, RouteItem, RouteItems
from .visibility import Visible, visible

# Pages that search engines need not have.
UNLISTED = frozenset(("/404/",))
# All but the index of titles, which the search page reads.
_FOR_PROGRAMS = re.compile(r"(?<!/search/titles)\.(?:atom|rss|json|xml|txt)$")


@dataclass(frozen=True, slots=True)
class PageRoute:
    """A URL template of a page or a feed, with the items that fill it."""

    path: str
    for_each: ItemSource
    payload: Callable[[PageContext, Any], Body]
    type: str = HTML
    needs: tuple[str, ...] = ()

    def resources(self, items: RouteItems, page: PageContext) -> Iterator[Resource]:
        # Without these parts, only an API key tells that the series exists.
        without = not (page.visible.library or page.visible.details)
        for item in items if self.is_shown(page.visible) else ():
            if item.restricted and without:
                continue
            url = self.url(item, page.site.reader)
            yield Resource(url, self.payload(page, item.value), page.site.cache.pages, type=self.type)

    def url(self, item: RouteItem, reader: str) -> str:
        return self.path.format(reader=reader, **item.parameters)

    def is_shown(self, visible: Visible) -> bool:
        return all(getattr(visible, flag) for flag in self.needs)


def _page(path: str, for_each: ItemSource, payload: Callable[[PageContext, Any], Body], *needs: str) -> PageRoute:
    return PageRoute(path, for_each, payload, needs=needs)


def _feed(
    path: str, for_each: ItemSource, feed: Callable[[PageContext, Any], Feed], *needs: str
) -> Iterator[PageRoute]:
    """The same feed in each format."""
    for format, (type, _) in FORMATS.items():
        yield PageRoute(f"{path}.{format}", for_each, feeds.written_as(format, feed), type, needs)


def catalog_with_sitemaps(catalog: Catalog) -> RouteItems:
    yield RouteItem({}, (catalog, _sitemaps(catalog)))


def sitemap(catalog: Catalog) -> RouteItems:
    return (RouteItem({"number": number}, file) for number, file in enumerate(_sitemaps(catalog).files, 1))


def first_sitemap_index(catalog: Catalog) -> RouteItems:
    yield RouteItem({}, _sitemaps(catalog).indexes[0])


def other_sitemap_index(catalog: Catalog) -> RouteItems:
    return (RouteItem({"number": number}, file) for number, file in enumerate(_sitemaps(catalog).indexes[1:], 2))


# Several rows need them.
@lru_cache(maxsize=1)
def _sitemaps(catalog: Catalog) -> sitemaps.Sitemaps:
    return sitemaps.sitemaps(catalog, _listed_paths(catalog))


def _listed_paths(catalog: Catalog) -> Iterator[str]:
    """The paths of the pages of the whole catalog."""
    shown = visible(catalog.site.restricted)
    for route in PAGES:
        is_listed = route.type == HTML and route.path not in UNLISTED and route.is_shown(shown)
        if is_listed and not isinstance(route.for_each, InSeries):
            yield from (route.url(item, catalog.site.reader) for item in route.for_each(catalog))


def family(url: str) -> str:
    """Whether a URL outside of the API is one of the `pages`, or of the `feeds`, which are made for programs."""
    return "feeds" if _FOR_PROGRAMS.search(url) else "pages"


# fmt: off
PAGES: tuple[PageRoute, ...] = (
    #     path                                one for each            payload                needs
    _page("/",                                each.once,              lists.home),
    _page("{reader}",                         page_of.library,        lists.library,         "library"),
    _page("/library/{page}/",                 page_of.other_library,  lists.library,         "library"),
    _page("/library/{status}/",               page_of.status,         lists.with_status,     "library", "details"),
    _page("/library/{status}/{page}/",        page_of.other_status,   lists.with_status,     "library", "details"),
    _page("{reader}{slug}/",                  page_of.series,         series_pages.series),
    _page("{reader}{slug}/{volume}/{chapter}/", page_of.chapter,     chapter_pages.chapter, "chapter"),
    _page("{reader}{slug}/{volume}/{chapter}/", page_of.licensed_chapter, series_pages.licensed_chapter, "chapter"),
    _page("{reader}{slug}/{volume}/{chapter}/version-{id}/",
                                              page_of.version,        chapter_pages.chapter, "chapter", "chapters"),
    _page("/latest/",                         each.once,              lists.latest,          "latest"),
    _page("/categories/",                     each.once,              lists.categories,      "categories"),
    _page("/categories/{category}/",          page_of.category,       lists.category,        "category"),
    _page("/categories/{category}/{page}/",   page_of.other_category, lists.category,        "category", "library",
                                                                                             "details"),
    _page("/authors/",                        each.once,              people.authors,        "authors"),
    _page("/authors/{id}/",                   page_of.author,         people.author,         "author"),
    _page("/artists/",                        each.once,              people.artists,        "artists"),
    _page("/artists/{id}/",                   page_of.artist,         people.artist,         "artist"),
    _page("/groups/",                         each.once,              people.groups,         "groups"),
    _page("/groups/{id}/",                    page_of.group,          people.group,          "group"),
    _page("/search/",                         each.once,              search.search,         "library"),
    _page("/{name}/",                         page_of.own_page,       site_files.own_page),
    _page("/404/",                            each.once,              site_files.error),
    PageRoute("/search/titles.json",          each.once,              search.titles,         JSON, ("library",)),
    PageRoute("/assets/style.css",            each.once,              site_files.style,      CSS),
    PageRoute("/assets/reader.js",            each.once,              site_files.reader,     JS),
    PageRoute("/assets/search.js",            each.once,              site_files.search,     JS),
    PageRoute("/assets/icon.svg",             each.once,              site_files.icon,       SVG),

    *_feed("/releases",                               each.once,                     feeds.releases, "latest"),
    *_feed("/library",                                each.once,                     feeds.library, "library"),
    *_feed("{reader}{slug}",                          feed_of.series,                feeds.series),
    *_feed("/groups/{id}",                            feed_of.group,                 feeds.group, "group", "latest",
                                                                                     "chapters"),

    PageRoute("/robots.txt",                          catalog_with_sitemaps,         sitemaps.robots, TEXT),
    PageRoute("/sitemap.xml",                         first_sitemap_index,           sitemaps.index, XML),
    PageRoute("/sitemaps/index-{number}.xml",         other_sitemap_index,           sitemaps.index, XML),
    PageRoute("/sitemaps/{number}.xml",               sitemap,                       sitemaps.urls, XML),
    PageRoute("/sitemaps/series/{slug}.xml",          feed_of.series_with_chapters,  sitemaps.chapters, XML,
                                                                                     sitemaps.NEEDS),
    PageRoute("/opensearch.xml",                      each.once,                     opensearch.description, OPENSEARCH,
                                                                                     ("library",)),
)
# fmt: on
