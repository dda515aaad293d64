"""The journal of a `dist` folder: one line per release that was served, the release served last at the end. Pure.

`current` decides, not the journal: a line is written before `current` is replaced, and marked until afterwards.
"""

import re
import zlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from .. import encoding

# Below `releases`, so that it is copied to servers together with the releases that it orders.
FILE = "journal.jsonl"
BUILD, ROLLBACK = "build", "rollback"
# `current` was replaced by hand, or by a program that wrote no journal.
UNRECORDED = "unrecorded"
_RELEASE = re.compile(r"[0-9a-f]{16}")


class JournalEntry(NamedTuple):
    """How a release became current the last time."""

    release: str
    reason: str = UNRECORDED
    # When it became current, and the instant of the catalog that it was built from.
    at: int | None = None
    as_of: int | None = None
    # The releases to which `rollback` steps back from it, the nearest first.
    before: tuple[str, ...] = ()
    # Written before `current` is replaced: if `current` names another release, this one never was current.
    pending: bool = False


def parse(text: bytes) -> list[JournalEntry]:
    """The lines that are as they were written; a damaged line counts as missing."""
    found = (_entry(line) for line in text.splitlines(keepends=True))
    return [one for one in found if one]


def _entry(line: bytes) -> JournalEntry | None:
    try:
        value: dict[str, Any] = encoding.parse(line)
        value.pop("crc32")
        entry = JournalEntry(**{**value, "before": tuple(value["before"])})
        right = line == _line(entry) and all(map(_RELEASE.fullmatch, (entry.release, *entry.before)))
        instants = (entry.at or 0, entry.as_of or 0)
        return entry if right and all(0 <= one <= encoding.LAST_INSTANT for one in instants) else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def dump(entries: Iterable[JournalEntry]) -> bytes:
    """One line per entry, each with a checksum of itself."""
    return b"".join(map(_line, entries))


def _line(one: JournalEntry) -> bytes:
    facts = one._asdict()
    if not one.pending:
        del facts["pending"]
    return encoding.json({**facts, "crc32": zlib.crc32(encoding.json(facts))}) + b"\n"


def reconciled(entries: Sequence[JournalEntry], chain: Sequence[str]) -> list[JournalEntry]:
    """One entry per release, in the order in which they were last served, the current release at the end.

    `chain` is the current release and the releases behind it by their `previous` links. They fill in for lines that
    are missing, each in front of the release that followed it; a pending entry of a release that is not current is
    dropped.
    """
    current = chain[0]
    if entries and entries[-1].pending and entries[-1].release != current:
        entries = entries[:-1]
    found: dict[str, JournalEntry] = {}
    for one in entries:
        found.pop(one.release, None)
        found[one.release] = one._replace(pending=False)
    order = [release for release in found if release != current] + [current]
    for place, release in enumerate(chain, 1):
        if release not in found:
            found[release] = JournalEntry(release, before=tuple(chain[place:]))
            if release != current:
                order.insert(order.index(chain[place - 2]), release)
    if entries and entries[-1].release != current:
        found[current] = found[current]._replace(reason=UNRECORDED, at=None)
    return [found[release] for release in order]


def of_releases(entries: Iterable[JournalEntry], releases: Iterable[str]) -> list[JournalEntry]:
    """The entries of some releases only, without steps back to other releases."""
    kept = set(releases)
    return [
        one._replace(before=tuple(step for step in one.before if step in kept))
        for one in entries
        if one.release in kept
    ]


def build_entry(entries: Sequence[JournalEntry], release: str, at: int) -> JournalEntry:
    """The entry of a release that a build makes current: `rollback` steps back from it to the current one."""
    steps = (entries[-1].release, *entries[-1].before) if entries else ()
    return JournalEntry(release, BUILD, at, at, tuple(step for step in steps if step != release), pending=True)


def rollback_entry(entries: Sequence[JournalEntry], target: str, release: str, at: int) -> JournalEntry:
    """The entry of a release that a rollback to `target` makes current.

    From a step back the steps behind it are left, so that the next rollback goes further back. A release elsewhere
    in the journal has the steps that it had when it was last current.
    """
    steps = entries[-1].before
    own = next(one for one in entries if one.release == target)
    behind = steps[steps.index(target) + 1 :] if target in steps else own.before
    return JournalEntry(release, ROLLBACK, at, own.as_of, tuple(one for one in behind if one != release), pending=True)
