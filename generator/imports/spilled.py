"""Values in a temporary file: memory has their names and places, but not the pages of all series at once."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import replace
from typing import Any, TypeVar
from weakref import finalize

from .. import encoding, filesystem
from ..catalog.reader import SeriesEntry

V = TypeVar("V")
# Rows of a list that are in memory; those before are in the file.
_ROWS = 1000


class TemporaryFile:
    """A file that is closed with its last user."""

    def __init__(self) -> None:
        self._file = filesystem.unnamed_file()
        finalize(self, self._file.close)

    def append(self, data: bytes) -> tuple[int, int]:
        """Write data to the end, and return its place."""
        offset = self._file.seek(0, os.SEEK_END)
        self._file.write(data)
        return offset, len(data)

    def read(self, offset: int, size: int) -> bytes:
        self._file.seek(offset)
        return self._file.read(size)


class Spilled(MutableMapping[str, V]):
    """Values by name. Each access makes a new value: one that is changed has to be set again."""

    def __init__(self, encode: Callable[[V], bytes], decode: Callable[[bytes], V], file: TemporaryFile) -> None:
        self._encode, self._decode, self._file = encode, decode, file
        self._places: dict[str, tuple[int, int]] = {}

    def __getitem__(self, name: str) -> V:
        return self._decode(self._file.read(*self._places[name]))

    def __setitem__(self, name: str, value: V) -> None:
        self._places[name] = self._file.append(self._encode(value))

    def __delitem__(self, name: str) -> None:
        del self._places[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def in_order(self, names: Iterable[str]) -> "Spilled[V]":
        """Return a copy with its names in this order. Both use one file, in which nothing is overwritten."""
        copy = Spilled(self._encode, self._decode, self._file)
        copy._places = {name: self._places[name] for name in names}
        return copy


def spilled_records(records: Mapping[str, Any] | None = None) -> Spilled[Any]:
    """Return records of JSON values; those of `records` are in them."""
    if isinstance(records, Spilled):
        return records.in_order(records)
    spilled = Spilled[Any](encoding.json, encoding.parse, TemporaryFile())
    spilled.update(records or {})
    return spilled


def spilled_texts() -> Spilled[bytes | None]:
    """Return the texts of files; None for a file that is removed."""
    return Spilled(
        lambda text: b"" if text is None else b"=" + text, lambda data: data[1:] if data else None, TemporaryFile()
    )


class SpilledRows:
    """A list of rows of JSON values, in blocks."""

    def __init__(self) -> None:
        self._blocks, self._last = spilled_records(), list[Any]()

    def append(self, row: Any) -> None:
        self._last.append(row)
        if len(self._last) == _ROWS:
            self._blocks[str(len(self._blocks))] = self._last
            self._last = []

    def __iter__(self) -> Iterator[Any]:
        for block in self._blocks.values():
            yield from block
        yield from self._last


class SpilledPages:
    """The pages of one chapter of the catalog."""

    __slots__ = ("_file", "_place")

    def __init__(self, file: TemporaryFile, pages: list[str]) -> None:
        self._file, self._place = file, file.append(encoding.json(pages))

    def __iter__(self) -> Iterator[str]:
        return iter(encoding.parse(self._file.read(*self._place)))


def spills_pages() -> Callable[[SeriesEntry], SeriesEntry]:
    """Return a function that replaces the pages of a series of the catalog by their places in a temporary file."""
    file = TemporaryFile()

    def spilled(series: SeriesEntry) -> SeriesEntry:
        chapters = tuple(
            replace(entry, record=entry.record.model_copy(update={"pages": SpilledPages(file, entry.record.pages)}))
            for entry in series.chapters
        )
        record = series.entry.record.model_copy(update={"chapters": []})
        return replace(series, entry=replace(series.entry, record=record), chapters=chapters)

    return spilled
