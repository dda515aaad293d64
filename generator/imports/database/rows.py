"""Rows of both versions in one form, that of version 0.9.6, grouped by the row that they belong to."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, NamedTuple

from ...catalog import field_values
from ...catalog.field_values import percent_encoded
from ..spilled import spilled_records
from .tables import Row, Tables

# Owner -> what belongs to it.
Grouped = dict[Any, list[Any]]
# Pages that are in memory while the others are read.
_BLOCK = 1000


class PageRow(NamedTuple):
    """A page in the order of its chapter; of pages with the same number, the first that was made is the first."""

    number: int
    id: int
    image: str


def series(tables: Tables) -> Iterator[Row]:
    """Yield the series by slug. In version 0.4.5 the slug is the id."""
    rows = sorted(tables.rows("reader_series"), key=lambda row: row["slug"])
    if tables.version == "0.9.6":
        yield from rows
        return
    for row in rows:
        status = "completed" if row["completed"] else "ongoing"
        template = field_values.DEFAULT_CHAPTER_TITLE
        yield {**row, "id": row["slug"], "status": status, "licensed": False, "format": template}


def chapters(tables: Tables) -> Grouped:
    """Return the rows of the chapters by the id of their series."""
    grouped: Grouped = {}
    for row in tables.rows("reader_chapter"):
        chapter = row if "published" in row else {**row, "published": row["uploaded"], "views": None}
        grouped.setdefault(row["series_id"], []).append(chapter)
    return grouped


class Pages:
    """The pages of all chapters, in a temporary file: those of a large site do not fit into memory."""

    def __init__(self, tables: Tables) -> None:
        # Rows of one chapter usually follow each other. They are a block, whose name has its number in the chapter.
        self._blocks, self._counts = spilled_records(), Counter[int | None]()
        for id, rows in groupby(tables.rows("reader_page"), key=itemgetter("chapter_id")):
            while block := [(row["number"] or 0, row["id"] or 0, row["image"]) for row in islice(rows, _BLOCK)]:
                self._blocks[f"{id} {self._counts[id]}"] = block
                self._counts[id] += 1

    def of(self, chapter: int | None) -> list[PageRow]:
        """Return the pages of a chapter in reading order; one page more than a chapter can have at most."""
        blocks = (self._blocks[f"{chapter} {number}"] for number in range(self._counts[chapter]))
        rows = (PageRow(*row) for block in blocks for row in block)
        return sorted(islice(rows, field_values.MAX_PAGES + 1))


def aliases(tables: Tables, model: str) -> Grouped:
    """Return the other names of each series, author or artist, in the order in which they were added."""
    grouped: Grouped = {}
    if tables.version == "0.4.5":
        owner, name = f"{model}_id", "alias"
        of_model = tables.in_order(f"reader_{model}alias")
    else:
        owner, name = "object_id", "name"
        types = {
            row["id"]
            for row in tables.rows("django_content_type")
            if (row["app_label"], row["model"]) == ("reader", model)
        }
        of_model = [row for row in tables.in_order("reader_alias") if row["content_type_id"] in types]
    for row in of_model:
        grouped.setdefault(row[owner], []).append(row[name])
    return grouped


def links(tables: Tables, table: str, owner: str, other: str) -> Grouped:
    """Return the linked ids of each row, in the order of the ids: responses have that order."""
    grouped: Grouped = {}
    for row in tables.rows(table):
        if row[other]:
            grouped.setdefault(row[owner], []).append(row[other])
    return {id: sorted(set(others)) for id, others in grouped.items()}


def image_url(media: str, path: str) -> str:
    """Return the URL of an image by the URL of the media folder; "" without a path."""
    # Not every text of a database is valid Unicode.
    names = path.encode(errors="replace").decode().split("/")
    return media + "/".join(map(percent_encoded, names)) if path else ""
