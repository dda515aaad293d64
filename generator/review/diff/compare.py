"""Two releases -> the URLs whose answers differ. Bodies are told apart by their tags; none is read here."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from .json_diff import ADDED, CHANGED, REMOVED
from .release_view import ReleaseView, UrlResponse

# The same body, which caches keep for another time.
RETIMED = "retimed"
_CHAPTER = re.compile(r"/api/v2/chapters/(\d+)")
_OF_SERIES = re.compile(r"/api/v2/(?:series|cubari)/([^/]+)")
# Where people read a chapter: the slug, the volume and the number stand last.
_READ = re.compile(r".*/([^/]+)/[^/]+/[^/]+/")


class UrlDifference(NamedTuple):
    """A URL that does not answer as it did, and the series that it is about, if it is about one."""

    url: str
    slug: str
    old: UrlResponse | None
    new: UrlResponse | None

    @property
    def kind(self) -> str:
        if not (self.old and self.new):
            return REMOVED if self.old else ADDED
        return RETIMED if self.old[:3] == self.new[:3] else CHANGED

    @property
    def ages(self) -> tuple[int, int] | None:
        """For how many seconds caches kept it and keep it, where that is not the same."""
        ages = [one.max_age for one in (self.old, self.new) if one and one.body]
        return (ages[0], ages[1]) if len(set(ages)) > 1 else None

    @property
    def access(self) -> tuple[str, str] | None:
        """What somebody without a key got and gets, where that is not the same."""
        before, after = (one.access if one else "404" for one in (self.old, self.new))
        return (before, after) if before != after and self.old and self.new else None


@dataclass(slots=True)
class Comparison:
    """What differs between two releases."""

    old: ReleaseView
    new: ReleaseView
    by_url: dict[str, UrlDifference] = field(default_factory=dict)
    unchanged: int = 0
    # Files of the configuration that somebody changed.
    settings: list[str] = field(default_factory=list)

    @property
    def differences(self) -> list[UrlDifference]:
        """In the order of URLs."""
        return [one for _, one in sorted(self.by_url.items())]

    @property
    def counts(self) -> dict[str, int]:
        found = Counter(one.kind for one in self.by_url.values())
        return {kind: found[kind] for kind in (ADDED, CHANGED, REMOVED, RETIMED)} | {"unchanged": self.unchanged}

    @property
    def differs(self) -> bool:
        return bool(self.by_url or self.settings)

    @property
    def is_partial(self) -> bool:
        """Whether gates are not known on both sides."""
        return not (self.old.has_maps and self.new.has_maps)


def compare(old: ReleaseView, new: ReleaseView) -> Comparison:
    found = Comparison(old, new)
    _compare_bodies(found)
    if not found.is_partial:
        _compare_gates(found)
        found.settings = [name for name in sorted(old.settings | new.settings) if _was_set(old, new, name)]
    return found


def _compare_bodies(found: Comparison) -> None:
    old, new = found.old, found.new
    for slug in sorted(old.ledger.segments.keys() | new.ledger.segments.keys()):
        if old.ledger.segment(slug) == new.ledger.segment(slug):
            found.unchanged += new.count(slug)
        else:
            _join(found, old.answers(slug), new.answers(slug), _always(slug))


def _always(slug: str) -> Callable[[str], str]:
    return lambda _: slug


def _compare_gates(found: Comparison) -> None:
    old, new = found.old.gates(), found.new.gates()
    chapters = {one[1]: other.slug for url, other in found.by_url.items() if (one := _CHAPTER.match(url))}

    def owner(url: str) -> str:
        if one := _OF_SERIES.match(url):
            return one[1]
        chapter = _CHAPTER.match(url)
        known = chapters.get(chapter[1], "") if chapter else ""
        read = _READ.fullmatch((new.get(url) or old[url]).tag)
        return known or (read[1] if read else "")

    _join(found, old, new, owner)


def _join(
    found: Comparison,
    old: Mapping[str, UrlResponse],
    new: Mapping[str, UrlResponse],
    owner: Callable[[str], str],
) -> None:
    """Add what differs; a URL may have been a gate before, or another series' chapter."""
    for url in sorted(old.keys() | new.keys()):
        before, after, known = old.get(url), new.get(url), found.by_url.pop(url, None)
        if known:
            before, after = before or known.old, after or known.new
        if before and after and before[:4] == after[:4]:
            found.unchanged += 1
        else:
            found.by_url[url] = UrlDifference(
                url, known.slug if known and not new.get(url) else owner(url), before, after
            )


def _was_set(old: ReleaseView, new: ReleaseView, name: str) -> bool:
    """Whether a file of the configuration differs in more than what follows from the catalog."""
    return old.settings.get(name) != new.settings.get(name) and old.setting(name) != new.setting(name)
