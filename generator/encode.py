"""Values -> the bytes that are sent, and what HTTP says of bytes. The only importer of orjson."""

import hashlib
import zlib
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import orjson

# Below this, compressing saves less than the packet it travels in.
GZIP_FROM = 1400
# No time, no name, no flags. The last byte names the system that packed, and is the same for all of ours.
GZIP_HEAD = b"\x1f\x8b\x08\0\0\0\0\0\0\3"
# The last second of the year 9999; there is no HTTP date after it.
LAST_INSTANT = 253_402_300_799
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


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


def sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


@lru_cache(maxsize=4096)
def http_date(seconds: int) -> str:
    """IMF-fixdate, in English wherever the build runs."""
    at = datetime.fromtimestamp(seconds, UTC)
    return (
        f"{_DAYS[at.weekday()]}, {at.day:02} {_MONTHS[at.month - 1]} {at.year:04} {at.hour:02}:{at.minute:02}"
        f":{at.second:02} GMT"
    )


def gzip(body: bytes) -> bytes | None:
    """The compressed form, if it is worth having. It holds no time and no name, so the same body gives the same."""
    if len(body) < GZIP_FROM:
        return None
    press = zlib.compressobj(6, zlib.DEFLATED, 31)
    packed = GZIP_HEAD + (press.compress(body) + press.flush())[len(GZIP_HEAD) :]
    return packed if len(packed) < len(body) else None
