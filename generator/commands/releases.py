"""`releases`: list the releases in `dist`."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from ..catalog import field_values
from ..release import manifest_reader
from ..release.journal import JournalEntry
from ..release.store import Store
from . import options
from .command import Command, Result


@click.command(cls=Command, examples=["releases", "releases --json"])
@options.out
@options.as_json
def releases(out: Path) -> Result:
    """List the releases, newest first.

    Ordered by the time each was last current. `rollback RELEASE` switches to any of them.
    """
    store = Store(out)
    current = store.release()
    entries = [_entry_json(store, entry, current) for entry in reversed(store.journal())]
    return Result(lambda: _table(entries), lambda: {"ok": True, "releases": entries})


def _table(entries: Sequence[Mapping[str, object]]) -> Iterator[str]:
    rows = [["release", "time", "series", "chapters", "URLs", ""]]
    for entry in entries:
        counts = [f"{entry[name]:,}" for name in ("series", "chapters", "resources")]
        rows.append(
            [str(entry["release"]), str(entry["time"] or "unknown"), *counts, "current" * bool(entry["current"])]
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    alignments = "<<>>><"
    for row in rows:
        cells = zip(row, alignments, widths, strict=True)
        yield "  ".join(f"{text:{alignment}{width}}" for text, alignment, width in cells).rstrip()


def _entry_json(store: Store, entry: JournalEntry, current: str) -> dict[str, object]:
    with manifest_reader.ManifestReader(store.manifest_path(entry.release)) as manifest:
        counts = manifest_reader.release_counts(manifest)
    return {
        "release": entry.release,
        "time": None if entry.at is None else field_values.iso(entry.at),
        "reason": entry.reason,
        **counts,
        "current": entry.release == current,
    }
