"""The bodies and the configuration that depend on the whole catalog, made from the summaries of all series."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain

from .. import encoding
from ..api import routes
from ..api.pages import theme
from ..api.pages.context import PageContext
from ..api.payloads.resources import Resource, account_key
from ..catalog.entities import Catalog, SeriesSummary
from ..catalog.linking import origin
from ..nginx import config
from ..nginx.config import MediaConf, ServerConf
from ..release.manifest import ID_PLACEHOLDER, Published
from ..release.manifest_reader import KEYS_FILE, dump_keys
from ..release.rules import Rules
from . import long_lists, series_renderer
from .cache import CONFIGURATION, SUMMARIES, Cache
from .long_lists import LongListBuilder
from .process_pool import ordered_map
from .publish import ResourcePublisher, SegmentSummary, site_rules
from .scan import CatalogScan
from .series_renderer import ListedChapters


class CatalogLists:
    """The catalog with the summaries of all series. They must be rendered, or be unchanged in the cache."""

    def __init__(self, scan: CatalogScan, cache: Cache) -> None:
        self.cache = cache
        summaries: list[SeriesSummary] = []
        # The bodies and the chapters that long lists consist of.
        self.bodies: dict[str, Published] = {}
        self.chapters = ListedChapters()
        for row in cache.rows(SUMMARIES):
            summary, series_bodies, chapters = series_renderer.load(row.value, scan.linker)
            summaries.append(summary)
            self.bodies |= {body.url: body for body in series_bodies}
            self.chapters.extend(chapters)
        self.catalog = scan.linker.catalog(summaries)
        self.page = theme.context(scan.linker.site, self.catalog.theme, preview=scan.linker.preview)

    def publish(self, publisher: ResourcePublisher, continued: Mapping[str, Published]) -> list[Published]:
        """Write the bodies. `continued` are those of the release whose dates are continued."""
        builder = LongListBuilder(publisher, self.cache, self.bodies, self.chapters, self.catalog.site_modified)
        published = [
            (builder if long_lists.is_joined(resource) else publisher).publish(resource, continued)
            for resource in self._resources()
        ]
        builder.forget_unused()
        return published

    def _resources(self) -> Iterator[Resource]:
        yield from routes.resources(self.catalog)
        yield from routes.apps(self.catalog, self.page)
        pages, rows = partial(routes.pages, self.catalog, self.page), routes.page_routes(self.catalog.site)
        if folder := self.catalog.theme.template_folder:
            # One process makes the rows of the table: it renders the card of each series once.
            results = ordered_map(1, lambda: lambda row: list(pages(row)), range(len(rows)), folder)
            yield from chain.from_iterable(results)
        else:
            yield from chain.from_iterable(map(pages, range(len(rows))))

    def rules(self) -> Rules:
        redirects = {old: series.slug for series in self.catalog.series for old in series.formerly}
        origins = image_origins(self.catalog, self.page) if self.catalog.site.pages else ()
        return site_rules(self.catalog.site, redirects, origins, preview=self.page.preview)

    def keys(self) -> dict[str, str]:
        """The account key of each API key by its digest; empty for a key without an account."""
        return {digest: account_key(username) if username else "" for digest, username in self.catalog.keys.items()}

    def small_files(
        self,
        rules: Rules,
        published: Sequence[Published],
        segments: Sequence[SegmentSummary],
        dist: str,
        media: MediaConf | None,
    ) -> dict[str, bytes]:
        """The files of keys and configuration. The rendered configuration is cached: rendering takes 20 ms."""
        keys, folder = self.keys(), f"{dist}/releases/{ID_PLACEHOLDER}"
        server = ServerConf(dist, folder, self.catalog.site.views_per_second, media)
        lines = map(sum, zip(*(summary.lines for summary in segments), strict=True))
        longest_line = max(summary.longest_line for summary in segments)
        data = config.of_bodies(rules, keys, published, lines, longest_line)
        stable = config.with_placeholders(data)
        key = encoding.digest(repr((stable, server)).encode())

        def render() -> dict[str, str]:
            return {path: text.decode() for path, text in config.rendered_files(stable, server).items()}

        texts = self.cache.cached(CONFIGURATION, key, render)
        files = {path: text.encode() for path, text in texts.items()}
        return {KEYS_FILE: dump_keys(keys)} | config.filled(files, data)


def image_origins(catalog: Catalog, page: PageContext) -> list[str]:
    """Scheme and host of all images that pages may contain; the header with them tells nothing else."""
    shown = page.visible
    origins = {origin for own in page.own_pages.values() for origin in own.image_origins}
    for series in catalog.series:
        # As in `page_routes`: without these parts, only an API key tells that such a series exists.
        if series.has_page and (series.is_open or shown.library or shown.details):
            has_images = shown.chapter and shown.images and series.shows_chapters
            origins |= set(series.image_origins) if has_images else {origin(series.cover)}
    origins |= {origin(group.logo) for group in catalog.groups if group.logo and shown.group}
    # Pages name images of their own host without it.
    return sorted(origins - {origin(catalog.site.base_url)})
