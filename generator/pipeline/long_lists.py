"""Long lists, joined from pieces that are encoded and compressed already.

The pieces of the list of all series are bodies of the series; those of the list of all chapters are the joined bodies
of chapters that were published within about eighteen hours. A list of less than LONG bytes is compressed as a whole,
which makes it smaller; a longer one is never in memory as a whole.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from .. import encoding
from ..api.payloads.resources import AllChapters, Body, JoinedBodies, Resource
from ..api.payloads.v2 import DATE_FORMATS, convert_dates
from ..api.routes import is_restricted
from ..filesystem import read_regular
from ..release import manifest
from ..release.manifest import Published
from . import series_renderer
from .cache import CHAPTERS, DEFLATED, LISTS, Cache, Damaged
from .publish import ResourcePublisher
from .series_renderer import ListedChapters

# A list of at least this many bytes is compressed in pieces.
LONG = 1 << 20
# The first four of the six bytes of a chapter's place that hold its publication time: about eighteen hours.
_BUCKET = 4
# The number of bytes to write at a time.
_BLOCK = 1 << 20


class Piece(NamedTuple):
    """A part of a list; its content is read when it is needed."""

    digest: str
    text: Callable[[], bytes]
    compressed: Callable[[], bytes]


class PieceList(NamedTuple):
    """The content of a list: pieces with commas between them, and the bytes around them."""

    start: bytes
    pieces: list[Piece]
    end: bytes
    # The date of its newest piece, and the number of bytes of all.
    modified: int
    size: int


class ChapterBucket(NamedTuple):
    """Consecutive chapters of the list of all chapters: those of about eighteen hours, in any order."""

    name: str
    digest: str
    records: list[bytes]


@dataclass
class LongListBuilder:
    """Publishes the resources whose bodies are `JoinedBodies` or `AllChapters`."""

    publisher: ResourcePublisher
    cache: Cache
    # The bodies of series, by URL.
    bodies: Mapping[str, Published]
    chapters: ListedChapters
    # The date of an empty list.
    site_modified: int

    def publish(self, resource: Resource, continued: Mapping[str, Published]) -> Published:
        """Write a list, unless the current release has it: the key is a digest of its pieces and its caching."""
        content = self._content(resource)
        key = encoding.digest(
            encoding.json(
                [
                    resource.max_age,
                    resource.restricted,
                    [piece.digest for piece in content.pieces],
                    (content.start + content.end).decode(),
                ]
            )
        )
        previous = continued.get(resource.url)
        # Like an unchanged body, a list with an unchanged key need not be written again.
        if (
            self.publisher.skip_unchanged
            and previous
            and self.cache.get(LISTS, resource.url, key) is not None
            and self.publisher.bodies.reuse(previous, previous)
        ):
            return previous
        self.cache.put(LISTS, resource.url, key, b"")
        modified = content.modified if content.pieces else self.site_modified
        dated = resource._replace(body=resource.body._replace(last_modified=modified))
        if content.size >= LONG:
            return _write_pieces(self.publisher, dated, content, previous)
        text = content.start + b",".join(piece.text() for piece in content.pieces) + content.end
        return self.publisher.publish(dated._replace(body=dated.body._replace(value=text)), continued)

    def _content(self, resource: Resource) -> PieceList:
        value = resource.body.value
        if isinstance(value, JoinedBodies):
            bodies = [self.bodies[url] for url in value.urls]
            modified, size = max((body.modified for body in bodies), default=0), sum(body.size for body in bodies)
            start, end = value.start.encode(), value.end.encode()
            return PieceList(start, list(map(self._series_piece, bodies)), end, modified, size)
        assert isinstance(value, AllChapters)
        pieces = [self._chapters_piece(bucket, value.date_format) for bucket in self._buckets]
        size = self.chapters.size + len(self.chapters.records) - len(pieces)
        return PieceList(b'{"results":[', pieces, b"]}", self.chapters.modified, size)

    @cached_property
    def _buckets(self) -> list[ChapterBucket]:
        """All buckets in the order of the list, newest chapters first; a bucket is sorted when it is joined."""
        records = defaultdict[bytes, list[bytes]](list)
        for record in self.chapters.records:
            records[record[:_BUCKET]].append(record)
        return [
            ChapterBucket(start.hex(), encoding.digest(b"".join(own)), own) for start, own in sorted(records.items())
        ]

    def forget_unused(self) -> None:
        """Forget the buckets that have no chapters any more."""
        unused = self.cache.items(CHAPTERS) - {bucket.name for bucket in self._buckets}
        self.cache.forget(CHAPTERS, unused)
        self.cache.forget(DEFLATED, (f"{name} {date_format}" for name in unused for date_format in DATE_FORMATS))

    def _series_piece(self, body: Published) -> Piece:
        path = f"{self.publisher.bodies.root}/{body.file}"

        def text() -> bytes:
            return _checked(path, body.etag)

        def compressed() -> bytes:
            packed = read_regular(f"{path}.gz") if body.gzip else None
            return encoding.piece_of_gzip(packed) if packed else encoding.deflate_piece(text())

        return Piece(body.etag, text, compressed)

    def _chapters_piece(self, bucket: ChapterBucket, date_format: str) -> Piece:
        def joined() -> bytes:
            return b",".join(map(self._chapter, sorted(bucket.records)))

        def text() -> bytes:
            return convert_dates(self.cache.memo(CHAPTERS, bucket.name, bucket.digest, joined), date_format)

        def compressed() -> bytes:
            name = f"{bucket.name} {date_format}"
            return self.cache.memo(DEFLATED, name, bucket.digest, lambda: encoding.deflate_piece(text()))

        return Piece(f"{bucket.digest} {date_format}", text, compressed)

    def _chapter(self, record: bytes) -> bytes:
        """The body of a chapter."""
        number, etag = series_renderer.id_and_etag(record)
        restricted = is_restricted("/api/v2/chapters/{id}", self.publisher.site)
        resource = Resource(f"/api/v2/chapters/{number}", Body(b"", 0), 0, restricted)
        return _checked(f"{self.publisher.bodies.root}/{manifest.body_file(resource, etag)}", etag)


def _checked(path: str, etag: str) -> bytes:
    """A body. Raises `Damaged` if the release has lost it: all series are rendered again then."""
    text = read_regular(path)
    if text is None or encoding.etag(text) != etag:
        raise Damaged
    return text


def _write_pieces(
    publisher: ResourcePublisher, resource: Resource, content: PieceList, previous: Published | None
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
        publisher.bodies.finish(published, body, compressed, previous)
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


def is_joined(resource: Resource) -> bool:
    return isinstance(resource.body.value, JoinedBodies | AllChapters)
