"""Everything that a request can say: parameters of paths and queries, conditions and keys."""

import re
from collections.abc import Iterator

from ...catalog.records import MAX_CATEGORY
from ..payloads.series_list import DEFAULT_ORDER, ORDERS
from ..payloads.v2 import DATE_FORMATS
from .schema_types import DECIMAL, FLAG, HTTP_DATE, ID, SLUG, TEXT, VOLUME, Schema, array, described, ref

STATUSES = ("any", "ongoing", "completed", "hiatus", "canceled", "cancelled")
_SORTS = [sign + name for name in ORDERS for sign in ("", "-")]
_LIMIT: Schema = {"type": "integer", "minimum": 1, "maximum": 999}
_PAGE: Schema = {"type": "integer", "minimum": 1, "default": 1}
# A percent escape counts as it stands in the URL.
_PART: Schema = {**TEXT, "maxLength": 200}
# In any spelling, unlike numbers in paths.
_SPELT: Schema = {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?([eE][0-9]{1,2})?$", "examples": ["1", "10.5"]}
_TAGS = {"type": "string", "examples": ['"6fd721cb9531502d4c52f0f3ebc34f22"']}

# The fields by which a request can be made conditional; RFC 9110, 13.2.2 says in which order they are looked at.
CONDITIONS = ("If-Match", "If-Unmodified-Since", "If-None-Match", "If-Modified-Since")

SECURITY_SCHEMES = {
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "query": described(
        {"type": "apiKey", "in": "query", "name": "api_key"}, "For clients that cannot send headers; the header wins."
    ),
}


def _query(name: str, schema: Schema, description: str, **more: object) -> Schema:
    return {"name": name, "in": "query", "description": description, "schema": schema, **more}


def _path(name: str, schema: Schema, description: str) -> Schema:
    return {"name": name, "in": "path", "required": True, "description": description, "schema": schema}


def _condition(name: str, schema: Schema, description: str) -> Schema:
    return {"name": name, "in": "header", "description": description, "schema": schema}


def parameters(page_size: int) -> dict[str, Schema]:
    """All of them by the name by which operations refer to them."""
    return _of_paths() | _of_lists(page_size) | _of_chapters() | _of_conditions()


def _of_paths() -> dict[str, Schema]:
    return {
        "id": _path("id", ID, "An id; it never changes."),
        "slug": _path("slug", SLUG, "The slug of a series."),
        "volume": _path("volume", VOLUME, "The number of a volume; 0 for the chapters without one."),
        "chapter": _path("chapter", DECIMAL, "The number of a chapter."),
        "name": _path("name", TEXT | {"minLength": 1, "maxLength": MAX_CATEGORY}, "The exact name of a category."),
    }


def _of_lists(page_size: int) -> dict[str, Schema]:
    return {
        "page": _query("page", _PAGE, "Which page."),
        "limit": _query("limit", {**_LIMIT, "default": page_size}, "How many series a page holds."),
        "sort": _query(
            "sort",
            {"type": "string", "enum": _SORTS, "default": DEFAULT_ORDER},
            "In which order; a minus turns it round. What is equal stands by slug.",
        ),
        "slug_filter": _query("slug", TEXT, "Only the series with this slug, in any case."),
        "status": _query(
            "status", {"type": "string", "enum": list(STATUSES), "default": "any"}, "Only series in this state."
        ),
        "categories": _query(
            "categories",
            array(TEXT) | {"maxItems": 64, "uniqueItems": True},
            "Only series with one of these categories (names or ids, in any case), and none of those behind a `-`.",
            style="form",
            explode=False,
        ),
        "title": _query("title", _PART, "Only series with this text in their title or an alias, in any case."),
        "author": _query("author", _PART, "Only series by an author with this text in a name, in any case."),
        "artist": _query("artist", _PART, "Only series by an artist with this text in a name, in any case."),
    }


def _of_chapters() -> dict[str, Schema]:
    return {
        "series_filter": _query("series", TEXT, "Only chapters of the series with this slug, in any case."),
        "date_format": _query(
            "date_format",
            {"type": "string", "enum": list(DATE_FORMATS), "default": next(iter(DATE_FORMATS))},
            "How `published` is written; `timestamp` is epoch milliseconds.",
        ),
        "track": _query(
            "track", FLAG | {"default": False}, "Apps must send `true` so that views of the chapter are counted."
        ),
        "pages_series": _query("series", SLUG, "The slug of the series, in any case.", required=True),
        "pages_volume": _query("volume", _SPELT, "The number of the volume; 0 for none.", required=True),
        "pages_number": _query(
            "number", _SPELT, "The number of the chapter: `1`, `01`, `1.0` and `1e0` are one number.", required=True
        ),
    }


def _of_conditions() -> dict[str, Schema]:
    return {
        "If-Match": _condition("If-Match", _TAGS, "412 unless the answer has one of these strong tags."),
        "If-Unmodified-Since": _condition(
            "If-Unmodified-Since", HTTP_DATE, "412 if the answer changed later. Ignored beside If-Match."
        ),
        "If-None-Match": _condition("If-None-Match", _TAGS, "304 if the answer has one of these tags."),
        "If-Modified-Since": _condition(
            "If-Modified-Since", HTTP_DATE, "304 unless the answer changed later. Ignored beside If-None-Match."
        ),
    }


def of_path(path: str) -> Iterator[Schema]:
    """References to the parameters that a path names."""
    return (ref(name, "parameters") for name in re.findall(r"\{(\w+)\}", path))
