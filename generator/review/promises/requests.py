"""Promises about a sample of URLs: conditions, other methods and spellings, URLs that do not exist, and filters.

The validators of conditions are those that the server sends, so that a server with ETags of its own is judged by them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import mktime_tz, parsedate_tz
from typing import Any
from urllib.parse import quote

from ... import encoding
from ...api.payloads import errors
from ...api.payloads.resources import HTML, JSON, SERIES_INDEX_URL, key
from ...http_client import Response
from ...release import manifest
from ...release.manifest import Published
from .probe import (
    Observation,
    Probe,
    Subjects,
    body_observation,
    content,
    has_body,
    header_observations,
    status_observation,
)

# Conditional requests, as RFC 9110 orders them (section 13.2.2)

_OTHER = '"00000000000000000000000000000000"'
_FUTURE = "Fri, 31 Dec 9999 23:59:59 GMT"
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# The headers of a 200 that its 304 repeats.
_REPEATED = ("ETag", "Cache-Control", "Vary", "Access-Control-Allow-Origin", "X-Frame-Options")

# A promise, the headers of a request, and the status of the response.
Case = tuple[str, Mapping[str, str], int]


def conditions(probe: Probe, subjects: Subjects) -> Iterator[Observation]:
    def check(body: Published) -> Iterator[Observation]:
        plain = probe.served(body)
        if not plain:
            return
        etag = (plain.headers.get("etag") or f'"{body.etag}"').removeprefix("W/")
        date = plain.headers.get("last-modified") or manifest.last_modified(body)
        for promise, headers, status in _cases(etag, date):
            response = probe.get(body.url, headers, size=body.size)
            label = f"{probe.base}{body.url} ({', '.join(f'{name}: {value}' for name, value in headers.items())})"
            yield status_observation(promise, label, response, status)
            if response.status == 304 == status:
                # A 304 repeats headers of the 200, and promises no body.
                expected = {name: plain.headers.get(name.lower()) for name in _REPEATED} | {"Content-Length": None}
                yield from header_observations("not-modified", label, response.headers, expected)
                date_of_plain = {"Last-Modified": plain.headers.get("last-modified")}
                yield from header_observations("not-modified-date", label, response.headers, date_of_plain)

    return probe.each(subjects.sample, check)


def _cases(etag: str, date: str | None) -> Iterator[Case]:
    """The conditions and their statuses; those of dates only if the body has a date."""
    yield "if-none-match", {"If-None-Match": etag}, 304
    yield "if-none-match", {"If-None-Match": _OTHER}, 200
    yield "if-none-match-weak", {"If-None-Match": f"W/{etag}"}, 304
    yield "if-none-match-list", {"If-None-Match": f'{_OTHER}, W/"a,b", {etag}'}, 304
    yield "if-none-match-any", {"If-None-Match": "*"}, 304
    yield "if-match", {"If-Match": etag}, 200
    yield "if-match", {"If-Match": f"{_OTHER}, {etag}"}, 200
    yield "if-match", {"If-Match": _OTHER}, 412
    if not date:
        return
    parsed = parsedate_tz(date)
    modified = mktime_tz(parsed) if parsed else 0  # a malformed date counts as 1970
    same, later, earlier = (encoding.http_date(modified + step) for step in (0, 1, -1))
    yield "if-modified-since", {"If-Modified-Since": same}, 304
    yield "if-modified-since", {"If-Modified-Since": later}, 304
    yield "if-modified-since", {"If-Modified-Since": earlier}, 200
    # The two other forms of RFC 9110, 5.6.7: RFC 850 and asctime.
    at = datetime.fromtimestamp(modified, UTC)
    day, month, time = same[:3], same[8:11], f"{at:%H:%M:%S}"
    yield "date-forms", {"If-Modified-Since": f"{_WEEKDAYS[at.weekday()]}, {at:%d}-{month}-{at:%y} {time} GMT"}, 304
    yield "date-forms", {"If-Modified-Since": f"{day} {month} {at.day:2} {time} {at.year}"}, 304
    yield "future-date", {"If-Modified-Since": _FUTURE}, 304
    yield "if-unmodified-since", {"If-Unmodified-Since": same}, 200
    yield "if-unmodified-since", {"If-Unmodified-Since": earlier}, 412
    yield "etag-first", {"If-None-Match": _OTHER, "If-Modified-Since": same}, 200
    yield "etag-first", {"If-None-Match": etag, "If-Modified-Since": earlier}, 304
    yield "etag-first", {"If-Match": etag, "If-Unmodified-Since": earlier}, 200
    yield "both-kinds", {"If-Unmodified-Since": same, "If-None-Match": etag}, 304


# Methods other than GET, and ranges

_ALLOW = "GET, HEAD, OPTIONS"
_OF_HEAD = (
    *("Content-Type", "Content-Length", "ETag", "Last-Modified", "Cache-Control", "Vary"),
    "Access-Control-Allow-Origin",
)
_PREFLIGHT = {
    "Allow": _ALLOW,
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": _ALLOW,
    "Access-Control-Allow-Headers": "X-API-Key, If-None-Match, If-Modified-Since",
}


def methods(probe: Probe, subjects: Subjects) -> Iterator[Observation]:
    def check(body: Published) -> Iterator[Observation]:
        if plain := probe.served(body):
            yield from _head(probe, body, plain)
            sent = {"Range": "bytes=0-0"}
            note = "Range: bytes=0-0"
            yield from probe.expect("ranges", body.url, 200, body, {"Accept-Ranges": None}, sent=sent, note=note)
            yield from probe.expect("options", body.url, 204, None, _PREFLIGHT, method="OPTIONS", note="OPTIONS")
            yield from _refused(probe, body)

    return probe.each(subjects.sample, check)


def _head(probe: Probe, body: Published, plain: Response) -> Iterator[Observation]:
    response = probe.get(body.url, method="HEAD")
    label = f"{probe.base}{body.url} (HEAD)"
    yield status_observation("head", label, response, 200)
    if response.status == 200:
        expected = {name: plain.headers.get(name.lower()) for name in _OF_HEAD}
        if not expected["Content-Length"]:  # the length of a GET is a promise of its own
            del expected["Content-Length"]
        yield from header_observations("head", label, response.headers, expected)
        if etag := plain.headers.get("etag"):
            fresh = probe.get(body.url, {"If-None-Match": etag}, method="HEAD")
            yield status_observation("head", f"{label[:-1]}, If-None-Match: {etag})", fresh, 304)


def _refused(probe: Probe, body: Published) -> Iterator[Observation]:
    for method in ("POST", "PUT", "DELETE", "BREW"):
        promise = "unknown-methods" if method == "BREW" else "methods"
        response = probe.get(body.url, method=method)
        label = f"{probe.base}{body.url} ({method})"
        yield status_observation(promise, label, response, 405)
        if response.status == 405:
            yield from header_observations(promise, label, response.headers, {"Allow": _ALLOW})
            is_of_v2 = body.url.startswith("/api/v2/")
            error = {"detail": f'Method "{method}" not allowed.'} if is_of_v2 else errors.error(405)
            is_right = has_body(response, encoding.json(error)) or not body.url.startswith("/api/")
            yield body_observation(promise, label, is_right)


# Other spellings of URLs, URLs that do not exist, and wrong parameters

_MISSING = "no-such-path"
# Longer than the name of a file.
_LONG = "x" * 300
# The page of a site with pages that answers for missing pages.
_MISSING_PAGE = "/404/"
# URLs whose parameters select a body; everywhere else parameters are ignored.
_WITH_PARAMETERS = re.compile(
    r"/api/v2/(?:series|chapters|pages|series/[^/]+/chapters|chapters/\d+/pages)|/komga/api/v1/series"
)


def spellings(probe: Probe, subjects: Subjects) -> Iterator[Observation]:
    keys = {key(url) for url in subjects.bodies}

    def check(body: Published) -> Iterator[Observation]:
        url = body.url
        if "?" in url or not probe.served(body):
            return
        if url != "/":
            bare = url.removesuffix("/")
            yield from probe.expect("final-slash", bare if url.endswith("/") else f"{url}/", 200, body)
            yield from probe.expect("double-slash", "//".join(bare.rsplit("/", 1)) + url[len(bare) :], 200, body)
            other_case = url.upper()
            if key(other_case) not in keys:
                yield from probe.expect("letter-case", other_case, 404)
        if not _WITH_PARAMETERS.fullmatch(url):
            yield from probe.expect("other-parameters", f"{url}?a=1", 200, body)

    def check_error(expected_error: tuple[str, str, int, bytes]) -> Iterator[Observation]:
        promise, url, status, error = expected_error
        # A path that is missing may be published soon; other errors are never cached.
        expected = {
            "Content-Type": JSON,
            "Cache-Control": f"public, max-age={subjects.rules.error_age}" if status == 404 else "no-store",
            "Access-Control-Allow-Origin": "*",
            "X-Content-Type-Options": "nosniff",
            "ETag": None,
        }
        return probe.expect(promise, url, status, error, expected)

    yield from probe.each(subjects.sample, check)
    yield from probe.each(list(_errors(subjects)), check_error)
    has_page = _MISSING_PAGE in subjects.bodies
    page = subjects.body(_MISSING_PAGE) if has_page else encoding.json(errors.error(404))
    yield from probe.expect("not-found-page", f"/{_MISSING}/", 404, page, {"Content-Type": HTML if has_page else JSON})


def _errors(subjects: Subjects) -> Iterator[tuple[str, str, int, bytes]]:
    """The promise, the URL, the status and the body of each error."""
    missing, bad = encoding.json(errors.error(404)), encoding.json(errors.error(400))
    for version in ("/api", "/api/v1"):
        yield "not-found", f"{version}/{_MISSING}", 404, missing
        yield "not-found", f"{version}/series/{_MISSING}", 404, missing
        yield "not-found", f"{version}/authors/999999999", 404, missing
        yield "not-found", f"{version}/series/{_LONG}", 404, missing
        yield "bad-request", f"{version}/authors/abc", 400, bad
        yield "bad-request", f"{version}/series/{_MISSING}/01", 400, bad
    for app in subjects.rules.apps:
        yield "not-found", f"/{app}/{_MISSING}", 404, missing
    yield "not-found", f"/api/v2/{_MISSING}", 404, encoding.json(errors.detail(404))
    for url in ("/api/v2/chapters?date_format=x", "/api/v2/pages"):
        name = "/bad/date_format" if "?" in url else "/bad/pages"
        if not subjects.is_on_restricted_route(url):
            yield "bad-parameters", url, 400, encoding.json(errors.BAD_PARAMETERS[name])


# Lists that a server assembles from the parameters of a request

_LIST = "/api/v2/series"
_KOMGA_LIST = "/komga/api/v1/series"
_KOMGA_SIZE = 20


def lists(probe: Probe, subjects: Subjects) -> Iterator[Observation]:
    yield from _lists_of_v2(probe, subjects)
    if _KOMGA_LIST in subjects.bodies:
        yield from _lists_of_komga(probe, encoding.parse(subjects.body(_KOMGA_LIST))["content"])


def _lists_of_komga(probe: Probe, series: list[Any]) -> Iterator[Observation]:
    """The first page, and one behind the end."""
    pages = -(-len(series) // _KOMGA_SIZE)
    for number in (0, pages + 1):
        shown = series[number * _KOMGA_SIZE : (number + 1) * _KOMGA_SIZE]
        expected = {
            "content": shown,
            "empty": not shown,
            "first": number == 0,
            "last": number + 1 >= pages,
            "number": number,
            "numberOfElements": len(shown),
            "size": _KOMGA_SIZE,
            "totalElements": len(series),
            "totalPages": pages,
        }
        yield from _list(probe, f"search=&page={number}&deleted=false", encoding.json(expected), _KOMGA_LIST)


def _lists_of_v2(probe: Probe, subjects: Subjects) -> Iterator[Observation]:
    body = subjects.bodies.get(_LIST)
    if body is None or body.restricted or not subjects.has_index:
        return
    shown = encoding.parse(subjects.body(_LIST))
    items: list[Any] = shown["results"]
    yield from _list(probe, "slug=-", _answer([], 0, last=True))
    yield from _list(probe, "title=%ff", _answer([], 0, last=True))
    if items:
        slug = quote(items[-1]["slug"])
        yield from _list(probe, f"slug={slug}&status=any&a=1", _answer(items[-1:], 1, last=True))
        yield from _list(probe, "limit=1", _answer(items[:1], shown["total"], last=shown["total"] == 1))
        if len(items) > 1:
            yield from _list(probe, "limit=1&page=2", _answer(items[1:2], shown["total"], last=shown["total"] == 2))
    index = encoding.parse(subjects.body(SERIES_INDEX_URL))
    for field, part in _parts_of_names(index):
        matching = [
            encoding.parse(item)
            for item, names in zip(index["items"], index[field]["names"], strict=True)
            if part in names
        ]
        size = index["page_size"]
        yield from _list(
            probe, f"{field}={quote(part)}", _answer(matching[:size], len(matching), last=len(matching) <= size)
        )
    missing = encoding.json(errors.DETAILS["page"])
    yield from probe.expect("page-not-found", f"{_LIST}?page=999999999", 404, missing)


def _parts_of_names(index: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Parts of names in each field: one for each length that a character of a name has in UTF-8.

    Engines of JavaScript count characters beyond U+FFFF in two ways.
    """
    parts: dict[tuple[str, int], str] = {}
    for field in ("title", "author", "artist"):
        for name in "\n".join(index[field]["names"]).split("\n"):
            for at, character in enumerate(name):
                # Longer than the parts that the index lists as they are.
                part = name[max(at - 6, 0) : at + 7]
                if len(part) > 2:
                    parts.setdefault((field, len(character.encode())), part)
    return dict.fromkeys((field, part) for (field, _), part in parts.items())


def _list(probe: Probe, query: str, expected: bytes, path: str = _LIST) -> Iterator[Observation]:
    response = probe.get(f"{path}?{query}", size=len(expected))
    label = f"{probe.base}{path}?{query}"
    yield status_observation("filters", label, response, 200)
    if response.status == 200:
        received = content(response, len(expected))
        yield body_observation("filters", label, received == expected)
        if received == expected:
            etag = f'"{encoding.etag(expected)}"'
            yield from header_observations("etag", label, response.headers, {"ETag": etag})


def _answer(items: list[Any], total: int, *, last: bool) -> bytes:
    return encoding.json({"total": total, "last": last, "results": items})
