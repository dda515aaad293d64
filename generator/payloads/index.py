"""The answer of `/`: where to go from here."""

from ..artifact import Shown
from ..catalog import Catalog


def index(catalog: Catalog) -> Shown:
    base = catalog.site.base_url
    return Shown(
        {
            "api": {name: f"{base}/api/{name}" for name in ("authors", "artists", "series", "releases")},
            "v1": {
                name: f"{base}/api/v1/{name}"
                for name in ("authors", "artists", "series", "releases", "categories", "groups")
            },
        },
        catalog.site_modified,
    )
