"""JSON of an untrusted server: parsed in bounds, and converted tolerantly.

`volume` and `number` raise ValueError, since a chapter without them cannot be imported.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC
from decimal import Decimal
from email.utils import parsedate_to_datetime
from itertools import takewhile
from typing import Any

from .. import encoding
from ..catalog import field_values, patterns
from ..catalog.api_keys import contains_key
from ..catalog.messages import record_errors
from ..catalog.records import MAX_ID, MAX_NUMBER, Record
from ..encoding import LAST_INSTANT
from ..errors import FlatpanelError
from .notes import Notes

# Parsing: JSON is sized before; a large array is parsed object by object

# Fraction of the largest accepted response that is parsed at once. By default that is 16 MiB with 838,860 values, which
# take less than 200 MB parsed. `/api/v2/chapters` of 50,000 chapters has 12 MiB and 700,000 values.
_PARSED = 4
_BYTES_A_VALUE = 20
# Fraction of the largest accepted response from which an array is parsed object by object.
_LARGE = 16
# Text and strings up to the next bracket, unclosed string or end. The quantifiers are possessive and every position
# matches, so a scan is linear in the length of the body.
_BRACKET = re.compile(rb'(?:[^]["{}]++|"(?:[^"\\]++|\\.)*+")*+([]{}["]|\Z)', re.DOTALL)


class UnusableResponse(FlatpanelError):
    """A response cannot be used, and another request would not help."""


@dataclass(frozen=True, slots=True)
class LargeArray:
    """The objects of a large array; each iteration parses them one after the other."""

    body: Callable[[], bytes]
    limit: int

    def __iter__(self) -> Iterator[Any]:
        body, depth, start = self.body(), 0, 0
        for bracket in takewhile(lambda match: match[1] not in (b"", b'"'), _BRACKET.finditer(body)):
            if bracket[1] in b"[{":
                depth += 1
                start = bracket.start(1) if depth == 2 else start
            else:
                depth -= 1
                if depth == 1:
                    with suppress(ValueError, UnusableResponse):
                        yield parsed(body[start : bracket.end(1)], self.limit)


def value_count(body: bytes) -> int:
    """Return an upper estimate of the number of values in a body, without parsing it."""
    return body.count(b"{") + body.count(b"[") + body.count(b",")


def parsed(body: bytes, limit: int) -> Any:
    """Parse a body, unless its value takes too much memory; `limit` is the largest accepted response in bytes."""
    if len(body) > limit // _PARSED:
        raise UnusableResponse(f"JSON is larger than {limit / _PARSED / (1 << 20):g} MiB (raise --max-response)")
    allowed = limit // _PARSED // _BYTES_A_VALUE
    if value_count(body) > allowed:
        raise UnusableResponse(f"JSON has more than {allowed} values (raise --max-response)")
    return encoding.parse(body)


def is_large(body: bytes, limit: int) -> bool:
    """Return whether a body is an array that is parsed object by object."""
    return len(body) > limit // _LARGE and body.lstrip()[:1] == b"["


def large_array(body: bytes, load: Callable[[], bytes], limit: int) -> LargeArray:
    """Return the objects of a large array; `load` returns its body again, which does not stay in memory."""
    if value_count(body) > limit // _LARGE:
        raise UnusableResponse(f"JSON has more than {limit // _LARGE} values (raise --max-response)")
    return LargeArray(load, limit)


# Conversions: each returns a valid value or an empty one

# A record as YAML: the fields of a catalog file.
Fields = dict[str, Any]

_NO_VOLUME = ("0", "None", "null", "Uncategorized", "")
# Control characters other than line breaks and tabs, and unpaired surrogates.
_BAD_CHARACTER = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_CHARACTERS = "control characters are dropped; a tab or line break in a line becomes a space"
_LINE_ENDS = "line ends CRLF and CR become LF"
_SPACES = str.maketrans("\t\n", "  ")
_FOREIGN_NUMBER = re.compile(r"[0-9]{1,30}(?:\.[0-9]{1,30})?(?:[eE][-+]?[0-9]{1,2})?")


def fields(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def entries(value: Any) -> Iterator[dict[str, Any]]:
    """The objects in a list."""
    return (entry for entry in value if isinstance(entry, dict)) if isinstance(value, list | LargeArray) else iter(())


def texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def paragraphs(value: Any) -> str:
    """A text with \\n as line break, without the characters that a catalog cannot hold."""
    return _BAD_CHARACTER.sub("", _with_line_feeds(text(value)))


def line(value: Any) -> str:
    """A text in one line, as names and titles are: tabs and line breaks become spaces."""
    return paragraphs(value).translate(_SPACES)


def lines(value: Any) -> list[str]:
    """The texts of a list that are not empty in one line."""
    return list(filter(None, map(line, texts(value))))


def whole(value: Any) -> int | None:
    """A valid id; accepts 12.0 and "12"."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= len(str(MAX_ID)):
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_ID else None


