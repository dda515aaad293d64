"""The bodies of error responses."""

from typing import Annotated, TypedDict

from . import fields


class Error(TypedDict):
    error: Annotated[str, "The message."]
    status: Annotated[int, "The status of the response."]


class V2Detail(TypedDict):
    detail: str


class V2BadParameter(TypedDict):
    error: str


class V2Moved(TypedDict):
    """Servers make this body, of a redirect."""

    url: fields.Uri


# Every status that nginx can return for a request, with its text.
MESSAGES = {
    400: "Bad request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not found",
    405: "Method not allowed",
    408: "Request timeout",
    411: "Length required",
    412: "Precondition failed",
    413: "Content too large",
    414: "URI too long",
    415: "Unsupported media type",
    416: "Range not satisfiable",
    421: "Misdirected request",
    429: "Too many requests",
    451: "Unavailable for legal reasons",
    500: "Internal server error",
    501: "Not implemented",
    502: "Bad gateway",
    503: "Service unavailable",
    504: "Gateway timeout",
    505: "HTTP version not supported",
    507: "Insufficient storage",
}

# Texts of v2 that are more specific than the status.
DETAILS: dict[str, V2Detail] = {
    "absent": {"detail": "Authentication credentials were not provided."},
    "invalid": {"detail": "Invalid token."},
    "licensed": {"detail": "This series is licensed."},
    "page": {"detail": "Invalid page."},
}

# Bodies of 400 responses, by the key that nginx assigns to a request with wrong parameters.
BAD_PARAMETERS: dict[str, V2BadParameter] = {
    "/bad/date_format": {"error": "date_format should be iso-8601, rfc-5322 or timestamp"},
    "/bad/pages": {"error": "series, volume and number are required"},
    "/bad/parameters": {"error": "a query may have at most 64 parameters"},
    "/bad/categories": {"error": "categories may have at most 64 different items"},
    "/bad/text": {"error": "title, author and artist may have at most 200 characters each, as they stand in the URL"},
}


def error(status: int) -> Error:
    """The error body of the unversioned API and of v1."""
    return {"error": MESSAGES[status], "status": status}


def detail(status: int) -> V2Detail:
    """The error body of v2."""
    return {"detail": f"{MESSAGES[status]}."}
