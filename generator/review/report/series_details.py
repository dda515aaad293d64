"""Title, cover and changed fields of the series that a report lists, read from the bodies of both releases.

Only bodies of these series are read, and only public ones: restricted content is compared by ETag.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from ..diff.compare import compare_series
from ..diff.entity_changes import entity_changes
from ..diff.entity_views import SERIES, EntityName
from ..diff.model import BodyReader, EntityChange
from ..diff.release_view import ReleaseView
from ..diff.series_pages import entity_views, series_head
from .sentences import sentences

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
        return {slug: _details(reader, slug, changes) for slug in slugs}


def _details(reader: BodyReader, slug: str, changes: Mapping[EntityName, EntityChange]) -> SeriesDetails:
    old, new = reader.comparison.old, reader.comparison.new
    head = series_head(reader, new if new.responses(slug) else old, slug)
    change = changes.get(EntityName(SERIES, slug))
    lines = sentences(change, *entity_views(reader, change)) if change else iter(())
    shown = list(islice(lines, MAX_SENTENCES))
    return SeriesDetails(head.title, head.cover, shown, sum(1 for _ in lines))
