"""Answers -> the settings of a site, as far as they show."""

import re
from collections.abc import Iterator
from typing import Any, get_args

from ...catalog.records import HOST, RestrictedRoute, Site
from .admitting import admitted
from .answers import Responses
from .image_paths import root
from .lenient import entries, fields, text, texts
from .notes import Notes
from .people_and_groups import OLD

_ORIGIN = re.compile(r"https?://[^/?#]+")
_DEFAULTS = {"reader": "/reader/", "media": "/media/", "page_size": 25}


def media_root(answers: Responses) -> str:
    """The address below which most images lie as ours do."""
    return root(_images(answers))


def _images(answers: Responses) -> Iterator[tuple[str, str]]:
    """Addresses, and in which folder below the root a catalog has them."""
    for path, got in answers.items():
        family, _, name = path.rpartition("/")
        if family in ("/api/v2/series", *(f"{one}/series" for one in OLD)):
            yield text(fields(got.value).get("cover")), f"series/{name}/"
        elif family == "/api/v2/groups":
            yield text(fields(got.value).get("logo")), f"groups/{name}/"
        if family == "/api/v1/series":
            yield from _pages(name, fields(got.value))


def _pages(slug: str, series: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for volume, chapters in fields(series.get("volumes")).items():
        for number, one in fields(chapters).items():
            pages = texts(fields(one).get("pages_list"))
            yield (
                f"{text(fields(one).get('pages_root'))}{pages[0] if pages else ''}",
                f"series/{slug}/{volume}/{number}/",
            )


def settings(answers: Responses, origin: str, root: str, notes: Notes) -> dict[str, Any]:
    """What `site.yaml` should say."""
    base = _base(answers) or origin
    told = {
        "base_url": base,
        "reader": _reader(answers, base),
        "media": root.removeprefix(base) if root.startswith(f"{base}/") else root,
        "page_size": _page_size(answers),
        "restricted": restricted_routes(answers),
    }
    if not root:
        notes.add("no image lies where a catalog would look for it; addresses are kept")
    notes.add(
        "port, ipv6, server_folder, ages of caches, body_budget, keep_releases and views_per_second are not told",
        "site.yaml",
    )
    found = admitted(Site, told, "site.yaml", notes) or {"base_url": origin}
    return {name: value for name, value in found.items() if _DEFAULTS.get(name) != value}


def restricted_routes(answers: Responses) -> list[str]:
    """The routes of version 2 that take a key whatever they are asked for."""
    paths = fields(fields(answers["/api/v2/openapi.json"].value).get("paths"))
    found = []
    for route in get_args(RestrictedRoute):
        asked = fields(fields(paths.get(f"/api/v2{route}")).get("get")).get("security")
        told = isinstance(asked, list) and bool(asked) and {} not in asked
        if told or answers[f"/api/v2{route}"].locked:
            found.append(route)
    return found


def _base(answers: Responses) -> str:
    """What absolute addresses of the site begin with."""
    told = [fields(family).get("series") for family in fields(answers["/"].value).values()]
    told += [one.get("url") for family in OLD for one in entries(answers[f"{family}/series"].value)]
    found = (_ORIGIN.match(text(address)) for address in told)
    return next((one[0] for one in found if one and re.fullmatch(HOST, one[0])), "")


def _reader(answers: Responses, base: str) -> str:
    """The path of the pages on which people read."""
    told = ((path.rpartition("/")[2], text(fields(got.value).get("url"))) for path, got in answers.items())
    found = (url.removeprefix(base).removesuffix(f"{slug}/") for slug, url in told if url.endswith(f"/{slug}/"))
    return next(found, "")


def _page_size(answers: Responses) -> int | None:
    """How many series a page has: the document says so, or the first page that is not the last."""
    document = fields(answers["/api/v2/openapi.json"].value)
    limit = fields(fields(fields(document.get("components")).get("parameters")).get("limit"))
    told = fields(limit.get("schema")).get("default")
    if isinstance(told, int) and not isinstance(told, bool):
        return told
    first = fields(answers["/api/v2/series"].value)
    return len(list(entries(first.get("results")))) if first.get("last") is False else None
