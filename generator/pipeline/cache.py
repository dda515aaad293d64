"""The build cache: one SQLite file with the results that the next build can use again. It may be deleted at any time.

A wrong checksum, another version of the program or an error of SQLite raises `Damaged`, and the whole cache is
discarded.
"""

import sqlite3
from collections.abc import Callable
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
from .program_version import ProgramVersion

FILE = "cache.sqlite"


class Cache:
    """An open cache. Changes are visible to the next build after `commit`."""

    @raises_damaged
    def __init__(self, folder: Path, version: ProgramVersion | None) -> None:
        """Open the cache of a version of the program, or without a version a new one that is not kept."""
        with suppress(OSError):  # SQLite reports it better
            filesystem.create_private(folder / FILE)
        self.folder = folder
        with ExitStack() as stack:
            connection = sqlite3.connect(folder / FILE, isolation_level=None, timeout=0)
            self._database = stack.enter_context(closing(connection))
            self._begin(version)
            stack.pop_all()
        self.files = FileTable(self._database)
        self.series = SeriesTable(self._database)
        self.segments = SegmentTable(self._database)
        self.chapters = ChapterTable(self._database)

    def _begin(self, version: ProgramVersion | None) -> None:
        if not version:
            self._database.execute("PRAGMA synchronous = OFF")
            self._database.execute("PRAGMA journal_mode = OFF")
        # The defaults, 4 KiB and 2 MB, write and read most pages of a first build several times.
        self._database.execute("PRAGMA page_size = 16384")
        self._database.execute("PRAGMA cache_size = -16000")
        self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._database.execute("BEGIN EXCLUSIVE")
        is_new = not self._database.execute("SELECT 1 FROM sqlite_master").fetchone()
        if is_new:
            for statement in SCHEMA.split(";"):
                self._database.execute(statement)
        if version:
            self._check_version(version, is_new=is_new)

    def _check_version(self, version: ProgramVersion, *, is_new: bool) -> None:
        """Raise if another version wrote the cache. Files with an unchanged status are not read."""
        status, digest = (None, None) if is_new else self.recall("version")
        if status != version.status:
            contents = version.digest()
            if not is_new and digest != contents:
                raise Damaged
            self.remember("version", [version.status, contents])

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

    def cached(self, name: str, key: object, make: Callable[[], Any]) -> Any:
        """The small value that was made for the same key; make and remember it if the key changed."""
        stored = self.recall(name)
        if not stored or stored["key"] != key:
            stored = {"key": key, "value": make()}
            self.remember(name, stored)
        return stored["value"]
