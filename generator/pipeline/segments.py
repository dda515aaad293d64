"""The long files of a release (manifest and maps), as one segment for the whole catalog and one for each series.

An unchanged segment is copied from the current release, a new one from a scratch file.
"""

import os
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from .. import encoding
from ..filesystem import PartialFile
from ..release import manifest
from .cache import Damaged
from .publish import MAPS, Segment, SegmentSummary

# The long files of a release, each with the bytes between two segments, in the order of a segment's parts.
FILES = {"manifest.json": manifest.SEPARATOR, **{f"{name}.map": b"" for name in MAPS}}

# The number of bytes to read at a time; a longer segment is read at once.
_BLOCK = 1 << 22


class Extent(NamedTuple):
    """The place of one part of a segment in an open file, and the checksum of the part."""

    file: int
    offset: int
    length: int
    crc: int


class StoredSegment(NamedTuple):
    """The places of a segment's parts, in the order of FILES."""

    extents: tuple[Extent, ...]
    summary: SegmentSummary


@dataclass(slots=True)
class Segments:
    """All segments of the new release. The slug of the whole catalog's segment is empty."""

    # The file for new segments.
    scratch: PartialFile
    stored: dict[str, StoredSegment] = field(default_factory=dict)
    _open: list[int] = field(default_factory=list)

    def __enter__(self) -> "Segments":
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._open:
            os.close(file)

    def load(self, folder: Path, dumped: Mapping[str, Any]) -> None:
        """Add all segments of the release in `folder`, which `dump` described."""
        files = []
        for name in FILES:
            files.append(os.open(folder / name, os.O_RDONLY))
            self._open.append(files[-1])
        for slug, (places, summary) in dumped.items():
            extents = tuple(Extent(file, *place) for file, place in zip(files, places, strict=True))
            self.stored[slug] = StoredSegment(extents, _summary(summary))

    def put(self, slug: str, segment: Segment) -> None:
        """Add or replace a segment."""
        extents = []
        for text in (segment.manifest, *segment.maps):
            extents.append(Extent(self.scratch.descriptor, self.scratch.size, len(text), zlib.crc32(text)))
            self.scratch.write(text)
        self.stored[slug] = StoredSegment(tuple(extents), segment.summary)

    def has_bodies(self, slug: str, root: Path) -> bool:
        """Whether the segment of a series exists, and the bodies below `root` probably do."""
        return slug in self.stored and _sample_exists(self.stored[slug].summary, root)

    def in_order(self) -> list[tuple[str, StoredSegment]]:
        return sorted(self.stored.items())

    def parts(self, name: str, *, checked: bool = False) -> Iterator[bytes]:
        """The content of a long file in blocks; `checked` compares the checksum of each segment."""
        between = FILES[name]
        for number, extents in enumerate(self._adjacent(name)):
            start, last = extents[0].offset, extents[-1]
            text = os.pread(last.file, last.offset + last.length - start, start)
            view = memoryview(text)
            for extent in extents if checked else ():
                if zlib.crc32(view[extent.offset - start :][: extent.length]) != extent.crc:
                    raise Damaged
            if number:
                yield between
            yield text

    def _adjacent(self, name: str) -> Iterator[list[Extent]]:
        """Groups of extents that can be read at once: they are adjacent in their file and will be in the new one."""
        index, between = list(FILES).index(name), FILES[name]
        group: list[Extent] = []
        for extent in (segment.extents[index] for _, segment in self.in_order() if segment.extents[index].length):
            if group:
                last = group[-1]
                follows = extent.file == last.file and extent.offset == last.offset + last.length + len(between)
                if not follows or extent.offset + extent.length - group[0].offset > _BLOCK:
                    yield group
                    group = []
            group.append(extent)
        if group:
            yield group

    def dump(self, head_length: int) -> dict[str, Any]:
        """The places of all segments in the files of the new release, whose manifest has a head of this length."""
        ends = [head_length - len(manifest.SEPARATOR)] + [0] * len(MAPS)
        dumped = {}
        for slug, segment in self.in_order():
            places = []
            for index, (extent, between) in enumerate(zip(segment.extents, FILES.values(), strict=True)):
                start = ends[index] + len(between) if extent.length else ends[index]
                places.append((start, extent.length, extent.crc))
                ends[index] = start + extent.length if extent.length else ends[index]
            dumped[slug] = [places, [list(item) if isinstance(item, array) else item for item in segment.summary]]
        return dumped


def _summary(dumped: Iterable[Any]) -> SegmentSummary:
    summary = SegmentSummary(*dumped)
    return summary._replace(chapters=array("q", summary.chapters))


def _sample_exists(summary: SegmentSummary, root: Path) -> bool:
    return os.path.exists(f"{root}/{summary.sample_file}")


def all_have_bodies(dumped: Mapping[str, Any], root: Path) -> bool:
    """Whether the bodies of all segments probably exist below `root`; `dumped` is the result of `Segments.dump`."""
    return all(_sample_exists(SegmentSummary(*summary), root) for _, summary in dumped.values())


class PreparedRelease(NamedTuple):
    """A release whose files are determined, but not visible yet."""

    id: str
    files: Mapping[str, Callable[[], Iterable[bytes]]]
    # The length of the head of its manifest.
    head_length: int


# Passes on the parts of a file of the release, and may write them.
PassThrough = Callable[[str, Iterator[bytes]], Iterator[bytes]]


def prepare(
    segments: Segments,
    small_files: Mapping[str, bytes],
    highest_id: int,
    page_ids: Mapping[str, int],
    write_ahead: PassThrough,
) -> PreparedRelease:
    """Compute the id of a release, which is a digest of all its files."""
    long = [name for name in FILES if name != "manifest.json"]
    digests = {name: encoding.sha256(text) for name, text in small_files.items()}
    digests |= {name: encoding.sha256_of_chunks(write_ahead(name, segments.parts(name, checked=True))) for name in long}
    lengths = {slug: stored.extents[0].length for slug, stored in segments.in_order() if stored.extents[0].length}
    head = manifest.Head(digests, highest_id, page_ids, lengths).dump()

    def manifest_parts(*, checked: bool = False) -> Iterator[bytes]:
        return chain((head,), segments.parts("manifest.json", checked=checked), (manifest.RESOURCES_END,))

    release = manifest.release_id(encoding.sha256_of_chunks(write_ahead("manifest.json", manifest_parts(checked=True))))
    files: dict[str, Callable[[], Iterable[bytes]]] = {"manifest.json": manifest_parts}
    for name in long:
        files[name] = partial(segments.parts, name)
    for name, text in small_files.items():
        files[name] = partial(iter, [manifest.with_release_id(text, release)])
    return PreparedRelease(release, files, len(head))
