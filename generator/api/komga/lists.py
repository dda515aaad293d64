"""Lists of the whole catalog as Komga has them: pages of series, and the names that a search can have.

No list is divided here: `generator/javascript/core/komga_list.js` answers searches of series with pages.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TypedDict

from ... import encoding
from ...catalog.entities import Catalog, SeriesSummary
from ..pages.context import PageContext
from ..payloads import komga_search
from ..payloads.resources import Body, JoinedBodies

# The only library: Komga divides series into libraries.
LIBRARY = "1"
# The size that a page has without series; Komga's default.
_PAGE_SIZE = 20


class KomgaPage(TypedDict):
    """A page of a list."""

    content: Sequence[object]
    empty: bool
    first: bool
    last: bool
    number: int
    numberOfElements: int
    size: int
    totalElements: int
    totalPages: int


class KomgaAuthor(TypedDict):
    name: str
    role: str


class KomgaLibrary(TypedDict):
    id: str
    name: str


def whole(content: Sequence[object], count: int) -> KomgaPage:
    """A list of `count` elements on one page."""
    return {
        "content": content,
        "empty": not count,
        "first": True,
        "last": True,
        "number": 0,
        "numberOfElements": count,
        "size": count or _PAGE_SIZE,
        "totalElements": count,
        "totalPages": min(count, 1),
    }


def all_series(_: PageContext, catalog: Catalog) -> Body[JoinedBodies]:
    """All series by title: the answer of hosts that cannot search."""
    series = sorted(_public(catalog), key=lambda entry: (entry.title, entry.slug))
    start, end = encoding.json_text(whole([], len(series))).split("[]")
    urls = tuple(f"/komga/api/v1/series/{entry.slug}" for entry in series)
    return Body(JoinedBodies(urls, f"{start}[", f"]{end}"), 0)


def nothing(_: PageContext, catalog: Catalog) -> Body[KomgaPage]:
    """A list of a kind that the catalog has none of."""
    return Body(whole([], 0), catalog.site_modified)


def libraries(page: PageContext, catalog: Catalog) -> Body[Sequence[KomgaLibrary]]:
    return Body([{"id": LIBRARY, "name": page.title}], catalog.site_modified)


def genres(page: PageContext, catalog: Catalog) -> Body[Sequence[str]]:
    categories = (genre for entry in _public(catalog) for genre in entry.categories)
    return _names(catalog, categories if page.visible.categories else ())


def tags(page: PageContext, catalog: Catalog) -> Body[Sequence[str]]:
    series = _public(catalog) if page.visible.details else ()
    return Body(sorted({tag for entry in series for tag in komga_search.tags(entry)}), catalog.site_modified)


def publishers(page: PageContext, catalog: Catalog) -> Body[Sequence[str]]:
    groups = (group for entry in _public(catalog) for group in entry.groups)
    return _names(catalog, groups if page.visible.groups else ())


def authors(page: PageContext, catalog: Catalog) -> Body[Sequence[KomgaAuthor]]:
    """Writers and pencillers."""
    people = [
        (person, role)
        for entry in _public(catalog)
        for role, is_shown, of_role in (
            ("writer", page.visible.authors, entry.authors),
            ("penciller", page.visible.artists, entry.artists),
        )
        if is_shown
        for person in of_role
    ]
    names = sorted({(person.name, role) for person, role in people})
    modified = max((person.modified for person, _ in people), default=catalog.site_modified)
    return Body([{"name": name, "role": role} for name, role in names], modified)


class _Named(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def modified(self) -> int: ...


def _names(catalog: Catalog, entities: Iterable[_Named]) -> Body[Sequence[str]]:
    named = list(entities)
    modified = max((entity.modified for entity in named), default=catalog.site_modified)
    return Body(sorted({entity.name for entity in named}), modified)


def _public(catalog: Catalog) -> Iterator[SeriesSummary]:
    return (entry for entry in catalog.series if entry.is_public)
