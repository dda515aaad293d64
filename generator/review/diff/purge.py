"""The URLs to purge from a CDN: every URL of a changed response that a cache may contain."""

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

from ...api.payloads.resources import LOCKED_RESULTS_URL
from ...api.payloads.series_list import DEFAULT_ORDER
from ...api.payloads.v2 import DEFAULT_DATE_FORMAT
from .compare import SEARCH_INDEX, Comparison, UrlDifference

_LIST, _CHAPTERS, _PAGES = "/api/v2/series", "/api/v2/chapters", "/api/v2/pages"
_SEARCH = "/search/"
_TRACKED = ("track", "true")

# Query arguments in their order.
_Query = tuple[tuple[str, str], ...]
_PathAndQuery = tuple[str, _Query]


class Purge(NamedTuple):
    """URLs and URL prefixes to purge."""

    urls: list[str]
    # Prefixes of URLs that cannot be listed, because a query has arbitrarily many forms.
    prefixes: list[str]


def purge(comparison: Comparison, base_url: str) -> Purge:
    stale = {pair for difference in comparison.differences for pair in _stale(difference)}
    # The paths of page lists by the keys of their deprecated URLs: those with other or changed pages are stale.
    old, new = comparison.old.page_queries(), comparison.new.page_queries()
    for key in old.keys() | new.keys():
        path = new.get(key)
        difference = comparison.by_url.get(path or "")
        is_changed = old.get(key) != path or (difference and _is_cacheable(difference))
        if is_changed and LOCKED_RESULTS_URL not in (old.get(key), path):
            arguments = tuple(zip(("series", "volume", "number"), key.split("/")[3:], strict=True))
            stale |= {(_PAGES, arguments), (_PAGES, (*arguments, _TRACKED))}
    is_searched = SEARCH_INDEX in comparison.by_url
    redirects = comparison.old.redirects.keys() | comparison.new.redirects.keys()
    moved = sorted(redirects & comparison.by_url.keys())
    prefixes = [f"{_LIST}{slash}?" for slash in ("", "/")] if is_searched else []
    prefixes += [f"{path}{end}" for path in moved for end in ("/", "?")]
    # The feeds of a series have the path of its page and a suffix.
    prefixes += [f"{path}." for path in moved if not path.startswith(("/api/", "/komga/", "/opds/"))]
    # Further pages of OPDS have their number before the slug.
    prefixes += sorted({f"{path.partition('/series/')[0]}/page/" for path in moved if path.startswith("/opds/")})
    prefixes += sorted(prefix for difference in comparison.differences for prefix in _page_prefixes(difference))
    # The series whose numbers need an API key now: caches may contain an empty list for any that no chapter has.
    locked = (key.split("/")[3] for key, target in new.items() if target == LOCKED_RESULTS_URL and key not in old)
    prefixes += [f"{_PAGES}{slash}?series={slug}&" for slug in sorted(locked) for slash in ("", "/")]
    return Purge(
        urls=sorted(f"{base_url}{form}" for path, query in stale for form in _forms(path, query)),
        prefixes=[f"{base_url}{prefix}" for prefix in prefixes],
    )


def _stale(difference: UrlDifference) -> Iterator[_PathAndQuery]:
    path, _, query = difference.url.partition("?")
    arguments = tuple(parse_qsl(query))
    if _is_cacheable(difference) and "#" not in path:
        yield from _series_lists(**dict(arguments)) if path == _LIST and query else _equivalent(path, arguments)
    is_restricted = all(response and response.restricted for response in (difference.old, difference.new))
    if path.startswith(f"{_LIST}/") and path.endswith("/chapters") and not is_restricted:
        # /api/v2/chapters serves the same list, without restricted series.
        slug = ("series", path.split("/")[4])
        for dates in _date_arguments(arguments):
            yield from ((_CHAPTERS, (slug, *dates)), (_CHAPTERS, (*dates, slug)))


def _page_prefixes(difference: UrlDifference) -> Iterator[str]:
    """The start of all URLs with the body of a page: those of the pages of a chapter, and those of searches."""
    url = difference.url
    if url == _SEARCH:
        yield from (f"{_SEARCH.removesuffix('/')}{slash}?" for slash in ("", "/"))
    elif difference.slug and re.fullmatch(rf".*/{re.escape(difference.slug)}/[^/]+/[^/]+/", url):
        yield url


def _is_cacheable(difference: UrlDifference) -> bool:
    """Whether shared caches may contain the old response. They may contain a 404, but no restricted response."""
    return not (difference.old and difference.old.restricted)


def _equivalent(path: str, arguments: _Query) -> Iterator[_PathAndQuery]:
    """The forms of a query with the same response."""
    yield path, arguments
    if path.endswith("/chapters"):
        yield from ((path, dates) for dates in _date_arguments(arguments))
    elif path.startswith(f"{_CHAPTERS}/") and path.endswith("/pages"):
        yield path, (_TRACKED,)


def _date_arguments(arguments: _Query) -> tuple[_Query, ...]:
    """The date format, with and without the argument if it is the default."""
    return (arguments,) if arguments else ((), (("date_format", DEFAULT_DATE_FORMAT),))


def _series_lists(sort: str, page: str) -> Iterator[_PathAndQuery]:
    """The forms of a page of the series list: arguments in both orders, defaults omitted."""
    order, number = ("sort", sort), ("page", page)
    yield from ((_LIST, (order, number)), (_LIST, (number, order)))
    if sort == DEFAULT_ORDER:
        yield _LIST, (number,)
    if page == "1":
        yield _LIST, (order,)


def _forms(path: str, query: _Query) -> Iterator[str]:
    """The URL with and without a slash after the path, which that of a page ends in."""
    suffix = f"?{urlencode(query)}" if query else ""
    path = path.removesuffix("/")
    yield f"{path}{suffix}" if path else f"/{suffix}"
    if path:
        yield f"{path}/{suffix}"
