"""The list of series as a page of plain Python: what a filter means, without a thought for speed."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_plus

from generator.catalog.entities import Catalog, Person, Series

PAGE_SIZE = 25
# What JavaScript trims: Python's own strip() leaves U+FEFF and takes U+001C to U+001F and U+0085.
BLANKS = "\t\n\v\f\r \xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000\ufeff"
LARGEST = 999
ORDERS = {
    "title": lambda one: one.title,
    "latest_upload": lambda one: max(chapter.published for chapter in one.identified_chapters),
    "chapter_count": lambda one: len(one.identified_chapters),
    "views": lambda one: sum(chapter.views for chapter in one.identified_chapters),
}


@dataclass(frozen=True)
class Listed:
    """What an answer says: which series, of how many, and whether it is the last page."""

    total: int
    last: bool
    slugs: list[str]


def parameters(query: str) -> dict[str, str]:
    """The last of a repeated one counts, and one that is empty is absent."""
    parts = (part.partition("=") for part in query.split("&"))
    found = {decoded(name): decoded(value) for name, equals, value in parts if equals}
    return {name: value for name, value in found.items() if value}


def refusal(query: str) -> str | None:
    """What is said of a query that is longer than the bounds; all is counted as it was sent."""
    parts = query.split("&")
    if len(parts) > 64:
        return "a query may have at most 64 parameters"
    sent = {decoded(name): value for name, equals, value in (part.partition("=") for part in parts) if equals}
    if len(set(re.split(",|%2[Cc]", sent.get("categories", ""))) - {""}) > 64:
        return "categories may have at most 64 different items"
    if any(len(sent.get(name, "")) > 200 for name in ("title", "author", "artist")):
        return "title, author and artist may have at most 200 characters each, as they stand in the URL"
    return None


def decoded(text: str) -> str:
    """What is no escape stays as it was sent, and bytes that are no UTF-8 become U+FFFD."""
    return unquote_plus(text)


def answer(catalog: Catalog, query: str) -> Listed | None:
    """The list that a query asks for; None is a page that does not exist."""
    given = parameters(query)
    found = [one for one in ordered(catalog.listed_series, given.get("sort", "")) if all(asked(one, given))]
    limit = int(given["limit"]) if re.fullmatch("[0-9]+", given.get("limit", "")) else 0
    size = min(limit, LARGEST) or PAGE_SIZE
    page = given.get("page", "1")
    if not re.fullmatch("[1-9][0-9]*", page):
        return None
    start = (int(page) - 1) * size
    if start and start >= len(found):
        return None
    shown = found[start : start + size]
    return Listed(len(found), start + size >= len(found), [one.slug for one in shown])


def ordered(series: Iterable[Series], sort: str) -> list[Series]:
    name = sort.split(",")[0].strip(BLANKS)
    by_slug = sorted(series, key=lambda one: one.slug)
    if name.removeprefix("-") not in ORDERS:
        name = "title"
    return sorted(by_slug, key=ORDERS[name.removeprefix("-")], reverse=name.startswith("-"))


def asked(one: Series, given: dict[str, str]) -> Iterable[bool]:
    status = given.get("status", "any").lower()
    yield status in ("any", one.status) or (status, one.status) == ("cancelled", "canceled")
    yield given.get("slug", one.slug).lower() == one.slug.lower()
    yield says((one.title, *one.aliases), given.get("title"))
    yield says(names(one.authors), given.get("author"))
    yield says(names(one.artists), given.get("artist"))
    items = [item.strip(BLANKS).casefold() for item in given.get("categories", "").split(",")]
    excluded = {item[1:].strip(BLANKS) for item in items if item.startswith("-")} - {""}
    included = {item for item in items if item and not item.startswith("-")}
    own = {name.casefold() for genre in one.categories for name in (genre.id, genre.name)}
    yield not excluded & own
    yield not included or bool(included & own)


def names(people: Iterable[Person]) -> list[str]:
    return [name for person in people for name in (person.name, *person.aliases)]


def says(texts: Iterable[str], part: str | None) -> bool:
    return part is None or any(part.casefold() in text.casefold() for text in texts)


def read(body: dict[str, Any]) -> Listed:
    assert list(body) == ["total", "last", "results"]
    return Listed(body["total"], body["last"], [one["slug"] for one in body["results"]])
