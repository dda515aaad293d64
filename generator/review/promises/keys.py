"""Promises about API keys. A restricted body must not be sent without one, on any host and under any URL."""

from collections.abc import Iterator, Mapping

from ... import encoding
from ...api.payloads import errors
from ...http_client import Response
from ...release.manifest import files_with_sidecar
from .probe import Observation, Probe, response_observations
from .subjects import Subjects, sample_of

# URLs that depend on the account of the key. Every site has them.
_OF_ACCOUNT = ("/api/v2/bookmarks", "/api/v2/profile")
_KEY = "X-API-Key"
# Headers of the response to a request without a valid API key. It contains nothing of the body and is never cached.
UNAUTHORIZED_HEADERS: Mapping[str, str | None] = {
    "Content-Type": "application/json",
    "ETag": None,
    "Last-Modified": None,
    "Cache-Control": "no-store",
    "WWW-Authenticate": _KEY,
    "X-Frame-Options": "SAMEORIGIN",
    "X-Content-Type-Options": "nosniff",
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "ETag",
}
# Files of `dist` that no server sends. {release} is the id of the release.
_PRIVATE_FILES = (
    *("manifest.json", "keys.map", "keys.json", "current/manifest.json", "current/keys.map", "current/keys.json"),
    *("releases/{release}/manifest.json", "releases/{release}/keys.map", "releases/{release}/keys.json"),
)


def check(probe: Probe, subjects: Subjects) -> Iterator[Observation]:
    locked = [
        *(body.url for body in subjects.restricted),
        *(gate.url for gate in subjects.gates if gate.restricted),
        *(alias.url for alias in subjects.aliases if subjects.bodies[alias.target].restricted),
    ]
    for url in (*_OF_ACCOUNT, *locked):
        response = probe.get(url)
        yield _secret(f"{probe.base}{url}", response)
        yield from _unauthorized("unauthorized", f"{probe.base}{url} (without a key)", response, "absent")
    for url in (*_OF_ACCOUNT, *(body.url for body in sample_of(subjects.restricted))):
        response = probe.get(url, {_KEY: "no-such-key"})
        yield from _unauthorized("invalid-key", f"{probe.base}{url} (with an unknown key)", response, "invalid")
    yield from _files(probe, subjects)


def _unauthorized(promise: str, label: str, response: Response, detail: str) -> Iterator[Observation]:
    body = encoding.json(errors.DETAILS[detail])
    yield from response_observations(promise, label, response, 401, body, UNAUTHORIZED_HEADERS)


def _secret(label: str, response: Response) -> Observation:
    is_sent = 200 <= response.status < 300 or response.status == 304
    return Observation("secret", f"{label}: is sent without a key (status {response.status})" if is_sent else "")


def _files(probe: Probe, subjects: Subjects) -> Iterator[Observation]:
    """Names under which the files of `dist` would be sent, if its folder were the root of a file server."""
    for name in _PRIVATE_FILES:
        path = f"/{name.format(release=subjects.release)}"
        yield _secret(f"{probe.base}{path}", probe.get(path))
    for body in sample_of(body for body in subjects.bodies.values() if body.restricted):
        for file in files_with_sidecar(body):
            for path in (f"/{file}", f"/dist/{file}"):
                yield _secret(f"{probe.base}{path}", probe.get(path))


def check_with_key(probe: Probe, subjects: Subjects) -> Iterator[Observation]:
    """Request restricted bodies with the API key. Without one, the promise is not checked."""
    if not probe.api_key:
        return
    for body in subjects.restricted:
        expected = {
            "ETag": f'"{body.etag}"',
            "Cache-Control": f"private, max-age={body.max_age}",
            "Vary": f"{_KEY}, Accept-Encoding" if body.gzip else _KEY,
        }
        sent = {_KEY: probe.api_key}
        yield from probe.expect("keys", body.url, 200, body, expected, sent=sent, note="with the key")
