"""Compare two sites: request the same paths of both in turns, and compare each pair of responses."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ... import __version__, filesystem
from ...api.routes import route_of
from ...errors import FlatpanelError
from ...reading_sites.crawl import Crawler, Progress
from ...reading_sites.lenient import fields
from ...reading_sites.notes import Notes
from ...reading_sites.response_cache import ResponseCache, make, path_of
from ...reading_sites.responses import ParsedBodies
from ...reading_sites.site_client import MAX_RESPONSE, SiteClient
from ...server_url import REQUEST_SECONDS, ServerUrl
from ..diff.json_diff import CHANGED, json_changes
from .facts import STATUS, UNUSABLE, V2, Answer, ComparedSite, Difference, Facts, Origins
from .known_reasons import align, is_corrected_author_list, reason
from .paths import VERSIONS, Paths

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
