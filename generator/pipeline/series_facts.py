"""The cached facts of a series: enough to decide without parsing it whether it is unchanged and fits the others."""

from array import array
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .. import encoding
from ..catalog.linking import Linker, needs_allocated_ids
from ..catalog.reader import SeriesEntry
from ..catalog.references import NameIndex


class SeriesFacts(NamedTuple):
    """Facts of a series and all its chapters, also scheduled ones. Arrays save memory: all series are in memory."""

    ids: "array[int]"
    # Publication time and number of pages of each chapter, in the order of these times.
    published: "array[int]"
    pages: "array[int]"
    # The references to people, categories and groups as they are written, by kind.
    names: dict[str, list[str | int]]
    # Whether every record has a `modified` field, so that the times of files do not matter.
    dated: bool
    # Id, number of pages and publication time of each chapter whose page ids are allocated.
    allocated: list[tuple[int, int, int]]
    # The slugs that the series had before.
    formerly: list[str]


def facts_of(series: SeriesEntry) -> SeriesFacts:
    record, chapters = series.entry.record, [entry.record for entry in series.chapters]
    with_id = [(chapter.id, len(chapter.pages), chapter.published) for chapter in chapters if chapter.id is not None]
    by_time = sorted((chapter.published, len(chapter.pages)) for chapter in chapters)
    return SeriesFacts(
        ids=array("q", (number for number, _, _ in with_id)),
        published=array("q", (published for published, _ in by_time)),
        pages=array("q", (pages for _, pages in by_time)),
        names={
            "authors": list(dict.fromkeys(record.authors)),
            "artists": list(dict.fromkeys(record.artists)),
            "categories": list(dict.fromkeys(record.categories)),
            "groups": list(dict.fromkeys(group for chapter in chapters for group in chapter.groups)),
        },
        dated=all(item.modified is not None for item in (record, *chapters)),
        allocated=[chapter for chapter in with_id if needs_allocated_ids(*chapter[:2])],
        formerly=record.formerly,
    )


def dump(facts: SeriesFacts) -> bytes:
    return encoding.json([list(fact) if isinstance(fact, array) else fact for fact in facts])


def load(text: bytes) -> SeriesFacts:
    facts = SeriesFacts._make(encoding.parse(text))
    return facts._replace(
        ids=array("q", facts.ids),
        published=array("q", facts.published),
        pages=array("q", facts.pages),
        allocated=[(chapter, pages, published) for chapter, pages, published in facts.allocated],
    )


class ReferenceDigests:
    """A digest of the entry behind each reference; it changes when any field of the entry does."""

    def __init__(self, linker: Linker) -> None:
        self._digests: dict[str, dict[Any, str]] = {
            "authors": _digests(linker.authors),
            "artists": _digests(linker.artists),
            "groups": _digests(linker.groups),
            "categories": {name: encoding.digest(repr(entry).encode()) for name, entry in linker.categories.items()},
        }

    def of(self, names: Mapping[str, Iterable[str | int]]) -> list[str] | None:
        """The digests of all references of a series, in order; None if one matches no entry, or several."""
        digests = [self._digests[kind].get(name) for kind, references in names.items() for name in references]
        return None if None in digests else [digest for digest in digests if digest]


def _digests(index: NameIndex[Any]) -> dict[object, str]:
    digests = {entry: encoding.digest(repr(entry).encode()) for entry in index.by_id.values()}
    by_name: dict[object, str] = {
        name: digests[entries[0]] for name, entries in index.by_name.items() if len(entries) == 1
    }
    return by_name | {number: digests[entry] for number, entry in index.by_id.items()}
