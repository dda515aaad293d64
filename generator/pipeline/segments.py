"""The long files of a release, in runs of lines: one of what is about all series, then one of each series.

A run that did not change is copied from the release before, one that did from where it was put aside.
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

# The file of a release that each part of a run belongs to, and what stands between two of them.
FILES = {"manifest.json": manifest.SEPARATOR, **{f"{name}.map": b"" for name in MAPS}}


# So much is read at a time, a longer run excepted.
_LONGEST = 1 << 22


class Extent(NamedTuple):
    """Where a part of a run lies in one of several open files, and its checksum."""

    file: int
    offset: int
    length: int
    crc: int


class StoredSegment(NamedTuple):
    """Where the parts of a run are, in the order of FILES."""

    places: tuple[Extent, ...]
    counted: SegmentSummary


@dataclass(slots=True)
class Segments:
    """All runs of a release in the making."""

    aside: PartialFile
    kept: dict[str, StoredSegment] = field(default_factory=dict)
    _open: list[int] = field(default_factory=list)

    def __enter__(self) -> "Segments":
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._open:
            os.close(file)

    def remembered(self, folder: Path, remembered: Mapping[str, Any]) -> None:
        """The runs of the release in `folder`, as `dump` told of them."""
        files = []
        for name in FILES:
            files.append(os.open(folder / name, os.O_RDONLY))
            self._open.append(files[-1])
        for slug, (places, counted) in remembered.items():
            where = tuple(Extent(file, *place) for file, place in zip(files, places, strict=True))
            told = SegmentSummary(*counted)
            self.kept[slug] = StoredSegment(where, told._replace(chapters=array("q", told.chapters)))

    def put(self, slug: str, run: Segment) -> None:
        places = []
        for text in (run.manifest, *run.maps):
            places.append(Extent(self.aside.descriptor, self.aside.size, len(text), zlib.crc32(text)))
            self.aside.write(text)
        self.kept[slug] = StoredSegment(tuple(places), run.counted)

    def is_there(self, slug: str, root: Path) -> bool:
        return is_there(self.kept[slug].counted, root)

    def in_order(self) -> list[tuple[str, StoredSegment]]:
        return sorted(self.kept.items())

    def parts(self, name: str, *, checked: bool = False) -> Iterator[bytes]:
        """The content of a file, many runs at a time; if it is `checked`, they are what they were."""
        between = FILES[name]
        for number, stretch in enumerate(self._stretches(name)):
            start, last = stretch[0].offset, stretch[-1]
            text = os.pread(last.file, last.offset + last.length - start, start)
            view = memoryview(text)
            for place in stretch if checked else ():
                if zlib.crc32(view[place.offset - start :][: place.length]) != place.crc:
                    raise Damaged
            if number:
                yield between
            yield text

    def _stretches(self, name: str) -> Iterator[list[Extent]]:
        """Segments that follow each other as they will in the file."""
        index, between = list(FILES).index(name), FILES[name]
        stretch: list[Extent] = []
        for place in (kept.places[index] for _, kept in self.in_order() if kept.places[index].length):
            if stretch:
                last = stretch[-1]
                follows = place.file == last.file and place.offset == last.offset + last.length + len(between)
                if not follows or place.offset + place.length - stretch[0].offset > _LONGEST:
                    yield stretch
                    stretch = []
            stretch.append(place)
        if stretch:
            yield stretch

    def dump(self, offset: int) -> dict[str, Any]:
        """Where everything lies in the files of the release, of which the manifest has a head of some length."""
        ends = [offset - len(manifest.SEPARATOR)] + [0] * len(MAPS)
        found = {}
        for slug, kept in self.in_order():
            places = []
            for index, (place, between) in enumerate(zip(kept.places, FILES.values(), strict=True)):
                start = ends[index] + len(between) if place.length else ends[index]
                places.append((start, place.length, place.crc))
                ends[index] = start + place.length if place.length else ends[index]
            found[slug] = [places, [list(one) if isinstance(one, array) else one for one in kept.counted]]
        return found


def is_there(counted: SegmentSummary, root: Path) -> bool:
    """Whether a run still has bodies, to all appearances."""
    return os.path.exists(f"{root}/{counted.sample}")


def samples(remembered: Mapping[str, Any], root: Path) -> bool:
    """The same of all runs that `dump` told of."""
    return all(is_there(SegmentSummary(*counted), root) for _, counted in remembered.values())


class PreparedRelease(NamedTuple):
    """A release that is known to the last byte and not yet visible."""

    release: str
    files: Mapping[str, Callable[[], Iterable[bytes]]]
    # How long the head of its manifest is.
    head: int


# Hands on the parts of a file of the release, and may write them on the way.
Passing = Callable[[str, Iterator[bytes]], Iterator[bytes]]


def seal(
    runs: Segments, small: Mapping[str, bytes], highest_id: int, page_ids: Mapping[str, int], passing: Passing
) -> PreparedRelease:
    """Give a release its name, which is a digest of all that is in it."""
    long = [name for name in FILES if name != "manifest.json"]
    digests = {name: encoding.sha256(text) for name, text in small.items()}
    digests |= {name: encoding.sha256_of_chunks(passing(name, runs.parts(name, checked=True))) for name in long}
    lengths = {slug: kept.places[0].length for slug, kept in runs.in_order() if kept.places[0].length}
    head = manifest.Head(digests, highest_id, page_ids, lengths).dump()

    def whole(*, checked: bool = False) -> Iterator[bytes]:
        return chain((head,), runs.parts("manifest.json", checked=checked), (manifest.RESOURCES_END,))

    release = manifest.release_id(encoding.sha256_of_chunks(passing("manifest.json", whole(checked=True))))
    files: dict[str, Callable[[], Iterable[bytes]]] = {"manifest.json": whole}
    for name in long:
        files[name] = partial(runs.parts, name)
    for name, text in small.items():
        files[name] = partial(iter, [manifest.with_release_id(text, release)])
    return PreparedRelease(release, files, len(head))
