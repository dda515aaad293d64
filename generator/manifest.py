"""What a release says of itself: every URL with its body and validators. Pure; `store.py` reads and writes it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from . import encode
from .artifact import HTML, JSON, SUFFIXES, File, Published, Resource, key
from .errors import FlatpanelError

FORMAT = 1
# Stands for the id of a release in its own files until the id, a digest of all of them, is known.
UNNAMED = "@release@"
# The one path that says itself that it is JSON.
DOCUMENT = "/api/v2/openapi.json"


@dataclass(frozen=True, slots=True)
class Manifest:
    """The bodies of a release by URL, and the digests of the files of its own folder."""

    resources: Mapping[str, Published]
    files: Mapping[str, str]
    # Of all chapters that this release or any before it had: ids are never given twice.
    highest_id: int = 0


EMPTY = Manifest({}, {})


def publish(resource: Resource, body: bytes, packed: bytes | None, before: Manifest, now: int) -> Published:
    """A resource with its validators: an unchanged body keeps its date, a changed one moves strictly forward."""
    tag = encode.etag(body)
    old = before.resources.get(resource.url)
    if old and old.etag == tag:
        modified = old.modified
    else:
        # A date in the future would be one that no client may trust (RFC 9110, 8.8.2.1).
        modified = max(min(resource.shown.modified, now), old.modified + 1 if old else 0)
    return Published(
        url=resource.url,
        file=body_file(resource, tag),
        etag=tag,
        modified=modified,
        size=len(body),
        sha256=encode.sha256(body),
        gzip=packed is not None,
        max_age=resource.max_age,
        restricted=resource.restricted,
        type=resource.type,
    )


def body_file(one: Resource, tag: str) -> str:
    """Where a body lies below dist: in the tree that everybody may reach or not, its key, its tag, what it is."""
    return f"{'private' if one.restricted else 'www'}{key(one.url)}.{tag}{SUFFIXES[one.type]}"


def paths(one: Published) -> tuple[str, ...]:
    """All that lies below dist for a resource: its body, its sidecar, its compressed form where there is one."""
    return one.file, f"{one.file}.headers", *((f"{one.file}.gz",) if one.gzip else ())


def is_plain(one: Published) -> bool:
    """Whether a host of plain files could answer with it: one that knows neither keys nor parameters."""
    return not one.restricted and not {"?", "#"} & set(one.url)


def plain_file(one: Published) -> str:
    """Where a body lies in an exported tree: a page where servers look for it, all else under its own name."""
    path = key(one.url)[1:]
    if one.type == HTML:
        return f"{path}/index.html"
    return path if one.type != JSON or one.url == DOCUMENT else f"{path}.json"


def sidecar(one: Published) -> bytes:
    """The validators as HTTP sends them."""
    return f'ETag: "{one.etag}"\nLast-Modified: {encode.http_date(one.modified)}\n'.encode()


def dump(resources: Iterable[Published], files: Iterable[File], highest_id: int) -> bytes:
    """One line a URL, so that two releases can be compared with `diff`."""
    lines = [
        encode.json(one.url)
        + b":"
        + encode.json(
            {
                "file": one.file,
                "etag": f'"{one.etag}"',
                "last_modified": encode.http_date(one.modified),
                "modified": one.modified,
                "size": one.size,
                "sha256": one.sha256,
                "gzip": one.gzip,
                "max_age": one.max_age,
                "restricted": one.restricted,
                "type": one.type,
            }
        )
        for one in sorted(resources, key=lambda one: one.url)
    ]
    digests = [
        encode.json(one.path) + b":" + encode.json(encode.sha256(one.text))
        for one in sorted(files, key=lambda one: one.path)
    ]
    return (
        b'{"flatpanel":%d,\n"highest_id":%d,\n"files":{\n' % (FORMAT, highest_id)
        + b",\n".join(digests)
        + b'\n},\n"resources":{\n'
        + b",\n".join(lines)
        + b"\n}}\n"
    )


def release_id(text: bytes) -> str:
    return encode.sha256(text)[:16]


def named(file: File, release: str) -> File:
    """A file of a release that knows the release's id."""
    return File(file.path, file.text.replace(UNNAMED.encode(), release.encode()))


def unnamed(file: File, release: str) -> File:
    """The same file as its digest in the manifest was taken."""
    return File(file.path, file.text.replace(release.encode(), UNNAMED.encode()))


def load(text: bytes, name: str) -> Manifest:
    """The manifest that `dump` wrote into the file `name`."""
    try:
        value = encode.parse(text)
        if value["flatpanel"] != FORMAT:
            raise FlatpanelError(f"{name}: was written by another version of the build (format {value['flatpanel']})")
        resources = {url: _published(url, one) for url, one in value["resources"].items()}
        return Manifest(resources, value["files"], value["highest_id"])
    except (ValueError, KeyError, TypeError, AttributeError):
        raise FlatpanelError(f"{name}: is not the manifest of a release") from None


def _published(url: str, one: Mapping[str, Any]) -> Published:
    # A date that has no form would only show when something is published after it.
    if not 0 <= one["modified"] <= encode.LAST_INSTANT:
        raise ValueError
    return Published(
        url=url,
        file=one["file"],
        etag=one["etag"].strip('"'),
        modified=one["modified"],
        size=one["size"],
        sha256=one["sha256"],
        gzip=one["gzip"],
        max_age=one["max_age"],
        restricted=one["restricted"],
        type=one["type"],
    )
