"""Data of the build report: counts, sizes, changes, scheduled chapters.

Sizes and changes are read from the manifest series by series, so a build without changes gets a full report, too.
Bodies are read only of the listed changed series.
"""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ...catalog.reader import LISTS
from ...pipeline.cache import Cache
from ...pipeline.scan import CatalogScan
from ...pipeline.schedule import Scheduled, scheduled
from ...release.changes import ReleaseChanges, ReleaseComparison, SeriesChanges
from ...release.manifest_reader import ManifestReader
from ...release.transaction import Transaction
from .series_details import SeriesDetails, series_details
from .sizes import Sizes, TotalSize

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
    with ManifestReader(manifest) as now:
        sizes, comparison = Sizes(store.root), ReleaseComparison(before, now)
        for slug in sorted({*before.segments, *now.segments}):
            bodies = now.bodies(slug)
            sizes.add(bodies.values())
            comparison.add(slug, bodies)
    site, chapters = catalog_scan.linker.site, scheduled(catalog_scan, cache)
    return ReportData(
        as_of=catalog_scan.as_of,
        base_url=site.base_url,
        body_budget=site.body_budget,
        counts=_counts(catalog_scan, chapters),
        sizes=sizes,
        changes=comparison.changes,
        scheduled=chapters,
        details=_details(before.path, manifest, comparison.changes),
    )


def _details(before: Path | None, now: Path | None, changes: ReleaseChanges) -> dict[str, SeriesDetails]:
    assert now, "a build has finished"
    return series_details(before, now, [series.slug for series in changes.listed if series.slug])


def _counts(catalog_scan: CatalogScan, chapters: list[Scheduled]) -> dict[str, int]:
    lists = catalog_scan.linker.lists.lists
    return {
        "series": len(catalog_scan.series_files),
        "chapters": catalog_scan.published,
        "scheduled": len(chapters),
        "pages": catalog_scan.pages,
        **{name: len(lists[f"{name}.yaml"]) for name in _COUNTED},
    }


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
