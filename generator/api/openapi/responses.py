"""The responses of the OpenAPI document: headers, statuses and error bodies."""

from ..resources import JSON
from .schema_types import HTTP_DATE, TEXT, URI, Schema, described, ref


def _header(schema: Schema, description: str, *, required: bool = True) -> Schema:
    return {"description": description, "required": required, "schema": schema}


def _fixed(value: str, description: str) -> Schema:
    return _header({"type": "string", "const": value}, description)


HEADERS: dict[str, Schema] = {
    "ETag": _header(
        {"type": "string", "pattern": '^(W/)?"[0-9a-f]{32}"$'},
        "The MD5 of the body before compression. Weak if the response is compressed.",
    ),
    "Last-Modified": _header(
        HTTP_DATE,
        "Increases with every change of the body. Empty results of /pages and /chapters have none.",
        required=False,
    ),
    "Cache-Control": _header(TEXT, "How long a cache may keep the response."),
    "Vary": _header(TEXT, "Present if compression or a key selects the body.", required=False),
    "X-Frame-Options": _fixed("SAMEORIGIN", "Other sites cannot show the response in a frame."),
    "X-Content-Type-Options": _fixed("nosniff", "Browsers must use the Content-Type as sent."),
    "Access-Control-Allow-Origin": _fixed("*", "Scripts of every site may read the response."),
    "Access-Control-Expose-Headers": _fixed("ETag", "Scripts may read the ETag."),
    "Access-Control-Allow-Methods": _fixed("GET, HEAD, OPTIONS", "The methods that scripts may use."),
    "Access-Control-Allow-Headers": _fixed(
        "X-API-Key, If-None-Match, If-Modified-Since", "The headers that scripts may send."
    ),
    "Content-Security-Policy": _header(
        TEXT, "Restricts the documentation page to its own files. JSON responses do not have it.", required=False
    ),
    "Allow": _fixed("GET, HEAD, OPTIONS", "The supported methods."),
    "WWW-Authenticate": _fixed("X-API-Key", "The header for the key."),
    "Location": _header(URI, "The URL of the chapter in the reader."),
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


def _of_version(prefix: str, error: Schema, *, v2: bool) -> dict[str, Schema]:
    """The responses that every path of an API version can have beside 200."""
    any_error = described(
        {"anyOf": [error, ref("Error")]},
        "In the format of this API version, or in that of `unversioned` if the request reached no version.",
    )
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
    **_of_version("", ref("Error"), v2=False),
    "BadRequest": response("A number in the path is not a canonical number.", ref("Error"), v2=False),
    **_of_version("V2", ref("V2Detail"), v2=True),
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
        described_response["headers"]["Location"] = _header(URI, "The URL with the present slug.")
    return by_name


# Names in RESPONSES by status: the response of v1 and the unversioned API, and that of v2.
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
