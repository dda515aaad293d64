"""One function per kind of URL: yields the path parameters and the value of every instance.

Most functions take the whole catalog. Those marked `InSeries` take one series, because series are rendered one by one.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ..catalog.entities import Catalog, Series, SeriesSummary
from ..catalog.field_values import percent_encoded
from ..catalog.site_paths import APPS
from ..catalog.site_settings import Site
from .payloads import series_list
from .payloads.resources import JSON, Body, Resource
from .payloads.v2 import DATE_FORMATS, DEFAULT_DATE_FORMAT, SeriesChapters

if TYPE_CHECKING:
    from .pages.context import PageContext


class RouteItem(NamedTuple):
    """One URL of a route: path parameters, argument of the payload function, and whether it needs an API key."""

    parameters: dict[str, object]
    value: Any
    restricted: bool = False


RouteItems = Iterable[RouteItem]
# The default format has the URL without a parameter.
_OTHER_DATE_FORMATS = tuple(name for name in DATE_FORMATS if name != DEFAULT_DATE_FORMAT)


class InSeries(NamedTuple):
    """Marks a function that takes one series."""

    items_of: Callable[[Series], RouteItems]


ItemSource = Callable[[Catalog], RouteItems] | InSeries


class ShownRoute(NamedTuple):
    """A URL template of a page, a feed or an app, with the items that fill it.

    `needs` are parts of `visibility.Visible`: without one of them, its URLs are 404s. The max-age is that of pages, of
    an app that of series in `/api/v2`.
    """

    path: str
    for_each: ItemSource
    payload: "Callable[[PageContext, Any], Body]"
    type: str = JSON
    needs: tuple[str, ...] = ()

    def resources(self, items: RouteItems, page: "PageContext") -> Iterator[Resource]:
        ages = page.site.cache
        max_age = ages.v2.series if self.path.strip("/").partition("/")[0] in APPS else ages.pages
        # Without these parts, only an API key tells that a series exists which /api and /api/v1 omit.
        without = not (page.visible.library or page.visible.details)
        for item in items if page.visible.has(self.needs) else ():
            if not (item.restricted and without):
                url = self.url(item, page.site.reader)
                yield Resource(url, self.payload(page, item.value), max_age, type=self.type)

    def url(self, item: RouteItem, reader: str) -> str:
        return self.path.format(reader=reader, **item.parameters)


# The whole catalog


def once(catalog: Catalog) -> RouteItems:
    yield RouteItem({}, catalog)


def without_pages(catalog: Catalog) -> RouteItems:
    """The catalog, unless the site has pages."""
    if not catalog.site.pages:
        yield RouteItem({}, catalog)


def contributing_author(catalog: Catalog) -> RouteItems:
    return (RouteItem({"id": author.person.id}, author) for author in catalog.contributing_authors)


def contributing_artist(catalog: Catalog) -> RouteItems:
    return (RouteItem({"id": artist.person.id}, artist) for artist in catalog.contributing_artists)


def publisher(catalog: Catalog) -> RouteItems:
    return (RouteItem({"id": publisher.group.id}, publisher) for publisher in catalog.publishing_groups)


def page_of_series(catalog: Catalog) -> RouteItems:
    return (RouteItem({"sort": sort, "page": number}, page) for sort, number, page in series_list.pages(catalog))


def default_date_format(_: Catalog) -> RouteItems:
    yield RouteItem({}, DEFAULT_DATE_FORMAT)


def other_date_format(_: Catalog) -> RouteItems:
    return (RouteItem({"date_format": name}, name) for name in _OTHER_DATE_FORMATS)


def category(catalog: Catalog) -> RouteItems:
    named = (category for category in catalog.categories if category.has_path)
    return (RouteItem({"name": percent_encoded(category.name)}, category) for category in named)


def author(catalog: Catalog) -> RouteItems:
    return (RouteItem({"id": author.id}, author) for author in catalog.authors)


def artist(catalog: Catalog) -> RouteItems:
    return (RouteItem({"id": artist.id}, artist) for artist in catalog.artists)


def group(catalog: Catalog) -> RouteItems:
    return (RouteItem({"id": group.id}, group) for group in catalog.groups)


def member(catalog: Catalog) -> RouteItems:
    return (RouteItem({"id": membership.member.id}, membership) for membership in catalog.memberships)


def account(catalog: Catalog) -> RouteItems:
    return (
        RouteItem({"username": percent_encoded(account.record.username)}, account, True) for account in catalog.accounts
    )


def with_locked_pages(catalog: Catalog) -> RouteItems:
    """The catalog, if the pages of a series need an API key."""
    if any(has_locked_pages(series, catalog.site) for series in catalog.series):
        yield RouteItem({}, catalog, True)


def has_locked_pages(series: SeriesSummary, site: Site) -> bool:
    """Whether the pages of the chapters of a series need an API key."""
    is_readable = series.identified and not series.licensed
    return bool(is_readable) and (series.restricted or "/chapters/{id}/pages" in site.restricted)


# One series in /api and /api/v1


@InSeries
def open_series(series: Series) -> RouteItems:
    if series.is_open:
        yield RouteItem({"slug": series.slug}, series)


@InSeries
def open_volume(series: Series) -> RouteItems:
    if series.is_open:
        for number, chapters in series.volumes.items():
            yield RouteItem({"slug": series.slug, "volume": number}, chapters)


@InSeries
def open_chapter(series: Series) -> RouteItems:
    if series.is_open:
        for chapter in series.numbered_chapters:
            yield RouteItem(
                {"slug": series.slug, "volume": chapter.volume or 0, "chapter": chapter.number},
                chapter,
            )


# One series in /api/v2, where a series may be licensed or restricted


@InSeries
def listed_series(series: Series) -> RouteItems:
    if series.is_listed:
        yield RouteItem({"slug": series.slug}, series)


@InSeries
def readable_series(series: Series) -> RouteItems:
    if series.identified and not series.licensed:
        yield RouteItem({"slug": series.slug}, series, series.restricted)


@InSeries
def chapters_of_series(series: Series) -> RouteItems:
    for parameters, _, restricted in readable_series.items_of(series):
        yield RouteItem(parameters, SeriesChapters(series), restricted)


@InSeries
def dated_chapters(series: Series) -> RouteItems:
    for parameters, _, restricted in readable_series.items_of(series):
        for name in _OTHER_DATE_FORMATS:
            yield RouteItem({**parameters, "date_format": name}, SeriesChapters(series, name), restricted)


@InSeries
def readable_chapter(series: Series) -> RouteItems:
    if not series.licensed:
        for chapter in series.identified_chapters:
            yield RouteItem({"id": chapter.id}, chapter, series.restricted)


@InSeries
def licensed_series(series: Series) -> RouteItems:
    if series.is_listed and series.licensed:
        yield RouteItem({"slug": series.slug}, series)


@InSeries
def dated_licensed_series(series: Series) -> RouteItems:
    for parameters, _, _ in licensed_series.items_of(series):
        for name in _OTHER_DATE_FORMATS:
            yield RouteItem({**parameters, "date_format": name}, series)


@InSeries
def licensed_chapter(series: Series) -> RouteItems:
    if series.licensed:
        for chapter in series.identified_chapters:
            yield RouteItem({"id": chapter.id}, chapter)


# One series in apps, which have no keys


@InSeries
def public_series(series: Series) -> RouteItems:
    return (item for item in readable_series.items_of(series) if not item.restricted)
