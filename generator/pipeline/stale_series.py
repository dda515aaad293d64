"""The series to render again: those whose render key differs from the cached one."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeVar

from .. import encoding
from ..catalog import page_ids
from ..catalog.layout import SeriesFiles
from ..release.manifest import SEPARATOR
from ..release.manifest_reader import ManifestReader
from .cache import Cache
from .scan import CatalogScan
from .segments import Segments
from .series_facts import SeriesFacts
from .series_renderer import PreviousLines, RenderTask

_Value = TypeVar("_Value", int, str)


def allocate_page_ids(scan: CatalogScan, manifests: Sequence[ManifestReader]) -> dict[str, int]:
    """The page ids that are allocated for the whole catalog; ids that any of the releases allocated stay."""
    chapters = (
        chapter for facts in scan.facts.values() for chapter in _chapters_with_allocated_ids(facts, scan.shown_until)
    )
    before = {page: number for reader in manifests for page, number in reader.page_ids.items()}
    return page_ids.allocate_page_ids(chapters, before)


def highest_chapter_id(scan: CatalogScan, manifests: Sequence[ManifestReader]) -> int:
    """The highest chapter id that was ever published, also by a release that was rolled back."""
    highest = (max(facts.ids, default=0) for facts in scan.facts.values())
    return max(chain(highest, (reader.highest_id for reader in manifests)), default=0)


def _chapters_with_allocated_ids(facts: SeriesFacts, shown_until: int) -> Iterator[tuple[int, int]]:
    """Id and number of pages of the chapters with allocated page ids, without those that the release does not show."""
    return ((chapter, pages) for chapter, pages, published in facts.allocated if published <= shown_until)


class RenderKeys:
    """Computes the render key of a series: a digest of everything that its bodies depend on."""

    def __init__(self, scan: CatalogScan, allocated_page_ids: Mapping[str, int]) -> None:
        self.scan, self.allocated_page_ids = scan, allocated_page_ids
        settings = [scan.linker.site.model_dump_json(), scan.linker.preview, scan.linker.lists.theme.digest]
        self._site = encoding.digest(encoding.json(settings))

    def key(self, files: SeriesFiles) -> str:
        facts = self.scan.facts[files.slug]
        return encoding.digest(
            encoding.json(
                [
                    self._site,
                    self.scan.check_keys[files.slug],
                    [] if facts.dated else [self.scan.times[file] for file in files.files],
                    bisect_right(facts.published, self.scan.as_of),
                    _of_chapters(facts, self.scan.linker.lists.views),
                    _of_chapters(facts, self.scan.linker.lists.sizes),
                    self.page_ids(facts),
                ]
            )
        )

    def page_ids(self, facts: SeriesFacts) -> dict[str, int]:
        """The allocated page ids of a series."""
        chapters = _chapters_with_allocated_ids(facts, self.scan.shown_until)
        return {
            page: self.allocated_page_ids[page]
            for chapter in chapters
            for page in page_ids.allocated_page_names(*chapter)
        }

    def stale(self, cache: Cache, segments: Segments, root: Path) -> dict[str, str]:
        """The series to render, with their new keys: the key differs, or the current release lacks the bodies."""
        cached = cache.series.render_keys()
        keys = {files.slug: self.key(files) for files in self.scan.series_files}
        return {slug: key for slug, key in keys.items() if not segments.has_bodies(slug, root) or cached[slug] != key}


def _of_chapters(facts: SeriesFacts, values: Mapping[str, _Value]) -> dict[str, _Value]:
    """The values of the chapters of a series, by chapter id: views or sizes."""
    return {str(chapter): values[str(chapter)] for chapter in facts.ids if str(chapter) in values} if values else {}


@dataclass(frozen=True, slots=True)
class ManifestLines:
    """Find the lines of a series in the manifest of one release: the dates and ETags that it keeps."""

    manifest: ManifestReader
    # The series that had each chapter in that release.
    series_of_chapter: Mapping[int, str]

    def of(self, slug: str, facts: SeriesFacts) -> PreviousLines:
        chapters = (chapter for chapter in facts.ids if chapter in self.series_of_chapter)
        others = {self.series_of_chapter[chapter] for chapter in chapters} - {slug}
        return PreviousLines(self.manifest.segment(slug), SEPARATOR.join(map(self.manifest.segment, sorted(others))))


def find_lines(manifest: ManifestReader, cached: Segments | None) -> ManifestLines:
    """Find the series of every chapter in a release, in its manifest or in its `cached` segments."""
    if cached is None:
        return ManifestLines(manifest, manifest.chapter_owners())
    summaries = cached.summaries.items()
    return ManifestLines(manifest, {chapter: slug for slug, summary in summaries for chapter in summary.chapters})


@dataclass(frozen=True, slots=True)
class RenderTasks:
    """Makes the task of each stale series."""

    scan: CatalogScan
    cache: Cache
    keys: RenderKeys
    continued: ManifestLines
    # The lines of the current release, if that is not the continued one.
    current: ManifestLines | None

    def task(self, files: SeriesFiles) -> RenderTask:
        facts = self.scan.facts[files.slug]
        return RenderTask(
            files=files,
            values=self.scan.values_of(files, self.cache),
            times={file: self.scan.times[file] for file in files.files},
            page_ids=self.keys.page_ids(facts),
            continued=self.continued.of(files.slug, facts),
            current=self.current.of(files.slug, facts) if self.current else None,
        )
