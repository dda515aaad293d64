"""What is asked of a series without reading it: enough to know whether it is still as it was, and fits the others."""

from array import array
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .. import encoding
from ..catalog.linking import Linker
from ..catalog.name_index import NameIndex
from ..catalog.page_ids import needs_allocated_ids
from ..catalog.reader import SeriesEntry


class SeriesFacts(NamedTuple):
    """Of a series and all its chapters, published or not; in arrays, since those of all series are in memory."""

    ids: "array[int]"
    # When each chapter is published, in order, and how many pages it has.
    published: "array[int]"
    pages: "array[int]"
    # Who and what is named, as it is written, by kind.
    names: dict[str, list[str | int]]
    # Whether every record says itself when it was modified.
    dated: bool
    # Chapters that have pages whose ids depend on other chapters: id, number of pages, when it is published.
    odd: list[tuple[int, int, int]]


def facts_of(series: SeriesEntry) -> SeriesFacts:
    record, chapters = series.entry.record, [entry.record for entry in series.chapters]
    named = [(one.id, len(one.pages), one.published) for one in chapters if one.id is not None]
    dated = sorted((one.published, len(one.pages)) for one in chapters)
    return SeriesFacts(
        ids=array("q", (number for number, _, _ in named)),
        published=array("q", (published for published, _ in dated)),
        pages=array("q", (pages for _, pages in dated)),
        names={
            "authors": list(dict.fromkeys(record.authors)),
            "artists": list(dict.fromkeys(record.artists)),
            "categories": list(dict.fromkeys(record.categories)),
            "groups": list(dict.fromkeys(group for one in chapters for group in one.groups)),
        },
        dated=all(one.modified is not None for one in (record, *chapters)),
        odd=[one for one in named if needs_allocated_ids(*one[:2])],
    )


def dump(facts: SeriesFacts) -> bytes:
    return encoding.json([list(one) if isinstance(one, array) else one for one in facts])


def load(text: bytes) -> SeriesFacts:
    found = SeriesFacts._make(encoding.parse(text))
    return found._replace(
        ids=array("q", found.ids),
        published=array("q", found.published),
        pages=array("q", found.pages),
        odd=[(chapter, pages, published) for chapter, pages, published in found.odd],
    )


class ReferenceDigests:
    """What stands behind each name in the lists, as a digest that changes when any of it does."""

    def __init__(self, linker: Linker) -> None:
        self.known: dict[str, dict[Any, str]] = {
            "authors": _meanings(linker.authors),
            "artists": _meanings(linker.artists),
            "groups": _meanings(linker.groups),
            "categories": {name: encoding.digest(repr(one).encode()) for name, one in linker.categories.items()},
        }

    def of(self, names: Mapping[str, Iterable[str | int]]) -> list[str] | None:
        """Of all names of a series, in their order; None if one of them means nothing, or several things."""
        found = [self.known[kind].get(name) for kind, ones in names.items() for name in ones]
        return None if None in found else [one for one in found if one]


def _meanings(directory: NameIndex[Any]) -> dict[object, str]:
    digests = {thing: encoding.digest(repr(thing).encode()) for thing in directory.by_id.values()}
    by_name: dict[object, str] = {
        name: digests[things[0]] for name, things in directory.by_name.items() if len(things) == 1
    }
    return by_name | {number: digests[thing] for number, thing in directory.by_id.items()}
