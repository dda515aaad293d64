"""Long lists, put together from what is encoded and compressed already.

The list of all series is made of the bodies of the series, the list of all chapters of shelves that the cache keeps.
Nothing of them is in memory as a whole, unless it is small: then it compresses better as a whole.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import NamedTuple

from .. import encoding
from ..api.payloads.v2 import convert_dates
from ..api.resources import AllChapters, JoinedBodies, Resource
from ..release import manifest
from ..release.manifest import Published
from .cache import Cache, ChapterBucket
from .publish import Publisher
from .series_renderer import Part

# From here on a list is compressed in pieces.
LONG = 1 << 20
# How much of it is written at a time.
_BLOCK = 1 << 20


class Piece(NamedTuple):
    """A piece of a list."""

    digest: str
    modified: int
    size: int
    text: Callable[[], bytes]
    # Its compressed form.
    packed: Callable[[], bytes]


class List(NamedTuple):
    before: bytes
    pieces: list[Piece]
    after: bytes


@dataclass(slots=True)
class LongListBuilder:
    press: Publisher
    # Another one, whose lists are put together in a thread of their own.
    beside: Publisher
    thread: Executor
    cache: Cache
    parts: Mapping[str, Part]
    # How old a list is that has nothing in it.
    site_modified: int
    # Whether what the cache knows of lists is about the release that is continued.
    remembers: bool

    def publish(
        self, one: Resource, older: Mapping[str, Published], served: Mapping[str, Published]
    ) -> Published | Future[Published]:
        """Like that of the press, for a resource that is a long list; some are at work beside others."""
        found = self.list(one)
        modified = max((piece.modified for piece in found.pieces), default=self.site_modified)
        dated = one._replace(body=one.body._replace(last_modified=modified))
        # What it is made of, and how it is served: if none of it is new, nor is the list.
        made_of = encoding.digest(
            encoding.json(
                [one.max_age, one.restricted, [piece.digest for piece in found.pieces], found.before.decode()]
            )
        )
        name, old = f"list {one.url}", older.get(one.url)
        if self.remembers and old and self.cache.recall(name) == made_of and self._is_served(old, served):
            return old
        self.cache.remember(name, made_of)
        if sum(piece.size for piece in found.pieces) < LONG:
            body = found.before + b",".join(piece.text() for piece in found.pieces) + found.after
            return self.press.publish(dated._replace(body=dated.body._replace(value=body)), older, served)
        if isinstance(one.body.value, JoinedBodies):
            return self.thread.submit(_grow, self.beside, dated, found, older, served)
        return _grow(self.press, dated, found, older, served)

    def _is_served(self, old: Published, served: Mapping[str, Published]) -> bool:
        return self.press.bodies.reuse(old, served.get(old.url))

    def list(self, one: Resource) -> List:
        shown = one.body.value
        if isinstance(shown, JoinedBodies):
            return List(b"[", [self.body(self.parts[url]) for url in shown.urls], b"]")
        assert isinstance(shown, AllChapters)
        return List(
            b'{"results":[', [self.shelf(shelf, shown.date_format) for shelf in self.cache.chapters.buckets()], b"]}"
        )

    def body(self, part: Part) -> Piece:
        path = f"{self.press.bodies.root}/{part.file}"

        def text() -> bytes:
            return _read(path)

        def packed() -> bytes:
            return encoding.piece_of_gzip(_read(f"{path}.gz")) if part.gzip else encoding.deflate_piece(text())

        return Piece(part.etag, part.modified, part.size, text, packed)

    def shelf(self, shelf: ChapterBucket, dates: str) -> Piece:
        def text() -> bytes:
            return convert_dates(self.cache.chapters.text(shelf), dates)

        def packed() -> bytes:
            return self.cache.chapters.compressed(shelf.digest, dates, lambda: encoding.deflate_piece(text()))

        return Piece(f"{shelf.digest} {dates}", shelf.modified, shelf.size, text, packed)


def _grow(
    press: Publisher, one: Resource, found: List, older: Mapping[str, Published], served: Mapping[str, Published]
) -> Published:
    """Piece by piece onto the disk."""
    with encoding.BodyHasher() as known, press.bodies.partial_files(one) as (body, packed):
        packed.write(encoding.GZIP_HEADER)
        for text, pressed in _blocks(_written(found)):
            known.add(text)
            body.write(text)
            packed.write(pressed)
        packed.write(encoding.gzip_trailer(known.crc, known.size))
        published = manifest.with_validators(one, known.digests(), True, older.get(one.url), press.now)
        press.bodies.finish(published, body, packed, served.get(one.url))
    return published


def _blocks(written: Iterator[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
    """The same in less and longer parts, which cost less."""
    size, parts = 0, []
    for one in written:
        parts.append(one)
        size += len(one[0])
        if size >= _BLOCK:
            yield _together(parts)
            size, parts = 0, []
    yield _together(parts)


def _together(parts: list[tuple[bytes, bytes]]) -> tuple[bytes, bytes]:
    return b"".join(text for text, _ in parts), b"".join(pressed for _, pressed in parts)


def _written(found: List) -> Iterator[tuple[bytes, bytes]]:
    """Every piece, and whatever stands between them, with its compressed form."""
    comma = encoding.deflate_piece(b",")
    yield found.before, encoding.deflate_piece(found.before)
    for index, piece in enumerate(found.pieces):
        if index:
            yield b",", comma
        yield piece.text(), piece.packed()
    yield found.after, encoding.deflate_piece(found.after)


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return b"".join(iter(lambda: os.read(descriptor, 1 << 20), b""))
    finally:
        os.close(descriptor)


def is_long(one: Resource) -> bool:
    return isinstance(one.body.value, JoinedBodies | AllChapters)
