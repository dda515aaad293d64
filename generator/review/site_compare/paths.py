"""The paths that both sites are asked for, in stages: each stage follows from the responses to those before.

What only one site lists is a difference of the list; its own paths are not asked for.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from ...api.payloads.series_list import ORDERS
from ...api.payloads.v2 import DATE_FORMATS
from ...catalog import field_values
from ...catalog.patterns import MAX_SLUG
from ...catalog.records import STATUSES
from ...reading_sites.lenient import entries, fields, text, whole
from .facts import SERIES_LIST, UNVERSIONED, V1, V2, ComparedSite, six

_PEOPLE = ("authors", "artists", "groups", "members")
_LISTS = {
    V2: ("series", "chapters", "categories", *_PEOPLE),
    V1: ("series", "releases", "authors", "artists", "categories", "groups"),
    UNVERSIONED: ("series", "releases", "authors", "artists"),
}
VERSIONS = tuple(_LISTS)
# Names for which each filter is asked, and the number of chapters of a series that are asked for one by one.
_FILTERED = 5
_SAMPLE = 3
_BAD_IN_FILTER = (",", "/")


@dataclass(slots=True)
class Paths:
    """The paths to ask for. `sites` are asked before the next stage begins."""

    sites: tuple[ComparedSite, ComparedSite]
    # The versions that both sites have.
    versions: list[str]
    # Whether each chapter is asked for, and not only three of a series.
    every: bool = False
    # An API key is sent.
    has_key: bool = False
    # Estimated number of paths after the current stage.
    ahead: int = 0
    _slugs: list[str] = field(default_factory=list)

    def stages(self) -> Iterator[list[str]]:
        """Yield the paths of each stage."""
        yield [f"{version}/{name}" for version in self.versions for name in _LISTS[version]]
        self._slugs = self._all_slugs()
        self.ahead = len(self._slugs) * (3 + len(self.versions) + 4 * _SAMPLE)
        if V2 in self.versions:
            yield [*self._list_queries(), *self._dates(), *(["/api/v2/bookmarks", "/api/v2/profile"] * self.has_key)]
        yield [*self._entries()]
        for left, slug in zip(range(len(self._slugs), 0, -1), self._slugs, strict=True):
            self.ahead = (left - 1) * (3 + len(self.versions) + 4 * _SAMPLE)
            yield [*self._series(slug)]
            yield [*self._chapters(slug)]
        self.ahead = 0

    def _both(self, path: str, values: Callable[[Any], Iterable[Any]]) -> list[Any]:
        """The values that both sites state, in the order of the first."""
        first, second = ([*values(site.get(path).value)] for site in self.sites)
        others = set(second)
        return [value for value in dict.fromkeys(first) if value in others]

    def _all_slugs(self) -> list[str]:
        """The slugs that both sites list in any version."""
        lists = [SERIES_LIST if version == V2 else f"{version}/series" for version in self.versions]
        listed = [[slug for path in lists for slug in _slugs(site.get(path).value)] for site in self.sites]
        others = set(listed[1])
        return [slug for slug in dict.fromkeys(listed[0]) if slug in others]

    def _list_queries(self) -> Iterator[str]:
        """The list of series in each order, and with each filter."""
        yield from (f"{SERIES_LIST}?sort={sign}{order}" for order in ORDERS for sign in ("", "-"))
        yield from (f"{SERIES_LIST}?status={status}" for status in ("any", *STATUSES))
        yield f"{SERIES_LIST}?page=0"
        names = self._names("categories")
        yield from _queries("categories", [name for name in names if not any(bad in name for bad in _BAD_IN_FILTER)])
        yield from _queries("categories", [f"-{name}" for name in names[:1]])
        yield from _queries("author", self._names("authors")[:_FILTERED])
        yield from _queries("artist", self._names("artists")[:_FILTERED])
        titles = self._both(SERIES_LIST, lambda value: (text(series.get("title")) for series in _results(value)))
        yield from _queries("title", titles[:_FILTERED])
        yield from _queries("slug", self._slugs[:_FILTERED])

    def _names(self, name: str) -> list[str]:
        return self._both(f"{V2}/{name}", lambda value: (text(entry.get("name")) for entry in _results(value)))

    def _dates(self) -> Iterator[str]:
        """The list of all chapters in the other formats of dates, and of one series."""
        yield from (f"{V2}/chapters?date_format={name}" for name in [*DATE_FORMATS][1:])
        yield from (f"{V2}/chapters?series={slug}" for slug in self._slugs[:1])

    def _entries(self) -> Iterator[str]:
        """The path of each person, group and category."""
        for version in self.versions:
            # In a fixed order: the result of two runs is the same.
            for path in (f"{version}/{name}" for name in _PEOPLE if name in _LISTS[version]):
                yield from (f"{path}/{id}" for id in self._both(path, _ids))
        if V2 in self.versions:
            names = [name for name in self._names("categories") if name and "/" not in name]
            yield from (f"{V2}/categories/{quote(name, safe='')}" for name in names)

    def _series(self, slug: str) -> Iterator[str]:
        if V2 in self.versions:
            yield from (f"{V2}/{name}" for name in (f"series/{slug}", f"series/{slug}/chapters", f"cubari/{slug}"))
        yield from (f"{version}/series/{slug}" for version in self.versions if version != V2)

    def _chapters(self, slug: str) -> Iterator[str]:
        """The chapters of a series that are asked for one by one."""
        if V2 in self.versions:
            for id in self._sample(self._both(f"{V2}/series/{slug}/chapters", _ids)):
                yield from (f"{V2}/chapters/{id}{end}" for end in ("", "/pages", "/read"))
        for version in self.versions:
            if version != V2:
                path = f"{version}/series/{slug}"
                first, second = (_numbers(site.get(path).value) for site in self.sites)
                rounded = {(volume, six(number)) for volume, number in first}
                exact = set(first)
                both = [(v, n) for v, n in second if (v, n) in exact or (v, six(n)) in rounded]
                sample = self._sample(both)
                yield from (f"{path}/{volume}" for volume in dict.fromkeys(volume for volume, _ in sample))
                yield from (f"{path}/{volume}/{number}" for volume, number in sample)

    def _sample(self, items: list[Any]) -> list[Any]:
        """All items, or the first one, one in the middle and the last one."""
        return items if self.every or len(items) <= _SAMPLE else [items[0], items[len(items) // 2], items[-1]]


def _queries(name: str, values: Iterable[str]) -> Iterator[str]:
    return (f"{SERIES_LIST}?{name}={quote(value, safe='')}" for value in values if value)


def _results(value: Any) -> Iterator[dict[str, Any]]:
    return entries(fields(value).get("results"))


def _slugs(value: Any) -> Iterator[str]:
    """The slugs of a list of any version."""
    items = _results(value) if isinstance(value, dict) else entries(value)
    slugs = (text(series.get("slug")) for series in items)
    return (slug for slug in slugs if len(slug) <= MAX_SLUG and field_values.is_slug(slug))


def _ids(value: Any) -> Iterator[int]:
    items = _results(value) if isinstance(value, dict) else entries(value)
    return (id for entry in items if (id := whole(entry.get("id"))) is not None)


def _numbers(value: Any) -> list[tuple[str, str]]:
    """Volume and number of each chapter of a series in an older version; no volume is 0."""
    volumes = fields(fields(value).get("volumes")).items()
    return [
        (quote("0" if volume == "null" else volume, safe=""), quote(number, safe=""))
        for volume, chapters in volumes
        for number in fields(chapters)
    ]
