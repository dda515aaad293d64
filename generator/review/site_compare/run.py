"""Compare two sites: request the same paths of both in turns, and compare each pair of responses."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ... import __version__, filesystem
from ...api.payloads.series_list import ORDERS
from ...api.payloads.v2 import DATE_FORMATS
from ...api.routes import route_of
from ...catalog import field_values
from ...catalog.patterns import MAX_SLUG
from ...catalog.records import STATUSES
from ...errors import FlatpanelError
from ...reading_sites.crawl import Crawler, Progress
from ...reading_sites.lenient import entries, fields, text, whole
from ...reading_sites.notes import Notes
from ...reading_sites.response_cache import ResponseCache, make, path_of
from ...reading_sites.responses import ParsedBodies
from ...reading_sites.site_client import MAX_RESPONSE, SiteClient
from ...server_url import REQUEST_SECONDS, ServerUrl
from ..diff.json_diff import CHANGED, json_changes
from .facts import (
    SERIES_LIST,
    STATUS,
    UNUSABLE,
    UNVERSIONED,
    V1,
    V2,
    Answer,
    ComparedSite,
    Difference,
    Facts,
    Origins,
    six,
)
from .known_reasons import align, is_corrected_author_list, reason

AGENT = f"flatpanel/{__version__} (compares two sites; asks slowly)"
# The reason for a version of the API that only the second site has.
NEW_VERSION = "the first site does not have this version of the API"
_EXISTS = (200, 401)
_STATUS_NOTE = re.compile("status [0-9]+; skipped|server error after")


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """The parameters of a comparison, including the clock."""

    first: ServerUrl
    second: ServerUrl
    cache: Path
    now: int
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    key: str | None = None
    rate: float = 2.5
    # Whether each chapter is requested, and not only three of a series.
    every: bool = False
    timeout: float = REQUEST_SECONDS
    max_response: int = MAX_RESPONSE


@dataclass(slots=True)
class CompareResult:
    """All differences, and what was compared."""

    differences: list[Difference] = field(default_factory=list)
    # Compared paths, and those of them with equal responses.
    paths: int = 0
    equal: int = 0
    requests: int = 0
    # The start of URLs that each site states, by the URL of the site.
    stated: dict[str, str] = field(default_factory=dict)
    # What could not be read, one sentence for each kind.
    notes: list[str] = field(default_factory=list)

    @property
    def unexplained(self) -> list[Difference]:
        return [difference for difference in self.differences if not difference.reason]


def run(options: CompareOptions, progress: Progress = lambda share: None) -> CompareResult:
    """Request the same paths of both sites in turns; compare each pair of responses."""
    result, origins = CompareResult(), Origins()
    with ExitStack() as stack:
        first, second = (
            _opened(options, site, f"{name} {site}", origins, stack)
            for name, site in (("first", options.first), ("second", options.second))
        )
        versions = _versions(first, second, result)
        facts = Facts(first, second, options.now)
        paths = Paths((first, second), versions, options.every, options.key is not None)
        for stage in paths.stages():
            for left, path in zip(range(len(stage), 0, -1), stage, strict=True):
                progress(result.paths / (result.paths + left + paths.ahead))
                different = list(differences(path, first.get(path), second.get(path), facts))
                result.differences += different
                result.paths += 1
                result.equal += not different
        progress(1)
        for site in (first, second):
            site.crawler.bodies.cache.finish()
            result.requests += site.crawler.client.requests
    result.notes = [*_notes(first, second)]
    result.stated = {url: stated for url, stated in origins.stated.items() if stated != url}
    return result


def _notes(first: ComparedSite, second: ComparedSite) -> Iterator[str]:
    """Yield what could not be read. A status is no note: it is equal, or a difference."""
    sites: dict[str, list[str]] = {}
    for site in (first, second):
        for note in site.crawler.notes:
            if not _STATUS_NOTE.search(note):
                sites.setdefault(note, []).append(site.url)
    for note, urls in sites.items():
        yield f"{'both sites' if len(urls) > 1 else urls[0]}: {note}"


def _opened(options: CompareOptions, site: ServerUrl, name: str, origins: Origins, stack: ExitStack) -> ComparedSite:
    """Return a site with a cache of its own: both may be one site."""
    folder = make(path_of(options.cache, name))
    stack.enter_context(filesystem.exclusive(folder))
    max_bytes = options.max_response << 20
    pause, seconds = 1 / options.rate, options.timeout
    client = SiteClient(site, options.clock, options.sleep, pause, seconds, max_bytes, agent=AGENT)
    stack.callback(client.close)
    bodies = ParsedBodies(ResponseCache(folder, options.now), max_bytes)
    stack.callback(bodies.cache.close)
    return ComparedSite(Crawler(client, bodies, Notes(), options.key), origins)


def _versions(first: ComparedSite, second: ComparedSite, result: CompareResult) -> list[str]:
    """Return the versions of the API that both sites have; a version of one site is a difference."""
    versions = {version: [_status(site, version) for site in (first, second)] for version in VERSIONS}
    for index, site in enumerate((first, second)):
        if all(statuses[index] not in _EXISTS for statuses in versions.values()):
            raise FlatpanelError(
                f"{site.url}: not a known API: /api/v2/series, /api/v1/series and /api/series do not exist"
            )
    for version, (status, other) in versions.items():
        if (status in _EXISTS) != (other in _EXISTS):
            reason = "" if status in _EXISTS else NEW_VERSION
            result.differences.append(Difference(version, version, STATUS, (), status, other, reason))
    return [version for version, statuses in versions.items() if all(status in _EXISTS for status in statuses)]


def _status(site: ComparedSite, version: str) -> int:
    """The status of the list of series. In older versions, it may fail where the list of releases does not."""
    paths = (f"{version}/series",) if version == V2 else (f"{version}/releases", f"{version}/series")
    statuses = [site.response(path).status for path in paths]
    return next((status for status in statuses if status in _EXISTS), statuses[0])


# The differences of two responses: status, target of a redirect, and each field

CORRECTED_AUTHORS = "the list of authors has the authors; version 1 of the original service shows artists"
PAGE_SIZE = "page size"


def differences(path: str, first: Answer, second: Answer, facts: Facts) -> Iterator[Difference]:
    """Yield each difference of two responses with its reason, if one is known."""
    facts = facts.of(first.value, second.value)
    for difference in _differences(path, first, second, facts):
        yield difference if difference.reason else replace(difference, reason=reason(difference, facts))


def _differences(path: str, first: Answer, second: Answer, facts: Facts) -> Iterator[Difference]:
    route = route_of(path)
    if not first.status or not second.status:
        yield Difference(path, route, UNUSABLE, (), first.status or "unusable", second.status or "unusable")
    elif first.status != second.status:
        yield Difference(path, route, STATUS, (), first.status, second.status)
    elif first.location != second.location:
        yield Difference(path, route, CHANGED, ("Location",), first.location, second.location)
    elif first.good:
        yield from _fields(path, route, first, second, facts)


def _fields(path: str, route: str, first: Answer, second: Answer, facts: Facts) -> Iterator[Difference]:
    if facts.from_original:
        if is_corrected_author_list(path, first.value, second.value, facts):
            yield Difference(path, route, CHANGED, (), reason=CORRECTED_AUTHORS)
            return
        for explained in align(path, first.value, second.value, facts):
            yield Difference(path, route, CHANGED, *explained)
    if first.page_size != second.page_size and first.page_size and second.page_size:
        yield Difference(path, route, CHANGED, (PAGE_SIZE,), first.page_size, second.page_size)
    values = [first.value, second.value]
    if all(map(_has_right_total, values)):
        # Each missing or additional series is a difference.
        values = [{name: item for name, item in value.items() if name != "total"} for value in values]
    for change in json_changes(*values):
        yield Difference(path, route, change.kind, change.path, change.old, change.new)


def _has_right_total(value: Any) -> bool:
    results = fields(value).get("results")
    return isinstance(results, list) and fields(value).get("total") == len(results)


# The paths that both sites are asked for, in stages: each stage follows from the responses to those before
#
# What only one site lists is a difference of the list; its own paths are not asked for.

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
        # The slugs that both sites list in any version.
        lists = [SERIES_LIST if version == V2 else f"{version}/series" for version in self.versions]
        first, second = ([slug for path in lists for slug in _slugs(site.get(path).value)] for site in self.sites)
        others = set(second)
        self._slugs = [slug for slug in dict.fromkeys(first) if slug in others]
        self.ahead = len(self._slugs) * (3 + len(self.versions) + 4 * _SAMPLE)
        if V2 in self.versions:
            # The list of all chapters in the other formats of dates, and of one series.
            chapters = [f"{V2}/chapters?date_format={name}" for name in [*DATE_FORMATS][1:]]
            chapters += [f"{V2}/chapters?series={slug}" for slug in self._slugs[:1]]
            yield [*self._list_queries(), *chapters, *([f"{V2}/bookmarks", f"{V2}/profile"] * self.has_key)]
        yield [*self._entries()]
        for left, slug in zip(range(len(self._slugs), 0, -1), self._slugs, strict=True):
            self.ahead = (left - 1) * (3 + len(self.versions) + 4 * _SAMPLE)
            of_v2 = [f"{V2}/series/{slug}", f"{V2}/series/{slug}/chapters", f"{V2}/cubari/{slug}"]
            older = (f"{version}/series/{slug}" for version in self.versions if version != V2)
            yield [*of_v2 * (V2 in self.versions), *older]
            yield [*self._chapters(slug)]
        self.ahead = 0

    def _both(self, path: str, values: Callable[[Any], Iterable[Any]]) -> list[Any]:
        """The values that both sites state, in the order of the first."""
        first, second = ([*values(site.get(path).value)] for site in self.sites)
        others = set(second)
        return [value for value in dict.fromkeys(first) if value in others]

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

    def _entries(self) -> Iterator[str]:
        """The path of each person, group and category."""
        for version in self.versions:
            # In a fixed order: the result of two runs is the same.
            for path in (f"{version}/{name}" for name in _PEOPLE if name in _LISTS[version]):
                yield from (f"{path}/{id}" for id in self._both(path, _ids))
        if V2 in self.versions:
            names = [name for name in self._names("categories") if name and "/" not in name]
            yield from (f"{V2}/categories/{quote(name, safe='')}" for name in names)

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
