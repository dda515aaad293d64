"""Lines of the server's view log -> counts by chapter. Each request is counted once, however often its line is read.

A line has a time, the id of the request and the id of a chapter. Request ids are kept for DAYS_KEPT days with views.
Older lines are skipped, because duplicates among them cannot be detected.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from .. import encoding

# Enough for logs that are rotated monthly and fetched late.
DAYS_KEPT = 90
# Digits of a request id that are kept: enough for one day, and a tenth of a log line.
_DIGITS = 12
_LINE = re.compile(rb"(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d[-+]\d\d:\d\d ([0-9a-f]{32}) ([1-9]\d{0,9})\r?\n")
# More bytes than any valid line; and the bytes that are read at once of the rest of a longer line.
_LONGEST = 256
_BLOCK = 1 << 16
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_IDS = re.compile(rf"(?:[0-9a-f]{{{_DIGITS}}})*")


def lines(log: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a log; a line that is too long for a view is cut."""
    while line := log.readline(_LONGEST):
        yield line
        while line and not line.endswith(b"\n"):
            line = log.readline(_BLOCK)


@dataclass(slots=True)
class Tally:
    """Counts by chapter id, and the ids of the counted requests by day."""

    counts: dict[str, int] = field(default_factory=dict)
    seen: dict[str, set[str]] = field(default_factory=dict)
    # The ids of requests up to this day are not kept.
    closed: str = ""
    counted: int = 0
    repeated: int = 0
    too_old: int = 0

    def add(self, lines: Iterable[bytes]) -> int:
        """Count the lines of one log; return the number of invalid lines, such as an incomplete last line."""
        unreadable = 0
        for line in lines:
            if match := _LINE.fullmatch(line):
                self._count(*(part.decode() for part in match.groups()))
            else:
                unreadable += 1
        return unreadable

    def _count(self, day: str, request: str, chapter: str) -> None:
        if day <= self.closed:
            self.too_old += 1
            return
        ids, request = self.seen.setdefault(day, set()), request[:_DIGITS]
        if request in ids:
            self.repeated += 1
        else:
            ids.add(request)
            self.counts[chapter] = self.counts.get(chapter, 0) + 1
            self.counted += 1

    def close_old_days(self) -> None:
        """Drop the request ids of all days but the newest DAYS_KEPT."""
        for day in sorted(self.seen)[:-DAYS_KEPT]:
            self.closed = day
            del self.seen[day]


@dataclass(frozen=True, slots=True)
class CountedRequests:
    """The counted requests, and the counts that replace the file with digest `over`.

    This is written before the counts. If the file still has the digest at the next run, writing the counts was
    interrupted, and the next run takes them from here: no view is lost or counted twice.
    """

    seen: dict[str, set[str]] = field(default_factory=dict)
    closed: str = ""
    over: str = ""
    counts: dict[str, int] = field(default_factory=dict)


def dump(counted: CountedRequests) -> bytes:
    """Return JSON with one line for each day, for readable diffs in git."""
    days = [
        encoding.json(day) + b":" + encoding.json("".join(sorted(ids))) for day, ids in sorted(counted.seen.items())
    ]
    rest = {"closed": counted.closed, "over": counted.over, "counts": dict(sorted(counted.counts.items()))}
    return encoding.json(rest)[:-1] + b',"seen":{\n' + b",\n".join(days) + b"\n}}\n"


def load(text: bytes) -> CountedRequests:
    """Parse the output of `dump`; ValueError for anything else."""
    try:
        value = encoding.parse(text)
        seen = {_matching(_DAY, day): _split(_matching(_IDS, ids)) for day, ids in value["seen"].items()}
        counts = {str(int(chapter)): int(count) for chapter, count in value["counts"].items()}
        return CountedRequests(seen, str(value["closed"]), str(value["over"]), counts)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError from error


def _matching(pattern: re.Pattern[str], text: str) -> str:
    if not pattern.fullmatch(text):
        raise ValueError
    return text


def _split(ids: str) -> set[str]:
    return {ids[start : start + _DIGITS] for start in range(0, len(ids), _DIGITS)}
