"""Data of the build report: counts, sizes, changes, scheduled chapters.

Sizes and changes are read from the manifest series by series, so a build without changes gets a full report, too.
Bodies are read only of the listed changed series, and only public ones: restricted content is compared by ETag.
"""

import heapq
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby, islice
from pathlib import Path
from typing import Any, NamedTuple

from ...api.routes import route_of
from ...catalog.reader import LISTS
from ...errors import counted, escaped
from ...pipeline.cache import Cache
from ...pipeline.scan import CatalogScan
from ...pipeline.schedule import Scheduled, scheduled
from ...release.changes import ReleaseChanges, SeriesChanges, differences, release_changes
from ...release.manifest import Published
from ...release.manifest_reader import ManifestReader
from ...release.transaction import Transaction
from ..diff.compare import ReleaseView, compare_series
from ..diff.entities import (
    SERIES,
    BodyReader,
    EntityChange,
    EntityName,
    chapter_at,
    entity_changes,
    entity_views,
    series_head,
)
from ..diff.json_diff import ADDED, CHANGED, REMOVED, JsonChange, path_text
from ..diff.lines import change_text, cut, grouped_changes, similar, value_text

# Sizes of bodies: by API version and kind, and the largest ones

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


# Changes of a series as sentences: field by field, and each chapter by its number

_View = Mapping[str, Any]
# The field with the names of the pages. Only their number is shown.
_PAGES = "pages_list"


def sentences(entity: EntityChange, before: _View, after: _View) -> Iterator[str]:
    """Describe a change. `before` and `after` are the fields of the series, as far as they are public."""
    if entity.kind != CHANGED:
        chapters = len((after if entity.kind == ADDED else before).get("chapters", ()))
        yield f"series {entity.kind}" + (f", with {counted(chapters, 'chapter')}" if chapters else "")
        return
    if entity.body_url:
        yield f"in {entity.body_url}: {counted(len(entity.changes), 'changed field')}"
    else:
        changes = _with_page_counts(entity.changes, before, after)
        for group in grouped_changes(changes):
            yield f"{_sentence(group[0], before, after)}{similar(group)}"
    access = Counter(difference.access for difference in entity.access_differences if difference.access)
    for (old, new), count in access.items():
        yield f"access: {old} → {new} ({counted(count, 'URL')})"
    if entity.causes and not entity.changes:
        yield f"caused by {', '.join(map(str, entity.causes))}"


def _with_page_counts(changes: Iterable[JsonChange], before: _View, after: _View) -> Iterator[JsonChange]:
    """Replace the changes of the pages of a chapter by one change of their number."""
    for chapter, own in groupby(changes, lambda change: change.path[:2] if _PAGES in change.path[2:3] else None):
        if chapter:
            old, new = (len(chapter_at(view, chapter[1]).get(_PAGES, ())) for view in (before, after))
            yield JsonChange((*chapter, "pages"), CHANGED, old, new)
        else:
            yield from own


def _sentence(change: JsonChange, before: _View, after: _View) -> str:
    match change.path:
        case "chapters", step if change.kind in (ADDED, REMOVED):
            chapter = change.new if change.kind == ADDED else change.old
            title = f": {value_text(chapter['title'])}" if chapter.get("title") else ""
            return f"{_chapter_name(chapter)} {change.kind}{title}"
        case "chapters", step, *field if field:
            name = _chapter_name(chapter_at(before, step) or chapter_at(after, step))
            return f"{name}: {_field(change._replace(path=tuple(field)))}"
    return _field(change)


def _chapter_name(chapter: _View) -> str:
    if not chapter:
        return "a chapter"
    volume = f"volume {chapter['volume']}, " if chapter["volume"] != "0" else ""
    return f"{volume}chapter {chapter['number']}"


def _field(change: JsonChange) -> str:
    """A changed field; a list item by its name instead of its position."""
    if change.path == ("pages",) and change.old == change.new:
        return f"pages: {change.old}, other files or another order"
    if change.kind not in (ADDED, REMOVED):
        return change_text(change)
    value = change.new if change.kind == ADDED else change.old
    name = value.get("name", value) if isinstance(value, dict) else value
    path = change.path[:-1] if change.path[-1].startswith("[") else change.path
    return f"{cut(escaped(path_text(path)))}: {value_text(name)} {change.kind}"


# Maximum number of sentences about a series.
MAX_SENTENCES = 12


@dataclass(frozen=True, slots=True)
class SeriesDetails:
    """A changed series in words. Texts are empty if the release does not publish them."""

    title: str = ""
    cover: str = ""
    # The first MAX_SENTENCES sentences, and the number of the others.
    sentences: Sequence[str] = ()
    more: int = 0


