"""Promises about other spellings of URLs, about URLs that do not exist, and about wrong parameters."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ... import encoding
from ...api.payloads import errors
from ...api.payloads.resources import HTML, JSON, key
from ...release.manifest import Published
from .probe import Observation, Probe
from .subjects import Subjects

_MISSING = "no-such-path"
# Longer than the name of a file.
_LONG = "x" * 300
# The page of a site with pages that answers for missing pages.
_MISSING_PAGE = "/404/"
# URLs whose parameters select a body; everywhere else parameters are ignored.
_WITH_PARAMETERS = re.compile(r"/api/v2/(?:series|chapters|pages|series/[^/]+/chapters|chapters/\d+/pages)")


class _Error(NamedTuple):
    promise: str
    url: str
    status: int
    body: bytes


def check(probe: Probe, subjects: Subjects) -> Iterator[Observation]:
    keys = {key(url) for url in subjects.bodies}
    for body in subjects.sample:
        if "?" not in body.url and probe.served(body):
            yield from _spellings(probe, body, keys)
    for error in _errors(subjects):
        yield from _error(probe, error, subjects.rules.error_age)
    yield from _missing_page(probe, subjects)


def _spellings(probe: Probe, body: Published, keys: set[str]) -> Iterator[Observation]:
    url = body.url
    if url != "/":
        bare = url.removesuffix("/")
        yield from probe.expect("final-slash", bare if url.endswith("/") else f"{url}/", 200, body)
        yield from probe.expect("double-slash", "//".join(bare.rsplit("/", 1)) + url[len(bare) :], 200, body)
        other_case = url.upper()
        if key(other_case) not in keys:
            yield from probe.expect("letter-case", other_case, 404)
    if not _WITH_PARAMETERS.fullmatch(url):
        yield from probe.expect("other-parameters", f"{url}?a=1", 200, body)


def _errors(subjects: Subjects) -> Iterator[_Error]:
    missing, bad = encoding.json(errors.error(404)), encoding.json(errors.error(400))
    for version in ("/api", "/api/v1"):
        yield _Error("not-found", f"{version}/{_MISSING}", 404, missing)
        yield _Error("not-found", f"{version}/series/{_MISSING}", 404, missing)
        yield _Error("not-found", f"{version}/authors/999999999", 404, missing)
        yield _Error("not-found", f"{version}/series/{_LONG}", 404, missing)
        yield _Error("bad-request", f"{version}/authors/abc", 400, bad)
        yield _Error("bad-request", f"{version}/series/{_MISSING}/01", 400, bad)
    yield _Error("not-found", f"/api/v2/{_MISSING}", 404, encoding.json(errors.detail(404)))
    for url in ("/api/v2/chapters?date_format=x", "/api/v2/pages"):
        name = "/bad/date_format" if "?" in url else "/bad/pages"
        if not subjects.is_on_restricted_route(url):
            yield _Error("bad-parameters", url, 400, encoding.json(errors.BAD_PARAMETERS[name]))


def _error(probe: Probe, error: _Error, error_age: int) -> Iterator[Observation]:
    # A path that is missing may be published soon; other errors are never cached.
    expected = {
        "Content-Type": JSON,
        "Cache-Control": f"public, max-age={error_age}" if error.status == 404 else "no-store",
        "Access-Control-Allow-Origin": "*",
        "X-Content-Type-Options": "nosniff",
        "ETag": None,
    }
    return probe.expect(error.promise, error.url, error.status, error.body, expected)


def _missing_page(probe: Probe, subjects: Subjects) -> Iterator[Observation]:
    has_page = _MISSING_PAGE in subjects.bodies
    body = subjects.body(_MISSING_PAGE) if has_page else encoding.json(errors.error(404))
    return probe.expect("not-found-page", f"/{_MISSING}/", 404, body, {"Content-Type": HTML if has_page else JSON})
