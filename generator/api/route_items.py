"""What there is one of a URL for: each function walks what it is given, and names what it finds as a route's path does.

Most walk the whole catalog. Those of `InSeries` walk a single series: there are many, and they pass one at a time.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ..catalog.entities import Catalog, Chapter, Series
from ..catalog.field_values import percent_encoded
from .payloads import series_list
from .payloads.v2 import DATE_FORMATS, DEFAULT_DATES, Dated


class Subject(NamedTuple):
    """The names that fill a path, what its shape is given, and whether only a key opens it."""

    names: dict[str, object]
    value: Any
    restricted: bool = False


Subjects = Iterable[Subject]
# The dates that nobody has to ask for are those of the path itself.
_OTHER_DATES = tuple(one for one in DATE_FORMATS if one != DEFAULT_DATES)


class InSeries(NamedTuple):
    """Walks one series."""

    walk: Callable[[Series], Subjects]


# The whole catalog


def once(catalog: Catalog) -> Subjects:
    yield Subject({}, catalog)


def author(catalog: Catalog) -> Subjects:
    return (Subject({"id": one.person.id}, one) for one in catalog.contributing_authors)


def artist(catalog: Catalog) -> Subjects:
    return (Subject({"id": one.person.id}, one) for one in catalog.contributing_artists)


def publisher(catalog: Catalog) -> Subjects:
    return (Subject({"id": one.group.id}, one) for one in catalog.publishers)


def page_of_series(catalog: Catalog) -> Subjects:
    return (Subject({"sort": sort, "page": page}, found) for sort, page, found in series_list.pages(catalog))


def every_chapter(_: Catalog) -> Subjects:
    yield Subject({}, DEFAULT_DATES)


def dated_chapters(_: Catalog) -> Subjects:
    return (Subject({"date_format": dates}, dates) for dates in _OTHER_DATES)


def category(catalog: Catalog) -> Subjects:
    return (Subject({"name": percent_encoded(one.name)}, one) for one in catalog.categories if one.has_path)


def author_alone(catalog: Catalog) -> Subjects:
    return (Subject({"id": one.id}, one) for one in catalog.authors)


def artist_alone(catalog: Catalog) -> Subjects:
    return (Subject({"id": one.id}, one) for one in catalog.artists)


def group(catalog: Catalog) -> Subjects:
    return (Subject({"id": one.id}, one) for one in catalog.groups)


def member(catalog: Catalog) -> Subjects:
    return (Subject({"id": one.member.id}, one) for one in catalog.memberships)


def account(catalog: Catalog) -> Subjects:
    return (Subject({"username": one.record.username}, one, True) for one in catalog.accounts)


# One series, as the old families have it


@InSeries
def series(one: Series) -> Subjects:
    if one.open:
        yield Subject({"slug": one.slug}, one)


@InSeries
def volume(one: Series) -> Subjects:
    if one.open:
        for number, chapters in one.volumes.items():
            yield Subject({"slug": one.slug, "volume": number}, chapters)


@InSeries
def chapter(one: Series) -> Subjects:
    if one.open:
        for found in one.chapters:
            yield Subject({"slug": one.slug, "volume": found.volume or 0, "chapter": found.number}, found)


# One series, as v2 has it, which asks more: with which dates, and whether it may be read at all


@InSeries
def listed_series(one: Series) -> Subjects:
    if one.known:
        yield Subject({"slug": one.slug}, one)


@InSeries
def readable_series(one: Series) -> Subjects:
    if one.known and not one.licensed:
        yield Subject({"slug": one.slug}, one, one.restricted)


@InSeries
def chapters_of_series(one: Series) -> Subjects:
    for names, found, restricted in readable_series.walk(one):
        yield Subject(names, Dated(found), restricted)


@InSeries
def dated_chapters_of_series(one: Series) -> Subjects:
    for names, found, restricted in readable_series.walk(one):
        for dates in _OTHER_DATES:
            yield Subject({**names, "date_format": dates}, Dated(found, dates), restricted)


@InSeries
def readable_chapter(one: Series) -> Subjects:
    if not one.licensed:
        for found in one.named:
            yield Subject(_names(found), found, one.restricted)


@InSeries
def licensed_series(one: Series) -> Subjects:
    if one.known and one.licensed:
        yield Subject({"slug": one.slug}, one)


@InSeries
def dates_of_licensed_series(one: Series) -> Subjects:
    for names, found, _ in licensed_series.walk(one):
        for dates in _OTHER_DATES:
            yield Subject({**names, "date_format": dates}, found)


@InSeries
def licensed_chapter(one: Series) -> Subjects:
    if one.licensed:
        for found in one.named:
            yield Subject(_names(found), found)


def _names(one: Chapter) -> dict[str, object]:
    return {"id": one.id, "slug": one.slug, "volume": one.volume or 0, "number": one.number}
