"""Compare every answer of a running server with the current release."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from .. import encoding
from ..api.payloads import errors
from ..errors import FlatpanelError
from ..http_client import REQUEST_SECONDS, Client, Clock, LimitExceeded, Response
from ..release import manifest
from ..release.manifest import Published
from ..release.store import Store
from ..server_url import ServerUrl

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


def check_server(store: Store, url: str, clock: Clock, seconds: float = REQUEST_SECONDS) -> Iterator[str]:
    """Everything that a running server answers differently from the current release, in sentences.

    What only a key opens must be refused without one. What is never sent as it is is not asked for.
    """
    client = Client(_address(url), clock)
    resources = store.manifest(store.release()).resources
    asker = _Asker(client, url.rstrip("/"), seconds)
    try:
        for one in (one for one in resources.values() if "#" not in one.url):
            yield from asker.refusal(one) if one.restricted else asker.answer(one)
    except LimitExceeded as error:
        raise FlatpanelError(f"{url}: does not answer: a response {error}") from None
    except OSError as error:
        raise FlatpanelError(f"{url}: does not answer: {error}") from None
    finally:
        client.close()


def _address(url: str) -> ServerUrl:
    with suppress(ValueError):
        found = ServerUrl.of(url)
        if not found.folder:
            return found
    raise FlatpanelError(f"{url}: is not the address of a server; write one like http://localhost:8000")


@dataclass(frozen=True, slots=True)
class _Asker:
    """Asks for one resource after the other, and takes no more of a body than the release has."""

    client: Client
    base: str
    seconds: float

    def answer(self, one: Published) -> Iterator[str]:
        for coding in ("identity", "gzip"):
            packed = coding == "gzip" and one.gzip
            # A compressed form that is larger than the body is never made.
            response = self.client.get(one.url, {"Accept-Encoding": coding}, one.size, self.seconds)
            shown = f"{self.base}{one.url}" + (" (gzip)" if coding == "gzip" else "")
            if response.status != 200:
                yield f"{shown}: answers {response.status} instead of 200"
                continue
            content = encoding.gunzip(response.body, one.size) if packed and response.body else response.body
            if content is None or encoding.sha256(content) != one.sha256:
                yield f"{shown}: has another body"
            yield from _differences(shown, response, expected_headers(one, packed))

    def refusal(self, one: Published) -> Iterator[str]:
        expected = encoding.json(errors.DETAILS["absent"])
        response = self.client.get(one.url, {}, len(expected), self.seconds)
        shown = f"{self.base}{one.url} (without a key)"
        if response.status != 401:
            yield f"{shown}: answers {response.status} instead of 401"
            return
        if response.body != expected:
            yield f"{shown}: has another body"
        yield from _differences(shown, response, REFUSAL)


def _differences(shown: str, response: Response, expected: Mapping[str, str | None]) -> Iterator[str]:
    for name, wanted in expected.items():
        actual = response.headers.get(name.lower()) or None
        if actual != wanted:
            yield f"{shown}: {name} is {actual or 'absent'} instead of {wanted or 'absent'}"


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
