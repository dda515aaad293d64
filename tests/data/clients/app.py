"""The common parts of all apps: their requests, their decoders, and what a reader does with them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.data.clients.strict import Broken, Reader, parse
from tests.support.nginx_client import Answer, Web

Get = Callable[[str], Any]
IN_MILLISECONDS = "?date_format=timestamp"


@dataclass(frozen=True)
class App:
    """An app: its request headers, its decoders by kind of body, and its URLs as it spells them.

    `browse` loads all pages of the list and returns slugs. `images` returns the image URLs of a series.
    `searches` are URLs of searches with the expected slugs.
    """

    name: str
    reads: Mapping[str, Reader]
    browse: Callable[[Get], list[str]] | None = None
    images: Callable[[Get, str], list[str]] | None = None
    searches: Mapping[str, list[str]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    def asking(self, web: Web) -> Get:
        """A function that sends requests as the app does, and raises `Broken` if the status is not 200."""

        def get(path: str) -> Any:
            response = self.ask(web, path)
            if response.status != 200:
                raise Broken(f"{path}: HTTP error {response.status}")
            if response["content-type"] != "application/json":
                raise Broken(f"{path}: {response['content-type']}")
            return parse(response.body)

        return get

    def ask(self, web: Web, path: str) -> Answer:
        return web.ask(path, **self.headers)


def slugs(body: Any) -> list[str]:
    return [series["slug"] for series in body["results"]]


def images(body: Any) -> list[str]:
    return [page["image"] for page in body["results"]]


def by_chapters(
    chapters: Reader, pages: Reader, detail: Reader = lambda _: None, query: str = ""
) -> Callable[[Get, str], list[str]]:
    """Load a series, its chapters and the pages of each, as most apps do: the image URLs."""

    def load(get: Get, slug: str) -> list[str]:
        detail(get(f"/api/v2/series/{slug}"))
        listed = chapters(get(f"/api/v2/series/{slug}/chapters{query}"))["results"]
        bodies = [pages(get(f"/api/v2/chapters/{chapter['id']}/pages?track=true")) for chapter in listed]
        return [image for body in bodies for image in images(body)]

    return load


def until_last(get: Get, read: Reader, path: str) -> Iterator[str]:
    """Load pages until `last` is true, as most apps do."""
    number, last = 1, False
    while not last:
        body = read(get(path.format(page=number)))
        yield from slugs(body)
        number, last = number + 1, body["last"]
