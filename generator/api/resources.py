"""The nouns that everything below the catalog speaks."""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

# What bodies are, and how the names of their files end.
JSON = "application/json"
HTML = "text/html; charset=utf-8"
CSS = "text/css; charset=utf-8"
JS = "text/javascript; charset=utf-8"
SUFFIXES = {JSON: ".json", HTML: ".html", CSS: ".css", JS: ".js"}

# The list that stands for whatever finds nothing, at many addresses. One of them may find something later that is
# older, so this body has a tag and no date: clients that ask by date would never see the other.
NOTHING = "/api/v2/pages?series=~&volume=0&number=0"


class Body(NamedTuple):
    """A value on the wire and when the newest part of it changed. What is shown is counted, by construction.

    Bytes are sent as they are, the two kinds of long lists below are put together when they are written, and
    everything else is JSON.
    """

    json: object
    modified: int


@dataclass(frozen=True, slots=True)
class JoinedBodies:
    """An array of the bodies of other URLs, which may be more than fits into memory."""

    urls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AllChapters:
    """The `results` of all chapters that anybody may read, newest first; their dates have one of v2's forms."""

    date_format: str


class Resource(NamedTuple):
    """What a URL answers: a value to be encoded, and how many seconds a cache may keep it.

    A URL ends in `?…` where a parameter chooses between bodies, and in `#…` where something else does.
    """

    url: str
    shown: Body
    max_age: int
    restricted: bool = False
    type: str = JSON


class Gate(NamedTuple):
    """What a URL answers that has no body of its own: 451, or 308 and a path to go to."""

    url: str
    status: int
    target: str = ""
    restricted: bool = False


# Asked for the name of a body's file, and again for the line of a map.
@lru_cache(maxsize=4096)
def key(url: str) -> str:
    """What the configuration calls a resource, and the path of its body without the tag.

    The path itself, so that most requests name their body. Only keys that no path can spell begin otherwise:
    /query where a parameter chose the body, /of where it is somebody's.
    """
    if url == "/":
        return "/index"
    path, _, owner = url.partition("#")
    path, _, query = path.partition("?")
    if query:
        chosen = "/".join(part.partition("=")[2] for part in query.split("&"))
        return f"/query{path.removeprefix('/api/v2')}/{chosen}"
    return f"/of/{owner}{path.removeprefix('/api/v2')}" if owner else unquote(path)
