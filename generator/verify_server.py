"""Compare every answer of a running server with the current release."""

import http.client
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from . import encode, manifest
from .artifact import Published
from .errors import FlatpanelError
from .payloads import errors
from .store import Store

# What is told to whoever has no key. Nothing of it may give the body away, or be kept for those who have one.
REFUSAL: Mapping[str, str | None] = {
    "Content-Type": "application/json",
    "ETag": None,
    "Last-Modified": None,
    "Cache-Control": "no-store",
    "WWW-Authenticate": "X-API-Key",
    "X-Frame-Options": "SAMEORIGIN",
    "X-Content-Type-Options": "nosniff",
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "ETag",
}


def server(store: Store, url: str) -> Iterator[str]:
    """Everything that a running server answers differently from the current release, in sentences.

    What only a key opens must be refused without one. What is never sent as it is is not asked for.
    """
    connection = _connection(url)
    resources = store.manifest(store.release()).resources
    try:
        for one in (one for one in resources.values() if "#" not in one.url):
            ask = _refusal if one.restricted else _answer
            yield from ask(connection, url.rstrip("/"), one)
    except (OSError, http.client.HTTPException) as error:
        raise FlatpanelError(f"{url}: does not answer: {error}") from None
    finally:
        connection.close()


def _connection(url: str) -> http.client.HTTPConnection:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/"):
        raise FlatpanelError(f"{url}: is not the address of a server; write one like http://localhost:8000")
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    return kind(parts.hostname, port, timeout=30)


def _answer(connection: http.client.HTTPConnection, base: str, one: Published) -> Iterator[str]:
    for coding in ("identity", "gzip"):
        packed = coding == "gzip" and one.gzip
        connection.request("GET", one.url, headers={"Accept-Encoding": coding})
        response = connection.getresponse()
        body = response.read()
        shown = f"{base}{one.url}" + (" (gzip)" if coding == "gzip" else "")
        if response.status != 200:
            yield f"{shown}: answers {response.status} instead of 200"
            continue
        content = encode.unpacked(body, one.size) if packed else body
        if content is None or encode.sha256(content) != one.sha256:
            yield f"{shown}: has another body"
        yield from _differences(shown, response, expected_headers(one, packed))


def _differences(shown: str, response: http.client.HTTPResponse, expected: Mapping[str, str | None]) -> Iterator[str]:
    for name, wanted in expected.items():
        actual = ", ".join(response.headers.get_all(name, [])) or None
        if actual != wanted:
            yield f"{shown}: {name} is {actual or 'absent'} instead of {wanted or 'absent'}"


def _refusal(connection: http.client.HTTPConnection, base: str, one: Published) -> Iterator[str]:
    connection.request("GET", one.url)
    response = connection.getresponse()
    body = response.read()
    shown = f"{base}{one.url} (without a key)"
    if response.status != 401:
        yield f"{shown}: answers {response.status} instead of 401"
        return
    if body != encode.json(errors.DETAILS["absent"]):
        yield f"{shown}: has another body"
    yield from _differences(shown, response, REFUSAL)


def expected_headers(one: Published, packed: bool) -> dict[str, str | None]:
    """What a resource's headers must be, by name; None for one that must not be there."""
    return {
        "Content-Type": one.type,
        "ETag": f'W/"{one.etag}"' if packed else f'"{one.etag}"',
        "Last-Modified": manifest.last_modified(one),
        "Cache-Control": f"public, max-age={one.max_age}",
        "Content-Encoding": "gzip" if packed else None,
        "Vary": "Accept-Encoding" if one.gzip else None,
        "X-Frame-Options": "SAMEORIGIN",
        "X-Content-Type-Options": "nosniff",
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Expose-Headers": "ETag",
    }
