"""The build cache: one SQLite file with the results that the next build can use again. It may be deleted at any time.

A wrong checksum, another version of the program or an error of SQLite raises `Damaged`, and the whole cache is
discarded.
"""

import sqlite3
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

from .. import encoding, filesystem
from .cache_tables import (
    SCHEMA,
    ChapterTable,
    Damaged,
    FileTable,
    SegmentTable,
    SeriesTable,
    raises_damaged,
    with_checksum,
    without_checksum,
)

FILE = "cache.sqlite"


class Cache:
    """An open cache. Changes are visible to the next build after `commit`."""

    @raises_damaged
    def __init__(self, folder: Path, version: str, *, lasting: bool = True) -> None:
        with suppress(OSError):  # SQLite reports it better
            filesystem.create_private(folder / FILE)
        self.folder = folder
        with ExitStack() as stack:
            connection = sqlite3.connect(folder / FILE, isolation_level=None, timeout=0)
            self._database = stack.enter_context(closing(connection))
            self._begin(version, lasting=lasting)
            stack.pop_all()
        self.files = FileTable(self._database)
        self.series = SeriesTable(self._database)
        self.segments = SegmentTable(self._database)
        self.chapters = ChapterTable(self._database)

    def _begin(self, version: str, *, lasting: bool) -> None:
        if not lasting:
            self._database.execute("PRAGMA synchronous = OFF")
            self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._database.execute("BEGIN EXCLUSIVE")
        if not self._database.execute("SELECT 1 FROM sqlite_master").fetchone():
            for statement in SCHEMA.split(";"):
                self._database.execute(statement)
            self.remember("version", version)
        if self.recall("version") != version:
            raise Damaged

    def close(self) -> None:
        self._database.close()

    @raises_damaged
    def commit(self) -> None:
        self._database.execute("COMMIT")
        self._database.execute("BEGIN EXCLUSIVE")

    @raises_damaged
    def recall(self, name: str) -> Any:
        """Read a small value by its name; None if there is none."""
        row = self._database.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return row and encoding.parse(without_checksum(row[0], name))

    @raises_damaged
    def remember(self, name: str, value: object) -> None:
        """Write a small value under a name."""
        self._database.execute("REPLACE INTO meta VALUES (?, ?)", (name, with_checksum(encoding.json(value), name)))
