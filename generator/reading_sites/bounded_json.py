"""JSON of an untrusted server: sized before it is parsed; a large array is parsed object by object."""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from .. import encoding
from ..errors import FlatpanelError

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
        raise UnusableResponse(f"JSON is larger than {limit // _PARSED >> 20} MiB (raise --max-response)")
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
