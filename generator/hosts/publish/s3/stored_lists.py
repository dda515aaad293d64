"""The list of a publish: its objects, stored in the bucket itself, and the pointer that names the last list."""

from collections.abc import Mapping
from typing import NamedTuple

from .... import encoding
from ....errors import FlatpanelError
from .bucket import Bucket
from .layouts import BINARY, JSON_HEADERS, PRIVATE, Line

# Everything that is not an object of the release is below this folder, or in a list below PRIVATE.
FOLDER = ".flatpanel"
POINTER = f"{FOLDER}/pointer.json"
FORMAT = 2
# More than a list of a million objects.
_MAX_SIZE = 1 << 30


class StoredList(NamedTuple):
    """The objects after a publish: those of the release, and those that stay for readers of earlier releases."""

    layout: str
    number: int
    objects: Mapping[str, Line]
    # Each with the number of the last publish that used it.
    kept: Mapping[str, tuple[Line, int]]

    def dump(self) -> bytes:
        return encoding.json(self._asdict())

    def line(self, key: str) -> Line | None:
        """The line of an object, if the list has it."""
        return self.objects.get(key) or self.kept.get(key, (None,))[0]

    @property
    def key(self) -> str:
        """The key of the list, which is named by its content. Names of restricted packs stay in their folder."""
        is_private = self.layout == "packs" and any(key.startswith(PRIVATE) for key in (*self.objects, *self.kept))
        return f"{PRIVATE if is_private else FOLDER}/lists/{_digest(self.dump())}"


def _digest(data: bytes) -> str:
    return encoding.sha256(data)[:32]


def put_list(bucket: Bucket, key: str, stored: StoredList) -> None:
    data = stored.dump()
    bucket.put(key, encoding.gzip(data) or data, {**JSON_HEADERS, "Content-Type": BINARY})


def read_list(bucket: Bucket, key: str) -> StoredList | None:
    """A list; None if it is missing or damaged."""
    stored = bucket.get(key)
    data = stored.data if stored else b""
    if data.startswith(b"\x1f\x8b"):
        data = encoding.gunzip(data, _MAX_SIZE) or b""
    # A digest that is right makes every other check of the content unnecessary.
    return StoredList(**encoding.parse(data)) if _digest(data) == key.rpartition("/")[2] else None


class Pointer(NamedTuple):
    """The object that names the last list. It is written last."""

    layout: str
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
        return Pointer(str(value["layout"]), int(value["number"]), str(value["list"]), stored.tag)
    except (ValueError, KeyError, TypeError):
        raise FlatpanelError(
            f"{bucket.target}: {POINTER} is not of this version of the program; remove the object to send everything"
        ) from None


def dump_pointer(stored: StoredList, key: str, fields: Mapping[str, object]) -> bytes:
    head = {"flatpanel": FORMAT, "layout": stored.layout, "number": stored.number, "list": key}
    return encoding.json({**head, **fields})
