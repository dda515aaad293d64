"""The URLs that differ between two releases: the only comparison of releases."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from . import manifest
from .manifest import Entry, Published

ADDED, CHANGED, REMOVED = KINDS = ("added", "changed", "removed")


class EntryDifference(NamedTuple):
    """A URL whose lines differ in two releases; None stands for a missing line."""

    # The series that has the URL, in the newer release if both have it; empty for the catalog as a whole.
    slug: str
    url: str
    old: Entry | None
    new: Entry | None

    @property
    def bodies(self) -> tuple[Published | None, Published | None]:
        """The older and the newer body; None for gates and aliases, too."""
        old, new = (entry if isinstance(entry, Published) else None for entry in (self.old, self.new))
        return old, new

    @property
    def kind(self) -> str | None:
        """One of KINDS if the body differs; None if only other facts do, such as max-age, or the gate."""
        old, new = self.bodies
        if old and new:
            return CHANGED if old.etag != new.etag else None
        return ADDED if new else REMOVED if old else None


class Lines(Protocol):
    """The lines of a release by series: a manifest, or the segments of a build."""

    @property
    def name(self) -> str:
        """The name in messages."""

    @property
    def segments(self) -> Collection[str]:
        """The slugs of the series with lines; an empty one for the catalog as a whole."""

    def segment(self, slug: str) -> bytes:
        """The lines of a series."""


def differences(old: Lines, new: Lines, slugs: Iterable[str] | None = None) -> Iterator[EntryDifference]:
    """Yield the URLs whose lines differ, series by series; `slugs` are those that can differ, or None for all.

    A URL that only one release has in a series waits for the other one until the end: a chapter that moved to another
    series is one difference, or none if its lines are the same. Besides one series, this holds these URLs: about 650
    bytes for each.
    """
    added: dict[str, tuple[str, Entry]] = {}
    removed: dict[str, tuple[str, Entry]] = {}
    for slug in sorted({*old.segments, *new.segments} if slugs is None else slugs):
        before, after = _differing_entries(old, new, slug)
        for url, entry in after.items():
            if url in before or not old.segments:  # nothing can have moved in a first release
                yield EntryDifference(slug, url, before.pop(url, None), entry)
            else:
                added[url] = slug, entry
        removed.update((url, (slug, entry)) for url, entry in before.items())
    for url, (slug, entry) in added.items():
        _, former = removed.pop(url, (slug, None))
        if former != entry:
            yield EntryDifference(slug, url, former, entry)
    for url, (slug, entry) in removed.items():
        yield EntryDifference(slug, url, entry, None)


def _differing_entries(old: Lines, new: Lines, slug: str) -> tuple[dict[str, Entry], dict[str, Entry]]:
    """The entries of a series that only the older or only the newer release has, by URL. No other line is parsed."""
    before, after = old.segment(slug), new.segment(slug)
    if before == after:
        return {}, {}
    old_lines, new_lines = (dict.fromkeys(lines.split(manifest.SEPARATOR)) for lines in (before, after))
    return _entries(old_lines, new_lines, old.name), _entries(new_lines, old_lines, new.name)


def _entries(lines: Iterable[bytes], others: Collection[bytes], name: str) -> dict[str, Entry]:
    text = manifest.SEPARATOR.join(line for line in lines if line not in others)
    return {entry.url: entry for entry in manifest.parse_entries(text, name)}


# The differences by series, for people: how many series are listed, and how many URLs of each; the others are counted.
MAX_SERIES = 50
MAX_URLS = 20


@dataclass(slots=True)
class SeriesChanges:
    """Changed URLs of a series, or of the catalog as a whole if the slug is empty."""

    slug: str
    counts: Counter[str] = field(default_factory=Counter)
    # The kind and the URL of the first MAX_URLS changes, in the order of KINDS.
    urls: list[tuple[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class ReleaseChanges:
    """Changed URLs of a release: the first MAX_SERIES series, and the totals of the others."""

    listed: list[SeriesChanges]
    other_series: int
    other_counts: Counter[str]


def release_changes(differing: Iterable[EntryDifference]) -> ReleaseChanges:
    """Count and list the URLs with another body."""
    by_slug: dict[str, SeriesChanges] = {}
    for difference in differing:
        if kind := difference.kind:
            series = by_slug.setdefault(difference.slug, SeriesChanges(difference.slug))
            series.counts[kind] += 1
            if series.counts[kind] <= MAX_URLS:
                series.urls.append((kind, difference.url))
    every = [series for _, series in sorted(by_slug.items())]
    for series in every:
        series.urls = sorted(series.urls, key=lambda change: KINDS.index(change[0]))[:MAX_URLS]
    others = every[MAX_SERIES:]
    return ReleaseChanges(every[:MAX_SERIES], len(others), sum((series.counts for series in others), Counter()))
