"""What all apps have in common: how they ask, what they read, and what a reader of comics does with them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.data.clients.strict import Broken, Reader, parse
from tests.support.nginx_client import Answer, Web

Get = Callable[[str], Any]


@dataclass(frozen=True)
class App:
    """An app: its request headers, its decoders by kind of body, its addresses as it spells them.

    `browse` pages through everything and answers with slugs; `images` goes from a series to its images.
    `searches` are the addresses of searches, as typed by somebody who looks for one thing, with what they find.
    """

    name: str
    reads: Mapping[str, Reader]
    browse: Callable[[Get], list[str]] | None = None
    images: Callable[[Get, str], list[str]] | None = None
    searches: Mapping[str, list[str]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    def asking(self, web: Web) -> Get:
        """A function that asks as the app does: whatever is not a 200 breaks it."""

        def get(path: str) -> Any:
            answer = self.ask(web, path)
            if answer.status != 200:
                raise Broken(f"{path}: HTTP error {answer.status}")
            if answer["content-type"] != "application/json":
                raise Broken(f"{path}: {answer['content-type']}")
            return parse(answer.body)

        return get

    def ask(self, web: Web, path: str) -> Answer:
        return web.ask(path, **self.headers)


def slugs(found: Any) -> list[str]:
    return [one["slug"] for one in found["results"]]


def images(found: Any) -> list[str]:
    return [one["image"] for one in found["results"]]


def until_last(get: Get, read: Reader, path: str) -> Iterator[str]:
    """The way of most apps: one page after the other, for as long as the server says that there is more."""
    page, last = 1, False
    while not last:
        found = read(get(path.format(page=page)))
        yield from slugs(found)
        page, last = page + 1, found["last"]
