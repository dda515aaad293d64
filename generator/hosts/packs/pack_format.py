"""How a release is divided into packs, the bytes of a pack, and the directory that names the packs. No I/O.

A pack has a head (magic and number of records), records of fixed length in the order of their keys, and the data that
the records refer to. A large body lies in a file of its own, and its data is the digest that names the file. The
worker reads the same format: generator/javascript/worker/packs.js.
"""

import hashlib
import re
import struct
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from ... import encoding
from ...api.payloads.resources import SEARCHED, SERIES_INDEX_URL, SUFFIXES, Alias, key
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

# 302 is 308 with a bit of its own.
KINDS = {"body": 0, "308": 1, "451": 2, "alias": 3, "302": 33}
RESTRICTED, GZIP, ALONE = 4, 8, 16
_NO_DATE = (1 << 48) - 1

_HEAD = struct.Struct(">4sL")
# Digest of the key, ETag, Last-Modified, max-age, flags, type, size of the body, and length of its stored form.
_RECORD = struct.Struct(">16s16s6sLBB6s6s")
# The place of the flags and of the length in it.
_FLAGS, _LENGTH = 42, slice(50, 56)
# The position of the data, which follows.
_AT = struct.Struct(">L")
RECORD = _RECORD.size + _AT.size
# The first bits of a digest that may choose a pack.
BITS = 32
# The directory of a tree without entries.
EMPTY_DIRECTORY = bytes([0]) + NO_PACK

# The record of a URL, and behind it the file of its body below dist, or the target of its gate or alias. A release may
# have a million of them. In a pack, the position of the data follows the record, and the file is not in it.
Line: TypeAlias = bytes


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
        return not SEARCHED.isdisjoint(routes)
    return restricted or "#" in entry.url


def line(entry: Entry, restricted: bool, stored: int) -> Line:
    """The line of an entry. `restricted` is that of its target if it is an alias.

    `stored` is the length of a body in dist: compressed if there is a gzip form.
    """
    lock = RESTRICTED * restricted
    if isinstance(entry, Published):
        modified = _NO_DATE if manifest.last_modified(entry) is None else entry.modified
        flags = KINDS["body"] | lock | GZIP * entry.gzip | ALONE * (stored > MAX_INLINE)
        values = bytes.fromhex(entry.etag), modified.to_bytes(6), entry.max_age, flags, TYPES.index(entry.type)
        size, text = entry.size, manifest.files(entry)[-1].encode()
    else:
        if isinstance(entry, Alias):
            kind, target = "alias", key(entry.target)
        else:
            kind, target = str(entry.status), entry.target or key(entry.url)
        values = bytes(16), bytes(6), 0, KINDS[kind] | lock, 0
        size, text = 0, target.encode()
        stored = len(text)
    return _RECORD.pack(digest(entry.url), *values, size.to_bytes(6), stored.to_bytes(6)) + text


class LineValues(NamedTuple):
    """What a line says of the data of its entry."""

    is_body: bool
    # Whether the body lies in a file of its own.
    is_alone: bool
    gzip: bool
    size: int
    stored: int
    # The file of a body, or a target.
    text: str


def values(line: Line) -> LineValues:
    flags, text = line[_FLAGS], line[_RECORD.size :].decode()
    size, stored = (int.from_bytes(number) for number in _RECORD.unpack_from(line)[-2:])
    return LineValues(not flags & 3, bool(flags & ALONE), bool(flags & GZIP), size, stored, text)


def _packed_size(line: Line) -> int:
    """The size of an entry in its pack."""
    return RECORD + (DIGEST if line[_FLAGS] & ALONE else int.from_bytes(line[_LENGTH]))


def divided(lines: Sequence[Line]) -> Iterator[tuple[int, Sequence[Line]]]:
    """The packs of these lines, which are in the order of their keys: the depth of each in the tree, and its lines.

    Packs are the leaves of a binary tree over the digests of keys. A leaf whose entries are longer than MAX_PACK is
    halved. So the division follows from the entries alone and not from earlier packs, and a growing catalog halves one
    leaf after the other.
    """
    # The size of all lines before each.
    sizes = [0, *accumulate(map(_packed_size, lines))]

    def leaves(start: int, end: int, depth: int) -> Iterator[tuple[int, Sequence[Line]]]:
        if depth == BITS or sizes[end] - sizes[start] <= MAX_PACK:
            yield depth, lines[start:end]
            return
        byte, bit = depth >> 3, 128 >> (depth & 7)
        middle = bisect_left(lines, True, start, end, key=lambda line: bool(line[byte] & bit))
        yield from leaves(start, middle, depth + 1)
        yield from leaves(middle, end, depth + 1)

    return leaves(0, len(lines), 0)


def dump(lines: Sequence[Line], data: Sequence[bytes]) -> bytes:
    """A pack of these lines, in the order of their keys, and their data."""
    at = accumulate(map(len, data), initial=_HEAD.size + RECORD * len(lines))
    records = (line[: _RECORD.size] + _AT.pack(position) for line, position in zip(lines, at, strict=False))
    return b"".join((_HEAD.pack(MAGIC, len(lines)), *records, *data))


def names(directory: bytes) -> Iterator[bytes]:
    """The digests that name the packs in a directory.

    It has the depth and the digest of each pack, in the order of their keys: where each begins follows from the depths.
    """
    for at in range(1, len(directory), 1 + DIGEST):
        if (name := directory[at : at + DIGEST]) != NO_PACK:
            yield name


def file_name(text: bytes) -> bytes:
    """The digest that names a file."""
    return hashlib.sha256(text).digest()[:DIGEST]


def check_length(file: str, values: LineValues, start: bytes, end: bytes, length: int) -> None:
    """Refuse a body whose file has another length than the release says."""
    if values.gzip:
        is_right = start.startswith(encoding.GZIP_HEADER) and end[-4:] == struct.pack("<L", values.size & 0xFFFFFFFF)
    else:
        is_right = length == values.size
    if length != values.stored or not is_right:
        raise FlatpanelError(f"{file}: was changed after the build; restore it with `python build.py verify --repair`")
