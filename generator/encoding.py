"""JSON, text of XML, digests, gzip and HTTP dates of response bodies. The only importer of orjson."""

import hashlib
import re
import struct
import zlib
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from html import escape
from typing import Any, BinaryIO, NamedTuple

import orjson

# JSON that is written as it is; see `decimal`.
Number = orjson.Fragment
# A smaller body fits into one packet anyway.
MIN_GZIP_SIZE = 1400
# No time, no name, no flags. The last byte is the operating system, the same in every gzip file of this program.
GZIP_HEADER = b"\x1f\x8b\x08\0\0\0\0\0\0\3"
# Another version of zlib may give other bytes.
ZLIB_VERSION = zlib.ZLIB_RUNTIME_VERSION
# The last second of the year 9999, the last that an HTTP date can express.
LAST_INSTANT = 253_402_300_799
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
# Not in XML documents: control characters, which a catalog cannot have, and two characters that Unicode has not. XML
# parsers change a carriage return.
_NOT_IN_XML = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]")


def json(value: object) -> bytes:
    return orjson.dumps(value)


def json_text(value: object) -> str:
    return orjson.dumps(value).decode()


def json_of_yaml(value: object) -> bytes:
    """The JSON of a parsed YAML file, whose numbers with a fraction are decimals."""
    return orjson.dumps(value, default=lambda number: decimal(str(number)))


def json_of_tuples(value: object) -> bytes:
    """JSON in which named tuples and arrays of numbers are arrays."""
    return orjson.dumps(value, default=list)


def body(value: object) -> bytes:
    """The body of a value: bytes unchanged, anything else as JSON."""
    return value if isinstance(value, bytes) else json(value)


def pretty(value: object) -> bytes:
    """Indented JSON with sorted keys."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def indented(value: object) -> bytes:
    """Indented JSON in the order of the value."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def parse(text: bytes) -> Any:
    """Parse JSON. Raises ValueError."""
    return orjson.loads(text)


def xml_text(text: str) -> str:
    """Escape a text for an element or an attribute of XML."""
    return _NOT_IN_XML.sub(lambda match: "&#13;" if match[0] == "\r" else "\ufffd", escape(text))


def decimal(number: str) -> Number:
    """A canonical decimal as a JSON number with all its digits."""
    return Number(number)


def etag(body: bytes) -> str:
    return hashlib.md5(body, usedforsecurity=False).hexdigest()


def etag_of_file(file: BinaryIO) -> str:
    """The ETag of a file that may be larger than the memory."""
    digest = hashlib.md5(usedforsecurity=False)
    while chunk := file.read(1 << 20):
        digest.update(chunk)
    return digest.hexdigest()


def digest(text: bytes) -> str:
    """A fast digest for the program's own comparisons; responses and releases contain SHA-256 and MD5."""
    return hashlib.blake2b(text, digest_size=16).hexdigest()


def sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def sha256_of_chunks(chunks: Iterable[bytes]) -> str:
    """SHA-256 of a stream of chunks."""
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    return digest.hexdigest()


@lru_cache(maxsize=4096)
def http_date(seconds: int) -> str:
    """A time as an IMF-fixdate, in English in every locale."""
    at = datetime.fromtimestamp(seconds, UTC)
    return (
        f"{DAYS[at.weekday()]}, {at.day:02} {MONTHS[at.month - 1]} {at.year:04} {at.hour:02}:{at.minute:02}"
        f":{at.second:02} GMT"
    )


def gzip(body: bytes) -> bytes | None:
    """The gzip file of a body; None if it is not smaller. Without time and name, so equal bodies give equal files."""
    if len(body) < MIN_GZIP_SIZE:
        return None
    packed = gzip_of_pieces([deflate_piece(body)], zlib.crc32(body), len(body))
    return packed if len(packed) < len(body) else None


def gzip_of_pieces(parts: Iterable[bytes], crc: int, size: int) -> bytes:
    return b"".join((GZIP_HEADER, *parts, gzip_trailer(crc, size)))


def gzip_trailer(crc: int, size: int) -> bytes:
    """The empty last deflate block, the CRC-32 and the size."""
    return b"\3\0" + struct.pack("<LL", crc, size & 0xFFFFFFFF)


def deflate_piece(text: bytes) -> bytes:
    """Compress a piece of a body. It ends at a byte boundary and is independent of other pieces: they can be joined."""
    # A small window is set up faster; a small text does not need more.
    compressor = zlib.compressobj(5, zlib.DEFLATED, -12 if len(text) <= 1 << 12 else -15)
    return compressor.compress(text) + compressor.flush(zlib.Z_SYNC_FLUSH)


def piece_of_gzip(packed: bytes) -> bytes:
    """The result of `deflate_piece` in a gzip file that consists of one piece."""
    return packed[len(GZIP_HEADER) : -len(gzip_trailer(0, 0))]


def gunzip(packed: bytes, size: int) -> bytes | None:
    """The content of a gzip file; None if it is damaged, has a second member, or is longer than `size`."""
    decompressor = zlib.decompressobj(31)
    try:
        content = decompressor.decompress(packed, size + 1)
    except zlib.error:
        return None
    is_complete = decompressor.eof and not decompressor.unused_data
    return content if is_complete and len(content) <= size else None


class BodyDigests(NamedTuple):
    """ETag (MD5), SHA-256 and size of a body."""

    etag: str
    sha256: str
    size: int


class BodyHasher:
    """Digests, size and CRC-32 of a body that is written in blocks."""

    def __init__(self) -> None:
        self.size = self.crc = 0
        self._md5, self._sha256 = hashlib.md5(usedforsecurity=False), hashlib.sha256()

    def add(self, block: bytes) -> None:
        self._md5.update(block)
        self._sha256.update(block)
        self.crc = zlib.crc32(block, self.crc)
        self.size += len(block)

    def digests(self) -> BodyDigests:
        return BodyDigests(self._md5.hexdigest(), self._sha256.hexdigest(), self.size)
