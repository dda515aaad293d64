"""Lines of the server's view log -> counts by chapter, each line once, however often and in whatever form it is read.

A line is a time, the request's own id and a chapter. Ids are remembered for as long as a log may reasonably come
back; lines older than that cannot be told from counted ones, and are left out.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

# Long enough for logs that are rotated monthly and fetched late; a day's ids cost 17 bytes a view.
DAYS_KEPT = 90
_LINE = re.compile(r"(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d[-+]\d\d:\d\d ([0-9a-f]{32}) ([1-9]\d{0,9})")
_ID_LENGTH = 16


@dataclass(slots=True)
class Tally:
    """Counts by chapter id, and by day the ids of the requests in them."""

    counts: dict[int, int] = field(default_factory=dict)
    seen: dict[str, set[str]] = field(default_factory=dict)
    # Everything on or before this day is forgotten.
    closed: str = ""
    counted: int = 0
    repeated: int = 0
    too_old: int = 0
    unreadable: int = 0

    def add(self, lines: Iterable[bytes]) -> None:
        """Count the lines of one log. The last may be cut; whole, it will count another time."""
        for line in lines:
            if not line.endswith(b"\n"):
                return
            found = _LINE.fullmatch(line.decode("ascii", "replace").rstrip("\r\n"))
            if found is None:
                self.unreadable += 1
            else:
                self._count(*found.groups())

    def _count(self, day: str, request: str, chapter: str) -> None:
        ids = self.seen.setdefault(day, set()) if day > self.closed else None
        if ids is None:
            self.too_old += 1
        elif request[:_ID_LENGTH] in ids:
            self.repeated += 1
        else:
            ids.add(request[:_ID_LENGTH])
            self.counts[int(chapter)] = self.counts.get(int(chapter), 0) + 1
            self.counted += 1

    def forget(self) -> None:
        """Close all days but the newest ones that anything was viewed on."""
        for day in sorted(self.seen)[:-DAYS_KEPT]:
            self.closed = max(self.closed, day)
            del self.seen[day]
