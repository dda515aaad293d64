"""What there is to tell of a release: how much it holds, how large it is, what is new in it, and what is to come.

Sizes and changes are read from its manifest, series by series, so that it is told in full also after a build that
found nothing to do.
"""

from collections import Counter
from dataclasses import dataclass

from ...catalog.reader import LISTS
from ...pipeline.cache import Cache
from ...pipeline.scan import CatalogScan
from ...pipeline.schedule import Scheduled, scheduled
from ...release.changes import ReleaseChanges, ReleaseComparison, SeriesChanges
from ...release.manifest_reader import ManifestReader
from ...release.transaction import Transaction
from .sizes import Sizes, TotalSize

# What people are, and where they come together: the lists of a catalog, but for keys.
_COUNTED = [name.removesuffix(".yaml") for name in LISTS if name != "keys.yaml"]


@dataclass(frozen=True, slots=True)
class ReportData:
    """Of a release and of the catalog that it was made from."""

    as_of: int
    base_url: str
    # How many MiB a body may have before a build warns of it.
    body_budget: int
    counts: dict[str, int]
    sizes: Sizes
    news: ReleaseChanges
    scheduled: list[Scheduled]

    def plain(self) -> dict[str, object]:
        """For programs."""
        return {
            "counts": self.counts,
            "sizes": {
                **_weight(self.sizes.total),
                "families": [
                    {"family": family, "about": about or None, **_weight(weight)}
                    for family, found in self.sizes.families().items()
                    for about, weight in found.items()
                ],
            },
            "biggest": [
                {"url": one.url, "bytes": one.size, "compressed": one.compressed} for one in self.sizes.biggest
            ],
            "changes": [_changes(one) for one in self.news.listed],
            "other_changes": {"series": self.news.other_series, **_counts(self.news.other_counts)},
            "scheduled": [one.plain() for one in self.scheduled],
        }


class ReportCollector:
    """Collects the data of a report while a build holds the lock of the store."""

    data: ReportData | None = None

    def __call__(self, found: CatalogScan, cache: Cache, session: Transaction) -> None:
        self.data = report_data(found, cache, session)


def report_data(found: CatalogScan, cache: Cache, session: Transaction) -> ReportData:
    """Of the release that a store holds now, and of what it held when the session began."""
    store = session.store
    with ManifestReader(store.manifest_path(store.current())) as now:
        sizes, compared = Sizes(store.root), ReleaseComparison(session.current_manifest, now)
        for slug in sorted({*session.current_manifest.segments, *now.segments}):
            bodies = now.bodies(slug)
            sizes.add(bodies.values())
            compared.add(slug, bodies)
    site, coming = found.linker.site, scheduled(found, cache)
    return ReportData(
        as_of=found.as_of,
        base_url=site.base_url,
        body_budget=site.body_budget,
        counts=_numbers(found, coming),
        sizes=sizes,
        news=compared.changes,
        scheduled=coming,
    )


def _numbers(found: CatalogScan, coming: list[Scheduled]) -> dict[str, int]:
    lists = found.linker.lists.lists
    return {
        "series": len(found.series_files),
        "chapters": found.published,
        "scheduled": len(coming),
        "pages": found.pages,
        **{name: len(lists[f"{name}.yaml"]) for name in _COUNTED},
    }


def _weight(one: TotalSize) -> dict[str, int]:
    return {"urls": one.urls, "bytes": one.size, "compressed": one.compressed}


def _changes(one: SeriesChanges) -> dict[str, object]:
    urls = [{"url": url, "change": kind} for kind, url in one.urls]
    return {"series": one.slug or None, **_counts(one.counts), "urls": urls}


def _counts(counts: Counter[str]) -> dict[str, int]:
    return {kind: counts[kind] for kind in ("added", "changed", "removed")}
