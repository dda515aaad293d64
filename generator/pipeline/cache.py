"""The build cache: one SQLite file with the results that the next build can use again. It may be deleted at any time.

A wrong checksum, another version of the program or an error of SQLite raises `Damaged`, and the whole cache is
discarded.
"""

import os
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

from .. import encoding, filesystem
from .program_version import ProgramVersion

# The tables. Each blob is stored with a checksum of itself and its key.
SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB);
CREATE TABLE file (path BLOB PRIMARY KEY, stat TEXT, digest TEXT);
CREATE TABLE parsed (digest TEXT PRIMARY KEY, value BLOB);
CREATE TABLE series (slug TEXT PRIMARY KEY, check_key TEXT, facts BLOB, render_key TEXT, summary BLOB);
CREATE TABLE segment (slug TEXT PRIMARY KEY, summary BLOB);
CREATE TABLE lines (file TEXT, slug TEXT, text BLOB, PRIMARY KEY (file, slug)) WITHOUT ROWID;
CREATE TABLE chapter (position BLOB PRIMARY KEY, slug TEXT, modified INTEGER, item BLOB) WITHOUT ROWID;
CREATE INDEX chapter_of_series ON chapter (slug);
CREATE TABLE bucket (start BLOB PRIMARY KEY, digest TEXT, modified INTEGER, size INTEGER, text BLOB);
CREATE TABLE compressed (digest TEXT, form TEXT, value BLOB, PRIMARY KEY (digest, form));
"""
# The first four of the six bytes of a position that hold the publication time: a bucket spans about eighteen hours.
_BUCKET = 4
# Greater than the rest of any position.
_AFTER = b"\xff" * 16

P = ParamSpec("P")
T = TypeVar("T")


class Damaged(Exception):
    """The cache, or a file of a release that it describes, does not have the expected content."""


class CachedFacts(NamedTuple):
    """The facts of a series, and the check key for which they hold."""

    check_key: str
    facts: bytes


class ListedChapter(NamedTuple):
    """A chapter in the list of all chapters, which is ordered by `position`."""

    position: bytes
    modified: int
    item: bytes


class ChapterBucket(NamedTuple):
    """Consecutive chapters of the list of all chapters, published within about eighteen hours."""

    start: bytes
    digest: str
    modified: int
    size: int


def raises_damaged(method: Callable[P, T]) -> Callable[P, T]:
    """Turn errors of SQLite, and values of the wrong form, into `Damaged`."""

    @wraps(method)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(*args, **kwargs)
        except (sqlite3.DatabaseError, ValueError, TypeError) as error:
            raise Damaged from error

    return wrapper


def with_checksum(value: bytes, *key: str | bytes) -> bytes:
    return _checksum(value, key) + value


def without_checksum(blob: bytes, *key: str | bytes) -> bytes:
    value = blob[4:]
    if not blob.startswith(_checksum(value, key)):
        raise Damaged
    return value


def _checksum(value: bytes, key: Iterable[str | bytes]) -> bytes:
    # A list is faster than a generator, and an edit checks ten values of each series.
    name = b"\0".join([part.encode() if isinstance(part, str) else part for part in key])
    return zlib.crc32(value, zlib.crc32(name)).to_bytes(4, "big")


class FileTable:
    """The files of the catalog, and the parsed values of their contents by digest."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    @raises_damaged
    def load(self) -> dict[str, tuple[str, str]]:
        """By path: the stat of each file, and the digest of its content."""
        rows = self._database.execute("SELECT * FROM file")
        return {os.fsdecode(path): (stat, digest) for path, stat, digest in rows}

    @raises_damaged
    def store(self, changed: Mapping[str, tuple[str, str]], removed: Iterable[str]) -> None:
        """Store stat and digest of changed files by path; forget removed ones, and values that no file contains."""
        # A file name is bytes and may not be valid UTF-8.
        self._database.executemany("DELETE FROM file WHERE path = ?", ((os.fsencode(path),) for path in removed))
        rows = ((os.fsencode(path), *value) for path, value in changed.items())
        self._database.executemany("REPLACE INTO file VALUES (?, ?, ?)", rows)
        self._database.execute("DELETE FROM parsed WHERE digest NOT IN (SELECT digest FROM file)")

    @raises_damaged
    def parsed_digests(self) -> set[str]:
        """The digests of the contents that need not be parsed."""
        return {digest for (digest,) in self._database.execute("SELECT digest FROM parsed")}

    @raises_damaged
    def parsed(self, digest: str) -> bytes:
        """The parsed value of a content, as JSON."""
        (value,) = self._database.execute("SELECT value FROM parsed WHERE digest = ?", (digest,)).fetchone()
        return without_checksum(value, digest)

    @raises_damaged
    def keep_parsed(self, digest: str, value: bytes) -> None:
        self._database.execute("REPLACE INTO parsed VALUES (?, ?)", (digest, with_checksum(value, digest)))


