"""Responses -> the settings of a site, as far as responses show them."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, get_args

from ...catalog import patterns
from ...catalog.site_settings import RestrictedRoute, Site
from ...reading_sites.image_paths import SiteImages, root
from ...reading_sites.lenient import Fields, entries, fields, text, texts, valid_fields
from ...reading_sites.notes import Notes
from ...reading_sites.responses import OLD, OPENAPI, Responses

# Of the original service, beside accounts and the admin.
LOST_PATHS = (
    "/manifest.webmanifest, /contribute.json, /reader/series-sitemap.xml, /reader/chapters-sitemap.xml, "
    "/groups/groups-sitemap.xml"
)
_ORIGIN = re.compile(r"https?://[^/?#]+")
_DEFAULTS = {"reader": "/reader/", "media": "/media/", "page_size": 25}


def site_images(responses: Responses, origin: str) -> SiteImages:
    """Return how images are read: most of them have the layout of a catalog below one URL."""
    images = SiteImages(origin, responses.is_original)
    return replace(images, root=root((images.url(url), folder) for url, folder in _images(responses)))


def _images(responses: Responses) -> Iterator[tuple[str, str]]:
    """Yield the URL of each image, and its folder below the media root in a catalog.

    Version 1 of the original service makes the URLs of pages, which may be at another host than the images.
    """
    has_pages = not (responses.is_original and responses["/api/v2/series"].good)
    for path, response in responses.items():
        folder, _, name = path.rpartition("/")
        if folder in ("/api/v2/series", *(f"{version}/series" for version in OLD)):
            yield text(fields(response.value).get("cover")), f"series/{name}/"
        elif path == "/api/v2/groups":
            for group in entries(fields(response.value).get("results")):
                yield text(group.get("logo")), f"groups/{group.get('id')}/"
        if folder == "/api/v1/series" and has_pages:
            yield from _pages(name, fields(response.value))


def _pages(slug: str, series: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for volume, chapters in fields(series.get("volumes")).items():
        for number, chapter in fields(chapters).items():
            names = texts(fields(chapter).get("pages_list"))
            url = f"{text(fields(chapter).get('pages_root'))}{names[0] if names else ''}"
            yield url, f"series/{slug}/{volume}/{number}/"


def settings(responses: Responses, origin: str, root: str, notes: Notes) -> Fields:
    """Return the fields of `site.yaml`."""
    base_url = _base_url(responses, origin, notes)
    site = {
        "base_url": base_url,
        "reader": _reader(responses, base_url),
        "media": root.removeprefix(base_url) if root.startswith(f"{base_url}/") else root,
        "page_size": _page_size(responses),
        "restricted": restricted_routes(responses),
    }
    if not root:
        notes.add("no image has the path of a catalog's media file; URLs are kept", "site.yaml")
    *names, last = (name for name in Site.model_fields if name not in (*site, "hide_licensed"))
    notes.add(f"{', '.join(names)} and {last} are not public; defaults are used", "site.yaml")
    valid = valid_fields(Site, site, "site.yaml", notes) or {"base_url": origin}
    return {name: value for name, value in valid.items() if _DEFAULTS.get(name) != value}


def restricted_routes(responses: Responses) -> list[str]:
    """Return the routes of version 2 that need a key with any parameters."""
    paths = fields(fields(responses[OPENAPI].value).get("paths"))
    restricted = []
    for route in get_args(RestrictedRoute):
        security = fields(fields(paths.get(f"/api/v2{route}")).get("get")).get("security")
        needs_key = isinstance(security, list) and bool(security) and {} not in security
        if needs_key or responses[f"/api/v2{route}"].locked:
            restricted.append(route)
    return restricted


def _base_url(responses: Responses, origin: str, notes: Notes) -> str:
    """Return the origin of the first absolute URL; that of the import if no response has one."""
    urls = [fields(version).get("series") for version in _index(responses).values()]
    urls += [series.get("url") for version in OLD for series in entries(responses[f"{version}/series"].value)]
    origins = (match[0] for url in urls if (match := _ORIGIN.match(text(url))))
    stated = next((stated for stated in origins if re.fullmatch(patterns.HOST, stated)), None)
    if stated is None:
        notes.add(
            f"base_url is {origin}, the URL of the import, because no response has a URL of the site: check it",
            "site.yaml",
        )
    return stated or origin


def _index(responses: Responses) -> dict[str, Any]:
    """Return the URLs of all lists by API version."""
    return fields(responses["/index.json"].value) or fields(responses["/"].value)


def _reader(responses: Responses, base_url: str) -> str:
    """Return the path of the reader's pages: the URL of a series without its slug."""
    urls = ((path.rpartition("/")[2], text(fields(response.value).get("url"))) for path, response in responses.items())
    readers = (url.removeprefix(base_url).removesuffix(f"{slug}/") for slug, url in urls if url.endswith(f"/{slug}/"))
    return next(readers, "")


def _page_size(responses: Responses) -> int | None:
    """Return the default of `limit` in the OpenAPI document, or the length of the first page unless it is the last."""
    document = fields(responses[OPENAPI].value)
    limit = fields(fields(fields(document.get("components")).get("parameters")).get("limit"))
    default = fields(limit.get("schema")).get("default")
    if isinstance(default, int) and not isinstance(default, bool):
        return default
    first = fields(responses["/api/v2/series"].value)
    return len(list(entries(first.get("results")))) if first.get("last") is False else None
