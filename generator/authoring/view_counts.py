"""Count the views in server logs into `views.yaml`."""

import gzip
import io
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .. import encoding
from ..catalog import confined_folder, layout
from ..catalog.confined_folder import Folder
from ..catalog.load import load_valid
from ..catalog.problems import locate
from ..catalog.reader import VIEWS
from ..errors import FlatpanelError
from ..filesystem import exclusive
from . import view_log
from .view_log import Memory, Tally

# Beside the counts, but of no interest to people: which requests are in them.
SEEN = ".views-seen.json"
# A request takes some 20 bytes of it.
_MAX_SEEN = 1 << 30


@dataclass(frozen=True, slots=True)
class Folded:
    """What came of the lines of some logs; `unreadable` counts those that say nothing, by log."""

    tally: Tally
    unreadable: dict[str, int]


def fold_views(folder: Folder, logs: Iterable[Path]) -> Folded:
    """Count what the logs hold and has not been counted, into the file that the next build reads."""
    with exclusive(layout.existing(folder)):
        sources = load_valid(folder)
        before = locate.text(folder, VIEWS)
        memory = _memory(folder)
        interrupted = memory.counts if memory.over == encoding.sha256(before) else {}
        tally = Tally(sources.views | interrupted, memory.seen, memory.closed)
        unreadable = {str(log): _add(tally, log) for log in logs}
        tally.forget()
        changed = dict(tally.counts.items() - sources.views.items())
        text = "# Views by the ids of chapters, counted by the command `views`.\n" + "".join(
            f"{chapter}: {count}\n" for chapter, count in sorted(tally.counts.items(), key=lambda one: int(one[0]))
        )
        confined_folder.of(folder).write(
            SEEN, view_log.dump(Memory(tally.seen, tally.closed, encoding.sha256(before), changed))
        )
        confined_folder.of(folder).write(VIEWS, text.encode())
        return Folded(tally, {log: count for log, count in unreadable.items() if count})


def _memory(folder: Folder) -> Memory:
    try:
        text, _ = confined_folder.of(folder).content(SEEN, _MAX_SEEN)
        return view_log.load(text) if text else Memory()
    except FileNotFoundError:
        return Memory()
    except ValueError:
        raise FlatpanelError(
            f"{folder / SEEN}: is damaged; take it from a backup, or remove it and give no log again"
        ) from None


def _add(tally: Tally, log: Path) -> int:
    try:
        with log.open("rb") as opened:
            packed = opened.peek(2).startswith(b"\x1f\x8b")
            plain = io.BufferedReader(gzip.GzipFile(fileobj=opened)) if packed else opened
            return tally.add(view_log.lines(plain))
    except (OSError, EOFError, zlib.error) as error:
        raise FlatpanelError(f"{log}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
