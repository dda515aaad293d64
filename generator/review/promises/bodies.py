"""Promises about every URL of the release: bytes and headers of bodies, licence notices, redirects, deprecated URLs."""

import re
from collections.abc import Iterator

from ... import encoding
from ...api.payloads import errors
from ...api.payloads.resources import HTML, JSON, Alias
from ...http_client import Response
from ...release import manifest
from ...release.manifest import Published
from .probe import Headers, Observation, Probe, body_observation, has_body, header_observations, status_observation
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
        response = probe.get(body.url, {"Accept-Encoding": "identity"}, size=body.size)
        label = f"{probe.base}{body.url}"
        yield from _common(label, response, body, packed=False)
        if response.status == 200:
            for promise, name in (("date", "Date"), ("length", "Content-Length")):
                is_there = response.headers.get(name.lower())
                yield Observation(promise, "" if is_there else f"{label}: {name} is absent")
        response = probe.get(body.url, {"Accept-Encoding": "gzip"}, size=body.size)
        yield from _common(f"{label} (gzip)", response, body, packed=body.gzip)


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


# URLs without bodies of their own: licence notices, redirects, and deprecated URLs

# The cache headers of a deprecated URL are those of the current one; these belong to the body itself.
_OF_ALIAS = ("Content-Type", "ETag", "Last-Modified", "Cache-Control")


def check_gates(probe: Probe, subjects: Subjects) -> Iterator[Observation]:
    headers = {
        "Content-Type": JSON,
        "Cache-Control": f"public, max-age={subjects.rules.error_age}",
        "Access-Control-Allow-Origin": "*",
        "X-Content-Type-Options": "nosniff",
    }
    for gate in subjects.gates:
        if gate.restricted:
            continue
        if gate.status == 451:
            yield from probe.expect("licensed", gate.url, 451, encoding.json(errors.DETAILS["licensed"]), headers)
        else:
            yield from _redirect(probe, "read", gate.url, gate.target, headers)
    for old, present in subjects.redirects.items():
        # A path below an old slug that belongs to no route, so that it needs no key. The URL of a page ends in a slash.
        target = f"{present}/0?a=1" if old.startswith("/api/") else f"{present}/0/?a=1"
        yield from _redirect(probe, "old-slugs", f"{old}/0?a=1", target, headers)
    aliases = [
        alias
        for alias in subjects.aliases
        if not (subjects.bodies[alias.target].restricted or subjects.is_on_restricted_route(alias.url))
    ]
    # The slug may be in any letter case; the first and the last URL stand for all.
    others = (
        alias._replace(url=re.sub("(?<=series=)[^&]+", lambda slug: slug[0].swapcase(), alias.url))
        for alias in dict.fromkeys([*aliases[:1], *aliases[-1:]])
    )
    for alias in (*aliases, *others):
        yield from _alias(probe, subjects, alias)


def _redirect(probe: Probe, promise: str, url: str, target: str, headers: Headers) -> Iterator[Observation]:
    response = probe.get(url)
    label = f"{probe.base}{url}"
    yield status_observation(promise, label, response, 308)
    if response.status == 308:
        location = response.headers.get("location") or ""
        difference = f"{label}: Location is {location or 'absent'} instead of a URL that ends with {target}"
        yield Observation(promise, "" if location.endswith(target) else difference)
        yield body_observation(promise, label, has_body(response, encoding.json({"url": location})))
        yield from header_observations(promise, label, response.headers, headers)


def _alias(probe: Probe, subjects: Subjects, alias: Alias) -> Iterator[Observation]:
    body = subjects.bodies[alias.target]
    response = probe.get(alias.url, size=body.size)
    label = f"{probe.base}{alias.url}"
    status = status_observation("deprecated-pages", label, response, 200)
    yield status
    if not status.difference:
        right = has_body(response, body)
        yield body_observation("deprecated-pages", label, right)
        expected = expected_headers(body, packed=False)
        for name in _OF_ALIAS if right else ():
            yield from header_observations(PROMISES[name], label, response.headers, {name: expected[name]})
