"""Resources -> bodies on the disk, and the lines that a release has of them."""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from .. import encoding
from ..api.resources import Gate, Resource
from ..catalog.site_settings import Site
from ..nginx import maps
from ..release import manifest
from ..release.bodies import BodyWriter
from ..release.changes import url_changes
from ..release.manifest import Published

# The long files of a release but its manifest, in an order.
MAPS = (*maps.MAPS, "validators", "pages")


class SegmentSummary(NamedTuple):
    """What there is to know of a run without reading it."""

    resources: int
    # How many lines each of the maps has of it, and how long the longest is.
    lines: list[int]
    longest: int
    # The days on which its bodies changed.
    days: list[int]
    # The chapters of v2 in it: they are called by their ids, and may have been another series' before.
    chapters: "array[int]"
    # The URLs of bodies that are bigger than site.yaml wants them, and how big.
    big: list[tuple[str, int]]
    # The file of one of its bodies: where that is gone, others may be.
    sample: str


class Segment(NamedTuple):
    """What a series adds to each of the long files of a release, or what is about all series does."""

    manifest: bytes
    maps: list[bytes]
    counted: SegmentSummary


class SegmentChange(NamedTuple):
    """What a run says that the release before did not say."""

    counts: Counter[str]
    # The files that it had and this one has not.
    gone: list[str]
    # How many of its URLs were another series' before, and their files now.
    taken: int
    kept: list[str]


@dataclass(slots=True)
class Publisher:
    """Prints the resources of one run after the other."""

    bodies: BodyWriter
    site: Site
    now: int
    # Whether the lines that are continued were written by this program: then an old body has all that it should have.
    trusting: bool
    letters: dict[tuple[bool, int], str] = field(init=False)

    def __post_init__(self) -> None:
        self.letters = maps.age_letters(self.site)

    def publish(self, one: Resource, older: Mapping[str, Published], served: Mapping[str, Published]) -> Published:
        """Write what is not there yet. Validators go on from `older`, files from what is `served`."""
        body = encoding.body(one.body.value)
        tag, old, there = encoding.etag(body), older.get(one.url), served.get(one.url)
        if self.trusting and old and old.etag == tag:
            found = old._replace(max_age=one.max_age)
            if manifest.body_file(one, tag) == old.file and self.bodies.reuse(found, there):
                return found
        packed = encoding.gzip(body)
        content = encoding.BodyDigests(tag, encoding.sha256(body), len(body))
        found = manifest.with_validators(one, content, packed is not None, old, self.now)
        self.bodies.put(found, body, packed, there)
        return found

    def run(
        self,
        published: Sequence[Published],
        gates: Iterable[Gate] = (),
        pages: Iterable[tuple[str, str]] = (),
        chapters: Iterable[int] = (),
    ) -> Segment:
        found: dict[str, list[bytes]] = {name: [] for name in MAPS}
        for line in chain(
            (maps.body_line(one, self.letters) for one in published),
            map(maps.gate_line, gates),
            (maps.page_line(*one) for one in pages),
        ):
            found[line.map].append(line.text.encode())
        counted = SegmentSummary(
            resources=len(published),
            lines=list(map(len, found.values())),
            longest=max((len(line) for lines in found.values() for line in lines), default=0),
            days=sorted(set(map(maps.day, published))),
            chapters=array("q", chapters),
            big=[(one.url, one.size) for one in published if one.size > self.site.body_budget << 20],
            sample=published[0].file if published else "",
        )
        texts = [b"".join(lines) for lines in found.values()]
        return Segment(manifest.SEPARATOR.join(map(manifest.line, published)), texts, counted)


def change(
    served: Mapping[str, Published], published: Sequence[Published], others: Mapping[str, Published] | None = None
) -> SegmentChange:
    """`served` are the lines that the run had; some of what it publishes may have stood among those of `others`."""
    now = {one.url: one for one in published}
    changes = url_changes(served, now, others)
    kept = [file for url in changes.moved for file in manifest.files(now[url])]
    files = {file for one in published for file in manifest.files(one)}
    gone = [file for one in served.values() for file in manifest.files(one) if file not in files]
    return SegmentChange(changes.counts, gone, len(changes.moved), kept)
