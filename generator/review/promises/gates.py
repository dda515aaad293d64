"""Promises about URLs without bodies of their own: licence notices, redirects, and deprecated URLs."""

import re
from collections.abc import Iterator

from ... import encoding
from ...api.payloads import errors
from ...api.payloads.resources import JSON, Alias
from ...http_client import Response
from .bodies import PROMISES, expected_headers
from .probe import (
    Headers,
    Observation,
    Probe,
    body_observation,
    has_body,
    header_observations,
    status_observation,
)
from .subjects import Subjects

# The cache headers of a deprecated URL are those of the current one; these belong to the body itself.
_OF_ALIAS = ("Content-Type", "ETag", "Last-Modified", "Cache-Control")


def check(probe: Probe, subjects: Subjects) -> Iterator[Observation]:
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
    aliases = [alias for alias in subjects.aliases if _is_public(alias, subjects)]
    # The slug may be in any letter case; the first and the last URL stand for all.
    others = (_in_other_case(alias) for alias in dict.fromkeys([*aliases[:1], *aliases[-1:]]))
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
        if right:
            yield from _alias_headers(label, response, expected_headers(body, packed=False))


def _is_public(alias: Alias, subjects: Subjects) -> bool:
    return not (subjects.bodies[alias.target].restricted or subjects.is_on_restricted_route(alias.url))


def _in_other_case(alias: Alias) -> Alias:
    """The deprecated URL with the slug in the other letter case."""
    return alias._replace(url=re.sub("(?<=series=)[^&]+", lambda slug: slug[0].swapcase(), alias.url))


def _alias_headers(label: str, response: Response, expected: dict[str, str | None]) -> Iterator[Observation]:
    for name in _OF_ALIAS:
        yield from header_observations(PROMISES[name], label, response.headers, {name: expected[name]})
