"""One series after another, from its records to its bodies on the disk. Processes share this."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .. import encoding
from ..api import routes
from ..api.payloads import v2
from ..catalog import reader
from ..catalog.entities import Latest, Series, SeriesSummary
from ..catalog.layout import SeriesFiles
from ..catalog.linking import Linker
from ..release.bodies import BodyWriter, WriteTotals
from ..release.manifest import Published, parse_lines
from .cache import ListedChapter
from .publish import Publisher, Segment, SegmentChange, change


class Before(NamedTuple):
    """Lines of a release: those of a series, and those of the series that had some of its chapters then."""

    own: bytes
    others: bytes


class RenderTask(NamedTuple):
    """A series to render, with the values of its files as JSON."""

    place: SeriesFiles
    values: dict[str, bytes]
    times: dict[str, int]
    odd: dict[str, int]
    # What the release that is continued says of it, and what the one that is served does, if that is another.
    older: Before
    served: Before | None


class RenderedSeries(NamedTuple):
    slug: str
    run: Segment
    change: SegmentChange
    card: bytes
    rows: list[ListedChapter]
    output: WriteTotals


class Renderer:
    """What all series share. There is one in each process."""

    def __init__(self, linker: Linker, press: Publisher) -> None:
        self.linker, self.press = linker, press

    def __call__(self, task: RenderTask) -> RenderedSeries:
        entry = reader.series_from_values(
            task.place, {file: encoding.parse(value) for file, value in task.values.items()}
        )
        series = self.linker.series(entry, task.times, task.odd)
        site = self.linker.site
        older, others = (parse_lines(run) for run in task.older)
        served, served_others = (parse_lines(run) for run in task.served) if task.served else (older, others)
        before, there = others | older, served_others | served
        published = [self.press.publish(one, before, there) for one in routes.resources_of(series, site)]
        chapters = [one.id for one in series.identified_chapters if one.id is not None]
        run = self.press.run(published, routes.gates_of(series, site), routes.deprecated_pages_of(series), chapters)
        card = dump(series, [one for one in published if one.url.endswith(f"/{series.slug}")])
        output = self.press.bodies.take_totals()
        return RenderedSeries(series.slug, run, change(served, published, served_others), card, rows(series), output)


def make(linker: Linker, root: Path, left: frozenset[str], trusting: bool) -> Renderer:
    return Renderer(linker, Publisher(BodyWriter(root, left), linker.site, linker.as_of, trusting))


def rows(series: Series) -> list[ListedChapter]:
    """The part of a series in the list of all chapters, if anybody may read it."""
    if series.licensed or series.restricted:
        return []
    found = ((one, v2.chapter(one)) for one in series.identified_chapters)
    return [ListedChapter(one.newest_first, body.last_modified, encoding.json(body.value)) for one, body in found]


# A card as it is kept: whom it names by their ids, and the bodies that lists are put together from.
_NAMED = ("authors", "artists", "categories", "groups")
_FIELDS = tuple(name for name in SeriesSummary.__dataclass_fields__ if name not in (*_NAMED, "latest"))


def dump(series: Series, parts: Sequence[Published]) -> bytes:
    return encoding.json(
        {
            **{name: getattr(series, name) for name in _FIELDS},
            **{name: [one.id for one in getattr(series, name)] for name in _NAMED},
            "latest": series.latest and tuple(series.latest),
            "parts": {one.url: [one.file, one.etag, one.modified, one.size, one.gzip] for one in parts},
        }
    )


class Part(NamedTuple):
    """A body that lists may be put together from."""

    file: str
    etag: str
    modified: int
    size: int
    gzip: bool


def load(text: bytes, linker: Linker) -> tuple[SeriesSummary, Mapping[str, Part]]:
    found: dict[str, Any] = encoding.parse(text)
    directories: dict[str, Mapping[Any, Any]] = {
        "authors": linker.authors.by_id,
        "artists": linker.artists.by_id,
        "categories": linker.categories,
        "groups": linker.groups.by_id,
    }
    fields: dict[str, Any] = {name: found[name] for name in _FIELDS}
    fields |= {name: tuple(known[one] for one in found[name]) for name, known in directories.items()}
    fields |= {"aliases": tuple(found["aliases"]), "latest": found["latest"] and Latest(*found["latest"])}
    return SeriesSummary(**fields), {url: Part(*part) for url, part in found["parts"].items()}
