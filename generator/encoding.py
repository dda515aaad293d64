"""Values -> the bytes that are sent, and what HTTP says of bytes. The only importer of orjson."""

import hashlib
import struct
import zlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

# Below this, compressing saves less than the packet it travels in.
MIN_GZIP_SIZE = 1400
# No time, no name, no flags. The last byte names the system that packed, and is the same for all of ours.
GZIP_HEADER = b"\x1f\x8b\x08\0\0\0\0\0\0\3"
# Another zlib may give other bytes.
ZLIB_VERSION = zlib.ZLIB_RUNTIME_VERSION
# The last second of the year 9999; there is no HTTP date after it.
LAST_INSTANT = 253_402_300_799
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def json(value: object) -> bytes:
    return orjson.dumps(value)


def body(value: object) -> bytes:
    """What is sent of a value: bytes as they are, everything else as JSON."""
    return value if isinstance(value, bytes) else json(value)


def pretty(value: object) -> bytes:
    """For people, with sorted keys."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def parse(text: bytes) -> Any:
    """Raises ValueError when `text` is no JSON."""
    return orjson.loads(text)


def decimal(number: str) -> object:
    """A canonical decimal as a JSON number, to its last digit."""
    return orjson.Fragment(number)


def etag(body: bytes) -> str:
    return hashlib.md5(body, usedforsecurity=False).hexdigest()


def digest(text: bytes) -> str:
    """Tells contents apart that only this program sees."""
    return hashlib.blake2b(text, digest_size=16).hexdigest()


def sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def sha256_of_chunks(parts: Iterable[bytes]) -> str:
    """Of what comes in long parts: one is digested while the next is made."""
    with _ThreadedHash(hashlib.sha256()) as found:
        for part in parts:
            found.add(part)
        return found.hexdigest()


class _ThreadedHash:
    """A digest that is taken in a thread of its own, beside whatever makes the next block."""

    def __init__(self, found: "hashlib._Hash") -> None:
        self._found = found
        self._thread = ThreadPoolExecutor(1)
        self._last = self._thread.submit(found.update, b"")

    def __enter__(self) -> "_ThreadedHash":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._thread.shutdown()

    def add(self, block: bytes) -> None:
        self._last.result()
        self._last = self._thread.submit(self._found.update, block)

    def hexdigest(self) -> str:
        self._last.result()
        return self._found.hexdigest()


@lru_cache(maxsize=4096)
def http_date(seconds: int) -> str:
    """IMF-fixdate, in English wherever the build runs."""
    at = datetime.fromtimestamp(seconds, UTC)
    return (
        f"{DAYS[at.weekday()]}, {at.day:02} {MONTHS[at.month - 1]} {at.year:04} {at.hour:02}:{at.minute:02}"
        f":{at.second:02} GMT"
    )


def gzip(body: bytes) -> bytes | None:
    """The compressed form, if it is worth having. It holds no time and no name, so the same body gives the same."""
    if len(body) < MIN_GZIP_SIZE:
        return None
    packed = gzip_of_pieces([deflate_piece(body)], zlib.crc32(body), len(body))
    return packed if len(packed) < len(body) else None


def gzip_of_pieces(parts: Iterable[bytes], crc: int, size: int) -> bytes:
    return b"".join((GZIP_HEADER, *parts, gzip_trailer(crc, size)))


def gzip_trailer(crc: int, size: int) -> bytes:
    """An empty last block, which whoever unpacks waits for, and what it can check itself by."""
    return b"\3\0" + struct.pack("<LL", crc, size & 0xFFFFFFFF)


def deflate_piece(text: bytes) -> bytes:
    """A compressed piece, which ends with a whole byte and needs nothing before it: pieces can be put together."""
    # A small window is set up in a fraction of the time, and more would be of no use to a small text.
    press = zlib.compressobj(5, zlib.DEFLATED, -12 if len(text) <= 1 << 12 else -15)
    return press.compress(text) + press.flush(zlib.Z_SYNC_FLUSH)


def piece_of_gzip(packed: bytes) -> bytes:
    """What `deflated` made, out of a compressed form."""
    return packed[len(GZIP_HEADER) : -len(gzip_trailer(0, 0))]


def gunzip(packed: bytes, size: int) -> bytes | None:
    """The content of exactly one gzip member, if it is not longer than `size`."""
    press = zlib.decompressobj(31)
    try:
        content = press.decompress(packed, size + 1)
    except zlib.error:
        return None
    return content if press.eof and not press.unused_data and len(content) <= size else None


class BodyDigests(NamedTuple):
    """What a release says of a body."""

    etag: str
    sha256: str
    size: int


class BodyHasher:
    """The same of a long body that comes in blocks, and what its compressed form ends with.

    The slower half of the work is done beside the faster, and beside whatever makes the next block.
    """

    def __init__(self) -> None:
        self.size = self.crc = 0
        self._md5, self._sha256 = _ThreadedHash(hashlib.md5(usedforsecurity=False)), hashlib.sha256()

    def __enter__(self) -> "BodyHasher":
        return self

    def __exit__(self, *_: object) -> None:
        self._md5.close()

    def add(self, block: bytes) -> None:
        self._md5.add(block)
        self._sha256.update(block)
        self.crc = zlib.crc32(block, self.crc)
        self.size += len(block)

    def content(self) -> BodyDigests:
        return BodyDigests(self._md5.hexdigest(), self._sha256.hexdigest(), self.size)
