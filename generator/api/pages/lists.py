"""The pages of the whole catalog: the first page, the lists of series, and the search."""

import heapq
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ...catalog.entities import Catalog, Category, RecentChapter, SeriesSummary
from ..payloads.resources import Body
from . import cards, structured_data, values
from .context import FeedLink, Link, PageContext, PageHead

# The number of chapters and of series on the first page, and of chapters in the list of the latest.
HOME_CHAPTERS = 8
HOME_SERIES = 14
LATEST_CHAPTERS = 60
STATUSES = ("ongoing", "completed", "hiatus", "canceled")
# The page numbers beside the present one in the links below a list.
_NEARBY = 2


class SeriesPage(NamedTuple):
    """A part of a list of series. `number` begins with 1; `subject` is a category, a status, or none."""

    catalog: Catalog
    series: tuple[SeriesSummary, ...]
    number: int
    pages: int
    total: int
    subject: Category | str | None = None


def home(page: PageContext, catalog: Catalog) -> Body:
    shown = [series for series in catalog.series if series.is_in_lists]
    chapters = cards.newest_chapters(shown, HOME_CHAPTERS) if page.visible.latest else []
    series = heapq.nsmallest(HOME_SERIES, shown, key=_last_updated_first) if page.visible.library else []
    head = PageHead(
        "", page.paths.home, page.fill(page.text.about_site), feeds=page.feeds, data=structured_data.site(page)
    )
    body = page.html(
        "home.html",
        head,
        latest=cards.latest(page, chapters),
        cards=cards.cards(page, series),
        statuses=_status_links(page, shown),
        categories=_category_links(page, catalog),
    )
    return Body(body, _newest(catalog, *series, *(item.chapter for item in chapters)))


def library(page: PageContext, part: SeriesPage) -> Body:
    links = _status_links(page, part.catalog.series)
    return _list(page, part, page.text.library, page.paths.library, feeds=page.feeds, links=links)


def with_status(page: PageContext, part: SeriesPage) -> Body:
    status = str(part.subject)
    return _list(page, part, getattr(page.text, status), lambda number: page.paths.with_status(status, number))


def category(page: PageContext, part: SeriesPage) -> Body:
    subject = part.subject
    assert isinstance(subject, Category)
    if not page.shows_series_of_subjects:
        part = part._replace(series=(), pages=1)
    about = values.paragraphs(subject.description)
    return _list(page, part, subject.name, lambda number: page.paths.category(subject, number), about=about)


def latest(page: PageContext, catalog: Catalog) -> Body:
    chapters = cards.newest_chapters((series for series in catalog.series if series.is_in_lists), LATEST_CHAPTERS)
    title = page.text.latest_chapters
    head = PageHead(title, page.paths.latest, page.fill(page.text.about_list, name=title), feeds=page.feeds)
    body = page.html("latest.html", head, latest=cards.latest(page, chapters))
    return Body(body, _newest(catalog, *(item.chapter for item in chapters)))


def categories(page: PageContext, catalog: Catalog) -> Body:
    title = page.text.categories
    head = PageHead(title, page.paths.categories, page.fill(page.text.about_list, name=title))
    described = page.visible.category
    items = [
        (_category_link(page, item), values.shortened(item.description) if described else "")
        for item in catalog.categories
    ]
    return Body(page.html("entries.html", head, items=items), _newest(catalog, *catalog.categories))


def _list(
    page: PageContext,
    part: SeriesPage,
    title: str,
    path: Callable[[int], str],
    *,
    feeds: tuple[FeedLink, ...] = (),
    links: Sequence[Link] = (),
    about: Sequence[str] = (),
) -> Body:
    name = title if part.number == 1 else f"{title}, {page.text.fill(page.text.page_of_list, number=part.number)}"
    description = values.shortened(about[0]) if about else page.fill(page.text.about_list, name=name)
    body = page.html(
        "list.html",
        PageHead(name, path(part.number), description, feeds=feeds),
        title=title,
        count=page.text.count("series", part.total),
        about=about,
        links=links,
        cards=cards.cards(page, part.series),
        previous=path(part.number - 1) if part.number > 1 else "",
        next=path(part.number + 1) if part.number < part.pages else "",
        pages=[(number, path(number)) for number in _near(part.number, part.pages)],
        number=part.number,
    )
    subject = (part.subject,) if isinstance(part.subject, Category) else ()
    return Body(body, _newest(part.catalog, *part.series, *subject))


def _near(number: int, pages: int) -> list[int]:
    """The page numbers that a page links to: the first and the last, and those nearby."""
    nearby = range(max(1, number - _NEARBY), min(pages, number + _NEARBY) + 1)
    return sorted({1, *nearby, pages})


def _status_links(page: PageContext, all_series: Iterable[SeriesSummary]) -> list[Link]:
    if not page.shows_series_of_subjects:
        return []
    statuses = {series.status for series in all_series if series.is_in_lists}
    return [Link(page.paths.with_status(name), getattr(page.text, name)) for name in STATUSES if name in statuses]


def _category_links(page: PageContext, catalog: Catalog) -> list[Link]:
    links = (_category_link(page, category) for category in catalog.categories) if page.visible.categories else ()
    return [link for link in links if link.path]


def _category_link(page: PageContext, category: Category) -> Link:
    return Link(page.paths.category(category) if page.visible.category else "", category.name)


def _last_updated_first(series: SeriesSummary) -> tuple[int, str]:
    return -(series.latest.published if series.latest else series.updated), series.slug


def _newest(catalog: Catalog, *shown: SeriesSummary | RecentChapter | Category) -> int:
    return max((catalog.site_modified, *(item.modified for item in shown)))


# The search page, and the index of titles that it uses where a host has no filters


def search(page: PageContext, catalog: Catalog) -> Body:
    text = page.text
    head = PageHead(text.search, page.paths.search, page.fill(text.about_list, name=text.search))
    body = page.html(
        "search.html",
        head,
        categories=_categories(catalog) if page.visible.details and page.visible.categories else (),
        statuses=[(status, getattr(text, status)) for status in STATUSES] if page.visible.details else (),
    )
    return Body(body, max((catalog.site_modified, *(category.modified for category in catalog.categories))))


def _categories(catalog: Catalog) -> list[tuple[str, str]]:
    """The categories that the filter of the API can select, each as its value there and its name."""
    values = ((_value(category), category.name) for category in catalog.categories)
    return [(value, name) for value, name in values if value]


def _value(category: Category) -> str:
    """The id or the name. In the filter, a comma separates values."""
    return next((text for text in (category.id, category.name) if "," not in text), "")


def titles(page: PageContext, catalog: Catalog) -> Body:
    """Path, titles and cover of every series, by title."""
    shown = [series for series in catalog.series if series.is_in_lists]
    value = [
        {
            "url": series.path,
            "title": series.title,
            "aliases": series.aliases if page.visible.details else (),
            "cover": page.image(series.cover),
        }
        for series in shown
    ]
    return Body({"results": value}, max((catalog.site_modified, *(series.modified for series in shown))))
