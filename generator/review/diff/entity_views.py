"""What a release says of one thing, in one value, so that each of its facts is compared once."""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple
from urllib.parse import unquote

from ...catalog.field_values import percent_encoded

Load = Callable[[str], Any]

_THING = re.compile(r"/api/(?:v\d/)?(author|artist|group|member|categorie)s/([^/?#]+)")
_ACCOUNT = re.compile(r"/api/v2/[a-z]+#(?!index$)(.+)")
_SITE = re.compile(r"/|/api/v2/(?:openapi\.json|docs(?:/.*)?)")
SERIES, ACCOUNT, CATEGORY, SITE, CHAPTER, LISTS = "series", "account", "category", "site", "chapter", "lists"


class EntityName(NamedTuple):
    """What a thing is called."""

    kind: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".rstrip()


def entity_of_url(url: str, slug: str) -> EntityName:
    """What a URL is about."""
    if slug:
        return EntityName(SERIES, slug)
    if found := _THING.fullmatch(url):
        return EntityName(CATEGORY if found[1] == "categorie" else found[1], unquote(found[2]))
    if found := _ACCOUNT.fullmatch(url):
        return EntityName(ACCOUNT, found[1])
    if url.startswith("/api/v2/chapters/"):
        return EntityName(CHAPTER, url.split("/")[4])
    return EntityName(SITE if _SITE.fullmatch(url) else LISTS)


def sources(one: EntityName) -> tuple[str, ...]:
    """The bodies that together say everything of a thing; what a later one says as well, it says better."""
    match one.kind:
        case "series":
            return (f"/api/v1/series/{one.name}", f"/api/v2/series/{one.name}")
        case "author" | "artist" | "group":
            return (f"/api/v2/{one.kind}s/{one.name}", f"/api/v1/{one.kind}s/{one.name}")
        case "member":
            return (f"/api/v2/members/{one.name}",)
        case "category":
            return (f"/api/v2/categories/{percent_encoded(one.name)}",)
        case "account":
            return (f"/api/v2/profile#{one.name}", f"/api/v2/bookmarks#{one.name}")
    return ()


def entity_view(one: EntityName, load: Load) -> dict[str, Any]:
    """All that the bodies say that can be loaded."""
    found: dict[str, Any] = {}
    for url in sources(one):
        found |= load(url) or {}
    if one.kind == SERIES:
        chapters = list(_chapters(one.name, found.pop("volumes", {}), load))
        return {**found, "chapters": chapters} if found or chapters else {}
    return found


def _chapters(slug: str, volumes: Mapping[str, Any], load: Load) -> Iterator[dict[str, Any]]:
    """The chapters of a series, as v1 and v2 have them; both know some that the other does not."""
    known = {(volume, number): one for volume, chapters in volumes.items() for number, one in chapters.items()}
    newer = {_place(one): one for one in (load(f"/api/v2/series/{slug}/chapters") or {"results": ()})["results"]}
    # Pages are in v1, or in no other body of a whole series.
    pages = {} if known else _with_pages(load(f"/api/v2/cubari/{slug}") or {"chapters": {}})
    for place in known | newer | pages:
        found = pages.get(place, {}) | newer.get(place, {}) | known.get(place, {})
        found["volume"], found["number"] = place
        # Said better by `published`, and by whose it is.
        for name in ("date", "series") if place in newer else ():
            found.pop(name, None)
        yield found


def _with_pages(reader: Mapping[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """The chapters of a reader object; it has their pages below the names of their groups."""
    return {
        (one["volume"], one["number"]): {
            "id": int(name),
            "pages_list": list(chain.from_iterable(one["groups"].values())),
        }
        for name, one in reader["chapters"].items()
    }


def _place(one: Mapping[str, Any]) -> tuple[str, str]:
    return str(one["volume"] or 0), repr(one["number"]).removesuffix(".0")
