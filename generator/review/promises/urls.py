"""Promises about every URL of the release: bodies, licence notices, redirects, deprecated URLs, and API keys."""

import re
from collections.abc import Iterator, Mapping

from ... import encoding
from ...api.payloads import errors
from ...api.payloads.resources import EMPTY_RESULTS_URL, HTML, JSON, Alias, Gate
from ...http_client import Response
from ...release import manifest
from ...release.manifest import Published, files_with_sidecar
from .probe import (
    Headers,
    Observation,
    Probe,
    Subjects,
    body_observation,
    has_body,
    header_observations,
    response_observations,
    sample_of,
    status_observation,
)

# The start of the policy of every page; the origins of images follow.
_POLICY = "default-src 'none'; "
# The promise that each header belongs to.
_PROMISE_OF = {
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


def bodies(probe: Probe, subjects: Subjects) -> Iterator[Observation]:
    def check(body: Published) -> Iterator[Observation]:
        response = probe.get(body.url, {"Accept-Encoding": "identity"}, size=body.size)
        label = f"{probe.base}{body.url}"
        yield from _common(label, response, body, packed=False)
        if response.status == 200:
            for promise, name in (("date", "Date"), ("length", "Content-Length")):
                is_there = response.headers.get(name.lower())
                yield Observation(promise, "" if is_there else f"{label}: {name} is absent")
            if body.url.split("/")[1] in subjects.rules.apps:
                yield from header_observations("robots", label, response.headers, {"X-Robots-Tag": "noindex"})
        response = probe.get(body.url, {"Accept-Encoding": "gzip"}, size=body.size)
        yield from _common(f"{label} (gzip)", response, body, packed=body.gzip)

    return probe.each(subjects.public, check, probe.track)


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
            yield from header_observations(_PROMISE_OF[name], label, response.headers, {name: value})
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


def gates(probe: Probe, subjects: Subjects) -> Iterator[Observation]:
    headers = {
        "Content-Type": JSON,
        "Cache-Control": f"public, max-age={subjects.rules.error_age}",
        "Access-Control-Allow-Origin": "*",
        "X-Content-Type-Options": "nosniff",
    }
    elsewhere = headers | {"Cache-Control": f"public, max-age={subjects.rules.apps_age}"}
    in_app = elsewhere | {"X-Robots-Tag": "noindex"}

    def check(gate: Gate) -> Iterator[Observation]:
        if gate.status == 451:
            yield from probe.expect("licensed", gate.url, 451, encoding.json(errors.DETAILS["licensed"]), headers)
        elif gate.status == 302:
            fields = in_app if gate.url.split("/")[1] in subjects.rules.apps else elsewhere
            yield from _redirect(probe, "app-redirects", gate.url, gate.target, fields, 302)
        else:
            yield from _redirect(probe, "read", gate.url, gate.target, headers)

    yield from probe.each([gate for gate in subjects.gates if not gate.restricted], check)

    def check_moved(paths: tuple[str, str]) -> Iterator[Observation]:
        # A path below an old slug that belongs to no route, so that it needs no key. The URL of a page ends in a slash.
        old, present = paths
        if old.split("/")[1] in subjects.rules.apps:
            return _redirect(probe, "old-slugs", f"{old}/0?a=1", f"{present}/0?a=1", in_app, 302)
        target = f"{present}/0?a=1" if old.startswith("/api/") else f"{present}/0/?a=1"
        return _redirect(probe, "old-slugs", f"{old}/0?a=1", target, headers)

    moved = {**subjects.rules.redirected_paths_in_apps(), **subjects.redirects}
    yield from probe.each(list(moved.items()), check_moved)
    aliases = [
        alias
        for alias in subjects.aliases
        if not (subjects.bodies[alias.target].restricted or subjects.is_on_restricted_route(alias.url))
    ]
    # With the index of searches, the slug may be in any letter case; the first and the last URL stand for all.
    others = (
        alias._replace(url=re.sub("(?<=series=)[^&]+", lambda slug: slug[0].swapcase(), alias.url))
        for alias in dict.fromkeys([*aliases[:1], *aliases[-1:]] if subjects.has_index else ())
    )
    yield from probe.each((*aliases, *others), lambda alias: _alias(probe, subjects, alias))


def _redirect(
    probe: Probe, promise: str, url: str, target: str, headers: Headers, status: int = 308
) -> Iterator[Observation]:
    response = probe.get(url)
    label = f"{probe.base}{url}"
    yield status_observation(promise, label, response, status)
    if response.status == status:
        location = response.headers.get("location") or ""
        difference = f"{label}: Location is {location or 'absent'} instead of a URL that ends with {target}"
        yield Observation(promise, "" if location.endswith(target) else difference)
        yield body_observation(promise, label, has_body(response, encoding.json({"url": location})))
        yield from header_observations(promise, label, response.headers, headers)


# Images of a chapter as apps request them, for the first and the last public chapter and a restricted one

_PAGES = re.compile(r"/api/v2/chapters/(\d+)/pages")


def app_images(probe: Probe, subjects: Subjects) -> Iterator[Observation]:
    headers = {"Cache-Control": f"public, max-age={subjects.rules.apps_age}", "X-Robots-Tag": "noindex"}
    public, restricted = (filter(_has_pages, bodies) for bodies in (subjects.public, subjects.restricted))
    # Each path and its image; without one behind the last image.
    calls: list[tuple[str, str]] = []
    for body in (*sample_of(public), *sample_of(restricted)):
        chapter, images = _chapter_and_images(subjects, body)
        for app, path, first in (
            ("opds", f"/opds/v1.2/pages/{chapter}/", 0),
            ("komga", f"/komga/api/v1/books/{chapter}/pages/", 1),
        ):
            if app not in subjects.rules.apps:
                continue
            calls += [(f"{path}{number}", image) for number, image in enumerate((*images, ""), first)]

    def check(call: tuple[str, str]) -> Iterator[Observation]:
        url, image = call
        if image:
            return _redirect(probe, "app-images", url, image, headers, 302)
        return probe.expect("app-images", url, 404)

    return probe.each(calls, check)


def _has_pages(body: Published) -> bool:
    return _PAGES.fullmatch(body.url) is not None


def _chapter_and_images(subjects: Subjects, body: Published) -> tuple[str, list[str]]:
    """The id of a chapter, and the URLs of the images that apps get."""
    chapter = body.url.split("/")[4]
    pages = encoding.parse(subjects.body(body.url))["results"]
    return chapter, [] if body.restricted else [page["image"] for page in pages]


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
            yield from header_observations(_PROMISE_OF[name], label, response.headers, {name: expected[name]})


# API keys: a restricted body must not be sent without one, on any host and under any URL

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


def keys(probe: Probe, subjects: Subjects) -> Iterator[Observation]:
    locked = [
        *(body.url for body in subjects.restricted),
        *(gate.url for gate in subjects.gates if gate.restricted),
        *(alias.url for alias in subjects.aliases if subjects.bodies[alias.target].restricted),
    ]

    def check(url: str) -> Iterator[Observation]:
        response = probe.get(url)
        yield _secret(f"{probe.base}{url}", response, subjects)
        yield from _unauthorized("unauthorized", f"{probe.base}{url} (without a key)", response, "absent")

    def check_with_key(url: str) -> Iterator[Observation]:
        response = probe.get(url, {_KEY: "no-such-key"})
        return _unauthorized("invalid-key", f"{probe.base}{url} (with an unknown key)", response, "invalid")

    def check_file(path: str) -> Iterator[Observation]:
        yield _secret(f"{probe.base}{path}", probe.get(path), subjects)

    yield from probe.each((*_OF_ACCOUNT, *locked), check)
    yield from probe.each((*_OF_ACCOUNT, *(body.url for body in sample_of(subjects.restricted))), check_with_key)
    yield from probe.each(list(_paths_of_files(subjects)), check_file)


def _unauthorized(promise: str, label: str, response: Response, detail: str) -> Iterator[Observation]:
    body = encoding.json(errors.DETAILS[detail])
    yield from response_observations(promise, label, response, 401, body, UNAUTHORIZED_HEADERS)


def _secret(label: str, response: Response, subjects: Subjects) -> Observation:
    """Whether something is sent. An empty list of pages says nothing."""
    is_empty = has_body(response, subjects.bodies[EMPTY_RESULTS_URL])
    is_sent = (200 <= response.status < 300 or response.status == 304) and not is_empty
    return Observation("secret", f"{label}: is sent without a key (status {response.status})" if is_sent else "")


def _paths_of_files(subjects: Subjects) -> Iterator[str]:
    """Paths under which the files of `dist` would be sent, if its folder were the root of a file server."""
    for name in _PRIVATE_FILES:
        yield f"/{name.format(release=subjects.release)}"
    for body in sample_of(body for body in subjects.bodies.values() if body.restricted):
        for file in files_with_sidecar(body):
            yield from (f"/{file}", f"/dist/{file}")


def with_key(probe: Probe, subjects: Subjects) -> Iterator[Observation]:
    """Request restricted bodies with the API key. Without one, the promise is not checked."""

    def check(body: Published) -> Iterator[Observation]:
        expected = {
            "ETag": f'"{body.etag}"',
            "Cache-Control": f"private, max-age={body.max_age}",
            "Vary": f"{_KEY}, Accept-Encoding" if body.gzip else _KEY,
        }
        sent = {_KEY: probe.api_key}
        yield from probe.expect("keys", body.url, 200, body, expected, sent=sent, note="with the key")

    return probe.each(subjects.restricted if probe.api_key else (), check)
