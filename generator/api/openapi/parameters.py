"""The parameters of the OpenAPI document: of paths, queries and headers, and API keys."""

import re
from collections.abc import Iterator

from ...catalog import records
from ..payloads.series_list import DEFAULT_ORDER, ORDERS
from ..payloads.v2 import DATE_FORMATS
from .schema_types import DECIMAL, FLAG, HTTP_DATE, ID, SLUG, TEXT, VOLUME, Schema, array, described, ref

STATUSES = ("any", *records.STATUSES, "cancelled")
_CATEGORY: Schema = {**TEXT, "minLength": 1, "maxLength": records.MAX_CATEGORY}
_SORTS = [sign + name for name in ORDERS for sign in ("", "-")]
_LIMIT: Schema = {"type": "integer", "minimum": 1, "maximum": 999}
_PAGE: Schema = {"type": "integer", "minimum": 1, "default": 1}
# The length is that of the percent-encoded text.
_PART: Schema = {**TEXT, "maxLength": 200}
# In any spelling, unlike a number in a path, which must be canonical. The value of a volume is an integer.
_NUMBER_AS_SENT: Schema = {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?([eE][0-9]{1,2})?$"}
_ETAGS = {"type": "string", "examples": ['"6fd721cb9531502d4c52f0f3ebc34f22"']}

# The headers of conditional requests, in the order in which RFC 9110, 13.2.2 evaluates them.
CONDITIONS = ("If-Match", "If-Unmodified-Since", "If-None-Match", "If-Modified-Since")

SECURITY_SCHEMES = {
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "query": described(
        {"type": "apiKey", "in": "query", "name": "api_key"},
        "For clients that cannot send headers. The header takes precedence.",
    ),
}


def _query(name: str, schema: Schema, description: str, **more: object) -> Schema:
    return {"name": name, "in": "query", "description": description, "schema": schema, **more}


def _path(name: str, schema: Schema, description: str) -> Schema:
    return {"name": name, "in": "path", "required": True, "description": description, "schema": schema}


def _condition(name: str, schema: Schema, description: str) -> Schema:
    return {"name": name, "in": "header", "description": description, "schema": schema}


def parameters(page_size: int) -> dict[str, Schema]:
    """All parameters, by the name that operations refer to."""
    return _of_paths() | _of_lists(page_size) | _of_chapters() | _of_conditions()


def _of_paths() -> dict[str, Schema]:
    return {
        "id": _path("id", ID, "The id, which never changes."),
        "slug": _path("slug", SLUG, "The slug of the series."),
        "volume": _path("volume", VOLUME, "The number of the volume, or 0 for chapters without a volume."),
        "chapter": _path("chapter", DECIMAL, "The number of the chapter."),
        "name": _path("name", _CATEGORY, "The exact name of the category."),
    }


def _of_lists(page_size: int) -> dict[str, Schema]:
    return {
        "page": _query("page", _PAGE, "The number of the page."),
        "limit": _query("limit", {**_LIMIT, "default": page_size}, "The number of series on a page."),
        "sort": _query(
            "sort",
            {"type": "string", "enum": _SORTS, "default": DEFAULT_ORDER},
            "The sort order. A minus reverses it. Equal series are sorted by slug.",
        ),
        "slug_filter": _query("slug", TEXT, "Only the series with this slug, in upper or lower case."),
        "status": _query(
            "status", {"type": "string", "enum": list(STATUSES), "default": "any"}, "Only series with this status."
        ),
        "categories": _query(
            "categories",
            array(TEXT) | {"maxItems": 64, "uniqueItems": True},
            "Only series with at least one of these categories, and with none of those after a `-`. Each is a name or "
            "an id, in upper or lower case.",
            style="form",
            explode=False,
        ),
        "title": _query("title", _PART, "Only series with this text in the title or an alias, in upper or lower case."),
        "author": _query("author", _PART, "Only series by an author with this text in a name, in upper or lower case."),
        "artist": _query("artist", _PART, "Only series by an artist with this text in a name, in upper or lower case."),
    }


def _of_chapters() -> dict[str, Schema]:
    return {
        "series_filter": _query("series", TEXT, "Only chapters of the series with this slug, in upper or lower case."),
        "date_format": _query(
            "date_format",
            {"type": "string", "enum": list(DATE_FORMATS), "default": next(iter(DATE_FORMATS))},
            "The format of `published`. `timestamp` is milliseconds since 1970.",
        ),
        "track": _query(
            "track",
            FLAG | {"default": False},
            "`true` counts a view of the chapter. Apps must send it when a reader opens the chapter.",
        ),
        "pages_series": _query("series", SLUG, "The slug of the series, in upper or lower case.", required=True),
        "pages_volume": _query(
            "volume",
            {**_NUMBER_AS_SENT, "examples": ["1", "0"]},
            "The number of the volume, or 0 for a chapter without a volume.",
            required=True,
        ),
        "pages_number": _query(
            "number",
            {**_NUMBER_AS_SENT, "examples": ["1", "10.5"]},
            "The number of the chapter. `1`, `01`, `1.0` and `1e0` are the same number.",
            required=True,
        ),
    }


def _of_conditions() -> dict[str, Schema]:
    return {
        "If-Match": _condition("If-Match", _ETAGS, "412 unless the response has one of these strong ETags."),
        "If-Unmodified-Since": _condition(
            "If-Unmodified-Since", HTTP_DATE, "412 if the response changed later. Ignored if If-Match is sent."
        ),
        "If-None-Match": _condition("If-None-Match", _ETAGS, "304 if the response has one of these ETags."),
        "If-Modified-Since": _condition(
            "If-Modified-Since", HTTP_DATE, "304 unless the response changed later. Ignored if If-None-Match is sent."
        ),
    }


def of_path(path: str) -> Iterator[Schema]:
    """References to the parameters in a path template."""
    return (ref(name, "parameters") for name in re.findall(r"\{(\w+)\}", path))
