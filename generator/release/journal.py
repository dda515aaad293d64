"""The journal of a `dist` folder: one line per release that was current, in order, the current release last. No I/O.

The link `current` is authoritative: a line is written before the link is replaced, and is pending until then.
"""

import re
import zlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from .. import encoding
from .manifest import MAX_AHEAD

# In `releases`, so that it is copied to servers with the releases.
FILE = "journal.jsonl"
BUILD, ROLLBACK = "build", "rollback"
# `current` was replaced by hand, or the journal was lost.
UNRECORDED = "unrecorded"
RELEASE_ID = re.compile(r"[0-9a-f]{16}")


class JournalEntry(NamedTuple):
    """When and why a release last became current."""

    release: str
    reason: str = UNRECORDED
    # When it became current, and the time for which it was built.
    at: int | None = None
    as_of: int | None = None
    # The releases that `rollback` goes back to, one per call, the nearest first.
    before: tuple[str, ...] = ()
    # Written before `current` is replaced. If `current` points to another release, this one never was current.
    pending: bool = False


def parse(text: bytes) -> list[JournalEntry]:
    """The entries of all intact lines."""
    entries = (_entry(line) for line in text.splitlines(keepends=True))
    return [entry for entry in entries if entry]


def _entry(line: bytes) -> JournalEntry | None:
    try:
        value: dict[str, Any] = encoding.parse(line)
        value.pop("crc32")
        entry = JournalEntry(**{**value, "before": tuple(value["before"])})
        intact = line == _line(entry) and all(map(RELEASE_ID.fullmatch, (entry.release, *entry.before)))
        times = (entry.at or 0, entry.as_of or 0)
        return entry if intact and all(0 <= time <= encoding.LAST_INSTANT for time in times) else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def dump(entries: Iterable[JournalEntry]) -> bytes:
    """One line per entry, each with its checksum."""
    return b"".join(map(_line, entries))


def _line(entry: JournalEntry) -> bytes:
    fields = entry._asdict()
    if not entry.pending:
        del fields["pending"]
    return encoding.json({**fields, "crc32": zlib.crc32(encoding.json(fields))}) + b"\n"


def reconciled(entries: Sequence[JournalEntry], chain: Sequence[str]) -> list[JournalEntry]:
    """One entry per release, in the order in which they were last current.

    `chain` is the current release and the releases that its `previous` links lead to. They replace missing lines, each
    before the release that followed it. A pending entry of a release that is not current is dropped.
    """
    current = chain[0]
    if entries and entries[-1].pending and entries[-1].release != current:
        entries = entries[:-1]
    by_release: dict[str, JournalEntry] = {}
    for entry in entries:
        by_release.pop(entry.release, None)
        by_release[entry.release] = entry._replace(pending=False)
    order = [release for release in by_release if release != current] + [current]
    for place, release in enumerate(chain, 1):
        if release not in by_release:
            by_release[release] = JournalEntry(release, before=tuple(chain[place:]))
            if release != current:
                order.insert(order.index(chain[place - 2]), release)
    if entries and entries[-1].release != current:
        by_release[current] = by_release[current]._replace(reason=UNRECORDED, at=None)
    return [by_release[release] for release in order]


def of_releases(entries: Iterable[JournalEntry], releases: Iterable[str]) -> list[JournalEntry]:
    """The entries of these releases, without the others in `before`."""
    ids = set(releases)
    return [
        entry._replace(before=tuple(step for step in entry.before if step in ids))
        for entry in entries
        if entry.release in ids
    ]


def is_later(entries: Sequence[JournalEntry], as_of: int) -> bool:
    """Whether the current release was built for a later time, so that its dates may lie in the future."""
    return any(entry.as_of and entry.as_of > as_of + MAX_AHEAD for entry in entries[-1:])


def build_entry(entries: Sequence[JournalEntry], release: str, at: int) -> JournalEntry:
    """The entry of a release that a build makes current. `rollback` returns from it to the release before."""
    steps = (entries[-1].release, *entries[-1].before) if entries else ()
    return JournalEntry(release, BUILD, at, at, tuple(step for step in steps if step != release), pending=True)


def rollback_entry(entries: Sequence[JournalEntry], target: str, release: str, at: int) -> JournalEntry:
    """The entry of a release that a rollback to `target` makes current.

    If the target is in `before` of the current release, the steps after it remain: the next rollback goes further back.
    Any other release gets the steps that it had when it was last current.
    """
    steps = entries[-1].before
    own = next(entry for entry in entries if entry.release == target)
    remaining = steps[steps.index(target) + 1 :] if target in steps else own.before
    before = tuple(step for step in remaining if step != release)
    return JournalEntry(release, ROLLBACK, at, own.as_of, before, pending=True)