class SeriesTable:
    """Results for each series: facts from checking it, a summary from rendering it."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    @raises_damaged
    def facts(self) -> dict[str, CachedFacts]:
        """The facts of each series by slug."""
        rows = self._database.execute("SELECT slug, check_key, facts FROM series")
        return {
            slug: CachedFacts(check_key, without_checksum(facts, f"{slug} {check_key}"))
            for slug, check_key, facts in rows
        }

    @raises_damaged
    def render_keys(self) -> dict[str, str | None]:
        """By slug: the render key of each series, None before its first rendering."""
        return dict(self._database.execute("SELECT slug, render_key FROM series").fetchall())

    @raises_damaged
    def summaries(self) -> list[bytes]:
        """The summaries of all series; each must have been rendered."""
        rows = self._database.execute("SELECT slug, render_key, summary FROM series")
        return [without_checksum(summary, f"{slug} {render_key}") for slug, render_key, summary in rows]

    @raises_damaged
    def keep_facts(self, slug: str, check_key: str, facts: bytes) -> None:
        self._database.execute(
            "INSERT INTO series (slug, check_key, facts) VALUES (?, ?, ?)"
            " ON CONFLICT DO UPDATE SET check_key = excluded.check_key, facts = excluded.facts",
            (slug, check_key, with_checksum(facts, f"{slug} {check_key}")),
        )

    @raises_damaged
    def keep_summary(self, slug: str, render_key: str, summary: bytes) -> None:
        value = with_checksum(summary, f"{slug} {render_key}")
        self._database.execute(
            "UPDATE series SET render_key = ?, summary = ? WHERE slug = ?", (render_key, value, slug)
        )

    @raises_damaged
    def forget(self, slug: str) -> None:
        self._database.execute("DELETE FROM series WHERE slug = ?", (slug,))


class ChapterTable:
    """The list of all chapters, in buckets that can be joined again without encoding their chapters."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    @raises_damaged
    def keep(self, slug: str, chapters: Iterable[ListedChapter]) -> None:
        """Replace the chapters of a series, and empty the buckets that change; `buckets` fills them again."""
        before = set(self._database.execute("SELECT * FROM chapter WHERE slug = ?", (slug,)))
        after = {
            (position, slug, modified, with_checksum(item, slug, position)) for position, modified, item in chapters
        }
        self._database.executemany("DELETE FROM chapter WHERE position = ?", ((row[0],) for row in before - after))
        self._database.executemany("INSERT INTO chapter VALUES (?, ?, ?, ?)", sorted(after - before))
        changed = {position[:_BUCKET] for position, *_ in before ^ after}
        empty = ((start, "", 0, 0, None) for start in sorted(changed))
        self._database.executemany("REPLACE INTO bucket VALUES (?, ?, ?, ?, ?)", empty)

    @raises_damaged
    def buckets(self) -> list[ChapterBucket]:
        """All buckets in the order of the list, newest chapters first."""
        for (start,) in self._database.execute("SELECT start FROM bucket WHERE text IS NULL").fetchall():
            rows = self._database.execute(
                "SELECT position, slug, modified, item FROM chapter WHERE position >= ? AND position < ?"
                " ORDER BY position",
                (start, start + _AFTER),
            ).fetchall()
            text = b",".join(without_checksum(item, slug, position) for position, slug, _, item in rows)
            digest, modified = encoding.digest(text), max((row[2] for row in rows), default=0)
            self._database.execute(
                "UPDATE bucket SET digest = ?, modified = ?, size = ?, text = ? WHERE start = ?",
                (digest, modified, len(text), with_checksum(text, digest), start),
            )
        self._database.execute("DELETE FROM bucket WHERE size = 0")
        rows = self._database.execute("SELECT start, digest, modified, size FROM bucket ORDER BY start").fetchall()
        return [ChapterBucket(*row) for row in rows]

    @raises_damaged
    def text(self, bucket: ChapterBucket) -> bytes:
        """The chapters of a bucket as JSON, with commas between them."""
        (text,) = self._database.execute("SELECT text FROM bucket WHERE start = ?", (bucket.start,)).fetchone()
        return without_checksum(text, bucket.digest)

    @raises_damaged
    def compressed(self, digest: str, form: str, compress: Callable[[], bytes]) -> bytes:
        """The compressed text of a bucket in one date format; `compress` is called if it is not stored yet."""
        row = self._database.execute(
            "SELECT value FROM compressed WHERE digest = ? AND form = ?", (digest, form)
        ).fetchone()
        if row:
            return without_checksum(row[0], digest, form)
        value = compress()
        self._database.execute(
            "INSERT INTO compressed VALUES (?, ?, ?)", (digest, form, with_checksum(value, digest, form))
        )
        return value

    @raises_damaged
    def forget_unused(self) -> None:
        """Forget the compressed texts that belong to no bucket."""
        self._database.execute("DELETE FROM compressed WHERE digest NOT IN (SELECT digest FROM bucket)")


