"""Compare `dist` with the manifests of its releases. Looks, and repairs nothing."""

import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from . import encode, ledger, manifest
from .artifact import Published
from .manifest import Manifest
from .shelving import MARK
from .store import TREES, Store


def files(store: Store) -> Iterator[str]:
    """Everything in `dist` that is not as the releases in it say, in sentences."""
    releases = [*reversed(store.older()), store.release()]
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
    elif not packed.startswith(encode.GZIP_HEAD) or encode.sha256(encode.unpacked(packed) or b"") != one.sha256:
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
