"""A URL that answers otherwise -> every address at which a cache may have kept what it said before."""

from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

from ...api.payloads.series_list import DEFAULT_ORDER
from ...api.payloads.v2 import DEFAULT_DATE_FORMAT
from ...api.resources import SERIES_INDEX_URL
from .compare import Comparison, UrlDifference

_LIST, _CHAPTERS, _PAGES = "/api/v2/series", "/api/v2/chapters", "/api/v2/pages"
_TRACKED = ("track", "true")

# Parameters in the order in which somebody writes them.
_Query = tuple[tuple[str, str], ...]
_Address = tuple[str, _Query]


class Purge(NamedTuple):
    """What a cache in front has to forget."""

    urls: list[str]
    # What cannot be listed, since a query can be written in any number of ways: all that begins so.
    prefixes: list[str]


def purge(found: Comparison, base_url: str) -> Purge:
    """Every address whose answer is not what a cache may have kept of it."""
    addresses = {address for one in found.differences for address in _stale(one)}
    addresses |= {address for key in _asked_otherwise(found) for address in _of_pages(key)}
    searched = SERIES_INDEX_URL in found.by_url
    return Purge(
        urls=sorted(f"{base_url}{spelling}" for one in addresses for spelling in _spellings(*one)),
        prefixes=[f"{base_url}{_LIST}{slash}?" for slash in ("", "/")] if searched else [],
    )


def _stale(one: UrlDifference) -> Iterator[_Address]:
    path, _, query = one.url.partition("?")
    parameters = tuple(parse_qsl(query))
    if _could_be_kept(one) and "#" not in path:
        yield from _of_list(**dict(parameters)) if path == _LIST and query else _as_asked(path, parameters)
    if path.startswith(f"{_LIST}/") and path.endswith("/chapters") and not _is_locked(one):
        # The same list at another address, where nothing is found that needs a key.
        slug = ("series", path.split("/")[4])
        for dates in _dated(parameters):
            yield from ((_CHAPTERS, (slug, *dates)), (_CHAPTERS, (*dates, slug)))


def _could_be_kept(one: UrlDifference) -> bool:
    """What needed a key was never for a cache that many share. A 404 may be in one."""
    return not (one.old and one.old.restricted)


def _is_locked(one: UrlDifference) -> bool:
    return all(answer and answer.restricted for answer in (one.old, one.new))


def _as_asked(path: str, parameters: _Query) -> Iterator[_Address]:
    yield path, parameters
    if path.endswith("/chapters"):
        yield from ((path, dates) for dates in _dated(parameters))
    elif path.startswith(f"{_CHAPTERS}/") and path.endswith("/pages"):
        yield path, (_TRACKED,)


def _dated(parameters: _Query) -> tuple[_Query, ...]:
    """A form of dates, which need not be said if it is the one that nobody has to ask for."""
    return (parameters,) if parameters else ((), (("date_format", DEFAULT_DATE_FORMAT),))


def _of_list(sort: str, page: str) -> Iterator[_Address]:
    """A page of the list in an order; the defaults need not be said."""
    order, number = ("sort", sort), ("page", page)
    yield from ((_LIST, (order, number)), (_LIST, (number, order)))
    if sort == DEFAULT_ORDER:
        yield _LIST, (number,)
    if page == "1":
        yield _LIST, (order,)


def _asked_otherwise(found: Comparison) -> Iterator[str]:
    """The deprecated addresses of pages that find others now, or the same ones changed."""
    old, new = found.old.asked_pages(), found.new.asked_pages()
    if found.is_partial:  # only one of them knows these addresses
        old = new = old | new
    for key in old.keys() | new.keys():
        path = new.get(key)
        changed = found.by_url.get(path or "")
        if old.get(key) != path or (changed and _could_be_kept(changed)):
            yield key


def _of_pages(key: str) -> Iterator[_Address]:
    parameters = tuple(zip(("series", "volume", "number"), key.split("/")[3:], strict=True))
    yield from ((_PAGES, parameters), (_PAGES, (*parameters, _TRACKED)))


def _spellings(path: str, query: _Query) -> Iterator[str]:
    """With a slash at the end and without."""
    asked = f"?{urlencode(query)}" if query else ""
    yield f"{path}{asked}"
    if path != "/":
        yield f"{path}/{asked}"