class SegmentTable:
    """The lines of each series in each long file of the release, and their summaries."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    @raises_damaged
    def load(self) -> dict[str, Any]:
        """The summaries of all segments, by slug."""
        rows = self._database.execute("SELECT slug, summary FROM segment")
        return {slug: encoding.parse(without_checksum(summary, slug)) for slug, summary in rows}

    @raises_damaged
    def keep(self, slug: str, summary: object, lines: Mapping[str, bytes]) -> None:
        """Replace a segment; `lines` are those in each file, some may be empty."""
        self._database.execute(
            "REPLACE INTO segment VALUES (?, ?)", (slug, with_checksum(encoding.json(summary), slug))
        )
        self._database.executemany("DELETE FROM lines WHERE file = ? AND slug = ?", ((file, slug) for file in lines))
        rows = ((file, slug, with_checksum(text, file, slug)) for file, text in lines.items() if text)
        self._database.executemany("INSERT INTO lines VALUES (?, ?, ?)", rows)

    @raises_damaged
    def forget(self, slug: str) -> None:
        self._database.execute("DELETE FROM segment WHERE slug = ?", (slug,))
        self._database.execute("DELETE FROM lines WHERE slug = ?", (slug,))

    @raises_damaged
    def clear(self) -> None:
        self._database.execute("DELETE FROM segment")
        self._database.execute("DELETE FROM lines")

    @raises_damaged
    def lines_of(self, file: str, slug: str) -> bytes:
        """The lines of a segment in one file."""
        row = self._database.execute("SELECT text FROM lines WHERE file = ? AND slug = ?", (file, slug)).fetchone()
        return without_checksum(row[0], file, slug) if row else b""

    def lines(self, file: str) -> Iterator[bytes]:
        """The lines of all segments in one file, in the order of the slugs."""
        try:
            for slug, text in self._database.execute(
                "SELECT slug, text FROM lines WHERE file = ? ORDER BY slug", (file,)
            ):
                yield without_checksum(text, file, slug)
        except sqlite3.DatabaseError as error:
            raise Damaged from error


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
