"""The body of `/index.json`, and of `/` on a site without pages: the URLs of all lists, by API version."""

from typing import Annotated, TypedDict

from ...catalog.entities import Catalog
from ..resources import Body
from . import fields

_LISTS = ("authors", "artists", "series", "releases")
_V2_LISTS = ("series", "chapters", "categories", "authors", "artists", "groups", "members")


class Index(TypedDict):
    api: Annotated[dict[str, fields.Uri], "The URLs of `authors`, `artists`, `series` and `releases`."]
    v1: Annotated[dict[str, fields.Uri], "The same, `categories` and `groups`."]
    v2: Annotated[
        dict[str, fields.Uri],
        "The URLs of `series`, `chapters`, `categories`, `authors`, `artists`, `groups` and `members`; the OpenAPI "
        "document is `openapi`.",
    ]


def index(catalog: Catalog) -> Body[Index]:
    base = catalog.site.base_url
    return Body(
        {
            "api": {name: f"{base}/api/{name}" for name in _LISTS},
            "v1": {name: f"{base}/api/v1/{name}" for name in (*_LISTS, "categories", "groups")},
            "v2": {name: f"{base}/api/v2/{name}" for name in _V2_LISTS} | {"openapi": f"{base}/api/v2/openapi.json"},
        },
        catalog.site_modified,
    )
