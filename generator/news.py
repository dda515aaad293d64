"""What a release says that the one before it did not: which URLs, by series. So many are told, the others counted."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from .artifact import Published
from .ledger import Ledger

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


@dataclass
class News:
    """Two releases, compared series by series; the same one twice is no news."""

    before: Ledger
    now: Ledger
    told: list[Changes] = field(default_factory=list)
    # What became of the URLs of all other series, and how many these are.
    untold: Counter[str] = field(default_factory=Counter)
    others: int = 0

    def look(self, slug: str, bodies: Mapping[str, Published]) -> None:
        """Find what is new in a series that has these bodies now."""
        if self.before.run(slug) == self.now.run(slug):
            return
        found = self._changes(slug, bodies)
        counts = Counter({kind: len(urls) for kind, urls in found.items() if urls})
        if not counts:
            return  # dates and ages are sent, but nobody sees them
        if len(self.told) < SERIES:
            urls = [(kind, url) for kind in KINDS for url in found[kind]]
            self.told.append(Changes(slug, counts, urls[:URLS]))
        else:
            self.untold += counts
            self.others += 1

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
