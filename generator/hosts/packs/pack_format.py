"""The bytes of a pack, and of the directory that names the packs. No I/O.

A pack has a head (magic and number of records), records of fixed length in the order of their keys, and the data that
the records refer to. A large body lies in a file of its own, and its data is the digest that names the file. The
worker reads the same format: generator/javascript/worker/packs.js.
"""

import hashlib
import re
import struct
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from ... import encoding
from ...api.payloads.resources import SERIES_INDEX_URL, SUFFIXES, Alias, key
from ...errors import FlatpanelError
from ...release import manifest
from ...release.manifest import Entry, Published

# Pages of one list, which change together: they share the beginning of their digests, so that they lie side by side.
_LIST_PAGE = re.compile(r"(/(?:query/series|library|categories)(?:/[^/]+)?)/[0-9]+")
_SHARED = 2
# Counts up when a pack of the same release gets other bytes.
VERSION = 2
MAGIC = b"FPK1"
# A pack is halved when its records and data are longer than this.
MAX_PACK = 64 << 10
# A body whose stored form is longer than this lies in a file of its own.
MAX_INLINE = 32 << 10
DIGEST = 16
# In the place of the digest of a pack without entries, which has no file.
NO_PACK = bytes(DIGEST)
TYPES = tuple(SUFFIXES)
# What decides on the bytes of a pack besides its entries.
SETTINGS = [VERSION, MAX_PACK, MAX_INLINE, *TYPES]

# The routes that show what the index of searches has.
_SEARCHED = frozenset({"/series", "/series/{slug}"})

# 302 is 308 with a bit of its own.
KINDS = {"body": 0, "308": 1, "451": 2, "alias": 3, "302": 33}
RESTRICTED, GZIP, ALONE = 4, 8, 16
_NO_DATE = (1 << 48) - 1

_HEAD = struct.Struct(">4sL")
# ETag, Last-Modified (48 bits), max-age, flags, type, size (48 bits).
_DESCRIPTION = struct.Struct(">16sHLLBBHL")
# Length of the stored form (48 bits); with the key before the description, and the position of the data after it.
_STORED = struct.Struct(">HL")
_AT = struct.Struct(">L")
_FIXED = _DESCRIPTION.size + _STORED.size
RECORD = DIGEST + _FIXED + _AT.size


class PackItem(NamedTuple):
    """An entry of a pack: the digest of its key, its record without the position of the data, and the data."""

    key: bytes
    record: bytes
    data: bytes

    @property
    def is_alone(self) -> bool:
        """Whether the body lies in a file of its own."""
        return bool(self.record[_FLAGS] & ALONE)

    @property
    def stored(self) -> int:
        """The length of the stored form."""
        high, low = _STORED.unpack_from(self.record, _DESCRIPTION.size)
        return int(high << 32 | low)

    def is_of(self, description: bytes) -> bool:
        """Whether a description of the same key, as bytes, is that of this entry."""
        fixed = self.record[: _DESCRIPTION.size]
        if self.is_alone:
            fixed = fixed[:_FLAGS] + bytes([fixed[_FLAGS] & ~ALONE]) + fixed[_FLAGS + 1 :]
        is_body = not fixed[_FLAGS] & 3
        return description.startswith(fixed) and (is_body or description[len(fixed) :] == self.data)


_FLAGS = 16 + 6 + 4


class Description(NamedTuple):
    """What a pack says of a URL, before its body is read: equal descriptions mean equal entries."""

    fixed: bytes
    # The file of a body below dist; the target of a redirect, a licence notice or an alias.
    text: str
    gzip: bool
    size: int

    @property
    def is_body(self) -> bool:
        return not self.fixed[_FLAGS] & 3

    def dump(self) -> bytes:
        return self.fixed + self.text.encode()

    def item(self, key: bytes, stored: int, data: bytes) -> PackItem:
        """The entry, with a stored form of this length. The data is the stored form, or else the name of its file."""
        fixed = bytearray(self.fixed)
        if self.is_body and stored > MAX_INLINE:
            fixed[_FLAGS] |= ALONE
        return PackItem(key, bytes(fixed) + _STORED.pack(stored >> 32, stored & 0xFFFFFFFF), data)


