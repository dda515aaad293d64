"""Find the URLs whose responses differ between two releases. Compares ETags and redirects, and reads no bodies."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ...release.changes import differences
from .json_diff import ADDED, CHANGED, REMOVED
from .release_view import GROUPS, ReleaseView, UrlResponse, response_of

# Same body, different max-age.
RETIMED = "retimed"
_CHAPTER = re.compile(r"/api/v2/chapters/(\d+)")
_OF_SERIES = re.compile(r"/api/v2/(?:series|cubari)/([^/]+)")
# The reader URL of a chapter ends with slug, volume and number.
_READER = re.compile(r".*/([^/]+)/[^/]+/[^/]+/")


class UrlDifference(NamedTuple):
    """A URL with different responses, and the slug of the series that it belongs to, or ""."""

    url: str
    slug: str
    old: UrlResponse | None
    new: UrlResponse | None

    @property
    def kind(self) -> str:
        if not (self.old and self.new):
            return REMOVED if self.old else ADDED
        return RETIMED if self.old.without_max_age == self.new.without_max_age else CHANGED

    @property
    def max_ages(self) -> tuple[int, int] | None:
        """Old and new max-age in seconds, if both responses have bodies and the values differ."""
        values = [response.max_age for response in (self.old, self.new) if response and response.body]
        return (values[0], values[1]) if len(set(values)) > 1 else None

    @property
    def access(self) -> tuple[str, str] | None:
        """Old and new access of a client without an API key, if they differ."""
        before, after = (response.access if response else "404" for response in (self.old, self.new))
        return (before, after) if before != after and self.old and self.new else None


@dataclass(slots=True)
class Comparison:
    """Everything that differs between two releases."""

    old: ReleaseView
    new: ReleaseView
    by_url: dict[str, UrlDifference] = field(default_factory=dict)
    unchanged: int = 0
    # Configuration files with different settings.
    settings: list[str] = field(default_factory=list)

    @property
    def differences(self) -> list[UrlDifference]:
        """The differences in the order of URLs."""
        return [difference for _, difference in sorted(self.by_url.items())]

    @property
    def counts(self) -> dict[str, int]:
        counts = Counter(difference.kind for difference in self.by_url.values())
        return {kind: counts[kind] for kind in (ADDED, CHANGED, REMOVED, RETIMED)} | {"unchanged": self.unchanged}

    @property
    def differs(self) -> bool:
        return bool(self.by_url or self.settings)

    @property
    def left_out(self) -> str:
        """What is not compared because a release is only a manifest, or ""."""
        return "" if self.old.configuration.exists and self.new.configuration.exists else "settings"


def compare(old: ReleaseView, new: ReleaseView) -> Comparison:
    comparison = Comparison(old, new, {difference.url: difference for difference in _differing_bodies(old, new)})
    bodies = sum(map(new.manifest.count, new.manifest.segments))
    comparison.unchanged = bodies - sum(1 for difference in comparison.by_url.values() if difference.new)
    _compare_gates(comparison)
    if not comparison.left_out:
        # Configuration files that differ in more than what follows from the catalog.
        before, after = old.configuration, new.configuration
        comparison.settings = [
            name
            for name in sorted(before.digests | after.digests)
            if before.digests.get(name) != after.digests.get(name) and before.settings(name) != after.settings(name)
        ]
    return comparison


def compare_series(old: ReleaseView, new: ReleaseView, slugs: Iterable[str]) -> Comparison:
    """Compare the bodies of these series only, and the list of groups, which describes the groups of chapters."""
    differing = _differing_bodies(old, new, ["", *slugs])
    return Comparison(
        old,
        new,
        {difference.url: difference for difference in differing if difference.slug or difference.url == GROUPS},
    )


def _differing_bodies(
    old: ReleaseView, new: ReleaseView, slugs: Iterable[str] | None = None
) -> Iterator[UrlDifference]:
    """The URLs whose bodies differ. Another date alone is no difference."""
    for difference in differences(old.manifest, new.manifest, slugs):
        before, after = (body and response_of(body) for body in difference.bodies)
        if (before and before.without_body) != (after and after.without_body):
            yield UrlDifference(difference.url, difference.slug, before, after)


def _compare_gates(comparison: Comparison) -> None:
    """Compare the redirects and licences. A URL may be a gate in one release and have a body in the other."""
    old, new = comparison.old.gates(), comparison.new.gates()
    series_of_chapter = {
        match[1]: difference.slug for url, difference in comparison.by_url.items() if (match := _CHAPTER.match(url))
    }

    redirects = comparison.old.redirects | comparison.new.redirects

    def slug_of(url: str) -> str:
        if url in redirects:
            return redirects[url].rpartition("/")[2]
        if match := _OF_SERIES.match(url):
            return match[1]
        chapter = _CHAPTER.match(url)
        slug = series_of_chapter.get(chapter[1], "") if chapter else ""
        reader = _READER.fullmatch((new.get(url) or old[url]).etag_or_target)
        return slug or (reader[1] if reader else "")

    for url in sorted(old.keys() | new.keys()):
        before, after, previous = old.get(url), new.get(url), comparison.by_url.pop(url, None)
        if previous:
            before, after = before or previous.old, after or previous.new
        if before and after and before.without_body == after.without_body:
            comparison.unchanged += 1
        else:
            slug = previous.slug if previous and not new.get(url) else slug_of(url)
            comparison.by_url[url] = UrlDifference(url, slug, before, after)
