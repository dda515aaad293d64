"""The manifest of a release: every URL with its body and validators, its gate, or the URL that it is an alias of.

No I/O: manifest_reader and store read files.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from .. import encoding
from ..api.payloads.resources import (
    EMPTY_RESULTS_URL,
    HTML,
    JSON,
    LOCKED_RESULTS_URL,
    SUFFIXES,
    WITHOUT_SUFFIX,
    Alias,
    Gate,
    Resource,
    key,
)
from ..errors import FlatpanelError
from . import rules
from .rules import Rules

FORMAT = 3
# Replaces the id of a release in its own files while the id, a digest of these files, is computed.
ID_PLACEHOLDER = "@release@"
# The URLs of JSON whose path ends in .json.
OPENAPI = "/api/v2/openapi.json"
_WITH_SUFFIX = (OPENAPI, "/index.json", "/search/titles.json")
# The names under which hosts look for the first page and for the page of errors.
_NAMED_PAGES = {"/": "index.html", "/404/": "404.html"}


class Published(NamedTuple):
    """A line of the manifest: a URL, the file of its body below dist, and the values of its headers."""

    url: str
    file: str
    etag: str
    # Its date. A negative one is not sent, because it lies after the build: it only makes the next one later.
    modified: int
    size: int
    sha256: str
    gzip: bool
    max_age: int
    restricted: bool = False
    type: str = JSON

    @property
    def file_time(self) -> int:
        """The time of the files: also that of a date that is not sent."""
        return abs(self.modified)


Entry: TypeAlias = Published | Gate | Alias


@dataclass(frozen=True, slots=True)
class Manifest:
    """The bodies of a release by URL, and the digests of the other files in its folder."""

    resources: Mapping[str, Published]
    files: Mapping[str, str]
    # The highest chapter id of this and all earlier releases. An id is never used for another chapter.
    highest_id: int = 0
    # Ids of pages by chapter and number, for all pages that ever had an allocated id.
    page_ids: Mapping[str, int] = field(default_factory=dict)


EMPTY = Manifest({}, {})
# A date may be so much later than the build: builds in one second add a second each. More is a wrong clock.
MAX_AHEAD = 60


def with_validators(
    resource: Resource, content: encoding.BodyDigests, packed: bool, old: Published | None, now: int
) -> Published:
    """Add the validators to a resource. An unchanged body keeps its date; a changed one gets a strictly later date."""
    etag = content.etag
    if old and old.etag == etag:
        modified = old.modified
    else:
        # Clients ignore a date in the future (RFC 9110, 8.8.2.1).
        modified = max(min(resource.body.last_modified, now), old.file_time + 1 if old else 0)
    if modified > now + MAX_AHEAD:
        modified = -modified
    # Without the names of the fields, this takes half the time.
    return Published(
        resource.url,
        body_file(resource, etag),
        etag,
        modified,
        content.size,
        content.sha256,
        packed,
        resource.max_age,
        resource.restricted,
        resource.type,
    )


def body_file(resource: Resource, etag: str) -> str:
    """The file of a body below dist: tree, key, ETag, and the suffix of its type."""
    return f"{tree(resource)}{key(resource.url)}.{etag}{SUFFIXES[resource.type]}"


def tree(resource: Resource) -> str:
    """The folder of public or of restricted bodies."""
    return "private" if resource.restricted else "www"


def files_with_sidecar(body: Published) -> tuple[str, ...]:
    """The files of a body below dist: body, sidecar, and gzip form if it has one."""
    return body.file, f"{body.file}.headers", *((f"{body.file}.gz",) if body.gzip else ())


def files(body: Published) -> tuple[str, ...]:
    """The files of a body without the sidecar."""
    return (body.file, f"{body.file}.gz") if body.gzip else (body.file,)


def is_plain(body: Published) -> bool:
    """Check that a plain file server can serve the body: no API key, no parameters."""
    return not body.restricted and not {"?", "#"} & set(body.url)


def plain_file(body: Published) -> str:
    """The path of a body in an export: index.html for a page, path.json for other JSON and the like for other types."""
    path = key(body.url)[1:]
    if body.type == HTML:
        return _NAMED_PAGES.get(body.url, f"{path}/index.html")
    return path if body.type not in WITHOUT_SUFFIX or body.url in _WITH_SUFFIX else f"{path}{SUFFIXES[body.type]}"


def last_modified(body: Published) -> str | None:
    """The Last-Modified header, if the body has one."""
    is_undated = body.url in (EMPTY_RESULTS_URL, LOCKED_RESULTS_URL) or body.modified < 0
    return None if is_undated else encoding.http_date(body.modified)


def sidecar(body: Published) -> bytes:
    """The validators as HTTP headers."""
    date = last_modified(body)
    return (f'ETag: "{body.etag}"\n' + (f"Last-Modified: {date}\n" if date else "")).encode()


def line(body: Published) -> bytes:
    """The line of a URL. One line per URL makes two manifests comparable with `diff`."""
    fields: dict[str, object] = {
        "file": body.file,
        "etag": f'"{body.etag}"',
        "last_modified": last_modified(body),
        "modified": body.modified,
        "size": body.size,
        "sha256": body.sha256,
        "gzip": body.gzip,
        "max_age": body.max_age,
    }
    # Left out for nearly all bodies: public and JSON are the defaults.
    if body.restricted:
        fields["restricted"] = True
    if body.type != JSON:
        fields["type"] = body.type
    return encoding.json({body.url: fields})[1:-1]


def entry_line(entry: Entry) -> bytes:
    """The line of any entry: of a gate a list that ends before the first default, of an alias its target."""
    if isinstance(entry, Published):
        return line(entry)
    value: object = entry.target
    if isinstance(entry, Gate):
        value = [entry.status, value, True] if entry.restricted else [entry.status, *filter(None, [value])]
    return encoding.json(entry.url) + b":" + encoding.json(value)


# Between the head and the first line, between two lines, and after the last line.
RESOURCES_START, SEPARATOR, RESOURCES_END = b',\n"resources":{\n', b",\n", b"\n}}\n"


class Head(NamedTuple):
    """The part of a manifest before the lines of the URLs."""

    files: Mapping[str, str]
    highest_id: int
    page_ids: Mapping[str, int]
    # The length in bytes of the lines of each series, in their order. The first segment is the catalog as a whole.
    segments: Mapping[str, int]
    rules: Rules

    def dump(self) -> bytes:
        def lines(entries: Iterable[tuple[str, object]]) -> bytes:
            return (
                b"{\n"
                + SEPARATOR.join(encoding.json(name) + b":" + encoding.json(value) for name, value in entries)
                + b"\n}"
            )

        return (
            b'{"flatpanel":%d,\n"highest_id":%d,\n"rules":%b,\n"page_ids":'
            % (FORMAT, self.highest_id, encoding.json(self.rules.dump()))
            + lines(sorted(self.page_ids.items()))
            + b',\n"files":'
            + lines(sorted(self.files.items()))
            + b',\n"runs":'
            + lines(self.segments.items())
            + RESOURCES_START
        )


def parse_lines(segment: bytes, name: str = "the previous release") -> dict[str, Published]:
    """The bodies in the lines of a series; errors name the file `name`."""
    return {entry.url: entry for entry in parse_entries(segment, name) if isinstance(entry, Published)}


def parse_entries(segment: bytes, name: str) -> list[Entry]:
    """The bodies, gates and aliases in the lines of a series; errors name the file `name`."""
    with _located(name):
        return [_entry(url, value) for url, value in encoding.parse(b"{%b}" % segment).items()]


def release_id(digest: str) -> str:
    """The id of the release whose manifest has this digest."""
    return digest[:16]


def with_release_id(text: bytes, release: str) -> bytes:
    """A file of a release, with the id instead of the placeholder."""
    return text.replace(ID_PLACEHOLDER.encode(), release.encode())


def without_release_id(text: bytes, release: str) -> bytes:
    """A file of a release with the placeholder instead of the id: the digest in the manifest is that of this text."""
    return text.replace(release.encode(), ID_PLACEHOLDER.encode())


def load(text: bytes, name: str) -> Manifest:
    """Parse the manifest in the file `name`."""
    with _located(name):
        value = encoding.parse(text)
        head = _head(value, name)
        lines = value["resources"].items()
        bodies = {url: _published(url, fields) for url, fields in lines if isinstance(fields, dict)}
        return Manifest(bodies, head.files, head.highest_id, head.page_ids)


def load_head(text: bytes, name: str) -> Head:
    with _located(name):
        return _head(encoding.parse(text), name)


def _head(value: Mapping[str, Any], name: str) -> Head:
    if value["flatpanel"] != FORMAT:
        raise FlatpanelError(
            f"{name}: has format {value['flatpanel']}, and this version of the program reads format {FORMAT} only; use "
            "the version that wrote it, or remove the release and build a new one"
        )
    numbers = (value["highest_id"], *value["page_ids"].values(), *value["runs"].values())
    if not all(isinstance(number, int) and number >= 0 for number in numbers):
        raise TypeError
    return Head(dict(value["files"]), value["highest_id"], value["page_ids"], value["runs"], rules.load(value["rules"]))


@contextmanager
def _located(name: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError):
        raise FlatpanelError(f"{name}: is not the manifest of a release") from None


def _entry(url: str, value: Any) -> Entry:
    if isinstance(value, dict):
        return _published(url, value)
    return Alias(url, value) if isinstance(value, str) else Gate(url, *value)


def _published(url: str, fields: Mapping[str, Any]) -> Published:
    # An impossible date would otherwise fail later, when a newer body is published.
    if not -encoding.LAST_INSTANT <= fields["modified"] <= encoding.LAST_INSTANT:
        raise ValueError
    return Published(
        url=url,
        file=fields["file"],
        etag=fields["etag"].strip('"'),
        modified=fields["modified"],
        size=fields["size"],
        sha256=fields["sha256"],
        gzip=fields["gzip"],
        max_age=fields["max_age"],
        restricted=fields.get("restricted", False),
        type=fields.get("type", JSON),
    )
