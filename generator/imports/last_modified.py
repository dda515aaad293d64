"""Last modification of each record, inferred from the Last-Modified of the responses that show it.

A response is as new as the newest record in it. So a record is at most as new as the oldest response that shows it. If
each record gets exactly that date, each response gets its own Last-Modified again: no record in it is newer than the
response, and the newest record has its date.
"""

from collections.abc import Hashable, Iterable


class ModifiedDates:
    """The latest possible modification of each record."""

    def __init__(self) -> None:
        self._latest: dict[Hashable, int] = {}

    def add(self, modified: int | None, records: Iterable[Hashable]) -> None:
        """Add the Last-Modified of a response, with the keys of the records that it shows."""
        if modified is not None:
            for key in records:
                self._latest[key] = min(self._latest.get(key, modified), modified)

    def of(self, key: Hashable) -> int | None:
        return self._latest.get(key)