def load_description(text: bytes) -> Description:
    fixed = text[: _DESCRIPTION.size]
    values = _DESCRIPTION.unpack(fixed)
    return Description(fixed, text[_DESCRIPTION.size :].decode(), bool(values[4] & GZIP), values[6] << 32 | values[7])


def digest(url: str) -> bytes:
    """The digest of the key of a URL. Half of a SHA-256: a path that hits a given one cannot be searched for."""
    name = key(url)
    own = hashlib.sha256(name.encode()).digest()
    page = _LIST_PAGE.fullmatch(name)
    shared = hashlib.sha256(page[1].encode()).digest()[:_SHARED] if page else b""
    return (shared + own)[:DIGEST]


def is_private(entry: Entry, restricted: bool, routes: Collection[str]) -> bool:
    """Whether an entry lies in a private pack: restricted ones, and those of accounts.

    The index of searches is as restricted as the routes of site.yaml that show its values.
    """
    if entry.url == SERIES_INDEX_URL:
        return not _SEARCHED.isdisjoint(routes)
    return restricted or "#" in entry.url


def describe(entry: Entry, restricted: bool) -> Description:
    """The description of an entry; `restricted` is that of its target if it is an alias."""
    lock = RESTRICTED * restricted
    if isinstance(entry, Published):
        modified = _NO_DATE if manifest.last_modified(entry) is None else entry.modified
        flags = KINDS["body"] | lock | GZIP * entry.gzip
        type = TYPES.index(entry.type)
        fixed = _fixed(bytes.fromhex(entry.etag), modified, entry.max_age, flags, type, entry.size)
        return Description(fixed, entry.file, entry.gzip, entry.size)
    if isinstance(entry, Alias):
        kind, target = "alias", key(entry.target)
    else:
        kind, target = str(entry.status), entry.target or key(entry.url)
    return Description(_fixed(bytes(16), 0, 0, KINDS[kind] | lock, 0, 0), target, False, 0)


def _fixed(etag: bytes, modified: int, max_age: int, flags: int, type: int, size: int) -> bytes:
    return _DESCRIPTION.pack(
        etag, modified >> 32, modified & 0xFFFFFFFF, max_age, flags, type, size >> 32, size & 0xFFFFFFFF
    )


def dump(items: Iterable[PackItem]) -> bytes:
    """A pack of these entries."""
    ordered = sorted(items)
    at = _HEAD.size + RECORD * len(ordered)
    records, data = [], []
    for item in ordered:
        records.append(item.key + item.record + _AT.pack(at))
        data.append(item.data)
        at += len(item.data)
    return b"".join((_HEAD.pack(MAGIC, len(ordered)), *records, *data))


def load(pack: bytes) -> Iterator[PackItem]:
    """The entries of a pack that `dump` wrote."""
    _, count = _HEAD.unpack_from(pack)
    start = _HEAD.size
    ends = [*(_AT.unpack_from(pack, start + RECORD * (index + 1) - _AT.size)[0] for index in range(count)), len(pack)]
    for index in range(count):
        at = start + RECORD * index
        fixed = at + DIGEST
        yield PackItem(pack[at:fixed], pack[fixed : fixed + _FIXED], pack[ends[index] : ends[index + 1]])


def file_name(text: bytes) -> bytes:
    """The digest that names a file."""
    return hashlib.sha256(text).digest()[:DIGEST]


def check_length(file: str, gzip: bool, size: int, start: bytes, end: bytes, length: int) -> None:
    """Refuse a body whose file has another length than the release says."""
    if gzip:
        is_right = start.startswith(encoding.GZIP_HEADER) and end[-4:] == struct.pack("<L", size & 0xFFFFFFFF)
    else:
        is_right = length == size
    if not is_right:
        raise FlatpanelError(f"{file}: was changed after the build; restore it with `python build.py verify --repair`")
