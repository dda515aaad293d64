"""The list of a publish: which objects it wrote, stored in the bucket itself.

A list consists of shards, which are named by their content. So a publish reads and writes only the shards that differ.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from .... import encoding
from ....errors import FlatpanelError
from .bucket import Bucket
from .layouts import BINARY, JSON_HEADERS

# Everything that is not an object of the release is below this folder.
FOLDER = ".flatpanel"
POINTER = f"{FOLDER}/pointer.json"
LISTS = f"{FOLDER}/lists"
FORMAT = 1
# More than a list of a million URLs.
_MAX_SIZE = 1 << 30

# The line of each key.
Lines = Mapping[str, list[str]]


class Shard(NamedTuple):
    """A part of a list: the digests of its source and of its lines, and the number of lines."""

    source: str
    lines: str
    objects: int


class Kept(NamedTuple):
    """The line of an object of an earlier release, and the last publish that used it."""

    line: list[str]
    number: int


class StoredList(NamedTuple):
    """The objects after a publish: those of the release, and those that stay for readers of earlier releases."""

    layout: str
    release: str
    number: int
    shards: Mapping[str, Shard]
    kept: Mapping[str, Kept]

    def dump(self) -> bytes:
        shards = {name: list(shard) for name, shard in self.shards.items()}
        kept = {key: list(entry) for key, entry in self.kept.items()}
        return encoding.json({"flatpanel": FORMAT, **self._asdict(), "shards": shards, "kept": kept})


class Pointer(NamedTuple):
    """The object that names the release of the bucket. It is written last."""

    release: str
    number: int
    list: str
    # The version of the object, for the next conditional write.
    tag: str


def read_pointer(bucket: Bucket) -> Pointer | None:
    """The pointer; None in a bucket without a release."""
    stored = bucket.get(POINTER)
    if not stored:
        return None
    try:
        value = encoding.parse(stored.data)
        if value["flatpanel"] != FORMAT:
            raise ValueError
        return Pointer(str(value["release"]), int(value["number"]), str(value["list"]), stored.tag)
    except (ValueError, KeyError, TypeError):
        raise FlatpanelError(
            f"{bucket.target}: {POINTER} is not of this version of the program; remove the object to send everything"
        ) from None


def dump_pointer(published: StoredList, list_digest: str, fields: Mapping[str, object]) -> bytes:
    head = {"flatpanel": FORMAT, "release": published.release, "number": published.number}
    return encoding.json({**head, "layout": published.layout, "list": list_digest, **fields})


def digest(data: bytes) -> str:
    return encoding.sha256(data)[:32]


def put(bucket: Bucket, data: bytes) -> str:
    """Store a list or a shard, and return its digest, which names it."""
    name = digest(data)
    bucket.put(f"{LISTS}/{name}", encoding.gzip(data) or data, {**JSON_HEADERS, "Content-Type": BINARY})
    return name


def read_list(bucket: Bucket, name: str) -> StoredList | None:
    """A list; None if it is missing or damaged."""
    value = _read(bucket, name)
    try:
        return StoredList(
            value["layout"],
            value["release"],
            value["number"],
            {shard: Shard(*entry) for shard, entry in value["shards"].items()},
            {key: Kept(*entry) for key, entry in value["kept"].items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def read_lines(bucket: Bucket, name: str) -> Lines | None:
    """The lines of a shard; None if they are missing or damaged."""
    lines = _read(bucket, name)
    return lines if isinstance(lines, dict) else None


def _read(bucket: Bucket, name: str) -> Any:
    stored = bucket.get(f"{LISTS}/{name}")
    data = stored.data if stored else b""
    if data.startswith(b"\x1f\x8b"):
        data = encoding.gunzip(data, _MAX_SIZE) or b""
    # A digest that is right makes every other check of the content unnecessary.
    return encoding.parse(data) if digest(data) == name else None
