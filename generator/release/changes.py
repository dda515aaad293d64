"""The URLs that differ between two releases, by series."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from .manifest import Published
from .manifest_reader import ManifestReader

# How many changed series are listed, and how many URLs of each; the others are counted.
MAX_SERIES = 50
MAX_URLS = 20
KINDS = ("added", "changed", "removed")
_CHAPTER = re.compile(r"/api/v2/chapters/(\d+)")


@dataclass(frozen=True, slots=True)
class UrlChanges:
    """Differences between the bodies of two releases, or of one series in two releases."""

    added: list[str]
    changed: list[str]
    removed: list[str]
    unchanged: int
    # URLs with a body now that belonged to another series before.
    moved: list[str]

    @property
    def counts(self) -> Counter[str]:
        """The number of URLs by kind; kinds without any are left out."""
        kinds = {"added": self.added, "changed": self.changed, "removed": self.removed}
        return +Counter({**{kind: len(urls) for kind, urls in kinds.items()}, "unchanged": self.unchanged})


def url_changes(
    before: Mapping[str, Published], now: Mapping[str, Published], elsewhere: Mapping[str, Published] | None = None
) -> UrlChanges:
    """Compare bodies by URL and ETag. `elsewhere`: bodies of other series whose chapters may have moved here."""
    added, changed, moved = [], [], []
    for url, body in now.items():
        old = before.get(url)
        if old is None and elsewhere and (old := elsewhere.get(url)):
            moved.append(url)
        if old is None:
            added.append(url)
        elif old.etag != body.etag:
            changed.append(url)
    removed = [url for url in before if url not in now]
    return UrlChanges(added, changed, removed, len(now) - len(added) - len(changed), moved)


@dataclass(slots=True)
class SeriesChanges:
    """Changed URLs of a series, or of the catalog as a whole if the slug is empty."""

    slug: str
    counts: Counter[str]
    # The kind and the URL of the first MAX_URLS changes.
    urls: list[tuple[str, str]]


@dataclass(slots=True)
class ReleaseChanges:
    """Changed URLs of a release: the first MAX_SERIES series, and the totals of the others."""

    listed: list[SeriesChanges] = field(default_factory=list)
    other_series: int = 0
    other_counts: Counter[str] = field(default_factory=Counter)

    def add(self, slug: str, changes: UrlChanges) -> None:
        counts = Counter({kind: count for kind, count in changes.counts.items() if kind in KINDS})
        if not counts:
            return  # lines of the same bodies can differ in other facts, such as max-age
        if len(self.listed) < MAX_SERIES:
            urls = [(kind, url) for kind in KINDS for url in getattr(changes, kind)]
            self.listed.append(SeriesChanges(slug, counts, urls[:MAX_URLS]))
        else:
            self.other_series += 1
            self.other_counts += counts


class ReleaseComparison:
    """Compares two releases series by series. A release does not differ from itself."""

    def __init__(self, before: ManifestReader, now: ManifestReader) -> None:
        self.before, self.now, self.changes = before, now, ReleaseChanges()

    def add(self, slug: str, bodies: Mapping[str, Published]) -> None:
        """Record the changes of a series that has these bodies now."""
        if self.before.segment(slug) != self.now.segment(slug):
            self.changes.add(slug, self._changes(slug, bodies))

    def _changes(self, slug: str, bodies: Mapping[str, Published]) -> UrlChanges:
        changes = url_changes(self.before.bodies(slug), bodies, self._elsewhere(slug, bodies))
        # A chapter that moved to another series keeps its URL, so it is not removed.
        return replace(
            changes, removed=[url for url in changes.removed if self._owners_now.get(_chapter(url), slug) == slug]
        )

    def _elsewhere(self, slug: str, bodies: Mapping[str, Published]) -> dict[str, Published]:
        """The former bodies of the series that had some of this series' chapters."""
        owners = self._owners_before
        slugs = {owners[chapter] for chapter in map(_chapter, bodies) if chapter in owners} - {slug}
        return {url: body for owner in sorted(slugs) for url, body in self.before.bodies(owner).items()}

    @cached_property
    def _owners_before(self) -> dict[int, str]:
        """The slug of each chapter's series in the older release."""
        return self.before.chapter_owners()

    @cached_property
    def _owners_now(self) -> dict[int, str]:
        return self.now.chapter_owners()


def _chapter(url: str) -> int:
    """The id of the chapter that a URL belongs to, or 0, which is no chapter's id."""
    match = _CHAPTER.match(url)
    return int(match[1]) if match else 0
