"""The types that the API uses: bodies, resources and gates, the key of a URL, and bodies composed of others."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar
from urllib.parse import unquote

from ... import encoding

if TYPE_CHECKING:  # a build without changes imports this module, but neither records nor pydantic
    from typing_extensions import TypeVar as TypeVarWithDefault

    from ...catalog.entities import Catalog

    # The default is that of `Body` without a type.
    Value_co = TypeVarWithDefault("Value_co", covariant=True, default=object)
else:
    Value_co = TypeVar("Value_co", covariant=True)
Part = TypeVar("Part")

# Content types, and the suffixes of their files.
JSON = "application/json"
HTML = "text/html; charset=utf-8"
CSS = "text/css; charset=utf-8"
JS = "text/javascript; charset=utf-8"
SVG = "image/svg+xml"
PNG = "image/png"
XML = "application/xml"
TEXT = "text/plain; charset=utf-8"
ATOM = "application/atom+xml; charset=utf-8"
RSS = "application/rss+xml; charset=utf-8"
JSON_FEED = "application/feed+json"
MANIFEST = "application/manifest+json"
OPENSEARCH = "application/opensearchdescription+xml"
# Types of OPDS: a list of lists and a list of publications in 1.2, both in 2.0, and a publication with its images.
NAVIGATION = "application/atom+xml;profile=opds-catalog;kind=navigation"
ACQUISITION = "application/atom+xml;profile=opds-catalog;kind=acquisition"
OPDS = "application/opds+json"
DIVINA = "application/divina+json"
SUFFIXES = {JSON: ".json", HTML: ".html", CSS: ".css", JS: ".js"} | {
    SVG: ".svg",
    XML: ".xml",
    TEXT: ".txt",
    ATOM: ".atom",
    RSS: ".rss",
    JSON_FEED: ".feed",
    OPENSEARCH: ".osd",
    MANIFEST: ".webmanifest",
    NAVIGATION: ".navigation",
    ACQUISITION: ".acquisition",
    OPDS: ".opds",
    DIVINA: ".divina",
    PNG: ".png",
}
# Types of bodies whose paths have no suffix, and may be folders of other paths.
WITHOUT_SUFFIX = frozenset((JSON, NAVIGATION, ACQUISITION, OPDS, DIVINA))

# The body of every request without results. It has an ETag and no Last-Modified: the same request may later return
# an older body, which a client that compares dates would never load.
EMPTY_RESULTS_URL = "/api/v2/pages?series=~&volume=0&number=0"
# The same for a series whose pages need an API key: without a key, nothing tells which numbers its chapters have.
LOCKED_RESULTS_URL = "/api/v2/pages#locked"
# In the URL of its alias: stands for all numbers that no chapter has, since a catalog takes at most nine digits.
ANY_NUMBER = 1_000_000_000
# The body that the njs shim searches. It is never sent.
SERIES_INDEX_URL = "/api/v2/series#index"
# The routes that show what it has.
SEARCHED = frozenset({"/series", "/series/{slug}"})
# nginx ignores the case of ASCII letters when it looks up a key.
_PLAIN_ACCOUNT = re.compile(r"[-a-z0-9_]+")
_DIGITS = 32


class Body(NamedTuple, Generic[Value_co]):
    """A response body and the last-modified time of its newest part, so that no data can be added without its date.

    Bytes are sent unchanged. `JoinedBodies` and `AllChapters` are assembled when they are written. Every other
    value is encoded as JSON. From the type of the value, `openapi/schemas.py` derives the schema of the body; in
    `Annotated[bytes, Shape]`, and with the two other types, `Shape` is the type of what is sent.
    """

    value: Value_co
    last_modified: int


@dataclass(frozen=True, slots=True)
class JoinedBodies:
    """An array of the bodies of other URLs, with other text around it. It may be larger than memory."""

    urls: tuple[str, ...]
    start: str = "["
    end: str = "]"


@dataclass(frozen=True, slots=True)
class AllChapters:
    """The `results` of all public chapters, newest first, with dates in one of v2's formats."""

    date_format: str


class Resource(NamedTuple):
    """A URL with its body, and the seconds that a cache may keep it.

    A URL ends in `?…` where a parameter selects the body, and in `#…` where an API key or the server selects it.
    """

    url: str
    body: Body
    max_age: int
    restricted: bool = False
    type: str = JSON


class Gate(NamedTuple):
    """A URL without a body of its own: 451, or 308 and the path that it redirects to.

    With 302, the target is a path or a URL of another server.
    """

    url: str
    status: int
    target: str = ""
    restricted: bool = False


def location(gate: Gate, base_url: str) -> str:
    """The URL that a gate redirects to."""
    return f"{base_url}{gate.target}" if gate.target.startswith("/") else gate.target


class Alias(NamedTuple):
    """A URL with the body and the headers of another URL, its target."""

    url: str
    target: str


# Each URL needs its key twice: for the name of the body's file and for the line of a map.
@lru_cache(maxsize=4096)
def key(url: str) -> str:
    """The key of a URL in the configuration; the path of its body's file without the ETag.

    The key is the decoded path, so most requests name their file directly. Prefixes that no request path can have mark
    the other keys: /query where a parameter selects the body, /of for bodies of accounts and the index for searches,
    /bad for responses to malformed parameters.
    """
    if url == "/":
        return "/index"
    path, _, owner = url.partition("#")
    path, _, query = path.partition("?")
    if query:
        values = "/".join(part.partition("=")[2] for part in query.split("&"))
        return f"/query{path.removeprefix('/api/v2')}/{values}"
    if owner:
        return f"/of/{account_key(unquote(owner))}{path.removeprefix('/api/v2')}"
    # The URL of a page ends in a slash; nginx removes the last slash of a path before it looks it up.
    return unquote(path).removesuffix("/")


def account_key(username: str) -> str:
    """The name of an account in the configuration and in file names: the username, or its digest after a `~`.

    The digest distinguishes usernames that differ in case only, and is short enough for a file name.
    """
    return username if _PLAIN_ACCOUNT.fullmatch(username) else f"~{encoding.sha256(username.encode())[:_DIGITS]}"


# The last-modified time of a composed body is that of its newest part.


class Dated(Protocol):
    """An entity of the catalog."""

    @property
    def modified(self) -> int: ...


def newest_of(modified: int, *parts: Iterable[Dated]) -> int:
    """The date of a body with these entities, which is at least `modified`."""
    return max((modified, *(entity.modified for entities in parts for entity in entities)))


def newest(parts: Iterable[Body], *times: int) -> int:
    return max([*times, *[part.last_modified for part in parts]])


def array(parts: Iterable[Body[Part]], catalog: "Catalog") -> Body[list[Part]]:
    """An array of bodies. An empty one has the date of the site, since it has no part that could change."""
    bodies = list(parts)
    modified = newest(bodies) if bodies else catalog.site_modified
    return Body([body.value for body in bodies], modified)


def joined_bodies(urls: Iterable[str]) -> Body[JoinedBodies]:
    """An array of bodies that have URLs of their own. Its date is computed when it is written."""
    return Body(JoinedBodies(tuple(urls)), 0)
