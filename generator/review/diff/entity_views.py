"""Assemble everything that a release publishes about an entity into one value, so that each field is compared once."""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple
from urllib.parse import unquote

from ...catalog.field_values import percent_encoded

# Returns the JSON value of the body at a URL, or None.
Load = Callable[[str], Any]

_ENTITY = re.compile(r"/api/(?:v\d/)?(author|artist|group|member|categorie)s/([^/?#]+)")
_ACCOUNT = re.compile(r"/api/v2/[a-z]+#(?!index$)(.+)")
_SITE = re.compile(r"/|/api/v2/(?:openapi\.json|docs(?:/.*)?)")
SERIES, ACCOUNT, CATEGORY, SITE, CHAPTER, LISTS = "series", "account", "category", "site", "chapter", "lists"


class EntityName(NamedTuple):
    """The kind of an entity and its slug, id or name. The site and the lists have none."""

    kind: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".rstrip()


def entity_of_url(url: str, slug: str) -> EntityName:
    """The entity that a URL belongs to. `slug`: the series of the URL, or ""."""
    if slug:
        return EntityName(SERIES, slug)
    if match := _ENTITY.fullmatch(url):
        return EntityName(CATEGORY if match[1] == "categorie" else match[1], unquote(match[2]))
    if match := _ACCOUNT.fullmatch(url):
        return EntityName(ACCOUNT, match[1])
    if url.startswith("/api/v2/chapters/"):
        return EntityName(CHAPTER, url.split("/")[4])
    return EntityName(SITE if _SITE.fullmatch(url) else LISTS)


def sources(entity: EntityName) -> tuple[str, ...]:
    """The URLs whose bodies together contain every field of an entity. Later bodies take precedence."""
    match entity.kind:
        case "series":
            return (f"/api/v1/series/{entity.name}", f"/api/v2/series/{entity.name}")
        case "author" | "artist" | "group":
            return (f"/api/v2/{entity.kind}s/{entity.name}", f"/api/v1/{entity.kind}s/{entity.name}")
        case "member":
            return (f"/api/v2/members/{entity.name}",)
        case "category":
            return (f"/api/v2/categories/{percent_encoded(entity.name)}",)
        case "account":
            return (f"/api/v2/profile#{entity.name}", f"/api/v2/bookmarks#{entity.name}")
    return ()


def entity_view(entity: EntityName, load: Load) -> dict[str, Any]:
    """The fields of an entity from all bodies that can be loaded."""
    fields: dict[str, Any] = {}
    for url in sources(entity):
        fields |= load(url) or {}
    if entity.kind == SERIES:
        chapters = list(_chapters(entity.name, fields.pop("volumes", {}), load))
        return {**fields, "chapters": chapters} if fields or chapters else {}
    return fields


def _chapters(slug: str, volumes: Mapping[str, Any], load: Load) -> Iterator[dict[str, Any]]:
    """The chapters of a series with the fields of v1 and v2. Each version may list chapters that the other omits."""
    v1 = {(volume, number): chapter for volume, chapters in volumes.items() for number, chapter in chapters.items()}
    results = (load(f"/api/v2/series/{slug}/chapters") or {"results": ()})["results"]
    v2 = {_volume_and_number(chapter): chapter for chapter in results}
    # v1 has the pages. Without it, they are in the Cubari JSON.
    cubari = {} if v1 else _cubari_chapters(load(f"/api/v2/cubari/{slug}") or {"chapters": {}})
    for key in v1 | v2 | cubari:
        fields = cubari.get(key, {}) | v2.get(key, {}) | v1.get(key, {})
        fields["volume"], fields["number"] = key
        # Redundant: `published` has the date, and the entity is the series.
        for name in ("date", "series") if key in v2 else ():
            fields.pop(name, None)
        yield fields


def _cubari_chapters(cubari: Mapping[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """The chapters of Cubari JSON, which lists pages by group."""
    return {
        (chapter["volume"], chapter["number"]): {
            "id": int(chapter_id),
            "pages_list": list(chain.from_iterable(chapter["groups"].values())),
        }
        for chapter_id, chapter in cubari["chapters"].items()
    }


def _volume_and_number(chapter: Mapping[str, Any]) -> tuple[str, str]:
    return str(chapter["volume"] or 0), repr(chapter["number"]).removesuffix(".0")
