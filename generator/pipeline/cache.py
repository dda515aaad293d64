"""The build cache: one SQLite file with the results that the next build can use again. It may be deleted at any time.

It is one memo table: a result of a step for an item, such as a series, with the key for which it was made.

A wrong checksum, another version of the program or an error of SQLite raises `Damaged`, and the whole cache is
discarded.
"""

import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from .. import encoding, filesystem
from .program_version import ProgramVersion

# The results of all steps. Each blob is stored with a checksum of itself and of what names it.
SCHEMA = "CREATE TABLE memo (step TEXT, item BLOB, key TEXT, value BLOB, PRIMARY KEY (step, item))"


class Damaged(Exception):
    """The cache, or a file of a release that it describes, does not have the expected content."""


class Step(NamedTuple):
    """A kind of results: what there is a result of, and what it depends on besides its item and the program.

    Only the name is used; `item` and `key` tell readers what the callers pass.
    The key of a result is a digest of all that it depends on, or that value itself; empty if it depends on nothing.
    """

    name: str
    item: str = "the catalog"
    key: str = ""


VERSION = Step("version", "the program")
LAST_BUILD = Step("last build")
# The release that the lines, the render keys and the long lists are about: its id, the status of its manifest, its
# segments, the retained files.
RELEASE = Step("release")
HISTORY = Step("history", key="commit and folder of the repository")
FILES = Step("files", "path", "size, mtime, ctime and inode")
PARSED = Step("parsed", "digest of a file")
CUTS = Step("cut texts")
THEME = Step("theme", key="files of the theme, version of the library that converts its texts")
SAMPLE = Step("sample of pages", key="settings, whether it is a preview, files of the theme")
FACTS = Step("facts", "series", "check key: names and digests of its files, digests of the entries that it references")
SUMMARIES = Step("summaries", "series", "render key: see `ReleaseBuilder`")
LISTS = Step("long lists", "URL", "digests of its pieces, max-age, whether it is restricted")
CHAPTERS = Step("chapters", "eighteen hours of the list of all chapters", "ids and ETags of its chapters")
DEFLATED = Step("deflated chapters", "the same in a date format", "ids and ETags of its chapters")
CONFIGURATION = Step("configuration", key="its values")
MAIN_CONF = Step("main configuration", key="its values")


# What reading a damaged file can raise.
_WRONG = (sqlite3.DatabaseError, ValueError, TypeError, AttributeError)


class Row(NamedTuple):
    """A result in the cache."""

    item: str
    key: str
    value: bytes


@contextmanager
def raises_damaged() -> Iterator[None]:
    """Turn errors of SQLite, and values of the wrong form, into `Damaged`."""
    try:
        yield
    except _WRONG as error:
        raise Damaged from error


FILE = "cache.sqlite"


