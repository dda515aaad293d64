"""What a release says of itself: every URL with its body and validators. Pure; `store.py` reads and writes it."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .. import encoding
from ..api.resources import EMPTY_RESULTS_URL, HTML, JSON, SUFFIXES, Resource, key
from ..errors import FlatpanelError

FORMAT = 2
# Stands for the id of a release in its own files until the id, a digest of all of them, is known.
ID_PLACEHOLDER = "@release@"
# The one path that says itself that it is JSON.
OPENAPI = "/api/v2/openapi.json"


class Published(NamedTuple):
    """One line of a release: the body that a URL has, where it lies, and what HTTP says of it."""

    url: str
    file: str
    etag: str
    modified: int
    size: int
    sha256: str
    gzip: bool
    max_age: int
    restricted: bool = False
    type: str = JSON


@dataclass(frozen=True, slots=True)
class Manifest:
    """The bodies of a release by URL, and the digests of the files of its own folder."""

    resources: Mapping[str, Published]
    files: Mapping[str, str]
    # Of all chapters that this release or any before it had: ids are never given twice.
    highest_id: int = 0
    # Chapter and number -> id, of every page that ever had one of its own.
    page_ids: Mapping[str, int] = field(default_factory=dict)


EMPTY = Manifest({}, {})


def with_validators(
    resource: Resource, content: encoding.BodyDigests, packed: bool, old: Published | None, now: int
) -> Published:
    """A resource with its validators: an unchanged body keeps its date, a changed one moves strictly forward."""
    tag = content.etag
    if old and old.etag == tag:
        modified = old.modified
    else:
        # A date in the future would be one that no client may trust (RFC 9110, 8.8.2.1).
        modified = max(min(resource.body.last_modified, now), old.modified + 1 if old else 0)
    return Published(
        url=resource.url,
        file=body_file(resource, tag),
        etag=tag,
        modified=modified,
        size=content.size,
        sha256=content.sha256,
        gzip=packed,
        max_age=resource.max_age,
        restricted=resource.restricted,
        type=resource.type,
    )


def body_file(one: Resource, tag: str) -> str:
    """Where a body lies below dist: in the tree that everybody may reach or not, its key, its tag, what it is."""
    return f"{tree(one)}{key(one.url)}.{tag}{SUFFIXES[one.type]}"


def tree(one: Resource) -> str:
    """The part of dist that a body may lie in."""
    return "private" if one.restricted else "www"


def files_with_sidecar(one: Published) -> tuple[str, ...]:
    """All that lies below dist for a resource: its body, its sidecar, its compressed form where there is one."""
    return one.file, f"{one.file}.headers", *((f"{one.file}.gz",) if one.gzip else ())


def files(one: Published) -> tuple[str, ...]:
    """The same without the sidecar, which is where the body is."""
    return (one.file, f"{one.file}.gz") if one.gzip else (one.file,)


def is_plain(one: Published) -> bool:
    """Whether a host of plain files could answer with it: one that knows neither keys nor parameters."""
    return not one.restricted and not {"?", "#"} & set(one.url)


def plain_file(one: Published) -> str:
    """Where a body lies in an exported tree: a page where servers look for it, all else under its own name."""
    path = key(one.url)[1:]
    if one.type == HTML:
        return f"{path}/index.html"
    return path if one.type != JSON or one.url == OPENAPI else f"{path}.json"


def last_modified(one: Published) -> str | None:
    """The date that is sent with a body."""
    return None if one.url == EMPTY_RESULTS_URL else encoding.http_date(one.modified)


def sidecar(one: Published) -> bytes:
    """The validators as HTTP sends them."""
    date = last_modified(one)
    return (f'ETag: "{one.etag}"\n' + (f"Last-Modified: {date}\n" if date else "")).encode()


def line(one: Published) -> bytes:
    """One line a URL, so that two releases can be compared with `diff`."""
    facts: dict[str, object] = {
        "file": one.file,
        "etag": f'"{one.etag}"',
        "last_modified": last_modified(one),
        "modified": one.modified,
        "size": one.size,
        "sha256": one.sha256,
        "gzip": one.gzip,
        "max_age": one.max_age,
    }
    # Nearly all bodies are JSON that anybody may have, so it is not said.
    if one.restricted:
        facts["restricted"] = True
    if one.type != JSON:
        facts["type"] = one.type
    return encoding.json(one.url) + b":" + encoding.json(facts)


# Between two lines, and behind the last of them.
SEPARATOR, RESOURCES_END = b",\n", b"\n}}\n"


class Head(NamedTuple):
    """What a manifest says before it comes to its resources."""

    files: Mapping[str, str]
    highest_id: int
    page_ids: Mapping[str, int]
    # How many bytes of its lines belong to each series, in their order; the first run is about all of them.
    segments: Mapping[str, int]

    def dump(self) -> bytes:
        def lines(entries: Iterable[tuple[str, object]]) -> bytes:
            return (
                b"{\n"
                + SEPARATOR.join(encoding.json(name) + b":" + encoding.json(value) for name, value in entries)
                + b"\n}"
            )

        return (
            b'{"flatpanel":%d,\n"highest_id":%d' % (FORMAT, self.highest_id)
            + b',\n"page_ids":'
            + lines(sorted(self.page_ids.items()))
            + b',\n"files":'
            + lines(sorted(self.files.items()))
            + b',\n"runs":'
            + lines(self.segments.items())
            + RESOURCES_START
        )


# Before the first line.
RESOURCES_START = b',\n"resources":{\n'


def parse_lines(run: bytes, name: str = "the release that is continued") -> dict[str, Published]:
    """The resources of a run of lines."""
    with _understood(name):
        return {url: _published(url, one) for url, one in encoding.parse(b"{%b}" % run).items()}


def release_id(digest: str) -> str:
    """The name of the release whose manifest has that digest."""
    return digest[:16]


def with_release_id(text: bytes, release: str) -> bytes:
    """A file of a release that knows the release's id."""
    return text.replace(ID_PLACEHOLDER.encode(), release.encode())


def without_release_id(text: bytes, release: str) -> bytes:
    """The same file as its digest in the manifest was taken."""
    return text.replace(release.encode(), ID_PLACEHOLDER.encode())


def load(text: bytes, name: str) -> Manifest:
    """The whole manifest that was written into the file `name`."""
    with _understood(name):
        value = encoding.parse(text)
        head = _head(value, name)
        return Manifest({url: _published(url, one) for url, one in value["resources"].items()}, *head[:3])


def load_head(text: bytes, name: str) -> Head:
    with _understood(name):
        return _head(encoding.parse(text), name)


def _head(value: Mapping[str, Any], name: str) -> Head:
    if value["flatpanel"] != FORMAT:
        raise FlatpanelError(f"{name}: was written by another version of the build (format {value['flatpanel']})")
    numbers = (value["highest_id"], *value["page_ids"].values(), *value["runs"].values())
    if not all(isinstance(one, int) and one >= 0 for one in numbers):
        raise TypeError
    return Head(dict(value["files"]), value["highest_id"], value["page_ids"], value["runs"])


@contextmanager
def _understood(name: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError):
        raise FlatpanelError(f"{name}: is not the manifest of a release") from None


def _published(url: str, one: Mapping[str, Any]) -> Published:
    # A date that has no form would only show when something is published after it.
    if not 0 <= one["modified"] <= encoding.LAST_INSTANT:
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
        restricted=one.get("restricted", False),
        type=one.get("type", JSON),
    )
