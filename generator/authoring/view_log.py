"""Lines of the server's view log -> counts by chapter, each line once, however often and in whatever form it is read.

A line is a time, the request's own id and a chapter. Ids are remembered for as long as a log may reasonably come
back; lines older than that cannot be told from counted ones, and are left out.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from .. import encoding

# Days on which anything was viewed: long enough for logs that are rotated monthly and fetched late.
DAYS_KEPT = 90
# Of an id, so many digits: enough to tell a day's requests apart, and a tenth of a log line to keep.
_DIGITS = 12
_LINE = re.compile(rb"(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d[-+]\d\d:\d\d ([0-9a-f]{32}) ([1-9]\d{0,9})\r?\n")
# Longer than any line that the pattern takes; and how much of the rest of a longer one is read at a time.
_LONGEST = 256
_BLOCK = 1 << 16
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_IDS = re.compile(rf"(?:[0-9a-f]{{{_DIGITS}}})*")


def lines(log: BinaryIO) -> Iterator[bytes]:
    """The lines of a log; of a line that is too long for a view, its first part only."""
    while line := log.readline(_LONGEST):
        yield line
        while line and not line.endswith(b"\n"):
            line = log.readline(_BLOCK)


@dataclass(slots=True)
class Tally:
    """Counts by chapter id, and by day the ids of the requests in them."""

    counts: dict[str, int] = field(default_factory=dict)
    seen: dict[str, set[str]] = field(default_factory=dict)
    # Everything on or before this day is forgotten.
    closed: str = ""
    counted: int = 0
    repeated: int = 0
    too_old: int = 0

    def add(self, lines: Iterable[bytes]) -> int:
        """Count the lines of one log; answers how many are none, as one that is still being written."""
        unreadable = 0
        for line in lines:
            if found := _LINE.fullmatch(line):
                self._count(*(part.decode() for part in found.groups()))
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

    def forget(self) -> None:
        """Close all days but the newest ones."""
        for day in sorted(self.seen)[:-DAYS_KEPT]:
            self.closed = day
            del self.seen[day]


@dataclass(frozen=True, slots=True)
class Memory:
    """Which requests are counted, and the counts that are about to be written over a file with this digest.

    The memory is written first. When the file still has the digest afterwards, its writing was cut short, and the
    counts are taken from here: nothing is lost, and nothing counted twice.
    """

    seen: dict[str, set[str]] = field(default_factory=dict)
    closed: str = ""
    over: str = ""
    counts: dict[str, int] = field(default_factory=dict)


def dump(memory: Memory) -> bytes:
    """One line a day, so that git and people see what changed."""
    days = [encoding.json(day) + b":" + encoding.json("".join(sorted(ids))) for day, ids in sorted(memory.seen.items())]
    rest = {"closed": memory.closed, "over": memory.over, "counts": dict(sorted(memory.counts.items()))}
    return encoding.json(rest)[:-1] + b',"seen":{\n' + b",\n".join(days) + b"\n}}\n"


def load(text: bytes) -> Memory:
    """What `dump` wrote; ValueError if it was not."""
    try:
        value = encoding.parse(text)
        seen = {_matching(_DAY, day): _split(_matching(_IDS, ids)) for day, ids in value["seen"].items()}
        counts = {str(int(chapter)): int(count) for chapter, count in value["counts"].items()}
        return Memory(seen, str(value["closed"]), str(value["over"]), counts)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError from error


def _matching(pattern: re.Pattern[str], text: str) -> str:
    if not pattern.fullmatch(text):
        raise ValueError
    return text


def _split(ids: str) -> set[str]:
    return {ids[start : start + _DIGITS] for start in range(0, len(ids), _DIGITS)}
