"""An SQLite file as tables. The file is only read: nothing is written beside it, and no lock is taken."""

import os
import shlex
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ...errors import FlatpanelError
from .tables import SHOWS_VERSION, TABLES, RowMemory, Tables, Version

MAGIC = b"SQLite format 3\0"
_HEADER = 100
# Where the header has the size of a page and the number of pages, which is valid if two counters are equal.
_PAGE_SIZE, _PAGES = slice(16, 18), slice(28, 32)
_COUNTERS = slice(24, 28), slice(92, 96)
# The header of a rollback journal that is needed; others are left over.
_JOURNAL = bytes.fromhex("d9d505f920a163d7")
# Bytes of the longest row; instructions of SQLite between two checks, and of one import, which reads 10,000,000 rows.
_LONGEST = 1 << 22
_STEP, _MAX_STEPS = 1_000_000, 1_000_000_000
# Tables that any version of the original service has.
_COMMON = {"reader_series", "reader_chapter", "reader_page"}


@contextmanager
def opened(path: Path) -> Iterator[Tables]:
    """Open an SQLite file, and check that it is complete and has the tables of a version."""
    _refuse_unfinished(path)
    before = _state(path)
    _check_size(path, before[0])
    # `immutable`: SQLite neither locks the file nor creates `-wal` and `-shm` beside it.
    url = f"file:{quote(os.fsencode(path.absolute()))}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(url, uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            connection.text_factory = lambda text: text.decode(errors="surrogateescape")
            _limit(connection)
            yield _tables(connection, path)
    except sqlite3.DatabaseError as error:
        if _state(path) != before:
            raise _changed(path) from None
        if isinstance(error, sqlite3.DataError):
            raise FlatpanelError(f"{path}: a row has more than {_LONGEST >> 20} MiB; shorten its text") from None
        raise FlatpanelError(f"{path}: SQLite cannot read the file: {error}; {_copy(path)}") from None
    if _state(path) != before:
        raise _changed(path)
    _refuse_unfinished(path)


def _limit(connection: sqlite3.Connection) -> None:
    """Bound what a file can make SQLite do. Its schema is code: expressions, views and modules of virtual tables."""
    for setting in ("trusted_schema = OFF", "query_only = ON", "cell_size_check = ON"):
        connection.execute(f"PRAGMA {setting}")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
    steps = count(_STEP, _STEP)
    connection.set_progress_handler(lambda: next(steps) > _MAX_STEPS, _STEP)


def _tables(connection: sqlite3.Connection, path: Path) -> Tables:
    # Plain tables only: a view or a virtual table has no page, and rows that any expression makes. An entry of the
    # schema may state another type than its statement makes.
    query = """SELECT name FROM sqlite_master
        WHERE type = 'table' AND rootpage > 0 AND sql LIKE 'CREATE TABLE %'"""
    read = {table for tables in TABLES.values() for table in tables}
    try:
        tables = [name for (name,) in connection.execute(query).fetchall()]
    except UnicodeDecodeError:
        # The message of an error names an entry of the schema.
        raise FlatpanelError(f"{path}: its schema is malformed, and has a name that is not UTF-8") from None
    columns = {
        # Without generated columns.
        name: {row["name"] for row in connection.execute("SELECT name FROM pragma_table_info(?)", (name,))}
        for name in tables
        if name in read
    }
    version, memory = _version(columns, path), RowMemory(path)

    def raw(table: str) -> Iterator[Mapping[str, Any]]:
        names = TABLES[version][table]
        # The names are constants of `tables`. A damaged index may have other rows than its table.
        for row in connection.execute(f"SELECT {', '.join(names)} FROM {table} NOT INDEXED"):
            # Pages of a damaged file may be parts of many rows.
            memory.take(row)
            yield dict(row)

    return Tables(version, raw)


def _version(columns: Mapping[str, set[str]], path: Path) -> Version:
    """Return the version whose tables and columns these are."""
    version = next((version for table, version in SHOWS_VERSION.items() if table in columns), None)
    if missing_tables := sorted(_COMMON - columns.keys()):
        raise FlatpanelError(f"{path}: not a database of MangAdventure: it has no table {missing_tables[0]}")
    if version is None:
        raise FlatpanelError(
            f"{path}: a database of MangAdventure, but not of version {' or '.join(sorted(TABLES))}: it has none of "
            f"the tables {', '.join(SHOWS_VERSION)}; update the old site to 0.9.6 first"
        )
    if "id" in columns["reader_series"]:
        # Releases 0.5 and 0.6 have the tables of 0.4.5, but another key of series.
        version = "0.9.6"
    for table, expected in TABLES[version].items():
        if missing := [name for name in expected if name not in columns.get(table, ())]:
            fault = f"column {missing[0]} in the table {table}" if table in columns else f"table {table}"
            raise FlatpanelError(
                f"{path}: a database of MangAdventure, but not of version {version}: it has no {fault}; "
                "update the old site to 0.9.6 first"
            )
    return version


def _refuse_unfinished(path: Path) -> None:
    """Refuse a file whose last changes are in a file beside it."""
    wal, journal = (Path(f"{os.path.realpath(path)}{ending}") for ending in ("-wal", "-journal"))
    for other, has_changes in ((wal, bool(_start(wal))), (journal, _start(journal) == _JOURNAL)):
        if has_changes:
            raise FlatpanelError(f"{path}: its last changes are only in {other.name}; {_copy(path)}")


def _check_size(path: Path, size: int) -> None:
    """Refuse a file that is shorter than its header states."""
    header = _start(path, _HEADER)
    page_size, pages = (int.from_bytes(header[place], "big") for place in (_PAGE_SIZE, _PAGES))
    counters = {header[place] for place in _COUNTERS}
    # 1 means 65536.
    stated = (page_size if page_size != 1 else 1 << 16) * pages if len(counters) == 1 else 0
    if size < max(stated, _HEADER):
        raise FlatpanelError(f"{path}: incomplete: it has {size} of {max(stated, _HEADER)} bytes; copy it again")


def _start(path: Path, size: int = len(_JOURNAL)) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(size)
    except FileNotFoundError:
        return b""


def _state(path: Path) -> tuple[int, int, int]:
    """Return size, time and inode, which change if another program writes to the file."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ino


def _changed(path: Path) -> FlatpanelError:
    return FlatpanelError(f"{path}: changed while it was read; {_copy(path)}")


def _copy(path: Path) -> str:
    """Return the advice to make a complete copy where the service runs."""
    names = shlex.quote(str(path)), shlex.quote(f".backup {path.stem}-copy{path.suffix}")
    return f"make a complete copy with `sqlite3 {' '.join(names)}` and import that"
