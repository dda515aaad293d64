"""The answer of `/`: where to go from here."""

from ...catalog.entities import Catalog
from ..resources import Body

_OLD = ("authors", "artists", "series", "releases")
API_VERSIONS = {
    "api": ("/api", _OLD),
    "v1": ("/api/v1", (*_OLD, "categories", "groups")),
    "v2": ("/api/v2", ("series", "chapters", "categories", "authors", "artists", "groups", "members", "openapi.json")),
}


def index(catalog: Catalog) -> Body:
    base = catalog.site.base_url
    return Body(
        {
            family: {name.removesuffix(".json"): f"{base}{path}/{name}" for name in names}
            for family, (path, names) in API_VERSIONS.items()
        },
        catalog.site_modified,
    )
