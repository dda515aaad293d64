"""Every URL of pages and feeds, which a site has with `pages: true` in `site.yaml`.

A row of PAGES names a path, the items that have such a URL, and the function that makes the body from an item. The
functions `each_…` yield the items, as those of `route_items` do; `first` and `others` divide a list into its first page
and the others. Which parts of them are shown: see `visibility`. The max-age is the setting `pages` below `cache`.
`{reader}` is the setting of that name. A row with flags of `visibility.Visible` needs all of them: without one, its
URLs are 404s.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from ..catalog.entities import (
    Catalog,
    Category,
    Chapter,
    Contributor,
    PublishingGroup,
    Series,
    SeriesSummary,
    grouped,
)
from ..catalog.field_values import percent_encoded
from ..catalog.site_paths import APPS, APPS_PAGE
from . import route_items as each
from .feeds import payloads as feeds
from .feeds import sitemaps
from .feeds.formats import FORMATS, written_as
from .feeds.payloads import Feed
from .pages import lists, people, series_pages, site_files
from .pages.context import PageContext
from .pages.lists import STATUSES, SeriesPage
from .pages.series_pages import ChapterPage
from .pages.visibility import visible
from .payloads.resources import CSS, HTML, JS, JSON, MANIFEST, OPENSEARCH, PNG, SVG, TEXT, XML, Body
from .policies import WORKER
from .route_items import InSeries, ItemSource, RouteItem, RouteItems, ShownRoute

# The number of series on a page of a list.
PAGE_SIZE = 48
# The newest chapters of one number that a page lists: with all of them, these pages would grow with their square.
LISTED_VERSIONS = 50


# Lists of series: the first page of each has a path of its own


PagesOfLists = Callable[[Catalog], RouteItems]


def first(pages: PagesOfLists) -> PagesOfLists:
    return lambda catalog: (item for item in pages(catalog) if item.value.number == 1)


def others(pages: PagesOfLists) -> PagesOfLists:
    return lambda catalog: (item for item in pages(catalog) if item.value.number > 1)


def library(catalog: Catalog) -> RouteItems:
    return _pages(catalog, catalog.shown_series, {})


def statuses(catalog: Catalog) -> RouteItems:
    for status in STATUSES:
        if series := tuple(series for series in catalog.shown_series if series.status == status):
            yield from _pages(catalog, series, {"status": status}, status)


def categories(catalog: Catalog) -> RouteItems:
    by_category = grouped(catalog.shown_series, lambda series: series.categories)
    for category in catalog.categories:
        if category.has_page:
            parameters = {"category": percent_encoded(category.id)}
            yield from _pages(catalog, by_category.get(category, ()), parameters, category)


def _pages(
    catalog: Catalog,
    series: tuple[SeriesSummary, ...],
    parameters: Mapping[str, object],
    subject: Category | str | None = None,
) -> Iterator[RouteItem]:
    """The pages of a list. A list without series has one page."""
    count = max(1, -(-len(series) // PAGE_SIZE))
    for number in range(1, count + 1):
        part = series[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]
        yield RouteItem({**parameters, "page": number}, SeriesPage(catalog, part, number, count, len(series), subject))


def with_shelf(catalog: Catalog) -> RouteItems:
    """The catalog, if devices of readers may remember something."""
    if catalog.site.shelf:
        yield RouteItem({}, catalog)


def with_apps_page(catalog: Catalog) -> RouteItems:
    """The catalog, if the site has paths for apps, and the theme no page of its own about them."""
    if not APPS.isdisjoint(catalog.site.apps) and f"{APPS_PAGE}.md" not in catalog.theme.files:
        yield RouteItem({}, catalog)


def each_own_page(catalog: Catalog) -> RouteItems:
    """The texts of the theme."""
    for file in catalog.theme.files:
        if file.endswith(".md"):
            name = file.removesuffix(".md")
            yield RouteItem({"name": name}, (name, catalog))


def each_png_icon(catalog: Catalog) -> RouteItems:
    """The icons of the theme for devices that show no SVG."""
    for name in catalog.theme.images:
        yield RouteItem({"name": name}, (name, catalog))


# People and groups


def each_author(catalog: Catalog) -> RouteItems:
    by_author = grouped(catalog.shown_series, lambda series: series.authors)
    return (RouteItem({"id": author.id}, Contributor(author, by_author.get(author, ()))) for author in catalog.authors)


def each_artist(catalog: Catalog) -> RouteItems:
    by_artist = grouped(catalog.shown_series, lambda series: series.artists)
    return (RouteItem({"id": artist.id}, Contributor(artist, by_artist.get(artist, ()))) for artist in catalog.artists)


def each_group(catalog: Catalog) -> RouteItems:
    """Groups with their series. Which groups work on a licensed or restricted series only its chapters tell."""
    readable = (series for series in catalog.shown_series if series.shows_chapters)
    by_group = grouped(readable, lambda series: series.groups)
    return (RouteItem({"id": group.id}, PublishingGroup(group, by_group.get(group, ()))) for group in catalog.groups)


# One series


@InSeries
def each_series(series: Series) -> RouteItems:
    if series.has_page:
        # A series that /api and /api/v1 omit is only in lists and details of /api/v2.
        yield RouteItem({"slug": series.slug}, series, not series.is_open)


@InSeries
def each_series_in_lists(series: Series) -> RouteItems:
    return each_series.items_of(series) if series.is_in_lists else ()


@InSeries
def each_series_with_chapters(series: Series) -> RouteItems:
    if series.recent:
        yield RouteItem({"slug": series.slug}, series)


@InSeries
def each_chapter(series: Series) -> RouteItems:
    """The chapters of URLs with a number, with their neighbours in reading order."""
    if series.shows_chapters:
        for item in _chapter_pages(series):
            yield RouteItem(_number(item), item)


@InSeries
def each_licensed_chapter(series: Series) -> RouteItems:
    """The chapters of a licensed series whose URLs /api and /api/v1 tell."""
    if series.licensed and series.is_open:
        yield from (RouteItem(_number(item), series) for item in _chapter_pages(series))


@InSeries
def each_version(series: Series) -> RouteItems:
    """The other chapters of a shared number. One without an id has no URL."""
    if series.shows_chapters:
        versions = _versions(series)
        for item in _chapter_pages(series):
            for version in versions.get((item.chapter.volume, item.chapter.number), ()):
                if version is not item.chapter and version.id is not None:
                    yield RouteItem({**_number(item), "id": version.id}, item._replace(chapter=version))


def _chapter_pages(series: Series) -> Iterator[ChapterPage]:
    standing = sorted(series.numbered_chapters, key=lambda chapter: chapter.reading_order)
    versions = _versions(series)
    for previous, chapter, following in zip([None, *standing], standing, [*standing[1:], None], strict=False):
        listed = versions.get((chapter.volume, chapter.number), ())[-LISTED_VERSIONS:]
        yield ChapterPage(series, chapter, previous, following, listed)


def _versions(series: Series) -> dict[tuple[int | None, str], tuple[Chapter, ...]]:
    """The chapters of each number that several chapters share."""
    by_number: dict[tuple[int | None, str], list[Chapter]] = {}
    for chapter in series.chapters:
        by_number.setdefault((chapter.volume, chapter.number), []).append(chapter)
    return {number: tuple(chapters) for number, chapters in by_number.items() if len(chapters) > 1}


def _number(item: ChapterPage) -> dict[str, object]:
    return {"slug": item.series.slug, "volume": item.chapter.volume or 0, "chapter": item.chapter.number}


# Pages that search engines need not have.
UNLISTED = frozenset(("/404/", "/shelf/"))
# All but the index of titles, which the search page reads.
_FOR_PROGRAMS = re.compile(r"(?<!/search/titles)\.(?:atom|rss|json|xml|txt)$")


def _page(path: str, for_each: ItemSource, payload: Callable[[PageContext, Any], Body], *needs: str) -> ShownRoute:
    return ShownRoute(path, for_each, payload, HTML, needs)


def _feed(
    path: str, for_each: ItemSource, feed: Callable[[PageContext, Any], Feed], *needs: str
) -> Iterator[ShownRoute]:
    """The same feed in each format."""
    for format, (type, _) in FORMATS.items():
        yield ShownRoute(f"{path}.{format}", for_each, written_as(format, feed), type, needs)


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
        is_listed = route.type == HTML and route.path not in UNLISTED and shown.has(route.needs)
        if is_listed and not isinstance(route.for_each, InSeries):
            yield from (route.url(item, catalog.site.reader) for item in route.for_each(catalog))


def family(url: str) -> str:
    """Whether a URL outside of the API is one of the `pages`, or of the `feeds`, which are made for programs."""
    return "feeds" if _FOR_PROGRAMS.search(url) else "pages"


# fmt: off
PAGES: tuple[ShownRoute, ...] = (
    #     path                                one for each            payload                needs
    _page("/",                                each.once,              lists.home),
    _page("{reader}",                         first(library),         lists.library,         "library"),
    _page("/library/{page}/",                 others(library),        lists.library,         "library"),
    _page("/library/{status}/",               first(statuses),        lists.with_status,     "library", "details"),
    _page("/library/{status}/{page}/",        others(statuses),       lists.with_status,     "library", "details"),
    _page("{reader}{slug}/",                  each_series,            series_pages.series),
    _page("{reader}{slug}/{volume}/{chapter}/", each_chapter,         series_pages.chapter, "chapter"),
    _page("{reader}{slug}/{volume}/{chapter}/", each_licensed_chapter, series_pages.licensed_chapter, "chapter"),
    _page("{reader}{slug}/{volume}/{chapter}/version-{id}/",
                                              each_version,           series_pages.chapter, "chapter", "chapters"),
    _page("/latest/",                         each.once,              lists.latest,          "latest"),
    _page("/categories/",                     each.once,              lists.categories,      "categories"),
    _page("/categories/{category}/",          first(categories),      lists.category,        "category"),
    _page("/categories/{category}/{page}/",   others(categories),     lists.category,        "category", "library",
                                                                                             "details"),
    _page("/authors/",                        each.once,              people.authors,        "authors"),
    _page("/authors/{id}/",                   each_author,            people.author,         "author"),
    _page("/artists/",                        each.once,              people.artists,        "artists"),
    _page("/artists/{id}/",                   each_artist,            people.artist,         "artist"),
    _page("/groups/",                         each.once,              people.groups,         "groups"),
    _page("/groups/{id}/",                    each_group,             people.group,          "group"),
    _page("/search/",                         each.once,              lists.search,         "library"),
    _page("/{name}/",                         each_own_page,          site_files.own_page),
    _page("/apps/",                           with_apps_page,         site_files.apps),
    _page("/shelf/",                          with_shelf,             site_files.shelf),
    _page("/404/",                            each.once,              site_files.error),
    ShownRoute("/search/titles.json",         each.once,              lists.titles,         JSON, ("library",)),
    ShownRoute("/assets/style.css",           each.once,              site_files.style,      CSS),
    *(ShownRoute(f"/assets/{name}",           each.once,              site_files.asset(name), CSS)
                                                                      for name in site_files.STYLES),
    ShownRoute("/assets/site.js",             each.once,              site_files.site_script, JS),
    *(ShownRoute(f"/assets/{name}.js",        each.once,              site_files.asset(f"{name}.js"), JS)
                                                                      for name in site_files.SCRIPTS),
    ShownRoute("/assets/icon.svg",            each.once,              site_files.icon,       SVG),
    ShownRoute("/assets/{name}",              each_png_icon,          site_files.png_icon,   PNG),
    ShownRoute("/manifest.webmanifest",       with_shelf,             site_files.manifest,   MANIFEST),
    ShownRoute(WORKER,                        each.once,              site_files.worker,     JS),
    *_feed("/releases",                               each.once,                     feeds.releases, "latest"),
    *_feed("/library",                                each.once,                     feeds.library, "library"),
    *_feed("{reader}{slug}",                          each_series_in_lists,          feeds.series),
    *_feed("/groups/{id}",                            each_group,                    feeds.group, "group", "latest",
                                                                                     "chapters"),

    ShownRoute("/robots.txt",                         catalog_with_sitemaps,         sitemaps.robots, TEXT),
    ShownRoute("/sitemap.xml",                        first_sitemap_index,           sitemaps.index, XML),
    ShownRoute("/sitemaps/index-{number}.xml",        other_sitemap_index,           sitemaps.index, XML),
    ShownRoute("/sitemaps/{number}.xml",              sitemap,                       sitemaps.urls, XML),
    ShownRoute("/sitemaps/series/{slug}.xml",         each_series_with_chapters,     sitemaps.chapters, XML,
                                                                                     sitemaps.NEEDS),
    ShownRoute("/opensearch.xml",                     each.once,          sitemaps.opensearch_description, OPENSEARCH,
                                                                                     ("library",)),
)
# fmt: on
