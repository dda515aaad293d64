"""The lock of a bucket: one publisher at a time, and what an ended one may have left.

The lock is an object that its holder rewrites again and again, each time on the condition that it did not change.
A lock that does not change any more belongs to a publisher that was killed, and is taken over. Clocks of two
machines are never compared.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from threading import Event, Thread
from threading import Lock as Mutex
from types import TracebackType
from typing import NamedTuple

from .... import encoding
from ....errors import FlatpanelError
from .bucket import Bucket, Conflict, Stored
from .layouts import FOLDER, JSON_HEADERS

LOCK = f"{FOLDER}/lock.json"
PROBE = f"{FOLDER}/probe"
# The holder writes the lock this often in the time after which another publisher takes it over.
_BEATS = 5
_PROBE_DATA = b"An object to find out whether this store honours conditional writes.\n"


def honours_conditions(bucket: Bucket) -> bool:
    """Whether the store refuses writes whose condition is false."""
    bucket.put(PROBE, _PROBE_DATA, JSON_HEADERS)
    for wrong in (None, "0" * 32):
        with suppress(Conflict):
            bucket.swap(PROBE, os.urandom(8).hex().encode(), JSON_HEADERS, wrong)
            return False
    return True


def exclusive(
    bucket: Bucket, seconds: int, waiting: Callable[[int], None], clock: Callable[[], float], *, without_lock: bool
) -> "Lock":
    """The lock of a bucket, if its store honours conditions. `clock` also counts the time that the machine sleeps."""
    bucket.is_conditional = not without_lock
    if bucket.is_conditional and not honours_conditions(bucket):
        raise FlatpanelError(
            f"{bucket.target}: this store ignores the conditions of writes, so two publishers at once would mix their"
            " releases; make sure that there is only one, and pass --without-lock"
        )
    return Lock(bucket, seconds, waiting, clock)


class _Record(NamedTuple):
    """What the lock says. An object of another program, or changed by hand, has no holder to wait for."""

    holder: str = ""
    seconds: int = 0
    unfinished: Sequence[str] = ()


def _record(stored: Stored | None) -> _Record:
    with suppress(ValueError, KeyError, TypeError):
        value = encoding.parse(stored.data if stored else b"")
        return _Record(str(value["holder"]), int(value["seconds"]), list(map(str, value["unfinished"])))
    return _Record()


def unfinished_lists(bucket: Bucket) -> Sequence[str]:
    """The lists of publishes that did not end, for a reader without the lock."""
    return _record(bucket.get(LOCK)).unfinished


class Lock:
    """Held during a block. `unfinished` are the lists of publishes that did not end."""

    def __init__(
        self, bucket: Bucket, seconds: int, waiting: Callable[[int], None], clock: Callable[[], float]
    ) -> None:
        self._bucket, self._seconds, self._waiting, self._clock = bucket, seconds, waiting, clock
        # `_written` is a time before the last write of the lock.
        self._holder, self._beat, self._tag, self._written = os.urandom(8).hex(), 0, "", 0.0
        self._ended, self._mutex = Event(), Mutex()
        self._thread = Thread(target=self._beat_until_ended, daemon=True)
        # Why the lock is not held any more.
        self._fault: FlatpanelError | None = None
        self.unfinished: list[str] = []

    def __enter__(self) -> "Lock":
        stored = self._bucket.get(LOCK)
        record = _record(stored)
        self.unfinished = [*record.unfinished]
        if stored and record.holder:
            self._wait_for_sign(stored, record.seconds)
        try:
            self._write(stored.tag if stored else None)
        except Conflict:
            raise self._taken() from None
        self._thread.start()
        return self

    def record(self, unfinished: Iterable[str]) -> None:
        """Remember lists whose objects may be in the bucket from now on."""
        with self._mutex:
            self.unfinished = list(dict.fromkeys([*self.unfinished, *unfinished]))
            self._write(self._tag)

    def check(self) -> None:
        """An error if another publisher has taken the lock over. Called before each write to the bucket.

        A process that was suspended goes on before its next beat, so the time since the last one counts.
        """
        if self._is_over():
            with self._mutex:
                # Another thread may have been here before.
                if self._is_over() and not self._fault:
                    try:
                        self._renew()
                    except FlatpanelError as error:
                        self._fault = error
        if self._fault:
            raise self._fault

    def finish(self) -> None:
        """Nothing is left over."""
        self.unfinished = []

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()
        self._holder = ""
        if not self._fault:
            try:
                self._write(self._tag)
            except FlatpanelError:
                if not error:
                    raise

    def _beat_until_ended(self) -> None:
        while not self._ended.wait(self._seconds / _BEATS) and not self._fault:
            # Requests for bodies report a failure, if it lasts.
            with self._mutex, suppress(FlatpanelError):
                self._renew()

    def _is_over(self) -> bool:
        """Whether another publisher may take the lock over before a write of as long as a beat ends."""
        return self._clock() - self._written > self._seconds * (1 - 1 / _BEATS)

    def _renew(self) -> None:
        try:
            self._write(self._tag)
        except Conflict:
            self._fault = self._taken()

    def _write(self, old: str | None) -> None:
        self._beat += 1
        before = self._clock()
        record = {
            "holder": self._holder,
            "beat": self._beat,
            "seconds": self._seconds,
            "unfinished": self.unfinished,
        }
        self._tag = self._bucket.swap(LOCK, encoding.json(record), JSON_HEADERS, old)
        self._written = before

    def _wait_for_sign(self, stored: Stored, seconds: int) -> None:
        """Wait as long as a living publisher needs for its next write."""
        self._waiting(seconds)
        for _ in range(seconds):
            Event().wait(1)
            latest = self._bucket.get(LOCK)
            if not latest or latest.tag != stored.tag:
                raise self._taken()

    def _taken(self) -> FlatpanelError:
        return FlatpanelError(f"{self._bucket.target}: another publish is at work; run this one again after it")
