"""How large the bodies of a release are, by what they are about, and which ones are the largest."""

import heapq
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ...release.manifest import Published

# How many of the largest are told.
BIGGEST = 10
# The family of a path, and what it is about inside of it.
_FAMILY = re.compile(r"(/api(?:/v\d+)?(?=/)|/)(?:/([^/?#]+))?")


class BodySize(NamedTuple):
    """One body, in the order of sizes."""

    size: int
    # As it is sent to whoever takes gzip.
    compressed: int
    url: str


@dataclass(slots=True)
class TotalSize:
    """Of many bodies together."""

    urls: int = 0
    size: int = 0
    compressed: int = 0

    def add(self, urls: int, size: int, compressed: int) -> None:
        self.urls += urls
        self.size += size
        self.compressed += compressed


@dataclass(slots=True)
class Sizes:
    """Of the bodies below a folder that were added to it."""

    root: Path
    # By family and what they are about.
    weights: dict[tuple[str, str], TotalSize] = field(default_factory=dict)
    biggest: list[BodySize] = field(default_factory=list)

    def add(self, bodies: Iterable[Published]) -> None:
        weighed = [BodySize(one.size, self._compressed(one), one.url) for one in bodies]
        for size, compressed, url in weighed:
            self.weights.setdefault(group_of(url), TotalSize()).add(1, size, compressed)
        self.biggest = heapq.nlargest(BIGGEST, [*self.biggest, *weighed])

    def _compressed(self, one: Published) -> int:
        if one.gzip:
            with suppress(FileNotFoundError):  # nginx then sends the body as it is
                return os.stat(f"{self.root}/{one.file}.gz").st_size
        return one.size

    @property
    def total(self) -> TotalSize:
        return total_size(self.weights.values())

    def families(self) -> dict[str, dict[str, TotalSize]]:
        """By family, in order, what it holds; the most first."""
        found: dict[str, dict[str, TotalSize]] = {}
        for (family, about), weight in sorted(self.weights.items(), key=lambda one: (one[0][0], -one[1].size, one[0])):
            found.setdefault(family, {})[about] = weight
        return found


def total_size(weights: Iterable[TotalSize]) -> TotalSize:
    found = TotalSize()
    for one in weights:
        found.add(one.urls, one.size, one.compressed)
    return found


def group_of(url: str) -> tuple[str, str]:
    """The family of a URL, such as /api/v2, and what it is about, such as chapters; / is about nothing."""
    found = _FAMILY.match(url)
    assert found, "every URL begins with a slash"
    return found[1], found[2] or ""
