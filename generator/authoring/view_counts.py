"""Count the views in server logs into `views.yaml`. Each request is counted once, however often its line is read.

A line has a time, the id of the request and the id of a chapter. Request ids are kept for DAYS_KEPT days with views.
Older lines are skipped, because duplicates among them cannot be detected.
"""

import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from .. import encoding
from ..catalog import confined_folder, layout
from ..catalog.confined_folder import Folder
from ..catalog.problems import locate
from ..catalog.problems.load import load_valid
from ..catalog.reader import VIEWS
from ..errors import FlatpanelError
from ..filesystem import exclusive

# The counted requests, for the next run.
COUNTED = ".views-seen.json"
# A request takes about 20 bytes.
_MAX_COUNTED = 1 << 30

# Enough for logs that are rotated monthly and fetched late.
DAYS_KEPT = 90
# Digits of a request id that are kept: enough for one day, and a tenth of a log line.
_DIGITS = 12
_DATE = rb"\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d)|(?:0[13-9]|1[0-2])-30|(?:0[13578]|1[02])-31)"
_CLOCK = rb"(?:[01]\d|2[0-3]):[0-5]\d"
_LINE = re.compile(rb"(%s)T%s:[0-5]\d[-+]%s ([0-9a-f]{32}) ([1-9]\d{0,9})\r?\n" % (_DATE, _CLOCK, _CLOCK))
# More bytes than any valid line; and the bytes that are read at once of the rest of a longer line.
_LONGEST = 256
_BLOCK = 1 << 16
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_IDS = re.compile(rf"(?:[0-9a-f]{{{_DIGITS}}})*")


def log_lines(log: BinaryIO) -> Iterator[bytes]:
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


def dump_counted(counted: CountedRequests) -> bytes:
    """Return JSON with one line for each day, for readable diffs in git."""
    days = [
        encoding.json(day) + b":" + encoding.json("".join(sorted(ids))) for day, ids in sorted(counted.seen.items())
    ]
    rest = {"closed": counted.closed, "over": counted.over, "counts": dict(sorted(counted.counts.items()))}
    return encoding.json(rest)[:-1] + b',"seen":{\n' + b",\n".join(days) + b"\n}}\n"


def load_counted(text: bytes) -> CountedRequests:
    """Parse the output of `dump_counted`; ValueError for anything else."""
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


@dataclass(frozen=True, slots=True)
class LogResult:
    """The tally after some logs, and the number of invalid lines of each log that has any."""

    tally: Tally
    unreadable: dict[str, int]


def add_views(folder: Folder, logs: Iterable[Path]) -> LogResult:
    """Add the requests in logs that were not counted before to `views.yaml`."""
    with exclusive(layout.existing(folder)):
        sources = load_valid(folder)
        before = locate.text(folder, VIEWS)
        counted = _counted(folder)
        interrupted = counted.counts if counted.over == encoding.sha256(before) else {}
        tally = Tally(sources.views | interrupted, counted.seen, counted.closed)
        unreadable = {str(log): _add(tally, log) for log in logs}
        tally.close_old_days()
        changed = dict(tally.counts.items() - sources.views.items())
        text = "# Views by chapter id, written by `views`.\n" + "".join(
            f"{chapter}: {count}\n" for chapter, count in sorted(tally.counts.items(), key=lambda item: int(item[0]))
        )
        after = CountedRequests(tally.seen, tally.closed, encoding.sha256(before), changed)
        confined_folder.of(folder).write(COUNTED, dump_counted(after))
        confined_folder.of(folder).write(VIEWS, text.encode())
        return LogResult(tally, {log: count for log, count in unreadable.items() if count})


def _counted(folder: Folder) -> CountedRequests:
    try:
        text, _ = confined_folder.of(folder).content(COUNTED, _MAX_COUNTED)
        return load_counted(text) if text else CountedRequests()
    except FileNotFoundError:
        return CountedRequests()
    except ValueError:
        raise FlatpanelError(
            f"{folder / COUNTED}: damaged; restore it from a backup, or remove it and do not count old logs again"
        ) from None


def _add(tally: Tally, log: Path) -> int:
    try:
        with log.open("rb") as file:
            is_gzip = file.peek(2).startswith(b"\x1f\x8b")
            plain = io.BufferedReader(gzip.GzipFile(fileobj=file)) if is_gzip else file
            return tally.add(log_lines(plain))
    except (OSError, EOFError, zlib.error) as error:
        raise FlatpanelError(f"{log}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
