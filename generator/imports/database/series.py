"""Rows -> the series of a catalog with their chapters."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Any

from ...catalog import field_values
from ...catalog.patterns import MAX_SLUG
from ...catalog.records import Chapter, Series
from ...reading_sites.lenient import Fields, valid_fields
from ...reading_sites.notes import Notes
from ..pages import note_gaps
from . import rows
from .media_paths import MediaFolder
from .redirects import old_slugs
from .rows import Grouped
from .tables import Row, Tables


@dataclass(frozen=True, slots=True)
class RowsOfSeries:
    """The rows that belong to series, by the id of the series or of the chapter."""

    chapters: Grouped
    pages: rows.Pages
    groups: Grouped
    aliases: Grouped
    authors: Grouped
    artists: Grouped
    categories: Grouped

    @classmethod
    def of(cls, tables: Tables) -> "RowsOfSeries":
        return cls(
            rows.chapters(tables),
            rows.Pages(tables),
            rows.links(tables, "reader_chapter_groups", "chapter_id", "group_id"),
            rows.aliases(tables, "series"),
            rows.links(tables, "reader_series_authors", "series_id", "author_id"),
            rows.links(tables, "reader_series_artists", "series_id", "artist_id"),
            rows.links(tables, "reader_series_categories", "series_id", "category_id"),
        )


@dataclass(frozen=True, slots=True)
class SeriesRecords:
    """Makes the records of one series after the other."""

    tables: Tables
    media: MediaFolder
    # By kind, then by id.
    lists: dict[str, dict[Any, Fields]]
    now: int
    notes: Notes

    def read(self) -> Iterator[tuple[str, Fields, list[Fields]]]:
        """Yield the slug, the valid fields, and the valid fields of the chapters of each series."""
        of = RowsOfSeries.of(self.tables)
        series = list(self._with_slugs())
        formerly = old_slugs(self.tables, [row["slug"] for row in series], self.notes)
        for row in series:
            slug = row["slug"]
            if record := self._record(row, of, formerly.get(slug, [])):
                chapters = list(self._chapters(row, of))
                if any(field_values.instant(chapter["published"]) > self.now for chapter in chapters):
                    sentence = "contains scheduled chapters; they are imported, and appear at their time"
                    self.notes.add(sentence, slug)
                yield slug, record, chapters

    def _with_slugs(self) -> Iterator[Row]:
        """Yield the series whose slugs a catalog can hold together."""
        slugs: dict[str, str] = {}
        for row in rows.series(self.tables):
            slug = row["slug"]
            if not field_values.is_slug(slug) or len(slug) > MAX_SLUG:
                self.notes.add("invalid slug; series skipped", slug[:60])
            elif (first := slugs.setdefault(slug.lower(), slug)) != slug:
                self.notes.add(f"differs from {first} only in case; series skipped", slug)
            else:
                yield row

    def _record(self, row: Row, of: RowsOfSeries, formerly: list[str]) -> Fields | None:
        id, slug = row["id"], row["slug"]
        stated = {
            "title": row["title"],
            "aliases": of.aliases.get(id, []),
            "description": row["description"],
            "authors": self._in("authors", of.authors.get(id, []), slug),
            "artists": self._in("artists", of.artists.get(id, []), slug),
            "categories": self._in("categories", of.categories.get(id, []), slug),
            "status": row["status"],
            "licensed": row["licensed"],
            "cover": self.media.image(row["cover"], f"series/{slug}/"),
            "chapter_title": row["format"],
            "formerly": formerly,
            "chapters": [],
            "modified": _iso(row["modified"]),
        }
        record = valid_fields(Series, stated, slug, self.notes)
        if record and record.get("chapter_title") == field_values.DEFAULT_CHAPTER_TITLE:
            del record["chapter_title"]
        return record

    def _in(self, kind: str, ids: list[Any], place: str) -> list[Any]:
        """Return the ids that the records of a kind have."""
        if any(id not in self.lists[kind] for id in ids):
            self.notes.add(f"unknown {kind}; skipped", place)
        return [id for id in ids if id in self.lists[kind]]

    def _chapters(self, series: Row, of: RowsOfSeries) -> Iterator[Fields]:
        """Yield the chapters of a series in reading order."""
        slug, used = series["slug"], set[tuple[int, str]]()
        for row in sorted(of.chapters.get(series["id"], ()), key=_reading_order):
            if row["number"] is None:
                self.notes.add("invalid chapter number; chapter skipped", slug)
            elif row["volume"] and (row["volume"], row["number"]) in used:
                self.notes.add(f"chapter {row['number']} is a duplicate; skipped", slug)
            elif record := self._chapter(row, of, slug):
                used.add((row["volume"] or 0, row["number"]))
                yield record

    def _chapter(self, row: Row, of: RowsOfSeries, slug: str) -> Fields | None:
        place, pages = f"{slug} chapter {row['number']}", of.pages.of(row["id"])
        folder = f"series/{slug}/{row['volume'] or 0}/{row['number']}/"
        stated = {
            "id": row["id"],
            "volume": row["volume"],
            "number": row["number"],
            "title": row["title"],
            "published": _iso(row["published"]),
            "final": row["final"],
            "groups": self._in("groups", of.groups.get(row["id"], []), place),
            "pages": [],
            "views": row["views"],
            "modified": _iso(row["modified"]),
        }
        record = valid_fields(Chapter, stated, place, self.notes)
        if record is None:
            return None
        note_gaps([page.number for page in pages], place, self.notes)
        files = self.media.pages([page.image for page in pages], folder, slug, self.notes)
        return valid_fields(Chapter, record | {"pages": files}, place, self.notes) or record


def _iso(instant: int | None) -> str | None:
    return None if instant is None else field_values.iso(instant)


def _reading_order(row: Row) -> tuple[float, float, float]:
    return row["volume"] or inf, float(row["number"] or 0), row["id"] or inf
