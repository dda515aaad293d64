"""Is what lies in `dist`, or what a server answers, what the release promised? Looks, and repairs nothing."""

import gzip
import http.client
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from . import encode, manifest
from .artifact import File, Published
from .errors import FlatpanelError
from .manifest import Manifest
from .store import MARK, TREES, Store


def files(store: Store) -> Iterator[str]:
    """Everything in `dist` that is not as the current release says, in sentences."""
    release = store.current()
    if not release:
        raise FlatpanelError(f"{store.root}: nothing has been built yet")
    known = {one: store.manifest(one) for one in (release, store.previous()) if one}
    for one, found in known.items():
        yield from _release(store.root / "releases" / one, found)
    named: set[str] = set()
    for found in reversed(known.values()):
        for one_body in found.resources.values():
            if one_body.file not in named or found is known[release]:
                yield from _body(store.root, one_body, known[release].resources.get(one_body.url) == one_body)
            named.add(one_body.file)
    yield from _extra(store.root, named, set(known))


def _release(folder: Path, found: Manifest) -> Iterator[str]:
    text = (folder / "manifest.json").read_bytes()
    if manifest.release_id(text) != folder.name:
        yield f"{folder / 'manifest.json'}: is not the one that gave the release its name"
    for path, digest in found.files.items():
        actual = _read(folder / path)
        if actual is None:
            yield f"{folder / path}: is missing"
        elif encode.sha256(manifest.unnamed(File(path, actual), folder.name).text) != digest:
            yield f"{folder / path}: was changed after the build"
    for path_found in sorted(folder.rglob("*")):
        relative = path_found.relative_to(folder).as_posix()
        if not path_found.is_dir() and relative not in {*found.files, "manifest.json", "previous"}:
            yield f"{path_found}: is in no release"


def _body(root: Path, one: Published, dated: bool) -> Iterator[str]:
    path = root / one.file
    body = _read(path)
    if body is None:
        yield f"{path}: is missing"
    elif len(body) != one.size:
        yield f"{path}: has {len(body)} bytes instead of {one.size}"
    elif encode.etag(body) != one.etag or encode.sha256(body) != one.sha256:
        yield f"{path}: was changed after the build"
    packed = _read(Path(f"{path}.gz"))
    if (packed is not None) != one.gzip:
        yield f"{path}.gz: {'is missing' if one.gzip else 'is in no release'}"
    elif packed is not None and body is not None and packed != encode.gzip(body) and _unpacked(packed) != body:
        yield f"{path}.gz: is not the compressed form of its body"
    headers = _read(Path(f"{path}.headers"))
    if headers is None:
        yield f"{path}.headers: is missing"
    # A body that an older release shares may have got a later date since.
    elif dated and headers != manifest.sidecar(one):
        yield f"{path}.headers: does not hold the validators of its body"


def _extra(root: Path, named: set[str], releases: set[str]) -> Iterator[str]:
    for tree in TREES:
        for folder, _, names in sorted(os.walk(root / tree)):
            for name in sorted(names):
                path = Path(folder, name)
                file = path.relative_to(root).as_posix()
                if file.removesuffix(".gz").removesuffix(".headers") not in named:
                    yield f"{path}: is in no release"
    for path in sorted((root / "releases").iterdir()):
        if path.name not in releases:
            yield f"{path}: is neither the current release nor the one before it"
    for path in sorted(root.iterdir()):
        if path.name not in {MARK, "current", "releases", "run", *TREES}:
            yield f"{path}: does not belong to a built site"


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _unpacked(packed: bytes) -> bytes | None:
    try:
        return gzip.decompress(packed)
    except (OSError, EOFError, zlib.error):
        return None


def server(store: Store, url: str) -> Iterator[str]:
    """Everything that a running server answers differently from the current release, in sentences."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise FlatpanelError(f"{url}: is not the address of a server; write one like http://localhost:8000")
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname, parts.port, timeout=30)
    resources = store.manifest(store.current()).resources
    if not resources:
        raise FlatpanelError(f"{store.root}: nothing has been built yet")
    try:
        for one in resources.values():
            yield from _answer(connection, url.rstrip("/"), one)
    except (OSError, http.client.HTTPException) as error:
        raise FlatpanelError(f"{url}: does not answer: {error}") from None
    finally:
        connection.close()


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
        for name, wanted in expected_headers(one, packed).items():
            actual = ", ".join(response.headers.get_all(name, [])) or None
            if actual != wanted:
                yield f"{shown}: {name} is {actual or 'absent'} instead of {wanted or 'absent'}"


def expected_headers(one: Published, packed: bool) -> dict[str, str | None]:
    """What a resource's headers must be, by name; None for one that must not be there."""
    return {
        "Content-Type": one.type,
        "ETag": f'W/"{one.etag}"' if packed else f'"{one.etag}"',
        "Last-Modified": encode.http_date(one.modified),
        "Cache-Control": f"public, max-age={one.max_age}",
        "Content-Encoding": "gzip" if packed else None,
        "Vary": "Accept-Encoding" if one.gzip else None,
        "X-Frame-Options": "SAMEORIGIN",
        "X-Content-Type-Options": "nosniff",
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Expose-Headers": "ETag",
    }
