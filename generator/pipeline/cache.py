"""What a build remembers, so that the next one costs what has changed. It may be deleted at any time.

Every value lies beside a checksum of itself and of what it is called. One that does not fit, or a file that SQLite
finds odd, is `Damaged`: then nothing of it is believed. The only importer of sqlite3.
"""

import os
import sqlite3
import zlib
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing, suppress
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

from .. import encoding, filesystem

FILE = "cache.sqlite"
_SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB);
CREATE TABLE file (path BLOB PRIMARY KEY, stat TEXT, digest TEXT);
CREATE TABLE value (digest TEXT PRIMARY KEY, value BLOB);
CREATE TABLE series (slug TEXT PRIMARY KEY, checked TEXT, facts BLOB, rendered TEXT, card BLOB);
CREATE TABLE chapter (place BLOB PRIMARY KEY, slug TEXT, modified INTEGER, item BLOB) WITHOUT ROWID;
CREATE INDEX chapter_of_series ON chapter (slug);
CREATE TABLE shelf (start BLOB PRIMARY KEY, digest TEXT, modified INTEGER, size INTEGER, text BLOB);
CREATE TABLE packed (digest TEXT, form TEXT, value BLOB, PRIMARY KEY (digest, form));
"""
# The first four of the six bytes in which a chapter's place says when it was published: some eighteen hours.
_SHELF = 4
# No place has so many of them behind its start.
_AFTER = b"\xff" * 16

P = ParamSpec("P")
T = TypeVar("T")


class Damaged(Exception):
    """What was remembered cannot be believed."""


class Row(NamedTuple):
    """A chapter in the list of all, at the place where it sorts."""

    place: bytes
    modified: int
    item: bytes


class ChapterBucket(NamedTuple):
    """Chapters that stand together in the list of all, because they were published at about the same time."""

    start: bytes
    digest: str
    modified: int
    size: int


class CachedSeries(NamedTuple):
    """What is remembered of a series: valid as long as the keys beside its parts are still the same."""

    checked: str | None
    facts: bytes | None
    rendered: str | None
    card: bytes | None


def _suspicious(method: Callable[P, T]) -> Callable[P, T]:
    @wraps(method)
    def asked(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(*args, **kwargs)
        except (sqlite3.DatabaseError, ValueError, TypeError) as error:
            raise Damaged from error

    return asked


class Cache:
    """One SQLite file. Nothing of what a build changes in it is there before `commit`."""

    @_suspicious
    def __init__(self, folder: Path, version: str, *, lasting: bool = True) -> None:
        with suppress(OSError):  # SQLite knows what to say of it
            filesystem.reserve(folder / FILE)
        self.folder = folder
        with ExitStack() as opened:
            connection = sqlite3.connect(folder / FILE, isolation_level=None, timeout=0)
            self._db = opened.enter_context(closing(connection))
            self._begin(version, lasting=lasting)
            opened.pop_all()

    def _begin(self, version: str, *, lasting: bool) -> None:
        if not lasting:
            self._db.execute("PRAGMA synchronous = OFF")
            self._db.execute("PRAGMA journal_mode = OFF")
        self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._db.execute("BEGIN EXCLUSIVE")
        if not self._db.execute("SELECT 1 FROM sqlite_master").fetchone():
            for statement in _SCHEMA.split(";"):
                self._db.execute(statement)
            self.remember("version", version)
        if self.recall("version") != version:
            raise Damaged

    def close(self) -> None:
        self._db.close()

    @_suspicious
    def commit(self) -> None:
        self._db.execute("COMMIT")
        self._db.execute("BEGIN EXCLUSIVE")

    @_suspicious
    def recall(self, name: str) -> Any:
        """Something small that was remembered by name."""
        found = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return found and encoding.parse(_opened(found[0], name))

    @_suspicious
    def remember(self, name: str, value: object) -> None:
        self._db.execute("REPLACE INTO meta VALUES (?, ?)", (name, _sealed(encoding.json(value), name)))

    # Files of the catalog, and what was parsed from their contents

    @_suspicious
    def files(self) -> dict[str, tuple[str, str]]:
        """By path: how the file looked from outside, and the digest of its content."""
        rows = self._db.execute("SELECT * FROM file")
        return {os.fsdecode(path): (stat, digest) for path, stat, digest in rows}

    @_suspicious
    def keep_files(self, files: Iterable[tuple[str, str, str]]) -> None:
        """All that there are, and nothing of what only others held."""
        self._db.execute("DELETE FROM file")
        # The name of a file is bytes that need not be text.
        rows = ((os.fsencode(path), stat, digest) for path, stat, digest in files)
        self._db.executemany("INSERT INTO file VALUES (?, ?, ?)", rows)
        self._db.execute("DELETE FROM value WHERE digest NOT IN (SELECT digest FROM file)")

    @_suspicious
    def values(self) -> set[str]:
        """The digests of the contents that need not be parsed."""
        return {digest for (digest,) in self._db.execute("SELECT digest FROM value")}

    @_suspicious
    def value(self, digest: str) -> bytes:
        (found,) = self._db.execute("SELECT value FROM value WHERE digest = ?", (digest,)).fetchone()
        return _opened(found, digest)

    @_suspicious
    def keep_value(self, digest: str, value: bytes) -> None:
        self._db.execute("REPLACE INTO value VALUES (?, ?)", (digest, _sealed(value, digest)))

    # Series

    @_suspicious
    def series(self) -> dict[str, CachedSeries]:
        return {
            slug: CachedSeries(
                checked,
                facts and _opened(facts, f"{slug} {checked}"),
                rendered,
                card and _opened(card, f"{slug} {rendered}"),
            )
            for slug, checked, facts, rendered, card in self._db.execute("SELECT * FROM series")
        }

    @_suspicious
    def keep_facts(self, slug: str, checked: str, facts: bytes) -> None:
        sealed = _sealed(facts, f"{slug} {checked}")
        self._db.execute(
            "INSERT INTO series (slug, checked, facts) VALUES (?, ?, ?)"
            " ON CONFLICT DO UPDATE SET checked = excluded.checked, facts = excluded.facts",
            (slug, checked, sealed),
        )

    @_suspicious
    def keep_card(self, slug: str, rendered: str, card: bytes) -> None:
        sealed = _sealed(card, f"{slug} {rendered}")
        self._db.execute("UPDATE series SET rendered = ?, card = ? WHERE slug = ?", (rendered, sealed, slug))

    @_suspicious
    def forget_series(self, slug: str) -> None:
        self._db.execute("DELETE FROM series WHERE slug = ?", (slug,))
        self.keep_chapters(slug, ())

    # The list of all chapters

    @_suspicious
    def keep_chapters(self, slug: str, rows: Iterable[Row]) -> None:
        """All chapters of a series; the shelves on which something changes are put in order by `shelves`."""
        before = set(self._db.execute("SELECT * FROM chapter WHERE slug = ?", (slug,)))
        after = {(row.place, slug, row.modified, _sealed(row.item, slug, row.place)) for row in rows}
        self._db.executemany("DELETE FROM chapter WHERE place = ?", ((row[0],) for row in before - after))
        self._db.executemany("INSERT INTO chapter VALUES (?, ?, ?, ?)", sorted(after - before))
        touched = {place[:_SHELF] for place, *_ in before ^ after}
        nothing = ((start, "", 0, 0, None) for start in sorted(touched))
        self._db.executemany("REPLACE INTO shelf VALUES (?, ?, ?, ?, ?)", nothing)

    @_suspicious
    def shelves(self) -> list[ChapterBucket]:
        """All chapters, newest first, in parts that depend on nothing else."""
        for (start,) in self._db.execute("SELECT start FROM shelf WHERE text IS NULL").fetchall():
            rows = self._db.execute(
                "SELECT place, slug, modified, item FROM chapter WHERE place >= ? AND place < ? ORDER BY place",
                (start, start + _AFTER),
            ).fetchall()
            text = b",".join(_opened(item, slug, place) for place, slug, _, item in rows)
            digest, modified = encoding.digest(text), max((row[2] for row in rows), default=0)
            self._db.execute(
                "UPDATE shelf SET digest = ?, modified = ?, size = ?, text = ? WHERE start = ?",
                (digest, modified, len(text), _sealed(text, digest), start),
            )
        self._db.execute("DELETE FROM shelf WHERE size = 0")
        found = self._db.execute("SELECT start, digest, modified, size FROM shelf ORDER BY start")
        return [ChapterBucket(*row) for row in found]

    @_suspicious
    def chapters(self, shelf: ChapterBucket) -> bytes:
        """The chapters of a shelf, encoded, with commas between them."""
        (found,) = self._db.execute("SELECT text FROM shelf WHERE start = ?", (shelf.start,)).fetchone()
        return _opened(found, shelf.digest)

    @_suspicious
    def packed(self, digest: str, form: str, pack: Callable[[], bytes]) -> bytes:
        """What `pack` makes of a shelf, made once."""
        found = self._db.execute("SELECT value FROM packed WHERE digest = ? AND form = ?", (digest, form)).fetchone()
        if found:
            return _opened(found[0], digest, form)
        value = pack()
        self._db.execute("INSERT INTO packed VALUES (?, ?, ?)", (digest, form, _sealed(value, digest, form)))
        return value

    @_suspicious
    def forget_packed(self) -> None:
        """What belongs to no shelf any more."""
        self._db.execute("DELETE FROM packed WHERE digest NOT IN (SELECT digest FROM shelf)")


def _sealed(value: bytes, *called: str | bytes) -> bytes:
    return _checksum(value, called) + value


def _opened(sealed: bytes, *called: str | bytes) -> bytes:
    value = sealed[4:]
    if sealed[:4] != _checksum(value, called):
        raise Damaged
    return value


def _checksum(value: bytes, called: Iterable[str | bytes]) -> bytes:
    name = b"\0".join(one.encode() if isinstance(one, str) else one for one in called)
    return zlib.crc32(value, zlib.crc32(name)).to_bytes(4, "big")
