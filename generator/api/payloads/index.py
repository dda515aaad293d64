"""The body of `/index.json`, and of `/` on a site without pages: the URLs of all lists, by API version."""

from ...catalog.entities import Catalog
from ..resources import Body

_LISTS = ("authors", "artists", "series", "releases")
API_VERSIONS = {
    "api": ("/api", _LISTS),
    "v1": ("/api/v1", (*_LISTS, "categories", "groups")),
    "v2": ("/api/v2", ("series", "chapters", "categories", "authors", "artists", "groups", "members", "openapi.json")),
}


def index(catalog: Catalog) -> Body:
    base = catalog.site.base_url
    return Body(
        {
            version: {name.removesuffix(".json"): f"{base}{path}/{name}" for name in names}
            for version, (path, names) in API_VERSIONS.items()
        },
        catalog.site_modified,
    )
