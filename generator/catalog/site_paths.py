"""Check that `reader` and `media` of site.yaml leave room for the pages of the site."""

from collections.abc import Iterator

from ..errors import UnlocatedProblem
from .layout import SITE
from .media_folder import url_path
from .site_settings import Site

# First segments of the paths of pages and feeds, without a suffix. Neither `reader` nor `media` may begin with one of
# them, nor may a page of the owner have such a name. Their letters have no case: nginx ignores it in keys. `bad`, `of`
# and `query` begin keys that are no paths.
RESERVED = frozenset(
    (
        *("404", "_flatpanel", "api", "artists", "assets", "authors", "bad", "categories", "favicon", "groups"),
        *("index", "latest", "library", "of", "opensearch", "preview", "query", "releases", "robots", "search"),
        *("manifest", "shelf", "sitemap", "sitemaps", "sw", "user"),
    )
)


_EXAMPLES = {"reader": "/reader/", "media": "/media/"}


def is_reserved(segment: str) -> bool:
    """Whether a first segment, with or without a suffix, belongs to pages or feeds."""
    return segment.lower().partition(".")[0] in RESERVED


def problems(site: Site) -> Iterator[UnlocatedProblem]:
    """Yield the problems of `reader` and `media` on a site with pages."""
    if not site.pages:
        return
    media = url_path(site)
    yield from _path_problems("reader", site.reader)
    if media:
        yield from _path_problems("media", media)
    if "/" not in (media, site.reader) and _overlap(site.reader, media):
        field, other = ("media", site.reader) if "media" in site.model_fields_set else ("reader", media)
        message = f"overlaps with {other}, and pages is true; choose a path like {_EXAMPLES[field]}, beside {other}"
        yield UnlocatedProblem(SITE, (field,), message)


def _path_problems(field: str, path: str) -> Iterator[UnlocatedProblem]:
    first = path.split("/")[1]
    if not first or is_reserved(first):
        message = f"/{first} has other pages if pages is true; choose a path like {_EXAMPLES[field]}"
        yield UnlocatedProblem(SITE, (field,), message)


def _overlap(path: str, other: str) -> bool:
    """Whether one of two paths is the other one or is below it."""
    path, other = path.lower(), other.lower()
    return bool(other) and (path.startswith(other) or other.startswith(path))
