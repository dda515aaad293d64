"""One of two sites that are compared: its responses, in which paths replace the URLs of both sites."""

import re
from dataclasses import dataclass, field
from typing import Any

from ...reading_sites.crawl import MAX_SERIES, Crawler
from ...reading_sites.lenient import UnusableResponse, entries, fields, text
from ...reading_sites.site_client import BROKEN, ServerFailed

V2, V1, UNVERSIONED = "/api/v2", "/api/v1", "/api"
SERIES_LIST = f"{V2}/series"
# A status for a page behind the last one.
_NO_PAGE = 404
_ORIGIN = re.compile(r"https?://[^/?#]+(?=/)")
# Lists of whole series: each series has a response of its own, so the chapters in the list are not compared.
WHOLE_LISTS = (f"{V1}/series", f"{UNVERSIONED}/series")


@dataclass(frozen=True, slots=True)
class Answer:
    """A response without the URL of its site. Status 0: the site sent no usable response."""

    status: int
    value: Any = None
    # The target of a redirect.
    location: str = ""
    # The number of series on a page of the list, if it has several pages.
    page_size: int | None = None

    @property
    def good(self) -> bool:
        return self.status == 200


@dataclass(slots=True)
class Origins:
    """The URLs with which the responses of both sites begin: those of the command line, and those that they state."""

    urls: dict[str, None] = field(default_factory=dict)
    # The URL that each site states, by the URL of the site.
    stated: dict[str, str] = field(default_factory=dict)

    def add_stated(self, site: str, url: str) -> None:
        if match := _ORIGIN.match(url):
            self.stated.setdefault(site, match[0])
            self.urls.setdefault(match[0])

    def without(self, value: Any) -> Any:
        """Return JSON whose URLs are paths if they belong to one of the sites."""
        if isinstance(value, str):
            return self.path(value)
        if isinstance(value, dict):
            return {name: self.without(item) for name, item in value.items()}
        return [self.without(item) for item in value] if isinstance(value, list) else value

    def path(self, url: str) -> str:
        return next((url.removeprefix(origin) for origin in self.urls if url.startswith(f"{origin}/")), url)


@dataclass(slots=True)
class ComparedSite:
    """One of the two sites."""

    crawler: Crawler
    origins: Origins
    # Responses that no cache has; the reasons of other differences need some of them again.
    _failed: dict[str, Answer] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.origins.urls.setdefault(str(self.crawler.client.site))

    @property
    def is_original(self) -> bool:
        return self.crawler.responses.is_original

    @property
    def url(self) -> str:
        return str(self.crawler.client.site)

    def get(self, path: str) -> Answer:
        """Return the response for a path; the list of series has all of its pages."""
        if path == SERIES_LIST or (path.startswith(f"{SERIES_LIST}?") and "page=" not in path):
            return self._series_list(path)
        return self._redirect(path) if path.endswith("/read") else self.response(path)

    def response(self, path: str) -> Answer:
        """Return the response for a path; of a list with several pages, the first one."""
        if path in self._failed:
            return self._failed[path]
        response = self.crawler.get(path)
        if response.status in (0, BROKEN):
            self._failed[path] = Answer(response.status)
        value = response.value
        if path in WHOLE_LISTS:
            value = [{name: item for name, item in series.items() if name != "volumes"} for series in entries(value)]
            for series in value:
                self.origins.add_stated(self.url, text(series.get("url")))
        usable = response.understood or response.status != 200
        return Answer(response.status if usable else 0, self.origins.without(value))

    def _series_list(self, path: str) -> Answer:
        """Return one list with the series of all pages, or the response for a page that fails.

        A page without new series is the end, regardless of `last`.
        """
        first = page = self.response(path)
        slugs, results, number = set[str](), list[Any](), 1
        while new := {text(series.get("slug")) for series in _listed(page)} - slugs:
            slugs |= new
            results += _listed(page)
            if fields(page.value).get("last") is not False:
                break
            if len(slugs) > MAX_SERIES:
                self.crawler.notes.add(f"more than {MAX_SERIES} series; the rest is skipped", path)
                break
            number += 1
            page = self.response(f"{path}{'&' if '?' in path else '?'}page={number}")
            if not page.good and page.status != _NO_PAGE:
                return page  # a shorter list would show the other series as lost
        if not first.good:
            return first
        several = fields(first.value).get("last") is False
        size = len(_listed(first)) if several else None
        return Answer(200, {**fields(first.value), "last": True, "results": results}, page_size=size)

    def _redirect(self, path: str) -> Answer:
        """Return a response that may be a redirect, which is not followed."""
        cache, name = self.crawler.bodies.cache, f"{path} unfollowed"
        cached = cache.find(name)
        if not cached or cached.run != cache.run:
            try:
                response = self.crawler.client.get(path, {}, follows=False)
            except UnusableResponse as error:
                self.crawler.notes.add(f"{error}; skipped", path)
                return Answer(BROKEN if isinstance(error, ServerFailed) else 0)
            cached = cache.keep(name, response.status, dict(response.headers), b"")
        location = cached.headers.get("location", "")
        self.origins.add_stated(self.url, location)
        return Answer(cached.status, location=self.origins.path(location))


def _listed(page: Answer) -> list[dict[str, Any]]:
    return list(entries(fields(page.value).get("results")))
