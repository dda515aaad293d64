"""Long lists, joined from pieces that are encoded and compressed already.

The pieces of the list of all series are bodies of the series; those of the list of all chapters are buckets of the
cache. A list of less than LONG bytes is compressed as a whole, which makes it smaller; a longer one is never in
memory as a whole.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from .. import encoding
from ..api.payloads.resources import AllChapters, JoinedBodies, Resource
from ..api.payloads.v2 import convert_dates
from ..release import manifest
from ..release.manifest import Published
from .cache import Cache, ChapterBucket
from .publish import ResourcePublisher
from .series_renderer import SeriesBody

# A list of at least this many bytes is compressed in pieces.
LONG = 1 << 20
# The number of bytes to write at a time.
_BLOCK = 1 << 20


class Piece(NamedTuple):
    """A part of a list; its content is read when it is needed."""

    digest: str
    modified: int
    size: int
    text: Callable[[], bytes]
    compressed: Callable[[], bytes]


class PieceList(NamedTuple):
    """The content of a list: pieces with commas between them, and the bytes around them."""

    start: bytes
    pieces: list[Piece]
    end: bytes


@dataclass(slots=True)
class LongListBuilder:
    """Publishes the resources whose bodies are `JoinedBodies` or `AllChapters`."""

    publisher: ResourcePublisher
    cache: Cache
    # The bodies of series, by URL.
    bodies: Mapping[str, SeriesBody]
    # The date of an empty list.
    site_modified: int

    def publish(
        self, resource: Resource, continued: Mapping[str, Published], current: Mapping[str, Published]
    ) -> Published:
        """Write a list, unless the current release has it: the key is a digest of its pieces and its caching."""
        content = self._content(resource)
        key = encoding.digest(
            encoding.json(
                [
                    resource.max_age,
                    resource.restricted,
                    [piece.digest for piece in content.pieces],
                    content.start.decode(),
                ]
            )
        )
        name, previous = f"list {resource.url}", continued.get(resource.url)
        # Like an unchanged body, a list with an unchanged key need not be written again.
        if (
            self.publisher.skip_unchanged
            and previous
            and self.cache.recall(name) == key
            and self.publisher.bodies.reuse(previous, current.get(resource.url))
        ):
            return previous
        self.cache.remember(name, key)
        modified = max((piece.modified for piece in content.pieces), default=self.site_modified)
        dated = resource._replace(body=resource.body._replace(last_modified=modified))
        if sum(piece.size for piece in content.pieces) >= LONG:
            return _write_pieces(self.publisher, dated, content, previous, current.get(resource.url))
        text = content.start + b",".join(piece.text() for piece in content.pieces) + content.end
        return self.publisher.publish(dated._replace(body=dated.body._replace(value=text)), continued, current)

    def _content(self, resource: Resource) -> PieceList:
        value = resource.body.value
        if isinstance(value, JoinedBodies):
            return PieceList(b"[", [self._series_piece(self.bodies[url]) for url in value.urls], b"]")
        assert isinstance(value, AllChapters)
        buckets = self.cache.chapters.buckets()
        pieces = [self._chapters_piece(bucket, value.date_format) for bucket in buckets]
        return PieceList(b'{"results":[', pieces, b"]}")

    def _series_piece(self, body: SeriesBody) -> Piece:
        path = f"{self.publisher.bodies.root}/{body.file}"

        def text() -> bytes:
            return _read(path)

        def compressed() -> bytes:
            return encoding.piece_of_gzip(_read(f"{path}.gz")) if body.gzip else encoding.deflate_piece(text())

        return Piece(body.etag, body.modified, body.size, text, compressed)

    def _chapters_piece(self, bucket: ChapterBucket, date_format: str) -> Piece:
        def text() -> bytes:
            return convert_dates(self.cache.chapters.text(bucket), date_format)

        def compressed() -> bytes:
            return self.cache.chapters.compressed(bucket.digest, date_format, lambda: encoding.deflate_piece(text()))

        return Piece(f"{bucket.digest} {date_format}", bucket.modified, bucket.size, text, compressed)


def _write_pieces(
    publisher: ResourcePublisher,
    resource: Resource,
    content: PieceList,
    previous: Published | None,
    current: Published | None,
) -> Published:
    """Write a list and its compressed form block by block."""
    hasher = encoding.BodyHasher()
    with publisher.bodies.partial_files(resource) as (body, compressed):
        compressed.write(encoding.GZIP_HEADER)
        for text, deflated in _blocks(_parts(content)):
            hasher.add(text)
            body.write(text)
            compressed.write(deflated)
        compressed.write(encoding.gzip_trailer(hasher.crc, hasher.size))
        published = manifest.with_validators(resource, hasher.digests(), True, previous, publisher.as_of)
        publisher.bodies.finish(published, body, compressed, current)
    return published


def _parts(content: PieceList) -> Iterator[tuple[bytes, bytes]]:
    """The texts of a list, each with its compressed form."""
    comma = encoding.deflate_piece(b",")
    yield content.start, encoding.deflate_piece(content.start)
    for index, piece in enumerate(content.pieces):
        if index:
            yield b",", comma
        yield piece.text(), piece.compressed()
    yield content.end, encoding.deflate_piece(content.end)


def _blocks(parts: Iterator[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
    """Join parts to blocks of about `_BLOCK` bytes: few long writes are faster than many short ones."""
    size, block = 0, []
    for part in parts:
        block.append(part)
        size += len(part[0])
        if size >= _BLOCK:
            yield _joined(block)
            size, block = 0, []
    yield _joined(block)


def _joined(parts: list[tuple[bytes, bytes]]) -> tuple[bytes, bytes]:
    return b"".join(text for text, _ in parts), b"".join(deflated for _, deflated in parts)


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return b"".join(iter(lambda: os.read(descriptor, 1 << 20), b""))
    finally:
        os.close(descriptor)


def is_joined(resource: Resource) -> bool:
    return isinstance(resource.body.value, JoinedBodies | AllChapters)