def series_details(before: Path | None, now: Path, slugs: Sequence[str]) -> dict[str, SeriesDetails]:
    """Compare these series in two releases, which are given by their manifests."""
    if not slugs:
        return {}
    with ReleaseView(before, "before") as old, ReleaseView(now, "now") as new:
        reader = BodyReader(compare_series(old, new, slugs))
        changes = {change.name: change for change in entity_changes(reader)}
        details = {}
        for slug in slugs:
            head = series_head(reader, new if new.responses(slug) else old, slug)
            change = changes.get(EntityName(SERIES, slug))
            lines = sentences(change, *entity_views(reader, change)) if change else iter(())
            shown = list(islice(lines, MAX_SENTENCES))
            details[slug] = SeriesDetails(head.title, head.cover, shown, sum(1 for _ in lines))
        return details


# The lists of a catalog whose entries are counted: all but the API keys.
_COUNTED = [name.removesuffix(".yaml") for name in LISTS if name != "keys.yaml"]


@dataclass(frozen=True, slots=True)
class ReportData:
    """A release and its catalog in numbers."""

    as_of: int
    base_url: str
    # The size in MiB above which a build warns about a body.
    body_budget: int
    counts: dict[str, int]
    sizes: Sizes
    changes: ReleaseChanges
    scheduled: list[Scheduled]
    # The listed series of `changes` in words, by slug.
    details: dict[str, SeriesDetails]

    def plain(self) -> dict[str, object]:
        """The data as JSON."""
        return {
            "counts": self.counts,
            "sizes": {
                **_size_json(self.sizes.total),
                "families": [
                    {"family": version, "about": kind or None, **_size_json(total)}
                    for version, totals in self.sizes.by_version().items()
                    for kind, total in totals.items()
                ],
            },
            "biggest": [
                {"url": body.url, "bytes": body.size, "compressed": body.compressed} for body in self.sizes.largest
            ],
            "changes": [_changes_json(changes, self.details_of(changes)) for changes in self.changes.listed],
            "other_changes": {"series": self.changes.other_series, **_counts_json(self.changes.other_counts)},
            "scheduled": [chapter.plain() for chapter in self.scheduled],
        }

    def details_of(self, changes: SeriesChanges) -> SeriesDetails:
        """A listed series in words; nothing for the catalog as a whole."""
        return self.details.get(changes.slug, SeriesDetails())


class ReportCollector:
    """Collects the data of a report while a build holds the lock of the store."""

    data: ReportData | None = None

    def __call__(self, catalog_scan: CatalogScan, cache: Cache, opened: Transaction) -> None:
        self.data = report_data(catalog_scan, cache, opened)


def report_data(catalog_scan: CatalogScan, cache: Cache, opened: Transaction) -> ReportData:
    """The data of the store's current release, compared with the release that was current before the transaction."""
    store, before = opened.store, opened.current_manifest
    manifest = store.manifest_path(store.current())
    assert manifest, "a build has finished"
    with ManifestReader(manifest) as now:
        sizes, changes = Sizes(store.root), release_changes(differences(before, now))
        for slug in now.segments:
            sizes.add(now.bodies(slug).values())
    site, lists, chapters = catalog_scan.linker.site, catalog_scan.linker.lists.lists, scheduled(catalog_scan, cache)
    return ReportData(
        as_of=catalog_scan.as_of,
        base_url=site.base_url,
        body_budget=site.body_budget,
        counts={
            "series": len(catalog_scan.series_files),
            "chapters": catalog_scan.published,
            "scheduled": len(chapters),
            "pages": catalog_scan.pages,
            **{name: len(lists[f"{name}.yaml"]) for name in _COUNTED},
        },
        sizes=sizes,
        changes=changes,
        scheduled=chapters,
        details=series_details(before.path, manifest, [series.slug for series in changes.listed if series.slug]),
    )


def _size_json(total: TotalSize) -> dict[str, int]:
    return {"urls": total.urls, "bytes": total.size, "compressed": total.compressed}


def _changes_json(changes: SeriesChanges, details: SeriesDetails) -> dict[str, object]:
    return {
        "series": changes.slug or None,
        "title": details.title or None,
        "cover": details.cover or None,
        **_counts_json(changes.counts),
        "fields": list(details.sentences),
        "more_fields": details.more,
        "urls": [{"url": url, "change": kind} for kind, url in changes.urls],
    }


def _counts_json(counts: Counter[str]) -> dict[str, int]:
    return {kind: counts[kind] for kind in ("added", "changed", "removed")}
