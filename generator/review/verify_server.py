"""Compare every response of a running server with the current release."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from .. import encoding
from ..api.payloads import errors
from ..errors import FlatpanelError
from ..http_client import REQUEST_SECONDS, Client, Clock, LimitExceeded, Response
from ..release import manifest
from ..release.manifest import Published
from ..release.store import Store
from ..server_url import ServerUrl

# Headers of the response to a request without an API key. It contains nothing of the body and is never cached.
UNAUTHORIZED_HEADERS: Mapping[str, str | None] = {
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


class ServerResult(NamedTuple):
    """The number of requested URLs, and a sentence for each difference."""

    urls: int
    faults: list[str]


def check_server(store: Store, url: str, clock: Clock, seconds: float = REQUEST_SECONDS) -> ServerResult:
    """Request every URL of the current release and compare the responses with it.

    Restricted URLs are requested without an API key and must respond with 401. Bodies that only the shim reads have
    no URL of their own and are skipped.
    """
    client = Client(_server_url(url), clock)
    bodies = [body for body in store.manifest(store.release()).resources.values() if "#" not in body.url]
    checker = _ResponseChecker(client, url.rstrip("/"), seconds)
    try:
        return ServerResult(len(bodies), [fault for body in bodies for fault in checker.faults(body)])
    except LimitExceeded as error:
        raise FlatpanelError(f"{url}: the response {error}") from None
    except OSError as error:
        raise FlatpanelError(f"{url}: no response: {error}") from None
    finally:
        client.close()


def _server_url(url: str) -> ServerUrl:
    with suppress(ValueError):
        parsed = ServerUrl.of(url)
        if not parsed.folder:
            return parsed
    raise FlatpanelError(f"{url}: is not the URL of a server; use one like http://localhost:8000")


@dataclass(frozen=True, slots=True)
class _ResponseChecker:
    """Requests one body at a time, and reads no more bytes of a response than the release has."""

    client: Client
    base: str
    seconds: float

    def faults(self, body: Published) -> Iterator[str]:
        return self._unauthorized_faults(body) if body.restricted else self._body_faults(body)

    def _body_faults(self, body: Published) -> Iterator[str]:
        for coding in ("identity", "gzip"):
            is_packed = coding == "gzip" and body.gzip
            # The compressed form is never larger than the body.
            response = self.client.get(body.url, {"Accept-Encoding": coding}, body.size, self.seconds)
            label = f"{self.base}{body.url}" + (" (gzip)" if coding == "gzip" else "")
            if response.status != 200:
                yield f"{label}: status is {response.status} instead of 200"
                continue
            content = encoding.gunzip(response.body, body.size) if is_packed and response.body else response.body
            if content is None or encoding.sha256(content) != body.sha256:
                yield f"{label}: has another body"
            yield from _header_faults(label, response, expected_headers(body, is_packed))

    def _unauthorized_faults(self, body: Published) -> Iterator[str]:
        expected = encoding.json(errors.DETAILS["absent"])
        response = self.client.get(body.url, {}, len(expected), self.seconds)
        label = f"{self.base}{body.url} (without a key)"
        if response.status != 401:
            yield f"{label}: status is {response.status} instead of 401"
            return
        if response.body != expected:
            yield f"{label}: has another body"
        yield from _header_faults(label, response, UNAUTHORIZED_HEADERS)


def _header_faults(label: str, response: Response, expected: Mapping[str, str | None]) -> Iterator[str]:
    for name, value in expected.items():
        actual = response.headers.get(name.lower()) or None
        if actual != value:
            yield f"{label}: {name} is {actual or 'absent'} instead of {value or 'absent'}"


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
