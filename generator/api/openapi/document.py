"""The OpenAPI 3.1 document: parameters, responses and operations, joined with the routes and the schemas of bodies."""

import re
from collections.abc import Callable, Sequence, Set
from typing import Annotated, Any, NamedTuple, TypeAlias, TypedDict

from ... import __version__
from ...catalog import records
from ...catalog.entities import Catalog
from ..payloads.fields import Decimal, HttpDate, Id, Keywords, Slug, Uri, VolumeNumber
from ..payloads.resources import JSON, Body
from ..payloads.series_list import DEFAULT_ORDER, ORDERS
from ..payloads.v2 import DATE_FORMATS, DEFAULT_DATE_FORMAT
from .schemas import SCHEMAS, Schema, ref, schema, schema_of

# Parameters: of paths, queries and headers, and API keys

STATUSES = ("any", *records.STATUSES, "cancelled")
_SORTS = [sign + name for name in ORDERS for sign in ("", "-")]
# The length is that of the percent-encoded text.
_Part: TypeAlias = Annotated[str, Keywords(maxLength=200)]
# In any spelling, unlike a number in a path, which must be canonical. The value of a volume is an integer.
_NumberAsSent: TypeAlias = Annotated[str, Keywords(pattern=r"^[0-9]+(\.[0-9]+)?([eE][0-9]{1,2})?$")]
_ETags: TypeAlias = Annotated[str, Keywords(examples=['"6fd721cb9531502d4c52f0f3ebc34f22"'])]

# The headers of conditional requests, in the order in which RFC 9110, 13.2.2 evaluates them.
CONDITIONS = ("If-Match", "If-Unmodified-Since", "If-None-Match", "If-Modified-Since")

SECURITY_SCHEMES = {
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "query": {
        "type": "apiKey",
        "in": "query",
        "name": "api_key",
        "description": "For clients that cannot send headers. The header takes precedence.",
    },
}


def _query(name: str, shape: Any, description: str, **more: object) -> Schema:
    return {"name": name, "in": "query", "description": description, "schema": schema(shape), **more}


def _path(name: str, shape: Any, description: str) -> Schema:
    return {"name": name, "in": "path", "required": True, "description": description, "schema": schema(shape)}


def _condition(name: str, shape: Any, description: str) -> Schema:
    return {"name": name, "in": "header", "description": description, "schema": schema(shape)}