class Cache:
    """An open cache. Changes are visible to the next build after `commit`."""

    @raises_damaged()
    def __init__(self, folder: Path, version: ProgramVersion | None) -> None:
        """Open the cache of a version of the program, or without a version a new one that is not kept."""
        with suppress(OSError):  # SQLite reports it better
            filesystem.create_private(folder / FILE)
        self.folder = folder
        # Why this cache is not in the folder that was given.
        self.refusal = ""
        with ExitStack() as stack:
            connection = sqlite3.connect(folder / FILE, isolation_level=None, timeout=0)
            self._database = stack.enter_context(closing(connection))
            self._begin(version)
            stack.pop_all()

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
            self._database.execute(SCHEMA)
        if version:
            self._check_version(version, is_new=is_new)

    def _check_version(self, version: ProgramVersion, *, is_new: bool) -> None:
        """Raise if another version wrote the cache. Files with an unchanged status are not read."""
        status, digest = (None, None) if is_new else self.recall(VERSION)
        if status != version.status:
            contents = version.digest()
            if not is_new and digest != contents:
                raise Damaged
            self.remember(VERSION, [version.status, contents])

    def close(self) -> None:
        self._database.close()

    @raises_damaged()
    def commit(self) -> None:
        self._database.execute("COMMIT")
        self._database.execute("BEGIN EXCLUSIVE")

    @raises_damaged()
    def get(self, step: Step, item: str = "", key: str | None = None) -> bytes | None:
        """The result of a step for an item; None without one, or if it was made for another key."""
        name = _encoded(item)
        row = self._database.execute(
            "SELECT key, value FROM memo WHERE step = ? AND item = ?", (step.name, name)
        ).fetchone()
        if not row or key not in (None, row[0]):
            return None
        return _verified(row[1], step, name, row[0])

    @raises_damaged()
    def put(self, step: Step, item: str, key: str, value: bytes) -> None:
        """Store the result of a step for an item, in place of the one before."""
        name = _encoded(item)
        blob = _checksum(value, step, name, key) + value
        self._database.execute("REPLACE INTO memo VALUES (?, ?, ?, ?)", (step.name, name, key, blob))

    def memo(self, step: Step, item: str, key: str, make: Callable[[], bytes]) -> bytes:
        """The result that was made for the same key; make and store it if there is none."""
        value = self.get(step, item, key)
        if value is None:
            value = make()
            self.put(step, item, key, value)
        return value

    def rows(self, step: Step) -> Iterator[Row]:
        """All results of a step, in the order of the items."""
        query = "SELECT item, key, value FROM memo WHERE step = ? ORDER BY item"
        with raises_damaged():
            for item, key, blob in self._database.execute(query, (step.name,)):
                yield Row(_decoded(item), key, _verified(blob, step, item, key))

    @raises_damaged()
    def items(self, step: Step) -> set[str]:
        """The items with a result. Only the index is read."""
        rows = self._database.execute("SELECT item FROM memo WHERE step = ?", (step.name,))
        return {_decoded(item) for (item,) in rows}

    @raises_damaged()
    def keys(self, step: Step) -> dict[str, str]:
        """The key of each item with a result. No value is read, so none is checked."""
        rows = self._database.execute("SELECT item, key FROM memo WHERE step = ?", (step.name,))
        return {_decoded(item): key for item, key in rows}

    @raises_damaged()
    def forget(self, step: Step, items: Iterable[str] | None = None) -> None:
        """Remove the results of some items, or of all."""
        if items is None:
            self._database.execute("DELETE FROM memo WHERE step = ?", (step.name,))
        else:
            rows = ((step.name, _encoded(item)) for item in items)
            self._database.executemany("DELETE FROM memo WHERE step = ? AND item = ?", rows)

    # Results that are small values

    def recall(self, step: Step) -> Any:
        """The value of a step with one result; None if there is none."""
        value = self.get(step)
        return None if value is None else encoding.parse(value)

    def remember(self, step: Step, value: object) -> None:
        self.put(step, "", "", encoding.json_of_tuples(value))

    def cached(self, step: Step, key: str, make: Callable[[], Any]) -> Any:
        """The value that was made for the same key; make and remember it if the key changed."""
        return encoding.parse(self.memo(step, "", key, lambda: encoding.json(make())))


def _verified(blob: bytes, step: Step, item: bytes, key: str) -> bytes:
    value = blob[4:]
    if not blob.startswith(_checksum(value, step, item, key)):
        raise Damaged
    return value


def _checksum(value: bytes, step: Step, item: bytes, key: str) -> bytes:
    name = b"%b\0%b\0%b" % (step.name.encode(), item, key.encode())
    return zlib.crc32(value, zlib.crc32(name)).to_bytes(4, "big")


def _encoded(item: str) -> bytes:
    # The name of a file is bytes and may not be valid UTF-8.
    return item.encode(errors="surrogateescape")


def _decoded(item: bytes) -> str:
    return item.decode(errors="surrogateescape")
