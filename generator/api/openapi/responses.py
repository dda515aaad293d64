"""Everything that comes back beside a body: statuses, their headers, and what an error says."""

from .schema_types import HTTP_DATE, TEXT, URI, Schema, described, ref

JSON = "application/json"


def _header(schema: Schema, description: str, *, required: bool = True) -> Schema:
    return {"description": description, "required": required, "schema": schema}


def _fixed(value: str, description: str) -> Schema:
    return _header({"type": "string", "const": value}, description)


HEADERS: dict[str, Schema] = {
    "ETag": _header(
        {"type": "string", "pattern": '^(W/)?"[0-9a-f]{32}"$'},
        "The MD5 of the body before compression; weak where it was compressed.",
    ),
    "Last-Modified": _header(
        HTTP_DATE, "Moves forward whenever the body changes; /pages and /chapters of nothing have none.", required=False
    ),
    "Cache-Control": _header(TEXT, "For how long a cache may keep the answer."),
    "Vary": _header(TEXT, "Where compression or a key chooses between bodies.", required=False),
    "X-Frame-Options": _fixed("SAMEORIGIN", "Nobody else frames an answer."),
    "X-Content-Type-Options": _fixed("nosniff", "An answer is what it says it is."),
    "Access-Control-Allow-Origin": _fixed("*", "Scripts of every site may read the answer …"),
    "Access-Control-Expose-Headers": _fixed("ETag", "… and its tag."),
    "Access-Control-Allow-Methods": _fixed("GET, HEAD, OPTIONS", "What scripts may ask with."),
    "Access-Control-Allow-Headers": _fixed(
        "X-API-Key, If-None-Match, If-Modified-Since", "What scripts may send along."
    ),
    "Content-Security-Policy": _header(
        TEXT, "The page loads its own files and nothing else; an answer in JSON says nothing of it.", required=False
    ),
    "Allow": _fixed("GET, HEAD, OPTIONS", "What would have been answered."),
    "WWW-Authenticate": _fixed("X-API-Key", "The header that a key is sent in."),
    "Location": _header(URI, "The address of the chapter in the reader."),
}
_ALWAYS = ("Cache-Control", "X-Frame-Options", "X-Content-Type-Options")
_CORS = ("Access-Control-Allow-Origin", "Access-Control-Expose-Headers")
# In v2 a key may decide about any answer, a refusal included.
_V2 = ("Vary", "Access-Control-Allow-Methods", "Access-Control-Allow-Headers")
_VALIDATORS = ("ETag", "Last-Modified")


def response(
    description: str, schema: Schema | None, *, v2: bool, kind: str = JSON, headers: tuple[str, ...] = ()
) -> Schema:
    """What a status means, with the headers that every answer of its family has, and some more."""
    names = (*headers, *_ALWAYS, *_CORS, *(_V2 if v2 else ()))
    described: Schema = {"description": description, "headers": {name: ref(name, "headers") for name in names}}
    if schema is not None:
        described["content"] = {kind: {"schema": schema}}
    return described


def body(description: str, schema: Schema, *, v2: bool, kind: str) -> Schema:
    policy = () if kind == JSON else ("Content-Security-Policy",)
    return response(description, schema, v2=v2, kind=kind, headers=(*_VALIDATORS, "Vary", *policy))


def _family(prefix: str, error: Schema, *, v2: bool) -> dict[str, Schema]:
    """What every path of a family can say beside its body."""
    any_error = described(
        {"anyOf": [error, ref("Error")]}, "In the family's words, or where none was reached in plain ones."
    )
    return {
        f"{prefix}NotModified": response(
            "What the client has is what it would get.",
            None,
            v2=v2,
            headers=(*_VALIDATORS, "Vary", *(("Content-Security-Policy",) if v2 else ())),
        ),
        f"{prefix}NotFound": response("There is no such thing.", error, v2=v2),
        f"{prefix}MethodNotAllowed": response(
            "To every method but GET, HEAD and OPTIONS.", error, v2=v2, headers=("Allow",)
        ),
        f"{prefix}PreconditionFailed": response("A condition of the request does not hold.", error, v2=v2),
        f"{prefix}Refused": {
            "description": "Whatever HTTP itself refuses: a request that cannot be read, or is too large, or a fault.",
            "content": {JSON: {"schema": any_error if v2 else error}},
        },
    }


RESPONSES: dict[str, Schema] = {
    **_family("", ref("Error"), v2=False),
    "BadRequest": response("What should be a number is none, or is not written canonically.", ref("Error"), v2=False),
    **_family("V2", ref("V2Detail"), v2=True),
    "V2BadParameter": response("A parameter is missing or says something unknown.", ref("V2BadParameter"), v2=True),
    "V2Unauthorized": response(
        "A key is needed, or the one that was sent is unknown.", ref("V2Detail"), v2=True, headers=("WWW-Authenticate",)
    ),
    "V2Licensed": response("The series is licensed; its chapters may not be read here.", ref("V2Detail"), v2=True),
    "V2Moved": response("The chapter is read at `Location`.", ref("V2Moved"), v2=True, headers=("Location", "Vary")),
}

# By status: what an operation of the old families refers to, and one of v2.
BY_STATUS: dict[int | str, tuple[str, str]] = {
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