def parameters(page_size: int) -> dict[str, Schema]:
    """All parameters, by the name that operations refer to: those of paths, of lists, of chapters, and conditions."""
    return {
        "id": _path("id", Id, "The id, which never changes."),
        "slug": _path("slug", Slug, "The slug of the series."),
        "volume": _path("volume", VolumeNumber, "The number of the volume, or 0 for chapters without a volume."),
        "chapter": _path("chapter", Decimal, "The number of the chapter."),
        "name": _path(
            "name",
            Annotated[str, Keywords(minLength=1, maxLength=records.MAX_CATEGORY)],
            "The exact name of the category.",
        ),
        "page": _query("page", Annotated[int, Keywords(minimum=1, default=1)], "The number of the page."),
        "limit": _query(
            "limit",
            Annotated[int, Keywords(minimum=1, maximum=999, default=page_size)],
            "The number of series on a page.",
        ),
        "sort": _query(
            "sort",
            Annotated[str, Keywords(enum=_SORTS, default=DEFAULT_ORDER)],
            "The sort order. A minus reverses it. Equal series are sorted by slug.",
        ),
        "slug_filter": _query("slug", str, "Only the series with this slug, in upper or lower case."),
        "status": _query(
            "status", Annotated[str, Keywords(enum=list(STATUSES), default="any")], "Only series with this status."
        ),
        "categories": _query(
            "categories",
            Annotated[Sequence[str], Keywords(maxItems=64, uniqueItems=True)],
            "Only series with at least one of these categories, and with none of those after a `-`. Each is a name or "
            "an id, in upper or lower case.",
            style="form",
            explode=False,
        ),
        "title": _query("title", _Part, "Only series with this text in the title or an alias, in upper or lower case."),
        "author": _query("author", _Part, "Only series by an author with this text in a name, in upper or lower case."),
        "artist": _query("artist", _Part, "Only series by an artist with this text in a name, in upper or lower case."),
        "series_filter": _query("series", str, "Only chapters of the series with this slug, in upper or lower case."),
        "date_format": _query(
            "date_format",
            Annotated[str, Keywords(enum=list(DATE_FORMATS), default=DEFAULT_DATE_FORMAT)],
            "The format of `published`. `timestamp` is milliseconds since 1970.",
        ),
        "track": _query(
            "track",
            Annotated[bool, Keywords(default=False)],
            "`true` counts a view of the chapter. Apps must send it when a reader opens the chapter.",
        ),
        "pages_series": _query("series", Slug, "The slug of the series, in upper or lower case.", required=True),
        "pages_volume": _query(
            "volume",
            Annotated[_NumberAsSent, Keywords(examples=["1", "0"])],
            "The number of the volume, or 0 for a chapter without a volume.",
            required=True,
        ),
        "pages_number": _query(
            "number",
            Annotated[_NumberAsSent, Keywords(examples=["1", "10.5"])],
            "The number of the chapter. `1`, `01`, `1.0` and `1e0` are the same number.",
            required=True,
        ),
        "If-Match": _condition("If-Match", _ETags, "412 unless the response has one of these strong ETags."),
        "If-Unmodified-Since": _condition(
            "If-Unmodified-Since", HttpDate, "412 if the response changed later. Ignored if If-Match is sent."
        ),
        "If-None-Match": _condition("If-None-Match", _ETags, "304 if the response has one of these ETags."),
        "If-Modified-Since": _condition(
            "If-Modified-Since",
            HttpDate,
            "304 unless the response changed later. Ignored if If-None-Match is sent.",
        ),
    }


# Responses: headers, statuses and error bodies


def _header(shape: Any, description: str, *, required: bool = True) -> Schema:
    return {"description": description, "required": required, "schema": schema(shape)}


def _fixed(value: str, description: str) -> Schema:
    return _header(Annotated[str, Keywords(const=value)], description)


HEADERS: dict[str, Schema] = {
    "ETag": _header(
        Annotated[str, Keywords(pattern='^(W/)?"[0-9a-f]{32}"$')],
        "The MD5 of the body before compression. Weak if the response is compressed.",
    ),
    "Last-Modified": _header(
        HttpDate,
        "Increases with every change of the body. Empty results of /pages and /chapters have none.",
        required=False,
    ),
    "Cache-Control": _header(str, "How long a cache may keep the response."),
    "Vary": _header(str, "Present if compression or a key selects the body.", required=False),
    "X-Frame-Options": _fixed("SAMEORIGIN", "Other sites cannot show the response in a frame."),
    "X-Content-Type-Options": _fixed("nosniff", "Browsers must use the Content-Type as sent."),
    "Access-Control-Allow-Origin": _fixed("*", "Scripts of every site may read the response."),
    "Access-Control-Expose-Headers": _fixed("ETag", "Scripts may read the ETag."),
    "Access-Control-Allow-Methods": _fixed("GET, HEAD, OPTIONS", "The methods that scripts may use."),
    "Access-Control-Allow-Headers": _fixed(
        "X-API-Key, If-None-Match, If-Modified-Since", "The headers that scripts may send."
    ),
    "Content-Security-Policy": _header(
        str, "Restricts the documentation page to its own files. JSON responses do not have it.", required=False
    ),
    "Allow": _fixed("GET, HEAD, OPTIONS", "The supported methods."),
    "WWW-Authenticate": _fixed("X-API-Key", "The header for the key."),
    "Location": _header(Uri, "The URL of the chapter in the reader."),
}
_ALWAYS = ("Cache-Control", "X-Frame-Options", "X-Content-Type-Options")
_CORS = ("Access-Control-Allow-Origin", "Access-Control-Expose-Headers")
# In v2 a key may select any response, errors included.
_V2 = ("Vary", "Access-Control-Allow-Methods", "Access-Control-Allow-Headers")
_VALIDATORS = ("ETag", "Last-Modified")


