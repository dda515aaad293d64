"""Promises about methods other than GET, and about ranges, for a sample of URLs."""

from collections.abc import Iterator

from ... import encoding
from ...api.payloads import errors
from ...http_client import Response
from ...release.manifest import Published
from .probe import Observation, Probe, body_observation, has_body, header_observations, status_observation
from .subjects import Subjects

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


def check(probe: Probe, subjects: Subjects) -> Iterator[Observation]:
    for body in subjects.sample:
        if plain := probe.served(body):
            yield from _head(probe, body, plain)
            yield from _range(probe, body)
            yield from _options(probe, body)
            yield from _refused(probe, body)


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


def _range(probe: Probe, body: Published) -> Iterator[Observation]:
    sent = {"Range": "bytes=0-0"}
    return probe.expect("ranges", body.url, 200, body, {"Accept-Ranges": None}, sent=sent, note="Range: bytes=0-0")


def _options(probe: Probe, body: Published) -> Iterator[Observation]:
    return probe.expect("options", body.url, 204, None, _PREFLIGHT, method="OPTIONS", note="OPTIONS")


def _refused(probe: Probe, body: Published) -> Iterator[Observation]:
    for method in ("POST", "PUT", "DELETE", "BREW"):
        promise = "unknown-methods" if method == "BREW" else "methods"
        response = probe.get(body.url, method=method)
        label = f"{probe.base}{body.url} ({method})"
        yield status_observation(promise, label, response, 405)
        if response.status == 405:
            yield from header_observations(promise, label, response.headers, {"Allow": _ALLOW})
            is_right = has_body(response, _refusal(body.url, method)) or not body.url.startswith("/api/")
            yield body_observation(promise, label, is_right)


def _refusal(url: str, method: str) -> bytes:
    if url.startswith("/api/v2/"):
        return encoding.json({"detail": f'Method "{method}" not allowed.'})
    return encoding.json(errors.error(405))
