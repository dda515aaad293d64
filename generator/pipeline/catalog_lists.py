"""The bodies and the configuration that depend on the whole catalog, made from the summaries of all series."""

from collections.abc import Mapping, Sequence

from .. import encoding
from ..api import routes
from ..api.resources import JSON, SERIES_INDEX_URL
from ..catalog.entities import SeriesSummary
from ..nginx import config
from ..release.manifest import ID_PLACEHOLDER, Published
from . import long_lists, series_renderer
from .cache import Cache
from .long_lists import LongListBuilder
from .publish import ResourcePublisher, SegmentSummary
from .scan import CatalogScan
from .series_renderer import SeriesBody


class CatalogLists:
    """The catalog with the summaries of all series. They must be rendered, or be unchanged in the cache."""

    def __init__(self, scan: CatalogScan, cache: Cache) -> None:
        self.cache = cache
        summaries: list[SeriesSummary] = []
        # The bodies that long lists consist of, by URL.
        self.bodies: dict[str, SeriesBody] = {}
        for cached in cache.series.load().values():
            assert cached.summary, "every series has been rendered"
            summary, series_bodies = series_renderer.load(cached.summary, scan.linker)
            summaries.append(summary)
            self.bodies |= series_bodies
        self.catalog = scan.linker.catalog(summaries)
        self.chapters_without_id = sum(summary.unidentified for summary in summaries)

    def publish(
        self, publisher: ResourcePublisher, continued: Mapping[str, Published], current: Mapping[str, Published]
    ) -> list[Published]:
        """Write the bodies. `continued` and `current` are those of the same segment in two earlier releases."""
        builder = LongListBuilder(publisher, self.cache, self.bodies, self.catalog.site_modified)
        published = [
            (builder if long_lists.is_joined(resource) else publisher).publish(resource, continued, current)
            for resource in routes.resources(self.catalog)
        ]
        self.cache.chapters.forget_unused()
        return published

    def configuration_files(
        self, published: Sequence[Published], segments: Sequence[SegmentSummary], dist: str
    ) -> dict[str, bytes]:
        """The small files of a release. They are cached: they rarely change, and rendering them takes 20 ms."""
        data = config.ConfigData(
            index=next(body for body in published if body.url == SERIES_INDEX_URL),
            pages=[body for body in published if body.type != JSON],
            keys=self.catalog.keys,
            days=sorted({day for summary in segments for day in summary.days}),
            most_lines=max(map(sum, zip(*(summary.lines for summary in segments), strict=True))),
            longest_line=max(summary.longest_line for summary in segments),
        )
        site = self.catalog.site
        key = encoding.digest(repr((data, site, dist)).encode())
        cached = self.cache.recall("configuration")
        if not cached or cached["key"] != key:
            files = config.release_files(data, site, dist=dist, folder=f"{dist}/releases/{ID_PLACEHOLDER}")
            cached = {"key": key, "files": {file.path: file.text.decode() for file in files}}
            self.cache.remember("configuration", cached)
        return {path: text.encode() for path, text in cached["files"].items()}