def response(
    description: str, schema: Schema | None, *, v2: bool, kind: str = JSON, headers: tuple[str, ...] = ()
) -> Schema:
    """The response for a status, with the headers that every response of its API version has."""
    names = (*headers, *_ALWAYS, *_CORS, *(_V2 if v2 else ()))
    described: Schema = {"description": description, "headers": {name: ref(name, "headers") for name in names}}
    if schema is not None:
        described["content"] = {kind: {"schema": schema}}
    return described


def ok(description: str, schema: Schema, *, v2: bool, kind: str) -> Schema:
    policy = () if kind == JSON else ("Content-Security-Policy",)
    return response(description, schema, v2=v2, kind=kind, headers=(*_VALIDATORS, "Vary", *policy))


def _responses_of_version(prefix: str, error: Schema, *, v2: bool) -> dict[str, Schema]:
    """The responses that every path of an API version can have beside 200."""
    any_error = {
        "anyOf": [error, ref("Error")],
        "description": "In the format of this API version, or in that of `unversioned` if the request reached no "
        "version.",
    }
    return {
        f"{prefix}NotModified": response(
            "The client already has the current body.",
            None,
            v2=v2,
            headers=(*_VALIDATORS, "Vary", *(("Content-Security-Policy",) if v2 else ())),
        ),
        f"{prefix}NotFound": response("Does not exist.", error, v2=v2),
        f"{prefix}MethodNotAllowed": response(
            "The method is not GET, HEAD or OPTIONS.", error, v2=v2, headers=("Allow",)
        ),
        f"{prefix}PreconditionFailed": response("A precondition of the request failed.", error, v2=v2),
        f"{prefix}Refused": {
            "description": "An error that any request can cause: it is malformed or too large, or the server failed.",
            "content": {JSON: {"schema": any_error if v2 else error}},
        },
    }


RESPONSES: dict[str, Schema] = {
    **_responses_of_version("", ref("Error"), v2=False),
    "BadRequest": response("A number in the path is not a canonical number.", ref("Error"), v2=False),
    **_responses_of_version("V2", ref("V2Detail"), v2=True),
    "V2BadParameter": response("A parameter is missing or invalid.", ref("V2BadParameter"), v2=True),
    "V2Unauthorized": response(
        "The key is missing or unknown.", ref("V2Detail"), v2=True, headers=("WWW-Authenticate",)
    ),
    "V2Licensed": response("The series is licensed. Its chapters are not available.", ref("V2Detail"), v2=True),
    "V2Moved": response(
        "`Location` is the chapter in the reader.", ref("V2Moved"), v2=True, headers=("Location", "Vary")
    ),
}

# The responses to paths below slugs that series had before, in v1 and the unversioned API, and in v2.
REDIRECTS = ("Redirect", "V2Redirect")


def redirects() -> dict[str, Schema]:
    """The responses named in REDIRECTS, for the document of a catalog with old slugs."""
    text = "The slug is an old one. `Location` is the same path and query below the present slug."
    by_name = {
        name: response(text, ref("V2Moved"), v2=bool(v2), headers=("Location",)) for v2, name in enumerate(REDIRECTS)
    }
    for described_response in by_name.values():
        described_response["headers"]["Location"] = _header(Uri, "The URL with the present slug.")
    return by_name


