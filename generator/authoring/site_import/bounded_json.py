"""JSON of a server that is not trusted: counted before it is parsed, and a large array one object after the other."""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from ... import encoding
from ...errors import FlatpanelError

# One value is parsed from so much of the largest response that is taken. At the default these are 16 MiB and 838,860
# values, which parse into less than 200 MB; `/api/v2/chapters` of 50,000 chapters has 12 MiB and 700,000 values.
_PARSED = 4
_BYTES_A_VALUE = 20
# An array has to be so much of the largest response before its objects are parsed one by one.
_LARGE = 16
# Strings and everything else without a bracket, then a bracket, or what ends the search: a string that is not closed,
# or the end. It matches wherever it begins, so a search takes no longer than the text is long.
_BRACKET = re.compile(rb'(?:[^]["{}]++|"(?:[^"\\]++|\\.)*+")*+([]{}["]|\Z)', re.DOTALL)


class Unusable(FlatpanelError):
    """One answer cannot be used, and asking again would not help."""


@dataclass(frozen=True, slots=True)
class Items:
    """The objects in a large array, parsed one after the other each time they are asked for."""

    body: Callable[[], bytes]
    limit: int

    def __iter__(self) -> Iterator[Any]:
        body, depth, start = self.body(), 0, 0
        for found in takewhile(lambda found: found[1] not in (b"", b'"'), _BRACKET.finditer(body)):
            if found[1] in b"[{":
                depth += 1
                start = found.start(1) if depth == 2 else start
            else:
                depth -= 1
                if depth == 1:
                    with suppress(ValueError, Unusable):
                        yield parsed(body[start : found.end(1)], self.limit)


def values(body: bytes) -> int:
    """About as many values as a text has, without parsing it; those in strings count as well."""
    return body.count(b"{") + body.count(b"[") + body.count(b",")


def parsed(body: bytes, limit: int) -> Any:
    """The value of a body that is small enough to be one in memory; `limit` is that of a whole response."""
    if len(body) > limit // _PARSED:
        raise Unusable(f"has more than {limit // _PARSED >> 20} MiB to be parsed at once; --max-response allows more")
    allowed = limit // _PARSED // _BYTES_A_VALUE
    if values(body) > allowed:
        raise Unusable(f"has more than {allowed} values; --max-response allows more")
    return encoding.parse(body)


def is_large(body: bytes, limit: int) -> bool:
    return len(body) > limit // _LARGE and body.lstrip()[:1] == b"["


def items(body: bytes, again: Callable[[], bytes], limit: int) -> Items:
    """The objects of a large array; `again` brings its text."""
    if values(body) > limit // _LARGE:
        raise Unusable(f"has more than {limit // _LARGE} values; --max-response allows more")
    return Items(again, limit)