def count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else 0


def seconds(value: Any) -> int | None:
    """Seconds since 1970, written in digits."""
    return int(value) if isinstance(value, str) and re.fullmatch("[0-9]{1,11}", value) else None


def volume(value: Any) -> int | None:
    """The number of a volume, or None for no volume; ValueError for anything else."""
    if value is None or str(value) in _NO_VOLUME or value == 0:
        return None
    volume = whole(value)
    if volume is None or volume > MAX_NUMBER:
        raise ValueError(f"invalid volume {str(value)[:40]}")
    return volume


def number(value: Any) -> str:
    """The number of a chapter in its canonical form; ValueError for anything else."""
    written = repr(value) if isinstance(value, float) else str(value)
    if not isinstance(value, bool) and _FOREIGN_NUMBER.fullmatch(written):
        with suppress(ValueError):
            return field_values.number(f"{Decimal(written):f}")
    raise ValueError(f"invalid number {written[:40]}")


def http_date(text: str) -> int | None:
    """Seconds since 1970 of an HTTP date, which is UTC even without a zone."""
    try:
        date = parsedate_to_datetime(text)
        return int((date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        return None


def last_modified(headers: Mapping[str, str]) -> int | None:
    """Seconds since 1970 of the header of a response; None if there is none, or if no file can have it."""
    modified = http_date(headers.get("last-modified", ""))
    return modified if modified is not None and 0 <= modified <= LAST_INSTANT else None


def instant(value: Any) -> int | None:
    """Seconds since 1970 of an ISO time, an HTTP date, or milliseconds in digits."""
    if not isinstance(value, str):
        return None
    if re.fullmatch("[0-9]{1,15}", value):
        moment: int | None = int(value) // 1000
    else:
        with suppress(ValueError):
            return field_values.instant(value)
        moment = http_date(value)
    return moment if moment is not None and 0 <= moment <= LAST_INSTANT else None


_UNSTATED: tuple[object, ...] = (None, "", [], {}, False)


def valid_fields(model: type[Record], record: Mapping[str, Any], place: str, notes: Notes) -> Fields | None:
    """Return the valid fields of a record; None if a required field is invalid. Invalid fields become notes."""
    required = {name for name, info in model.model_fields.items() if info.is_required()}
    readable = {name: _readable(model, name, value, place, notes) for name, value in record.items()}
    stated = {name: value for name, value in readable.items() if name in required or value not in _UNSTATED}
    invalid = dict(record_errors(model, stated))
    invalid |= {name: "contains an API key" for name, value in stated.items() if contains_key(str(value))}
    valid = {name: value for name, value in stated.items() if name not in invalid}
    lost = bool(record_errors(model, valid))
    for name, sentence in invalid.items():
        notes.add(f"{name} {sentence}; {'entry' if lost else 'field'} skipped", place)
    return None if lost else valid


def _readable(model: type[Record], name: str, value: Any, place: str, notes: Notes) -> Any:
    """Return a value without the characters that its field cannot hold; a note names the field."""
    constraints = model.model_fields[name].metadata
    is_long = any(getattr(constraint, "pattern", None) == patterns.PARAGRAPHS for constraint in constraints)
    readable = paragraphs if is_long else line
    items = value if isinstance(value, list) else [value]
    valid = [readable(item) if isinstance(item, str) else item for item in items]
    if valid != items:
        only_ends = valid == [_with_line_feeds(item) if isinstance(item, str) else item for item in items]
        notes.add(_LINE_ENDS if only_ends else _CHARACTERS, f"{place} {name}")
    return [item for item in valid if item != ""] if isinstance(value, list) else valid[0]


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