# Names in RESPONSES by status: the response of v1 and the unversioned API, and that of v2.
RESPONSES_BY_STATUS: dict[int | str, tuple[str, str]] = {
    304: ("NotModified", "V2NotModified"),
    308: ("", "V2Moved"),
    400: ("BadRequest", "V2BadParameter"),
    401: ("", "V2Unauthorized"),
    404: ("NotFound", "V2NotFound"),
    405: ("MethodNotAllowed", "V2MethodNotAllowed"),
    412: ("PreconditionFailed", "V2PreconditionFailed"),
    451: ("", "V2Licensed"),
    "default": ("Refused", "V2Refused"),
}


# Operations: the ids, summaries, parameters and errors of paths


class Operation(NamedTuple):
    """A GET of one path. `errors` are its statuses beside 200, 304, 405, 412 and those of its gates."""

    id: str
    tag: str
    summary: str
    parameters: tuple[str, ...] = ()
    errors: tuple[int, ...] = ()
    description: str = ""
    deprecated: bool = False
    # About a single series, which may need a key although others do not.
    of_series: bool = False


TAGS = {
    "series": "Series, and lists of them.",
    "chapters": "Chapters of all series or of one.",
    "categories": "Genres.",
    "pages": "The images of a chapter.",
    "artists": "People who draw.",
    "authors": "People who write.",
    "cubari": "A series as Cubari JSON, for reader apps.",
    "groups": "Groups that translate, letter and publish.",
    "members": "Members of the groups.",
    "bookmarks": "The bookmarks of the account that a key belongs to.",
    "profile": "The account that a key belongs to.",
    "v1": "The first version: series with all of their chapters.",
    "unversioned": "The API before it had versions.",
    "about": "The API itself.",
}

_FILTERS = ("page", "limit", "sort", "slug_filter", "status", "categories", "title", "author", "artist")


def _v1_or_unversioned(tag: str, prefix: str) -> dict[str, Operation]:
    """The operations that v1 and the unversioned API share. Their bodies differ, their paths do not."""
    path = "/api" if tag == "unversioned" else f"/api/{tag}"
    of_number = (400, 404)
    return {
        f"{path}/authors": Operation(f"{prefix}ListAuthors", tag, "All authors, by id"),
        f"{path}/authors/{{id}}": Operation(f"{prefix}RetrieveAuthor", tag, "One author", errors=of_number),
        f"{path}/artists": Operation(f"{prefix}ListArtists", tag, "All artists, by id"),
        f"{path}/artists/{{id}}": Operation(f"{prefix}RetrieveArtist", tag, "One artist", errors=of_number),
        f"{path}/series": Operation(f"{prefix}ListSeries", tag, "All series with all chapters, by title"),
        f"{path}/series/{{slug}}": Operation(f"{prefix}RetrieveSeries", tag, "One series", errors=(404,)),
        f"{path}/series/{{slug}}/{{volume}}": Operation(
            f"{prefix}RetrieveVolume", tag, "All chapters of a volume, by number", errors=of_number
        ),
        f"{path}/series/{{slug}}/{{volume}}/{{chapter}}": Operation(
            f"{prefix}RetrieveChapter", tag, "One chapter", errors=of_number
        ),
        f"{path}/releases": Operation(f"{prefix}ListReleases", tag, "The latest chapter of each series, newest first"),
    }


