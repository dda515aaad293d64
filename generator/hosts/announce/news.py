"""The chapters that a release has in public, from its manifest and its public bodies."""

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ... import encoding
from ...release.manifest import Published
from ...release.manifest_reader import ManifestReader
from ...release.store import read_body

# A chapter of a licensed series has a gate instead of a body, and a scheduled chapter has no line.
_PUBLIC = re.compile(rb'^"/api/v2/chapters/(\d+)":\{(?!.*"restricted":true)', re.MULTILINE)


class NewChapter(NamedTuple):
    """A chapter to announce."""

    id: int
    title: str
    url: str
    published: str


class NewSeries(NamedTuple):
    """A series with chapters to announce. `cover` is empty and `rating` None where the public gets neither."""

    slug: str
    title: str
    url: str
    cover: str
    rating: str | None
    chapters: tuple[NewChapter, ...]

    @property
    def harmless_cover(self) -> str:
        """The cover, unless the series is explicit."""
        return "" if self.rating == "explicit" else self.cover


def public_chapters(release: ManifestReader) -> dict[int, str]:
    """The slug of the series of each chapter that is read without an API key, by chapter id."""
    return {int(id): slug for slug in release.segments for id in _PUBLIC.findall(release.segment(slug))}


def series_with(release: ManifestReader, root: Path, ids: Collection[int]) -> list[NewSeries]:
    """The series of these public chapters, each with them in reading order. `root` has the bodies."""
    by_slug: dict[str, list[int]] = {}
    for id, slug in public_chapters(release).items():
        if id in ids:
            by_slug.setdefault(slug, []).append(id)
    return [_Bodies(release, root, slug).series(by_slug[slug]) for slug in sorted(by_slug)]


class _Bodies:
    """The public bodies of a series."""

    def __init__(self, release: ManifestReader, root: Path, slug: str) -> None:
        self._root, self._base, self._slug = root, release.rules.base_url, slug
        self._page = f"{release.rules.reader}{slug}/"
        bodies = release.bodies(slug).items()
        self._public: Mapping[str, Published] = {url: body for url, body in bodies if not body.restricted}

    def series(self, ids: Collection[int]) -> NewSeries:
        path = f"/api/v2/series/{self._slug}"
        # A site can restrict the details of all series. Its pages are public all the same.
        details = self._read(path) if path in self._public else {"title": self._slug, "url": self._page}
        cover = str(details.get("cover", ""))
        return NewSeries(
            self._slug,
            details["title"],
            self._link(details["url"], path),
            f"{self._base}{cover}" if cover.startswith("/") else cover,
            details.get("rating"),
            tuple(self._chapters(ids)),
        )

    def _chapters(self, ids: Collection[int]) -> Iterator[NewChapter]:
        def reading_order(chapter: Mapping[str, Any]) -> tuple[bool, int, float, int]:
            volume: int | None = chapter["volume"]
            return volume is None, volume or 0, chapter["number"], chapter["id"]

        for chapter in sorted((self._read(f"/api/v2/chapters/{id}") for id in ids), key=reading_order):
            id, page = chapter["id"], chapter["url"]
            # The page of a number shows one of the chapters that share it; the others have pages below it.
            own = f"{page}version-{id}/"
            url = self._link(own if own in self._public else page, f"/api/v2/chapters/{id}")
            yield NewChapter(id, chapter["full_title"], url, chapter["published"])

    def _read(self, url: str) -> Any:
        body = self._public[url]
        return encoding.parse(read_body(self._root, body.file, body.etag))

    def _link(self, page: str, path: str) -> str:
        """The URL of the page if the site has it in public, else that of the API."""
        return self._base + (page if page in self._public else path)
