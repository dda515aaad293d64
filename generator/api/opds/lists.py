"""The lists of OPDS and their pages, and what an entry has in OPDS 1.2 and in 2.0 alike.

A list has pages of `PAGE_SIZE` entries, and at least one. `app_routes` says which path each of them has. A series is in
the lists of a version if that has a chapter to read, so no list leads to an empty one.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from ...catalog.entities import Catalog, Category, Chapter, Group, OpdsChapter, Series, SeriesSummary, grouped
from ...catalog.field_values import percent_encoded
from ...catalog.linking import NEWEST_IN_OPDS, media_root, opds_chapters
from ..feeds.payloads import with_series
from ..pages.context import PageContext
from ..payloads.resources import newest_of

PAGE_SIZE = NEWEST_IN_OPDS
# The formats of images that every client of OPDS can show.
IMAGE_FORMATS = ("image/jpeg", "image/png", "image/gif")
# The relation of a link to something that anyone may download.
OPEN_ACCESS = "http://opds-spec.org/acquisition/open-access"


# The parts of `visibility.Visible` without which a chapter cannot be read, so that no list leads to it; and those that
# each list needs.
READ = ("chapters", "chapter", "images")
LATEST = (*READ, "latest")
LISTS = (*READ, "library")
CATEGORY = (*LISTS, "details", "category")
CATEGORIES = (*CATEGORY, "categories")
GROUP = (*LISTS, "group")
GROUPS = (*GROUP, "groups")


class ListPage(NamedTuple):
    """One page of a list: its subject, its number, that of the last page, and the number of entries on all."""

    subject: Any
    # The path of the first page, below that of the version.
    path: str
    items: tuple[Any, ...]
    number: int
    last: int
    total: int
    # The date of the subject; without one, that of an empty list.
    modified: int

    def path_of(self, number: int) -> str:
        """The path of a page of the same list, below that of the version."""
        return self.path if number == 1 else f"/page/{number}{self.path}"

    def date(self, dates: Iterable[int]) -> int:
        """The date of the newest part, given those of the entries."""
        own = [self.modified] if self.subject or not self.items else []
        return max([*own, *dates])


class PublicChapter(NamedTuple):
    """A chapter in a list of one series, with its pages."""

    summary: OpdsChapter
    chapter: Chapter


# The pages of a list, each with the parameters of its path.
Pages: TypeAlias = Iterator[tuple[dict[str, object], ListPage]]


# The lists


def all_series(catalog: Catalog) -> Pages:
    return _pages(None, "/series", series_in_1_2(catalog), catalog.site_modified)


def categories(catalog: Catalog) -> Pages:
    return _pages(None, "/categories", tuple(listed_categories(catalog)), catalog.site_modified)


def groups(catalog: Catalog) -> Pages:
    return _pages(None, "/groups", tuple(listed_groups(catalog)), catalog.site_modified)


def in_category(catalog: Catalog) -> Pages:
    for category, series in listed_categories(catalog).items():
        yield from _pages(category, category_path(category), series, category.modified, category=_name(category))


def of_group(catalog: Catalog) -> Pages:
    for group, series in listed_groups(catalog).items():
        yield from _pages(group, group_path(group), series, group.modified, id=group.id)


def whole_catalog(catalog: Catalog) -> Pages:
    """All series of OPDS 2.0."""
    series = tuple(series for series in catalog.series if series.opds_counts[1])
    return _pages(None, "/catalog", series, catalog.site_modified)


def chapters_in_1_2(series: Series) -> Pages:
    return _chapters(series, lambda chapter: chapter.is_in_1_2)


def chapters_in_2_0(series: Series) -> Pages:
    return _chapters(series, lambda chapter: chapter.is_in_2_0)


def _pages(subject: object, path: str, items: tuple[Any, ...], modified: int, **parameters: object) -> Pages:
    last = max(1, -(-len(items) // PAGE_SIZE))
    for number in range(1, last + 1):
        part = items[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]
        yield {**parameters, "page": number}, ListPage(subject, path, part, number, last, len(items), modified)


def _chapters(series: Series, condition: Callable[[OpdsChapter], bool]) -> Pages:
    if chapters := tuple(chapter for chapter in public_chapters(series) if condition(chapter.summary)):
        yield from _pages(series, series_path(series), chapters, series.modified, slug=series.slug)


def series_in_1_2(catalog: Catalog) -> tuple[SeriesSummary, ...]:
    """The series of OPDS 1.2, by title."""
    return tuple(series for series in catalog.series if series.newest_in_opds)


# Three functions need them.
@lru_cache(maxsize=1)
def listed_categories(catalog: Catalog) -> dict[Category, tuple[SeriesSummary, ...]]:
    """The categories with series in OPDS 1.2. One whose id is no name of a file has no list."""
    by_category = grouped(series_in_1_2(catalog), lambda series: series.categories)
    named = (category for category in catalog.categories if category.has_page)
    return {category: by_category[category] for category in named if category in by_category}


@lru_cache(maxsize=1)
def listed_groups(catalog: Catalog) -> dict[Group, tuple[SeriesSummary, ...]]:
    """The groups with series in OPDS 1.2."""
    by_group = grouped(series_in_1_2(catalog), lambda series: series.groups)
    return {group: by_group[group] for group in catalog.groups if group in by_group}


# The two feeds of a series and its manifests need them.
@lru_cache(maxsize=1)
def public_chapters(series: Series) -> tuple[PublicChapter, ...]:
    """The chapters of a series in OPDS, newest first. A series that needs a key or a shop has none."""
    if not any(series.opds_counts):
        return ()
    by_id = {chapter.id: chapter for chapter in series.identified_chapters}
    return tuple(PublicChapter(summary, by_id[summary.id]) for summary in opds_chapters(series.chapters))


# Paths, below that of the version


def series_path(series: SeriesSummary) -> str:
    return f"/series/{series.slug}"


def category_path(category: Category) -> str:
    return f"/categories/{_name(category)}"


def group_path(group: Group) -> str:
    return f"/groups/{group.id}"


def _name(category: Category) -> str:
    return percent_encoded(category.id)


# What entries have


def title(page: PageContext, series: SeriesSummary, chapter: OpdsChapter) -> str:
    """The title of a chapter for readers that name a downloaded file after it: no other of the series has it."""
    groups = ", ".join(chapter.groups) if page.visible.group else ""
    heading = f"{chapter.heading} [{groups}]" if groups else chapter.heading
    is_shared = chapter.shares_title if page.visible.group else chapter.shares_heading
    if is_shared:
        heading = f"{heading} (id {chapter.id})"
    return with_series(series, heading)


def archive_url(page: PageContext, chapter: OpdsChapter) -> str:
    return f"{media_root(page.site)}{chapter.archive.path}" if chapter.archive else ""


def modified_of_series(series: SeriesSummary) -> int:
    """The date of the newest part of a series in a list, its people, categories and groups included."""
    return newest_of(series.modified, series.authors, series.artists, series.categories, series.groups)