OPERATIONS: dict[str, Operation] = {
    "/index.json": Operation("retrieveIndex", "about", "The URLs of all lists"),
    "/api/v2/openapi.json": Operation("retrieveDocument", "about", "This document"),
    "/api/v2/docs": Operation("retrieveDocumentation", "about", "This document as a page"),
    **_v1_or_unversioned("unversioned", "unversioned"),
    **_v1_or_unversioned("v1", "v1"),
    "/api/v1/categories": Operation("v1ListCategories", "v1", "All categories, by id"),
    "/api/v1/groups": Operation("v1ListGroups", "v1", "All groups, by id"),
    "/api/v1/groups/{id}": Operation("v1RetrieveGroup", "v1", "One group", errors=(400, 404)),
    "/api/v2/series": Operation(
        "listSeries",
        "series",
        "Series, page by page",
        _FILTERS,
        (400, 404),
        "A series must match every filter; `total` and `last` describe the matching series. An empty parameter is "
        "ignored. An unknown status or category matches no series. A page that does not exist is a 404. A query "
        "with more than 64 parameters, or with a value that is too long, is a 400.",
    ),
    "/api/v2/series/{slug}": Operation("retrieveSeries", "series", "One series", errors=(404,)),
    "/api/v2/series/{slug}/chapters": Operation(
        "listSeriesChapters",
        "series",
        "The chapters of a series, newest first",
        ("date_format",),
        (400, 404),
        of_series=True,
    ),
    "/api/v2/chapters": Operation(
        "listChapters", "chapters", "Chapters of all series, newest first", ("series_filter", "date_format"), (400,)
    ),
    "/api/v2/chapters/{id}": Operation("retrieveChapter", "chapters", "One chapter", errors=(404,), of_series=True),
    "/api/v2/chapters/{id}/pages": Operation(
        "listChapterPages", "pages", "The pages of a chapter, in reading order", ("track",), (404,), of_series=True
    ),
    "/api/v2/chapters/{id}/read": Operation(
        "readChapter",
        "chapters",
        "Redirect to the chapter in the reader",
        errors=(404,),
        description="Temporary: it will be removed when all clients use `url`.",
        of_series=True,
    ),
    "/api/v2/pages": Operation(
        "listPages",
        "pages",
        "The pages of a chapter, in reading order",
        ("pages_series", "pages_volume", "pages_number", "track"),
        (400,),
        "Use `/api/v2/chapters/{id}/pages`. The results are empty for a licensed chapter and for one that does not "
        "exist. If the pages of the series need an API key, so does any number. A volume or number that is not a "
        "number is a 400.",
        deprecated=True,
        of_series=True,
    ),
    "/api/v2/categories": Operation("listCategories", "categories", "All categories, by id"),
    "/api/v2/categories/{name}": Operation("retrieveCategory", "categories", "One category", errors=(404,)),
    "/api/v2/authors": Operation("listAuthors", "authors", "All authors, by id"),
    "/api/v2/authors/{id}": Operation("retrieveAuthor", "authors", "One author", errors=(404,)),
    "/api/v2/artists": Operation("listArtists", "artists", "All artists, by id"),
    "/api/v2/artists/{id}": Operation("retrieveArtist", "artists", "One artist", errors=(404,)),
    "/api/v2/groups": Operation("listGroups", "groups", "All groups, by id"),
    "/api/v2/groups/{id}": Operation("retrieveGroup", "groups", "One group", errors=(404,)),
    "/api/v2/members": Operation("listMembers", "members", "All members, by id"),
    "/api/v2/members/{id}": Operation("retrieveMember", "members", "One member", errors=(404,)),
    "/api/v2/cubari/{slug}": Operation(
        "retrieveCubari",
        "cubari",
        "One series as Cubari JSON",
        errors=(404,),
        description="Experimental: reader apps define the format and may change it.",
        of_series=True,
    ),
    "/api/v2/bookmarks": Operation(
        "listBookmarks",
        "bookmarks",
        "The bookmarks of an account",
        errors=(404,),
        description="404 for a key that belongs to no account.",
    ),
    "/api/v2/profile": Operation(
        "retrieveProfile",
        "profile",
        "An account",
        errors=(404,),
        description="404 for a key that belongs to no account.",
    ),
}

