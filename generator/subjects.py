"""What there is one of a URL for: each function walks the catalog and names what it finds as a route's path does."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from .catalog import Catalog, Chapter, Series
from .payloads import listing
from .payloads.v2 import DATE_FORMATS, Dated
from .values import percent_encoded


class Subject(NamedTuple):
    """The names that fill a path, what its shape is given, and whether only a key opens it."""

    names: dict[str, object]
    value: Any
    restricted: bool = False


Subjects = Iterable[Subject]
# The dates that nobody has to ask for are those of the path itself.
_OTHER_DATES = tuple(DATE_FORMATS)[1:]


def once(catalog: Catalog) -> Subjects:
    yield Subject({}, catalog)


def author(catalog: Catalog) -> Subjects:
    return (Subject({"id": one.person.id}, one) for one in catalog.contributing_authors)


def artist(catalog: Catalog) -> Subjects:
    return (Subject({"id": one.person.id}, one) for one in catalog.contributing_artists)


def publisher(catalog: Catalog) -> Subjects:
    return (Subject({"id": one.group.id}, one) for one in catalog.publishers)


def series(catalog: Catalog) -> Subjects:
    return (Subject({"slug": one.slug}, one) for one in catalog.open_series)


def volume(catalog: Catalog) -> Subjects:
    for one in catalog.open_series:
        for number, chapters in one.volumes.items():
            yield Subject({"slug": one.slug, "volume": number}, chapters)


def chapter(catalog: Catalog) -> Subjects:
    for one in catalog.open_series:
        for found in one.chapters:
            yield Subject({"slug": one.slug, "volume": found.volume or 0, "chapter": found.number}, found)


# v2 asks more: in which order, with which dates, and whether it may be read at all.


def page_of_series(catalog: Catalog) -> Subjects:
    return (Subject({"sort": sort, "page": page}, found) for sort, page, found in listing.pages(catalog))


def listed_series(catalog: Catalog) -> Subjects:
    return (Subject({"slug": one.slug}, one) for one in catalog.listed_series)


def _readable(catalog: Catalog) -> Iterator[Series]:
    return (one for one in catalog.listed_series if not one.licensed)


def _licensed(catalog: Catalog) -> Iterator[Series]:
    return (one for one in catalog.listed_series if one.licensed)


def readable_series(catalog: Catalog) -> Subjects:
    return (Subject({"slug": one.slug}, one, one.restricted) for one in _readable(catalog))


def chapters_of_series(catalog: Catalog) -> Subjects:
    for one in _readable(catalog):
        yield Subject({"slug": one.slug}, Dated(catalog, one.newest_first), one.restricted)


def dated_chapters_of_series(catalog: Catalog) -> Subjects:
    for one in _readable(catalog):
        for dates in _OTHER_DATES:
            asked = Dated(catalog, one.newest_first, dates)
            yield Subject({"slug": one.slug, "date_format": dates}, asked, one.restricted)


def all_chapters(catalog: Catalog) -> Subjects:
    yield Subject({}, Dated(catalog, catalog.newest_chapters))


def dated_chapters(catalog: Catalog) -> Subjects:
    for dates in _OTHER_DATES:
        yield Subject({"date_format": dates}, Dated(catalog, catalog.newest_chapters, dates))


def readable_chapter(catalog: Catalog) -> Subjects:
    for one in _readable(catalog):
        for found in one.chapters:
            yield Subject(_names(found), found, one.restricted)


def licensed_series(catalog: Catalog) -> Subjects:
    return (Subject({"slug": one.slug}, one) for one in _licensed(catalog))


def dates_of_licensed_series(catalog: Catalog) -> Subjects:
    for one in _licensed(catalog):
        for dates in _OTHER_DATES:
            yield Subject({"slug": one.slug, "date_format": dates}, one)


def licensed_chapter(catalog: Catalog) -> Subjects:
    return (Subject(_names(found), found) for one in _licensed(catalog) for found in one.chapters)


def _names(one: Chapter) -> dict[str, object]:
    return {"id": one.id, "slug": one.slug, "volume": one.volume or 0, "number": one.number}


def category(catalog: Catalog) -> Subjects:
    return (Subject({"name": percent_encoded(one.name)}, one) for one in catalog.categories)


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
