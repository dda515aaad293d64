"""A running site -> a catalog: what it answers is kept, understood, compared with what is there, and written."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from .. import checks, confined, disk, encode, places, source
from ..address import Address
from ..confined import Folder
from ..errors import CatalogError, FlatpanelError, Problem
from ..http_client import SECONDS
from ..source import SITE, Sources
from . import asking, merging, missing, placing, reading
from .answers import Bodies
from .asking import Asker, Progress
from .merging import FILES
from .notes import Notes
from .shelf import Shelf, folder_of
from .wire import MAX_RESPONSE, Wire

# Everything that a site tells takes at most so many times the memory of the largest response.
_CONTENT = 4
_ORDER = (SITE, *FILES.values())


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an import is told from outside, the clock included."""

    address: Address
    catalog: Folder
    cache: Path
    now: int
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    key: str | None = None
    rate: float = 4.0
    dry: bool = False
    # For one request as a whole, and the MiB of its response.
    timeout: float = SECONDS
    max_response: int = MAX_RESPONSE


@dataclass(frozen=True, slots=True)
class Done:
    """What was written, or would be, and what people should know."""

    counts: dict[str, int]
    files: list[str]
    notes: list[str]
    requests: int


def run(wanted: Wanted, progress: Progress = lambda share: None) -> Done:
    """Bring a catalog to what a site says now."""
    notes = Notes()
    _check_before(wanted.catalog)
    folder = folder_of(wanted.cache, str(wanted.address))
    with disk.alone(folder):
        shelf = Shelf(folder, wanted.now)
        wire = Wire(
            wanted.address, wanted.clock, wanted.sleep, 1 / wanted.rate, wanted.timeout, wanted.max_response << 20
        )
        asker = Asker(wire, Bodies(shelf, wire.size), notes, wanted.key, progress)
        try:
            asking.ask_everything(asker)
            shelf.complete()
        finally:
            wire.close()
        origin, most = wanted.address.origin, _CONTENT * wire.size
        read = partial(reading.read, asker.answers, asker.slugs, origin, wanted.now, notes, most)
        if wanted.dry:
            made = _made(wanted.catalog, read, shelf, notes)
        else:
            disk.make_folder(Path(wanted.catalog))
            with disk.alone(wanted.catalog):
                made = _made(wanted.catalog, read, shelf, notes)
                for file in sorted(made.files, key=_rank):
                    confined.of(wanted.catalog).write(file, made.files[file])
            shelf.finish(str(Path(wanted.catalog).resolve()), made.memory)
    return Done(made.counts, list(made.files), list(notes), wire.requests)


@dataclass(frozen=True, slots=True)
class _Made:
    """How much is new, the files to be written, the names of those that are there, and JSON for the next import."""

    counts: dict[str, int]
    files: dict[str, bytes]
    names: list[str]
    memory: bytes


def _made(catalog: Folder, read: Callable[[], reading.Imported], shelf: Shelf, notes: Notes) -> _Made:
    """What is to be written: a catalog that has problems is not touched, and none comes out."""
    made = _planned(catalog, read, shelf, notes)
    with disk.scratch() as folder:
        for file in {*made.names, *made.files}:
            disk.write_if_changed(folder / file, made.files.get(file) or places.text(catalog, file))
        _checked(folder, catalog)
    return made


def _planned(catalog: Folder, read: Callable[[], reading.Imported], shelf: Shelf, notes: Notes) -> _Made:
    """All records are gone from memory when this is over; the check that follows needs as much again."""
    found, past = read(), shelf.imported(str(Path(catalog).resolve()))
    sources, before = Sources(), {}
    if _holds_anything(catalog):
        sources, before = _checked(catalog, catalog), past
        _refuse_lost_lists(merging.lost_paths(found, before), shelf)
    plan = merging.Merge(sources, found, before, notes).made()
    files = placing.Placer(sources, plan, lambda file: places.text(catalog, file), notes).placed()
    return _Made(plan.counts, files, list(sources.mtimes), encode.json(merging.remembered(found, past)))


def _refuse_lost_lists(lost: Iterable[str], shelf: Shelf) -> None:
    """Without a list, everything in it would seem to be gone, or to have no name."""
    lists = missing.lists(lost)
    for path in lists:
        shelf.forget(path)
    if lists:
        raise FlatpanelError(
            f"{lists[0]}: does not tell what it told at the last import, and too much depends on it; nothing is "
            "written: import again later, or with the same key"
        )


def _check_before(catalog: Folder) -> None:
    """Nobody asks a site for hours, only to hear that what it told cannot be written."""
    if os.path.exists(catalog) and not os.path.isdir(catalog):
        raise FlatpanelError(f"{catalog}: is no folder")
    if _holds_anything(catalog):
        _checked(catalog, catalog)


def _holds_anything(catalog: Folder) -> bool:
    return os.path.isdir(catalog) and any(not name.startswith(".") for name in os.listdir(catalog))


def _checked(folder: Folder, shown: Folder) -> Sources:
    """A catalog without problems; they are told as those of the folder that people know."""
    sources = source.read(folder)
    complaints = sources.complaints + checks.complaints(sources)
    if complaints:
        raise CatalogError(_renamed(one, folder, shown) for one in places.located(folder, complaints))
    return sources


def _renamed(problem: Problem, folder: Folder, shown: Folder) -> Problem:
    return replace(problem, file=str(shown) + problem.file.removeprefix(str(folder)))


def _rank(file: str) -> int:
    """What is named by others is written before them: whenever this ends, there is a catalog without problems."""
    return _ORDER.index(file) if file in _ORDER else len(_ORDER)