# An import recognises a site of this program by it.
TITLE = "Series catalog"
_DESCRIPTION = """\
A read-only catalog of comics. Every path accepts GET and HEAD, with or without a slash at its end, and ignores
undefined parameters. OPTIONS returns 204 with the CORS headers.

Bodies are JSON. They contain every key that their schema names, and are compressed if the client accepts gzip.
A response has an ETag and a Last-Modified header. A client that sends them back gets a 304 until the body changes.

`v1` and `unversioned` need no key. They contain licensed series, which return 451 in v2, unless the site hides them.
They do not contain series that need a key."""
_Object: TypeAlias = Annotated[Any, Keywords(type="object")]


class _Document(TypedDict):
    openapi: Annotated[str, Keywords(pattern=r"^3\.1\.")]
    info: _Object
    paths: _Object
    components: _Object
    servers: Sequence[_Object]
    tags: Sequence[_Object]


class PathDescription(NamedTuple):
    """A path of the tables of routes: the function that makes its body, if any, and the statuses of its gates."""

    template: str
    payload: Callable[[Any], Body] | None
    type: str
    gates: Set[int]
    restricted: bool

    @property
    def v2(self) -> bool:
        return self.template.startswith("/api/v2/")


class PathTable(NamedTuple):
    catalog: Catalog
    paths: Sequence[PathDescription]


def document(table: PathTable) -> Body[_Document]:
    site = table.catalog.site
    has_old_slugs = any(series.formerly for series in table.catalog.series)
    value: _Document = {
        "openapi": "3.1.1",
        "info": {"title": TITLE, "description": _DESCRIPTION, "version": __version__},
        # The host of the document comes first, so that the document works on every host.
        "servers": [{"url": "/"}, {"url": site.base_url}],
        "tags": [{"name": name, "description": text} for name, text in TAGS.items()],
        "paths": {
            path.template: {"get": _operation(path, OPERATIONS[path.template], has_old_slugs=has_old_slugs)}
            for path in table.paths
        },
        "components": {
            "schemas": SCHEMAS,
            "parameters": parameters(site.page_size),
            "headers": HEADERS,
            "responses": RESPONSES | (redirects() if has_old_slugs else {}),
            "securitySchemes": SECURITY_SCHEMES,
        },
    }
    return Body(value, table.catalog.site_modified)


def _operation(path: PathDescription, operation: Operation, *, has_old_slugs: bool) -> Schema:
    conditions = CONDITIONS if path.payload else ()
    names = (*re.findall(r"\{(\w+)\}", path.template), *operation.parameters, *conditions)
    return {
        "operationId": operation.id,
        "tags": [operation.tag],
        "summary": operation.summary,
        **({"description": operation.description} if operation.description else {}),
        **({"deprecated": True} if operation.deprecated else {}),
        "parameters": [ref(name, "parameters") for name in names],
        "responses": _responses(path, operation, redirects=has_old_slugs and "{slug}" in path.template),
        "security": _security(path, operation),
    }


def _responses(path: PathDescription, operation: Operation, *, redirects: bool) -> dict[str, Schema]:
    """The responses of a path by status, in order; then the default, for errors that any request can cause."""
    statuses = {*path.gates, *operation.errors, 405}
    if path.payload:
        statuses |= {304, 412}
    if path.restricted or operation.of_series:
        statuses.add(401)
    names = {status: RESPONSES_BY_STATUS[status][path.v2] for status in statuses}
    if redirects:
        names[308] = REDIRECTS[path.v2]
    by_status = {str(status): ref(name, "responses") for status, name in sorted(names.items())}
    if path.payload:
        body = ok(f"{operation.summary}.", schema_of(path.payload), v2=path.v2, kind=path.type)
        by_status = {"200": body, **by_status}
    return {**by_status, "default": ref(RESPONSES_BY_STATUS["default"][path.v2], "responses")}


def _security(path: PathDescription, operation: Operation) -> list[dict[str, list[str]]]:
    """Alternatives, of which a request needs one. The empty alternative means that no key is needed."""
    keys: list[dict[str, list[str]]] = [{name: []} for name in SECURITY_SCHEMES]
    if path.restricted:
        return keys
    return [{}, *keys] if operation.of_series else []
