"""Promises about other spellings of URLs, about URLs that do not exist, and about wrong parameters."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ... import encoding
from ...api.payloads import errors
from ...api.resources import HTML, JSON, key
from ...release.manifest import Published
from .probe import Observation, Probe, body_observation, content, has_body, header_observations, status_observation
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
        yield from _same(probe, body, "final-slash", bare if url.endswith("/") else f"{url}/")
        yield from _same(probe, body, "double-slash", "//".join(bare.rsplit("/", 1)) + url[len(bare) :])
        other_case = url.upper()
        if key(other_case) not in keys:
            label = f"{probe.base}{other_case}"
            yield status_observation("letter-case", label, probe.get(other_case), 404)
    if not _WITH_PARAMETERS.fullmatch(url):
        yield from _same(probe, body, "other-parameters", f"{url}?a=1")


def _same(probe: Probe, body: Published, promise: str, url: str) -> Iterator[Observation]:
    response = probe.get(url, size=body.size)
    label = f"{probe.base}{url}"
    yield status_observation(promise, label, response, 200)
    if response.status == 200:
        yield body_observation(promise, label, has_body(response, body))


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
    response = probe.get(error.url)
    label = f"{probe.base}{error.url}"
    yield status_observation(error.promise, label, response, error.status)
    if response.status == error.status:
        yield body_observation(error.promise, label, content(response, len(error.body)) == error.body)
        # A path that is missing may be published soon; other errors are never cached.
        expected = {
            "Content-Type": JSON,
            "Cache-Control": f"public, max-age={error_age}" if error.status == 404 else "no-store",
            "Access-Control-Allow-Origin": "*",
            "X-Content-Type-Options": "nosniff",
            "ETag": None,
        }
        yield from header_observations(error.promise, label, response.headers, expected)


def _missing_page(probe: Probe, subjects: Subjects) -> Iterator[Observation]:
    page = subjects.bodies.get(_MISSING_PAGE)
    response = probe.get(f"/{_MISSING}/")
    label = f"{probe.base}/{_MISSING}/"
    yield status_observation("not-found-page", label, response, 404)
    if response.status == 404:
        expected = subjects.body(_MISSING_PAGE) if page else encoding.json(errors.error(404))
        yield body_observation("not-found-page", label, content(response, len(expected)) == expected)
        yield from header_observations(
            "not-found-page", label, response.headers, {"Content-Type": HTML if page else JSON}
        )
