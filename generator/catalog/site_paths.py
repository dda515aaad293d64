"""Check that `reader` and `media` of site.yaml leave room for the pages of the site, and for apps."""

from collections.abc import Iterator

from ..errors import UnlocatedProblem
from .layout import SITE
from .media_folder import url_path
from .site_settings import Site

# First segments of the paths of apps, on a site with or without pages.
APPS = frozenset(("komga", "opds"))
# The page about apps, which a theme may replace.
APPS_PAGE = "apps"
# First segments of the paths of pages and feeds, without a suffix. Neither `reader` nor `media` may begin with one of
# them, nor may a page of the owner have such a name. Their letters have no case: nginx ignores it in keys. `bad`, `of`
# and `query` begin keys that are no paths.
RESERVED = frozenset(
    (
        *(*APPS, APPS_PAGE),
        *("404", "_flatpanel", "api", "artists", "assets", "authors", "bad", "categories", "favicon", "groups"),
        *("index", "latest", "library", "of", "opensearch", "preview", "query", "releases", "robots", "search"),
        *("manifest", "shelf", "sitemap", "sitemaps", "sw", "user"),
        # Files of exports.
        *("_headers", "_redirects", "redirects"),
    )
)


_EXAMPLES = {"reader": "/reader/", "media": "/media/"}


def is_reserved(segment: str) -> bool:
    """Whether a first segment, with or without a suffix, belongs to pages or feeds."""
    return segment.lower().partition(".")[0] in RESERVED


def problems(site: Site) -> Iterator[UnlocatedProblem]:
    """Yield the problems of `reader` and `media` on a site with pages or apps."""
    media = url_path(site)
    for field, path in (("reader", site.reader), ("media", media)):
        if path and (site.pages or site.apps):
            yield from _path_problems(field, path, site)
    if not site.pages:
        return
    if "/" not in (media, site.reader) and _overlap(site.reader, media):
        field, other = ("media", site.reader) if "media" in site.model_fields_set else ("reader", media)
        message = f"overlaps with {other}, and pages is true; choose a path like {_EXAMPLES[field]}, beside {other}"
        yield UnlocatedProblem(SITE, (field,), message)


def _path_problems(field: str, path: str, site: Site) -> Iterator[UnlocatedProblem]:
    first = path.split("/")[1]
    if first.lower() in APPS:
        reason = f"/{first} is for apps"
    elif site.pages and (not first or is_reserved(first)):
        reason = f"/{first} has other pages if pages is true"
    else:
        return
    yield UnlocatedProblem(SITE, (field,), f"{reason}; choose a path like {_EXAMPLES[field]}")


def _overlap(path: str, other: str) -> bool:
    """Whether one of two paths is the other one or is below it."""
    path, other = path.lower(), other.lower()
    return bool(other) and (path.startswith(other) or other.startswith(path))
