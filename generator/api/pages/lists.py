"""The pages of the whole catalog: the first page, the lists of series, and the search."""

import heapq
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...catalog.entities import Catalog, Category, SeriesSummary
from ...templating import Html
from ..payloads.resources import Body, newest_of
from . import cards, structured_data, values
from .context import FeedLink, Link, PageContext, PageHead

# The number of chapters and of series on the first page, and of chapters in the list of the latest.
HOME_CHAPTERS = 8
HOME_SERIES = 14
LATEST_CHAPTERS = 60
STATUSES = ("ongoing", "completed", "hiatus", "canceled")
KINDS = ("manga", "comic", "webtoon")
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


class Filters(NamedTuple):
    """What the form of a search offers: pairs of a value and its name, and whether the latest chapter is a key."""

    statuses: tuple[tuple[str, str], ...]
    kinds: tuple[tuple[str, str], ...]
    categories: tuple[tuple[str, str], ...]
    by_latest: bool


def home(page: PageContext, catalog: Catalog) -> Body:
    chapters = cards.newest_chapters(catalog.shown_series, HOME_CHAPTERS) if page.visible.latest else []
    series = heapq.nsmallest(HOME_SERIES, catalog.shown_series, key=_last_updated_first) if page.visible.library else []
    head = PageHead(
        "", page.paths.home, page.fill(page.text.about_site), feeds=page.feeds, data=structured_data.site(page)
    )
    body = page.html(
        "home.html",
        head,
        latest=cards.latest(page, chapters),
        cards=cards.cards(page, series),
        statuses=_status_links(page, catalog),
        categories=_category_links(page, catalog),
    )
    return Body(body, newest_of(catalog.site_modified, series, catalog.categories, *chapters))


def library(page: PageContext, part: SeriesPage) -> Body:
    links = _status_links(page, part.catalog)
    filters = _filters(page, part.catalog)
    return _list(page, part, page.text.library, page.paths.library, feeds=page.feeds, links=links, filters=filters)


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
    chapters = cards.newest_chapters(catalog.shown_series, LATEST_CHAPTERS)
    title = page.text.latest_chapters
    head = PageHead(title, page.paths.latest, page.fill(page.text.about_list, name=title), feeds=page.feeds)
    body = page.html("latest.html", head, latest=cards.latest(page, chapters))
    return Body(body, newest_of(catalog.site_modified, *chapters))


def categories(page: PageContext, catalog: Catalog) -> Body:
    title = page.text.categories
    head = PageHead(title, page.paths.categories, page.fill(page.text.about_list, name=title))
    described = page.visible.category
    items = [
        (page.category_link(item), values.shortened(item.description) if described else "")
        for item in catalog.categories
    ]
    return Body(page.html("entries.html", head, items=items), newest_of(catalog.site_modified, catalog.categories))


def _list(
    page: PageContext,
    part: SeriesPage,
    title: str,
    path: Callable[[int], str],
    *,
    feeds: tuple[FeedLink, ...] = (),
    links: Sequence[Link] = (),
    about: Sequence[str] = (),
    filters: str = "",
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
        filters=filters,
        cards=cards.cards(page, part.series),
        previous=path(part.number - 1) if part.number > 1 else "",
        next=path(part.number + 1) if part.number < part.pages else "",
        pages=[(number, path(number)) for number in _near(part.number, part.pages)],
        number=part.number,
    )
    # With filters, it names all of them.
    named = (part.subject,) if isinstance(part.subject, Category) else part.catalog.categories if filters else ()
    return Body(body, newest_of(part.catalog.site_modified, part.series, named))


def _near(number: int, pages: int) -> list[int]:
    """The page numbers that a page links to: the first and the last, and those nearby."""
    nearby = range(max(1, number - _NEARBY), min(pages, number + _NEARBY) + 1)
    return sorted({1, *nearby, pages})


def _status_links(page: PageContext, catalog: Catalog) -> list[Link]:
    if not page.shows_series_of_subjects:
        return []
    statuses = {series.status for series in catalog.shown_series}
    return [Link(page.paths.with_status(name), getattr(page.text, name)) for name in STATUSES if name in statuses]


def _category_links(page: PageContext, catalog: Catalog) -> list[Link]:
    links = map(page.category_link, catalog.categories) if page.visible.categories else ()
    return [link for link in links if link.path]


def _last_updated_first(series: SeriesSummary) -> tuple[int, str]:
    return -(series.latest.published if series.latest else series.updated), series.slug


# The search page, and the index that it uses


def search(page: PageContext, catalog: Catalog) -> Body:
    head = PageHead(page.text.search, page.paths.search, page.fill(page.text.about_list, name=page.text.search))
    body = page.html("search.html", head, filters=_filters(page, catalog))
    return Body(body, newest_of(catalog.site_modified, catalog.categories))


def _filters(page: PageContext, catalog: Catalog) -> Html:
    text, shown = page.text, page.visible
    names = [(category.id, category.name) for category in catalog.categories] if shown.categories else []
    filters = Filters(
        tuple((status, getattr(text, status)) for status in STATUSES) if shown.details else (),
        tuple((kind, getattr(text, kind)) for kind in KINDS) if shown.details else (),
        tuple(names) if shown.details else (),
        shown.latest and shown.chapters,
    )
    return page.shared("filters.html", filters)


def titles(page: PageContext, catalog: Catalog) -> Body:
    """What a search finds, and a list shows, of every series, by title. Empty values are left out."""
    shown = catalog.shown_series
    value = [_entry(page, series) for series in shown]
    people = (series.authors + series.artists for series in shown)
    return Body({"results": value}, newest_of(catalog.site_modified, shown, *people))


def _entry(page: PageContext, series: SeriesSummary) -> dict[str, object]:
    value: dict[str, object] = {"url": series.path, "title": series.title, "cover": page.image(series.cover)}
    if page.visible.latest and page.visible.chapters:
        value["latest"] = series.updated
    if page.visible.details:
        details = {
            "aliases": series.aliases,
            "people": tuple(dict.fromkeys(person.name for person in (*series.authors, *series.artists))),
            "status": series.status,
            "kind": series.kind,
            "categories": tuple(category.id for category in series.categories),
        }
        value |= {name: part for name, part in details.items() if part}
    return value
