"""Is what lies in `dist`, or what a server answers, what the release promised? Looks, and repairs nothing."""

import http.client
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

from . import encode, ledger, manifest
from .artifact import Published
from .errors import FlatpanelError
from .manifest import Manifest
from .payloads import errors
from .shelving import MARK
from .store import TREES, Store

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


def files(store: Store) -> Iterator[str]:
    """Everything in `dist` that is not as the releases in it say, in sentences."""
    releases = [*reversed(store.older()), _current(store)]
    for one in releases:
        path = store.root / "releases" / one / "manifest.json"
        if manifest.release_id(ledger.digest(path)) != one:
            yield f"{path}: is not the one that gave the release its name, so nothing else can be compared"
            return
    found = {one: store.manifest(one) for one in releases}
    yield from _links(store, releases)
    for one in releases:
        yield from _release(store.root / "releases" / one, found[one])
    # Of a body that several releases have, the latest one knows the date.
    bodies = {one.file: one for known in found.values() for one in known.resources.values()}
    for body in bodies.values():
        yield from _body(store.root, body)
    named = {path for known in found.values() for one in known.resources.values() for path in manifest.paths(one)}
    yield from _extra(store.root, named, set(releases))


def _current(store: Store) -> str:
    release = store.current()
    if not release:
        raise FlatpanelError(f"{store.root}: nothing has been built yet")
    return release


def _links(store: Store, releases: Sequence[str]) -> Iterator[str]:
    """A link that leads elsewhere would be followed by nginx, and not by us."""
    wanted = {store.root / "current": f"releases/{releases[-1]}"}
    for previous, release in reversed(list(pairwise(releases))):
        wanted[store.root / "releases" / release / "previous"] = f"../{previous}"
    for link, target in wanted.items():
        if os.readlink(link) != target:
            yield f"{link}: leads to {os.readlink(link)} instead of {target}"


def _release(folder: Path, found: Manifest) -> Iterator[str]:
    for path, digest in found.files.items():
        actual = _read(folder / path)
        if actual is None:
            yield f"{folder / path}: is missing"
        elif not _is_named(actual, folder.name, digest):
            yield f"{folder / path}: was changed after the build"
    for path_found in sorted(folder.rglob("*")):
        relative = path_found.relative_to(folder).as_posix()
        if not path_found.is_dir() and relative not in {*found.files, "manifest.json", "previous"}:
            yield f"{path_found}: is in no release"
        elif path_found.is_symlink() and relative != "previous":
            yield f"{path_found}: is a link, and no build makes one here"


def _is_named(text: bytes, release: str, digest: str) -> bool:
    """Whether a file is the one of that digest, which was taken before its release had a name."""
    plain = manifest.unnamed(text, release)
    return encode.sha256(plain) == digest and manifest.named(plain, release) == text


def _body(root: Path, one: Published) -> Iterator[str]:
    path = root / one.file
    body = _read(path)
    if body is None:
        yield f"{path}: is missing"
    elif len(body) != one.size:
        yield f"{path}: has {len(body)} bytes instead of {one.size}"
    elif encode.etag(body) != one.etag or encode.sha256(body) != one.sha256:
        yield f"{path}: was changed after the build"
    if one.gzip:
        yield from _packed(Path(f"{path}.gz"), one)
    headers = _read(Path(f"{path}.headers"))
    if headers is None:
        yield f"{path}.headers: is missing"
    elif headers != manifest.sidecar(one):
        yield f"{path}.headers: does not hold the validators of its body"


def _packed(path: Path, one: Published) -> Iterator[str]:
    """Another zlib than ours may have packed it, so what counts is what it holds."""
    packed = _read(path)
    if packed is None:
        yield f"{path}: is missing"
    elif not packed.startswith(encode.GZIP_HEAD) or encode.sha256(_unpacked(packed) or b"") != one.sha256:
        yield f"{path}: is not the compressed form of its body"


def _extra(root: Path, named: set[str], releases: set[str]) -> Iterator[str]:
    for tree in TREES:
        for folder, folders, names in sorted(os.walk(root / tree)):
            for name in sorted(names):
                path = Path(folder, name)
                if path.relative_to(root).as_posix() not in named:
                    yield f"{path}: is in no release"
            for path in sorted(Path(folder, name) for name in (*folders, *names)):
                if path.is_symlink():
                    yield f"{path}: is a link, and no build makes one here"
    for path in sorted((root / "releases").iterdir()):
        if path.name not in releases:
            yield f"{path}: is neither the current release nor the one before it"
    for path in sorted(root.iterdir()):
        if path.name not in {MARK, "current", "releases", "run", *TREES}:
            yield f"{path}: does not belong to a built site"


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return None


def _unpacked(packed: bytes) -> bytes | None:
    """The content of exactly one gzip member."""
    press = zlib.decompressobj(31)
    try:
        content = press.decompress(packed)
    except zlib.error:
        return None
    return content if press.eof and not press.unused_data else None


def server(store: Store, url: str) -> Iterator[str]:
    """Everything that a running server answers differently from the current release, in sentences.

    What only a key opens must be refused without one. What is never sent as it is is not asked for.
    """
    connection = _connection(url)
    resources = store.manifest(_current(store)).resources
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
        content = _unpacked(body) if packed else body
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
