"""The responses of the two compared sites, a difference, and what other responses state about it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import unquote

from ...reading_sites.crawl import MAX_SERIES, Crawler
from ...reading_sites.image_paths import SiteImages, unwrapped
from ...reading_sites.lenient import UnusableResponse, entries, fields, http_date, line, text, texts
from ...reading_sites.site_client import BROKEN, ServerFailed
from ..diff.json_diff import Path, path_text

# One of the two sites: its responses, in which paths replace the URLs of both sites

V2, V1, UNVERSIONED = "/api/v2", "/api/v1", "/api"
SERIES_LIST = f"{V2}/series"
# A status for a page behind the last one.
_NO_PAGE = 404
_STATED_ORIGIN = re.compile(r"https?://[^/?#]+(?=/)")
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
        if match := _STATED_ORIGIN.match(url):
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


# An origin for images that are paths here.
_ORIGIN = "http://site.invalid"
_NO_VOLUME = ("None", "null", "")


# Kinds of differences that no JSON has: another status, and a response that one site did not complete.
STATUS, UNUSABLE = "status", "unusable"


@dataclass(frozen=True, slots=True)
class Difference:
    """A field of a response that differs, or its status."""

    path: str
    # The path with placeholders, such as /api/v2/series/{slug}.
    route: str
    kind: str
    steps: Path = ()
    first: Any = None
    second: Any = None
    # Empty if no reason is known.
    reason: str = ""

    @property
    def field(self) -> str:
        """The field without identities of list items, such as results[].title."""
        return path_text(tuple("[]" if step.startswith("[") else step for step in self.steps))

    @property
    def place(self) -> str:
        return path_text(self.steps)

    @property
    def name(self) -> str:
        """The name of the field; that of the list for an item of a list."""
        return next((step for step in reversed(self.steps) if not step.startswith("[")), "")


@dataclass(frozen=True, slots=True)
class Facts:
    """Both sites, the time, and the responses that differ."""

    first: ComparedSite
    second: ComparedSite
    now: int
    # The values of the two responses that are compared.
    values: tuple[Any, Any] = (None, None)
    # The values of each series that lists are sorted by, by field: many differences need them.
    sorted_by: dict[str, dict[str, Any]] = field(default_factory=dict)

    def of(self, first: Any, second: Any) -> "Facts":
        return replace(self, values=(first, second))

    @property
    def from_original(self) -> bool:
        """Whether the first site runs the original service and the second one does not."""
        return self.first.is_original and not self.second.is_original

    @property
    def has_v2(self) -> bool:
        """Whether the first site has version 2, which may need an API key."""
        return self.first.get(SERIES_LIST).status in (200, 401)

    def first_value(self, path: str) -> Any:
        return self.first.get(path).value

    def second_value(self, path: str) -> Any:
        return self.second.get(path).value

    def results(self, path: str) -> list[dict[str, Any]]:
        """The entries of a list of version 2 of the first site."""
        return list(entries(fields(self.first_value(path)).get("results")))

    def listed(self, path: str) -> list[dict[str, Any]]:
        """The entries of a list of version 1 of the first site."""
        return list(entries(self.first_value(path)))

    def old_chapters(self, slug: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Yield volume, number and fields of the chapters of a series in version 1 of the first site."""
        for volume, chapters in fields(fields(self.first_value(f"{V1}/series/{slug}")).get("volumes")).items():
            for number, chapter in fields(chapters).items():
                yield plain_volume(volume), number, fields(chapter)

    def newest_chapters(self, slug: str) -> list[dict[str, Any]]:
        """Return the published chapters with the newest date, as a list of releases shows them."""
        releases = [
            {"title": line(row.get("title")), "volume": volume, "number": number, "date": text(row.get("date"))}
            for volume, number, row in self.old_chapters(slug)
        ]
        dates = {release["date"]: http_date(release["date"]) or 0 for release in releases}
        newest = max((date for date in dates.values() if date <= self.now), default=None)
        return [release for release in releases if dates[release["date"]] == newest]

    def cubari_pages(self, slug: str, volume: str, number: str) -> Iterator[list[str]]:
        """Yield the images of the chapters with a number in the Cubari JSON of the first site."""
        cubari = fields(fields(self.first_value(f"{V2}/cubari/{slug}")).get("chapters"))
        for chapter in map(fields, cubari.values()):
            if (plain_volume(chapter.get("volume")), chapter.get("number")) in (
                (volume, number),
                (volume, six(number)),
            ):
                yield [image for images in fields(chapter.get("groups")).values() for image in texts(images)]

    def plain_image(self, stated: str) -> str:
        """Return the path of an image of the first site without the URL of a CDN around it."""
        return self.first.origins.path(unwrapped(stated, self.first.crawler.client.site.origin))

    def image(self, stated: str) -> str:
        """Return the encoded path of an image of the first site."""
        path = self.plain_image(stated)
        url = f"{_ORIGIN}{path}" if path.startswith("/") else path
        return SiteImages(_ORIGIN, True).url(url).removeprefix(_ORIGIN)

    def same_image(self, first: str, second: str) -> bool:
        """Whether only the encoding of an image's path differs, or the CDN around it."""
        return unquote(second) in (self.plain_image(first), unquote(self.image(first)))


def plain_volume(volume: Any) -> str:
    return "0" if volume is None or str(volume) in _NO_VOLUME else str(volume)


def six(number: str) -> str:
    """Return a number with at most six digits, as the original service writes it."""
    try:
        return f"{float(number):.6g}"
    except ValueError:
        return number


def value_at(value: Any, steps: Path) -> Any:
    """The list or object that a difference is in."""
    for step in steps:
        name, _, wanted = step.strip("[]").partition("=")
        if isinstance(value, list):
            value = next((item for item in entries(value) if str(item.get(name)) == wanted), None)
        else:
            value = fields(value).get(name.strip('"'))
    return value
