"""Promises about conditional requests, as RFC 9110 orders them (section 13.2.2), for a sample of URLs.

The validators are those that the server sends, so that a server with ETags of its own is judged by them.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import mktime_tz, parsedate_tz

from ... import encoding
from ...http_client import Response
from ...release import manifest
from ...release.manifest import Published
from .probe import Observation, Probe, header_observations, status_observation
from .subjects import Subjects

_OTHER = '"00000000000000000000000000000000"'
_FUTURE = "Fri, 31 Dec 9999 23:59:59 GMT"
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# The headers of a 200 that its 304 repeats.
_REPEATED = ("ETag", "Cache-Control", "Vary", "Access-Control-Allow-Origin", "X-Frame-Options")

# A promise, the headers of a request, and the status of the response.
Case = tuple[str, Mapping[str, str], int]


def check(probe: Probe, subjects: Subjects) -> Iterator[Observation]:
    for body in subjects.sample:
        if plain := probe.served(body):
            yield from _observations(probe, body, plain)


def _observations(probe: Probe, body: Published, plain: Response) -> Iterator[Observation]:
    etag = (plain.headers.get("etag") or f'"{body.etag}"').removeprefix("W/")
    date = plain.headers.get("last-modified") or manifest.last_modified(body)
    cases = [*_etag_cases(etag)]
    if date:
        cases += [*_date_cases(_seconds(date)), *_cases_of_both(etag, _seconds(date))]
    for promise, headers, status in cases:
        response = probe.get(body.url, headers, size=body.size)
        label = f"{probe.base}{body.url} ({', '.join(f'{name}: {value}' for name, value in headers.items())})"
        yield status_observation(promise, label, response, status)
        if response.status == 304 == status:
            yield from _not_modified(label, response, plain)


def _etag_cases(etag: str) -> Iterator[Case]:
    yield "if-none-match", {"If-None-Match": etag}, 304
    yield "if-none-match", {"If-None-Match": _OTHER}, 200
    yield "if-none-match-weak", {"If-None-Match": f"W/{etag}"}, 304
    yield "if-none-match-list", {"If-None-Match": f'{_OTHER}, W/"a,b", {etag}'}, 304
    yield "if-none-match-any", {"If-None-Match": "*"}, 304
    yield "if-match", {"If-Match": etag}, 200
    yield "if-match", {"If-Match": f"{_OTHER}, {etag}"}, 200
    yield "if-match", {"If-Match": _OTHER}, 412


def _date_cases(modified: int) -> Iterator[Case]:
    same, later, earlier = (encoding.http_date(modified + step) for step in (0, 1, -1))
    yield "if-modified-since", {"If-Modified-Since": same}, 304
    yield "if-modified-since", {"If-Modified-Since": later}, 304
    yield "if-modified-since", {"If-Modified-Since": earlier}, 200
    for old_form in _old_dates(modified):
        yield "date-forms", {"If-Modified-Since": old_form}, 304
    yield "future-date", {"If-Modified-Since": _FUTURE}, 304
    yield "if-unmodified-since", {"If-Unmodified-Since": same}, 200
    yield "if-unmodified-since", {"If-Unmodified-Since": earlier}, 412


def _cases_of_both(etag: str, modified: int) -> Iterator[Case]:
    same, earlier = (encoding.http_date(modified + step) for step in (0, -1))
    yield "etag-first", {"If-None-Match": _OTHER, "If-Modified-Since": same}, 200
    yield "etag-first", {"If-None-Match": etag, "If-Modified-Since": earlier}, 304
    yield "etag-first", {"If-Match": etag, "If-Unmodified-Since": earlier}, 200
    yield "both-kinds", {"If-Unmodified-Since": same, "If-None-Match": etag}, 304


def _seconds(date: str) -> int:
    """A date in seconds since 1970; a malformed one counts as 1970."""
    parsed = parsedate_tz(date)
    return mktime_tz(parsed) if parsed else 0


def _old_dates(seconds: int) -> Iterator[str]:
    """A time in the two other forms of RFC 9110, 5.6.7: RFC 850 and asctime."""
    at = datetime.fromtimestamp(seconds, UTC)
    day, month, time = encoding.http_date(seconds)[:3], encoding.http_date(seconds)[8:11], f"{at:%H:%M:%S}"
    yield f"{_WEEKDAYS[at.weekday()]}, {at:%d}-{month}-{at:%y} {time} GMT"
    yield f"{day} {month} {at.day:2} {time} {at.year}"


def _not_modified(label: str, response: Response, plain: Response) -> Iterator[Observation]:
    """A 304 repeats headers of the 200, and promises no body."""
    expected = {name: plain.headers.get(name.lower()) for name in _REPEATED}
    yield from header_observations("not-modified", label, response.headers, expected | {"Content-Length": None})
    date = {"Last-Modified": plain.headers.get("last-modified")}
    yield from header_observations("not-modified-date", label, response.headers, date)
