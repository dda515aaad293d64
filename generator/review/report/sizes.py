"""Sizes of the bodies of a release: by API version and kind, and the largest ones."""

import heapq
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ...api.routes import route_of
from ...release.manifest import Published

# How many of the largest bodies are listed.
MAX_LARGEST = 10
# The version of a path, such as /api/v2, and the kind below it, such as series.
_VERSION_AND_KIND = re.compile(r"(/api(?:/v\d+)?)/([^/?#]+).*|/(?:index\.json)?")


class BodySize(NamedTuple):
    """The size of one body. Compares by size first."""

    size: int
    # The size that clients with gzip receive.
    compressed: int
    url: str


@dataclass(slots=True)
class TotalSize:
    """Total size of a group of bodies."""

    urls: int = 0
    size: int = 0
    compressed: int = 0

    def add(self, urls: int, size: int, compressed: int) -> None:
        self.urls += urls
        self.size += size
        self.compressed += compressed


@dataclass(slots=True)
class Sizes:
    """Sizes of the added bodies, which are files below `root`."""

    root: Path
    # By API version and kind.
    totals: dict[tuple[str, str], TotalSize] = field(default_factory=dict)
    largest: list[BodySize] = field(default_factory=list)

    def add(self, bodies: Iterable[Published]) -> None:
        sizes = [BodySize(body.size, self._compressed(body), body.url) for body in bodies]
        for size, compressed, url in sizes:
            self.totals.setdefault(version_and_kind(url), TotalSize()).add(1, size, compressed)
        self.largest = heapq.nlargest(MAX_LARGEST, [*self.largest, *sizes])

    def _compressed(self, body: Published) -> int:
        if body.gzip:
            with suppress(FileNotFoundError):  # nginx sends the uncompressed body
                return os.stat(f"{self.root}/{body.file}.gz").st_size
        return body.size

    @property
    def total(self) -> TotalSize:
        return total_size(self.totals.values())

    def by_version(self) -> dict[str, dict[str, TotalSize]]:
        """The totals by API version and kind; the largest kind of a version first."""
        versions: dict[str, dict[str, TotalSize]] = {}
        for (version, kind), total in sorted(
            self.totals.items(), key=lambda item: (item[0][0], -item[1].size, item[0])
        ):
            versions.setdefault(version, {})[kind] = total
        return versions


def total_size(totals: Iterable[TotalSize]) -> TotalSize:
    total = TotalSize()
    for part in totals:
        total.add(part.urls, part.size, part.compressed)
    return total


def version_and_kind(url: str) -> tuple[str, str]:
    """The API version and the kind of a URL, such as /api/v2 and chapters. / has no kind.

    A page or a feed has the kind of its first segment, such as pages and library.
    """
    if match := _VERSION_AND_KIND.fullmatch(url):
        return match[1] or "/", match[2] or ""
    return route_of(url), url.split("/")[1].partition(".")[0]
