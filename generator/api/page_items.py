"""One function per kind of page, as in `route_items`. Which parts of them are shown: see `visibility`."""

from collections.abc import Iterator, Mapping

from ..catalog.entities import Catalog, Category, Chapter, Contributor, PublishingGroup, Series, SeriesSummary
from ..catalog.field_values import percent_encoded
from ..catalog.grouping import grouped
from .pages.chapter_pages import ChapterPage
from .pages.lists import STATUSES, SeriesPage
from .route_items import InSeries, RouteItem, RouteItems

# The number of series on a page of a list.
PAGE_SIZE = 48
# The newest chapters of one number that a page lists: with all of them, these pages would grow with their square.
LISTED_VERSIONS = 50


def shown_series(catalog: Catalog) -> tuple[SeriesSummary, ...]:
    """The series in lists of pages, by title."""
    return tuple(series for series in catalog.series if series.is_in_lists)


# Lists of series: the first page of each has a path of its own


def library(catalog: Catalog) -> RouteItems:
    return _first_pages(_library(catalog))


def other_library(catalog: Catalog) -> RouteItems:
    return _other_pages(_library(catalog))


def status(catalog: Catalog) -> RouteItems:
    return _first_pages(_statuses(catalog))


def other_status(catalog: Catalog) -> RouteItems:
    return _other_pages(_statuses(catalog))


def category(catalog: Catalog) -> RouteItems:
    return _first_pages(_categories(catalog))


def other_category(catalog: Catalog) -> RouteItems:
    return _other_pages(_categories(catalog))


def _library(catalog: Catalog) -> RouteItems:
    return _pages(catalog, shown_series(catalog), {})


def _statuses(catalog: Catalog) -> RouteItems:
    for status in STATUSES:
        if series := tuple(series for series in shown_series(catalog) if series.status == status):
            yield from _pages(catalog, series, {"status": status}, status)


def _categories(catalog: Catalog) -> RouteItems:
    by_category = grouped(shown_series(catalog), lambda series: series.categories)
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


def _first_pages(items: RouteItems) -> RouteItems:
    return (item for item in items if item.value.number == 1)


def _other_pages(items: RouteItems) -> RouteItems:
    return (item for item in items if item.value.number > 1)


def own_page(catalog: Catalog) -> RouteItems:
    """The texts of the theme."""
    for file in catalog.theme.files:
        if file.endswith(".md"):
            name = file.removesuffix(".md")
            yield RouteItem({"name": name}, (name, catalog))


# People and groups


def author(catalog: Catalog) -> RouteItems:
    by_author = grouped(shown_series(catalog), lambda series: series.authors)
    return (RouteItem({"id": author.id}, Contributor(author, by_author.get(author, ()))) for author in catalog.authors)


def artist(catalog: Catalog) -> RouteItems:
    by_artist = grouped(shown_series(catalog), lambda series: series.artists)
    return (RouteItem({"id": artist.id}, Contributor(artist, by_artist.get(artist, ()))) for artist in catalog.artists)


def group(catalog: Catalog) -> RouteItems:
    """Groups with their series. Which groups work on a licensed or restricted series only its chapters tell."""
    readable = (series for series in shown_series(catalog) if series.shows_chapters)
    by_group = grouped(readable, lambda series: series.groups)
    return (RouteItem({"id": group.id}, PublishingGroup(group, by_group.get(group, ()))) for group in catalog.groups)


# One series


@InSeries
def series(series: Series) -> RouteItems:
    if series.has_page:
        # A series that /api and /api/v1 omit is only in lists and details of /api/v2.
        yield RouteItem({"slug": series.slug}, series, not series.is_open)


@InSeries
def chapter(series: Series) -> RouteItems:
    """The chapters of URLs with a number, with their neighbours in reading order."""
    if series.shows_chapters:
        for item in _chapter_pages(series):
            yield RouteItem(_number(item), item)


@InSeries
def licensed_chapter(series: Series) -> RouteItems:
    """The chapters of a licensed series whose URLs /api and /api/v1 tell."""
    if series.licensed and series.is_open:
        yield from (RouteItem(_number(item), series) for item in _chapter_pages(series))


@InSeries
def version(series: Series) -> RouteItems:
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
