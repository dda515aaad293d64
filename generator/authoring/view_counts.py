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
from .view_log import CountedRequests, Tally

# The counted requests, for the next run.
COUNTED = ".views-seen.json"
# A request takes about 20 bytes.
_MAX_COUNTED = 1 << 30


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
        confined_folder.of(folder).write(COUNTED, view_log.dump(after))
        confined_folder.of(folder).write(VIEWS, text.encode())
        return LogResult(tally, {log: count for log, count in unreadable.items() if count})


def _counted(folder: Folder) -> CountedRequests:
    try:
        text, _ = confined_folder.of(folder).content(COUNTED, _MAX_COUNTED)
        return view_log.load(text) if text else CountedRequests()
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
            return tally.add(view_log.lines(plain))
    except (OSError, EOFError, zlib.error) as error:
        raise FlatpanelError(f"{log}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
