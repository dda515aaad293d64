"""Promises about every body of the release: bytes and headers, plain and with gzip."""

from collections.abc import Iterator

from ...api.payloads.resources import HTML
from ...http_client import Response
from ...release import manifest
from ...release.manifest import Published
from .probe import Observation, Probe, body_observation, has_body, header_observations, status_observation
from .subjects import Subjects

# The start of the policy of every page; the origins of images follow.
_POLICY = "default-src 'none'; "
# The promise that each header belongs to.
PROMISES = {
    "Content-Type": "content-type",
    "ETag": "etag",
    "Last-Modified": "last-modified",
    "Cache-Control": "cache-control",
    "Content-Encoding": "gzip",
    "Vary": "vary",
    "X-Frame-Options": "safety",
    "X-Content-Type-Options": "safety",
    "Access-Control-Allow-Origin": "cors",
    "Access-Control-Expose-Headers": "cors",
}


def check(probe: Probe, subjects: Subjects) -> Iterator[Observation]:
    for body in probe.track(subjects.public):
        yield from _identity(probe, body)
        yield from _gzip(probe, body)


def _identity(probe: Probe, body: Published) -> Iterator[Observation]:
    response = probe.get(body.url, {"Accept-Encoding": "identity"}, size=body.size)
    label = f"{probe.base}{body.url}"
    yield from _common(label, response, body, packed=False)
    if response.status == 200:
        yield _has_header("date", label, response, "Date")
        yield _has_header("length", label, response, "Content-Length")


def _gzip(probe: Probe, body: Published) -> Iterator[Observation]:
    response = probe.get(body.url, {"Accept-Encoding": "gzip"}, size=body.size)
    yield from _common(f"{probe.base}{body.url} (gzip)", response, body, packed=body.gzip)


def _common(label: str, response: Response, body: Published, packed: bool) -> Iterator[Observation]:
    promise = "parameters" if "?" in body.url else "pages" if body.type == HTML else "bodies"
    status = status_observation(promise, label, response, 200)
    yield status
    if status.difference:
        return
    right = has_body(response, body)
    yield body_observation(promise, label, right)
    if right or promise == "bodies":
        # Whether the gzip form was sent is a promise of its own; the ETag belongs to the form that was sent.
        sent = response.headers.get("content-encoding") == "gzip"
        expected = expected_headers(body, sent) | {"Content-Encoding": "gzip" if packed else None}
        for name, value in expected.items():
            yield from header_observations(PROMISES[name], label, response.headers, {name: value})
        if body.type == HTML and not body.url.startswith("/api/"):
            policy = response.headers.get("content-security-policy") or "absent"
            is_kept = policy.startswith(_POLICY)
            difference = f"{label}: Content-Security-Policy is {policy} instead of one that begins with {_POLICY}"
            yield Observation("policy", "" if is_kept else difference)


def _has_header(promise: str, label: str, response: Response, name: str) -> Observation:
    return Observation(promise, "" if response.headers.get(name.lower()) else f"{label}: {name} is absent")


def expected_headers(body: Published, packed: bool) -> dict[str, str | None]:
    """The headers of a response by name; None means absent."""
    return {
        "Content-Type": body.type,
        "ETag": f'W/"{body.etag}"' if packed else f'"{body.etag}"',
        "Last-Modified": manifest.last_modified(body),
        "Cache-Control": f"public, max-age={body.max_age}",
        "Content-Encoding": "gzip" if packed else None,
        "Vary": "Accept-Encoding" if body.gzip else None,
        "X-Frame-Options": "SAMEORIGIN",
        "X-Content-Type-Options": "nosniff",
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Expose-Headers": "ETag",
    }
