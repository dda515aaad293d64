"""The series to render again: those whose render key differs from the cached one."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

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


def allocate_page_ids(scan: CatalogScan, manifests: Sequence[ManifestReader]) -> dict[str, int]:
    """The page ids that are allocated for the whole catalog; ids that any of the releases allocated stay."""
    chapters = (chapter for facts in scan.facts.values() for chapter in _chapters_with_allocated_ids(facts, scan.as_of))
    before = {page: number for reader in manifests for page, number in reader.page_ids.items()}
    return page_ids.allocate_page_ids(chapters, before)


def highest_chapter_id(scan: CatalogScan, manifests: Sequence[ManifestReader]) -> int:
    """The highest chapter id that was ever published, also by a release that was rolled back."""
    ids = (number for facts in scan.facts.values() for number in facts.ids)
    return max(chain(ids, (reader.highest_id for reader in manifests)), default=0)


def _chapters_with_allocated_ids(facts: SeriesFacts, as_of: int) -> Iterator[tuple[int, int]]:
    """Id and number of pages of the chapters with allocated page ids, without scheduled ones, which must not show."""
    return ((chapter, pages) for chapter, pages, published in facts.allocated if published <= as_of)


class RenderKeys:
    """Computes the render key of a series: a digest of everything that its bodies depend on."""

    def __init__(self, scan: CatalogScan, allocated_page_ids: Mapping[str, int]) -> None:
        self.scan, self.allocated_page_ids = scan, allocated_page_ids
        self._site = encoding.digest(scan.linker.site.model_dump_json().encode())

    def key(self, files: SeriesFiles) -> str:
        facts = self.scan.facts[files.slug]
        return encoding.digest(
            encoding.json(
                [
                    self._site,
                    self.scan.check_keys[files.slug],
                    [] if facts.dated else [self.scan.times[file] for file in files.files],
                    bisect_right(facts.published, self.scan.as_of),
                    self._views(facts),
                    self.page_ids(facts),
                ]
            )
        )

    def _views(self, facts: SeriesFacts) -> dict[str, int]:
        views = self.scan.linker.lists.views
        return {str(chapter): views[str(chapter)] for chapter in facts.ids if str(chapter) in views} if views else {}

    def page_ids(self, facts: SeriesFacts) -> dict[str, int]:
        """The allocated page ids of a series."""
        chapters = _chapters_with_allocated_ids(facts, self.scan.as_of)
        return {
            page: self.allocated_page_ids[page]
            for chapter in chapters
            for page in page_ids.allocated_page_names(*chapter)
        }

    def stale(self, cache: Cache, segments: Segments, root: Path) -> dict[str, str]:
        """The series to render, with their new keys: the key differs, or the current release lacks the bodies."""
        cached = cache.series.load()
        keys = {files.slug: self.key(files) for files in self.scan.series_files}
        return {
            slug: key
            for slug, key in keys.items()
            if not segments.has_bodies(slug, root) or cached[slug].render_key != key
        }


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
