"""What a release says that the one before it did not: which URLs, by series. So many are told, the others counted."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ..api.resources import Published
from .manifest_reader import ManifestReader

# How many series are told, and how many URLs of each.
SERIES = 50
URLS = 20
KINDS = ("added", "changed", "removed")
_CHAPTER = re.compile(r"/api/v2/chapters/(\d+)")


@dataclass(slots=True)
class Changes:
    """In the URLs of a series, or, where the slug is empty, in those that are about all of them."""

    slug: str
    counts: Counter[str]
    # Some of them, and what became of each.
    urls: list[tuple[str, str]]


@dataclass(slots=True)
class News:
    """What has been told, and what became of the URLs of so many other series."""

    told: list[Changes] = field(default_factory=list)
    others: int = 0
    untold: Counter[str] = field(default_factory=Counter)

    def add(self, slug: str, urls: Mapping[str, list[str]]) -> None:
        """What became of the URLs of a series: those that were added, changed and removed."""
        counts = Counter({kind: len(urls[kind]) for kind in KINDS if urls[kind]})
        if not counts:
            return  # a line may say something else of the same body, such as for how long it may be kept
        if len(self.told) < SERIES:
            every = [(kind, url) for kind in KINDS for url in urls[kind]]
            self.told.append(Changes(slug, counts, every[:URLS]))
        else:
            self.others += 1
            self.untold += counts


class Comparison:
    """Two releases, series by series; one release twice is no news."""

    def __init__(self, before: ManifestReader, now: ManifestReader) -> None:
        self.before, self.now, self.news = before, now, News()

    def look(self, slug: str, bodies: Mapping[str, Published]) -> None:
        """Find what is new in a series that has these bodies now."""
        if self.before.run(slug) != self.now.run(slug):
            self.news.add(slug, self._changes(slug, bodies))

    def _changes(self, slug: str, bodies: Mapping[str, Published]) -> dict[str, list[str]]:
        own = self.before.of(slug)
        before = self._elsewhere(slug, bodies) | own
        return {
            "added": [url for url in bodies if url not in before],
            "changed": [url for url, one in bodies.items() if url in before and before[url].etag != one.etag],
            "removed": [url for url in own if url not in bodies and self._now.get(_chapter(url), slug) == slug],
        }

    def _elsewhere(self, slug: str, bodies: Mapping[str, Published]) -> dict[str, Published]:
        """The bodies of series that had some of its chapters: a chapter is called by its id, wherever it is told."""
        owners = {self._then[one] for one in map(_chapter, bodies) if one in self._then} - {slug}
        return {url: one for owner in sorted(owners) for url, one in self.before.of(owner).items()}

    @cached_property
    def _then(self) -> dict[int, str]:
        """Whose each chapter was."""
        return self.before.chapters()

    @cached_property
    def _now(self) -> dict[int, str]:
        """Whose each chapter is."""
        return self.now.chapters()


def _chapter(url: str) -> int:
    """The id of the chapter that a URL is about, or 0, which is nobody's."""
    found = _CHAPTER.match(url)
    return int(found[1]) if found else 0
