"""Render one series: from the values of its files to bodies on the disk, lines and a summary.

Runs in worker processes; in the first one for up to eight series, unless they have templates of a theme.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .. import encoding
from ..api import routes
from ..api.pages import theme
from ..catalog import reader
from ..catalog.entities import (
    Archive,
    Chapter,
    Latest,
    OpdsChapter,
    RecentChapter,
    Series,
    SeriesSummary,
    Variants,
)
from ..catalog.layout import SeriesFiles
from ..catalog.linking import Linker
from ..release.bodies import BodyWriter, WriteTotals
from ..release.manifest import Published, parse_lines
from . import parsed_files
from .publish import ResourcePublisher, Segment


class RenderTask(NamedTuple):
    """A series to render, with the values of its files as JSON."""

    files: SeriesFiles
    values: dict[str, bytes]
    times: dict[str, int]
    page_ids: dict[str, int]
    # Manifest lines of the series, and of other series that had some of its chapters, in the release whose dates are
    # continued.
    continued: bytes


class RenderedSeries(NamedTuple):
    """What the build keeps of a rendered series; its bodies are written already."""

    slug: str
    segment: Segment
    summary: bytes
    output: WriteTotals


def make(
    linker: Linker, writer: Callable[[], BodyWriter], skip_unchanged: bool
) -> Callable[[RenderTask], RenderedSeries]:
    """The function that renders a series. Each process makes one."""
    publisher = ResourcePublisher(writer(), linker.site, linker.as_of, skip_unchanged)
    page = theme.context(linker.site, linker.lists.theme, preview=linker.preview)

    def render(task: RenderTask) -> RenderedSeries:
        entry = reader.series_from_values(task.files, parsed_files.from_json(task.values))
        series = linker.series(entry, task.times, task.page_ids)
        continued = parse_lines(task.continued)
        published: list[Published] = []
        listed = ListedChapters()
        chapters = {f"/api/v2/chapters/{chapter.id}": chapter for chapter in series.identified_chapters}
        for resource in routes.resources_of(series, page):
            body = publisher.publish(resource, continued)
            published.append(body)
            # The list of all chapters has only those of open series.
            if resource.url in chapters and not series.licensed and not series.restricted:
                listed.add(chapters[resource.url], resource.body.last_modified, body)
        return RenderedSeries(
            slug=series.slug,
            segment=publisher.segment(
                published,
                routes.gates_of(series, page),
                routes.aliases_of(series, linker.site),
                [chapter.id for chapter in series.identified_chapters if chapter.id is not None],
            ),
            summary=dump(series, published, listed),
            output=publisher.bodies.take_totals(),
        )

    return render


# In the cache a summary has the ids of these entities; `load` links them again.
_LINKED = ("authors", "artists", "categories", "groups")
_FIELDS = tuple(name for name in SeriesSummary.__dataclass_fields__ if name not in _LINKED)


def _recent(values: list[Any]) -> RecentChapter:
    chapter = RecentChapter(*values)
    return chapter._replace(groups=tuple(chapter.groups))


def _opds_chapter(values: list[Any]) -> OpdsChapter:
    chapter = OpdsChapter(*values)
    archive = chapter.archive and Archive(*chapter.archive)
    return chapter._replace(groups=tuple(chapter.groups), archive=archive)


@dataclass(slots=True)
class ListedChapters:
    """Chapters in the list of all chapters, which consists of their bodies."""

    # The date of the newest one, and the number of bytes of all.
    modified: int = 0
    size: int = 0
    # For each chapter its place in the order of the list, its id and its ETag.
    records: list[bytes] = field(default_factory=list)

    def add(self, chapter: Chapter, modified: int, body: Published) -> None:
        self.modified = max(self.modified, modified)
        self.size += body.size
        number = (chapter.id or 0).to_bytes(_ID_BYTES, "big")
        self.records.append(chapter.newest_first + number + bytes.fromhex(body.etag))

    def extend(self, others: "ListedChapters") -> None:
        self.modified = max(self.modified, others.modified)
        self.size += others.size
        self.records += others.records


# The length of an id and of an ETag in a record.
_ID_BYTES, _ETAG_BYTES = 4, 16


def id_and_etag(record: bytes) -> tuple[int, str]:
    """The id and the ETag of a listed chapter."""
    return int.from_bytes(record[-_ID_BYTES - _ETAG_BYTES : -_ETAG_BYTES], "big"), record[-_ETAG_BYTES:].hex()


def dump(series: Series, published: Iterable[Published], chapters: ListedChapters) -> bytes:
    """The summary of a series, and the bodies that are pieces of long lists."""
    urls = [f"{root}/series/{series.slug}" for root in ("/api", "/api/v1", "/komga/api/v1")]
    return encoding.json_of_tuples(
        {
            **{name: getattr(series, name) for name in _FIELDS},
            **{name: [entity.id for entity in getattr(series, name)] for name in _LINKED},
            "bodies": [body for body in published if body.url in urls],
            "chapters": [chapters.modified, chapters.size, [record.hex() for record in chapters.records]],
        }
    )


def load(text: bytes, linker: Linker) -> tuple[SeriesSummary, list[Published], ListedChapters]:
    """The inverse of `dump`."""
    value: dict[str, Any] = encoding.parse(text)
    indexes: dict[str, Mapping[Any, Any]] = {
        "authors": linker.authors.by_id,
        "artists": linker.artists.by_id,
        "categories": linker.categories,
        "groups": linker.groups.by_id,
    }
    # JSON has no tuples.
    own = ((name, value[name]) for name in _FIELDS)
    fields: dict[str, Any] = {name: tuple(item) if isinstance(item, list) else item for name, item in own}
    fields |= {name: tuple(by_id[number] for number in value[name]) for name, by_id in indexes.items()}
    fields |= {"latest": value["latest"] and Latest(*value["latest"])}
    copies = value["cover_variants"]
    fields |= {"cover_variants": copies and Variants(tuple(copies[0]), copies[1])}
    fields |= {"recent": tuple(_recent(chapter) for chapter in value["recent"])}
    fields |= {"newest_in_opds": tuple(map(_opds_chapter, value["newest_in_opds"]))}
    bodies = [Published(*fields) for fields in value["bodies"]]
    modified, size, records = value["chapters"]
    return SeriesSummary(**fields), bodies, ListedChapters(modified, size, list(map(bytes.fromhex, records)))
