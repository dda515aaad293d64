"""Counts and files that a build collects while it publishes segments; the commit and the result use them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain

from ..release import manifest
from ..release.bodies import WriteTotals
from ..release.manifest import Published
from ..release.transaction import FilesByRelease
from .publish import SegmentChange
from .removals import Removals


@dataclass(slots=True)
class ReleaseTotals:
    """Sums over all segments of the new release, compared with the current release."""

    # The number of URLs that were added, changed, removed and left unchanged.
    counts: Counter[str] = field(default_factory=lambda: Counter(added=0, changed=0, removed=0, unchanged=0))
    # The slugs of the series with an added, changed or removed URL.
    changed_series: set[str] = field(default_factory=set)
    # The number of bytes written to bodies, sidecars and compressed forms.
    written: int = 0
    # The number of published chapters without an id; API version 2 cannot have them.
    chapters_without_id: int = 0
    # The series and chapters that the release before published and this one does not.
    removals: Removals = field(default_factory=Removals)
    # Files of the current release that the segment which had them no longer has.
    dropped_files: set[str] = field(default_factory=set)
    # Files that another segment has now, because a chapter moved to another series.
    moved_files: set[str] = field(default_factory=set)
    # Files that only older releases have, by the newest release that has them.
    retained_files: FilesByRelease = field(default_factory=dict)
    # Files among `retained_files` that the new release has again.
    returned_files: set[str] = field(default_factory=set)
    # Bodies of the current release whose Last-Modified changes when the new release becomes visible.
    redate_after_commit: list[Published] = field(default_factory=list)

    @property
    def protected_files(self) -> frozenset[str]:
        """The files that must not be overwritten, although the current release does not have them."""
        return frozenset(chain.from_iterable(self.retained_files.values()))

    def add_segment(self, slug: str, change: SegmentChange, output: WriteTotals) -> None:
        """Add a published segment: that of a series, or with an empty slug that of the whole catalog."""
        self.counts.update(change.counts)
        if slug and set(+change.counts) - {"unchanged"}:
            self.changed_series.add(slug)
        # The series that had the moved URLs before counts them as removed.
        self.counts["removed"] -= change.moved_urls
        self.dropped_files.update(change.dropped_files)
        self.moved_files.update(change.moved_files)
        self.add_output(output)

    def add_output(self, output: WriteTotals) -> None:
        self.redate_after_commit += output.redate_after_commit
        self.returned_files |= output.returned_files
        self.written += output.written_bytes

    def add_removed_series(self, slug: str, bodies: Iterable[Published]) -> None:
        """Add a series that the catalog no longer has, with the bodies of the current release."""
        files = [manifest.files(body) for body in bodies]
        self.changed_series.add(slug)
        self.counts["removed"] += len(files)
        self.dropped_files.update(chain.from_iterable(files))

    def still_retained_files(self) -> dict[str, list[str]]:
        """`retained_files` without those that the new release has again."""
        return {release: sorted(set(files) - self.returned_files) for release, files in self.retained_files.items()}
