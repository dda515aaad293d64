"""The kinds of files that a database can be imported from, by their first bytes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...errors import FlatpanelError
from . import dumpdata, sqlite_file
from .tables import Tables


@contextmanager
def opened(path: Path) -> Iterator[Tables]:
    """Open the database in a file."""
    with path.open("rb") as file:
        start = file.read(len(sqlite_file.MAGIC))
    if not start:
        raise FlatpanelError(f"{path}: the file is empty; copy it again")
    if start != sqlite_file.MAGIC and not dumpdata.is_dump(path):
        raise FlatpanelError(
            f"{path}: neither an SQLite file nor the JSON of dumpdata; where the old site runs, write it with "
            f"`{dumpdata.COMMANDS['0.9.6']}`"
        )
    with (sqlite_file if start == sqlite_file.MAGIC else dumpdata).opened(path) as tables:
        yield tables


def changes(path: Path) -> dict[int, int]:
    """Return the last change of each chapter, which need not be requested; refuse a file that cannot be read."""
    with opened(path) as tables:
        return {row["id"]: row["modified"] or 0 for row in tables.rows("reader_chapter")}
