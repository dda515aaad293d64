"""The long files of a release (manifest and maps), as one segment for the whole catalog and one for each series.

The cache holds the lines of every segment; a file is the lines of all segments, joined in the order of the slugs.
"""

import os
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from .. import encoding
from ..nginx import maps
from ..release import manifest
from ..release.rules import Rules
from .cache import Cache, Step
from .publish import Segment, SegmentSummary

# The long files of a release, each with the bytes between two segments, in the order of a segment's parts.
FILES = {"manifest.json": manifest.SEPARATOR, **{f"{name}.map": b"" for name in maps.LONG}}
# The lines of the segments in each of them.
LINES = {file: Step(f"lines of {file}", "series") for file in FILES}

# The number of bytes to join at a time.
_BLOCK = 1 << 20


@dataclass(slots=True)
class Segments:
    """All segments of the new release. The slug of the whole catalog's segment is empty."""

    cache: Cache
    summaries: dict[str, SegmentSummary] = field(default_factory=dict)

    def load(self, dumped: Mapping[str, list[Any]]) -> None:
        """Take over all segments of the cache, given their summaries as JSON."""
        for slug, values in dumped.items():
            summary = SegmentSummary(*values)
            self.summaries[slug] = summary._replace(chapters=array("q", summary.chapters))

    def clear(self) -> None:
        """Remove all segments from the cache."""
        for step in LINES.values():
            self.cache.forget(step)

    def put(self, slug: str, segment: Segment) -> None:
        """Add or replace a segment."""
        self.summaries[slug] = segment.summary
        for step, lines in zip(LINES.values(), (segment.manifest, *segment.maps), strict=True):
            if lines:
                self.cache.put(step, slug, "", lines)
            else:
                self.cache.forget(step, [slug])

    def drop(self, slug: str) -> None:
        del self.summaries[slug]
        for step in LINES.values():
            self.cache.forget(step, [slug])

    def has_bodies(self, slug: str, root: Path) -> bool:
        """Whether the segment of a series exists, and its bodies below `root` probably do: one stands for all."""
        return slug in self.summaries and os.path.exists(f"{root}/{self.summaries[slug].sample_file}")

    @property
    def name(self) -> str:
        return str(self.cache.folder)

    @property
    def segments(self) -> Collection[str]:
        return self.summaries

    def segment(self, slug: str) -> bytes:
        """The manifest lines of a series."""
        return self.cache.get(LINES["manifest.json"], slug) or b""

    def in_order(self) -> list[tuple[str, SegmentSummary]]:
        return sorted(self.summaries.items())

    def parts(self, file: str) -> Iterator[bytes]:
        """Return the content of a long file in blocks of about 1 MB, each with the lines of many segments."""
        separator, block, size = FILES[file], [], 0
        for row in self.cache.rows(LINES[file]):
            block.append(row.value)
            size += len(row.value)
            if size >= _BLOCK:
                yield separator.join(block)
                # The next block begins with the separator.
                block, size = [b""], 0
        yield separator.join(block)


class PreparedRelease(NamedTuple):
    """A release whose files are determined, but not visible yet."""

    id: str
    files: Mapping[str, Callable[[], Iterable[bytes]]]


def prepare(
    segments: Segments,
    small_files: Mapping[str, bytes],
    highest_id: int,
    page_ids: Mapping[str, int],
    rules: Rules,
    digest: Callable[[str, Iterable[bytes]], str],
) -> PreparedRelease:
    """Compute the id of a release, which is a digest of all its files; `digest` returns that of a file."""
    long = [name for name in FILES if name != "manifest.json"]
    digests = {name: encoding.sha256(text) for name, text in small_files.items()}
    digests |= {name: digest(name, segments.parts(name)) for name in long}
    lengths = {slug: summary.manifest_length for slug, summary in segments.in_order() if summary.manifest_length}
    head = manifest.Head(digests, highest_id, page_ids, lengths, rules).dump()

    def manifest_parts() -> Iterator[bytes]:
        return chain((head,), segments.parts("manifest.json"), (manifest.RESOURCES_END,))

    release = manifest.release_id(digest("manifest.json", manifest_parts()))
    files: dict[str, Callable[[], Iterable[bytes]]] = {"manifest.json": manifest_parts}
    for name in long:
        files[name] = partial(segments.parts, name)
    for name, text in small_files.items():
        files[name] = partial(iter, [manifest.with_release_id(text, release)])
    return PreparedRelease(release, files)
