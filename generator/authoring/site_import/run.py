"""A running site -> a catalog: what it answers is kept, understood, compared with what is there, and written."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ... import encoding, filesystem
from ...address import Address
from ...catalog import confined_folder
from ...catalog.confined_folder import Folder
from ...catalog.layout import SITE
from ...catalog.load import load_valid
from ...catalog.problems import locate
from ...catalog.reader import Sources
from ...errors import FlatpanelError
from ...http_client import SECONDS
from . import catalog_files, crawl, interpret, three_way_merge, unavailable
from .answers import Bodies
from .crawl import Asker, Progress
from .http_client import MAX_RESPONSE, Wire
from .notes import Notes
from .response_cache import ResponseCache, folder_of
from .three_way_merge import FILES

# Everything that a site tells takes at most so many times the memory of the largest response.
_CONTENT = 4
_ORDER = (SITE, *FILES.values())


@dataclass(frozen=True, slots=True)
class ImportOptions:
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


def run(wanted: ImportOptions, progress: Progress = lambda share: None) -> Done:
    """Bring a catalog to what a site says now."""
    notes = Notes()
    _check_before(wanted.catalog)
    folder = folder_of(wanted.cache, str(wanted.address))
    with filesystem.alone(folder):
        shelf = ResponseCache(folder, wanted.now)
        wire = Wire(
            wanted.address, wanted.clock, wanted.sleep, 1 / wanted.rate, wanted.timeout, wanted.max_response << 20
        )
        asker = Asker(wire, Bodies(shelf, wire.size), notes, wanted.key, progress)
        try:
            crawl.ask_everything(asker)
            shelf.complete()
        finally:
            wire.close()
        origin, most = wanted.address.origin, _CONTENT * wire.size
        read = partial(interpret.read, asker.answers, asker.slugs, origin, wanted.now, notes, most)
        if wanted.dry:
            made = _made(wanted.catalog, read, shelf, notes)
        else:
            filesystem.make_folder(Path(wanted.catalog))
            with filesystem.alone(wanted.catalog):
                made = _made(wanted.catalog, read, shelf, notes)
                for file in sorted(made.files, key=_rank):
                    confined_folder.of(wanted.catalog).write(file, made.files[file])
            shelf.finish(str(Path(wanted.catalog).resolve()), made.memory)
    return Done(made.counts, list(made.files), list(notes), wire.requests)


@dataclass(frozen=True, slots=True)
class _Made:
    """How much is new, the files to be written, the names of those that are there, and JSON for the next import."""

    counts: dict[str, int]
    files: dict[str, bytes]
    names: list[str]
    memory: bytes


def _made(catalog: Folder, read: Callable[[], interpret.Imported], shelf: ResponseCache, notes: Notes) -> _Made:
    """What is to be written: a catalog that has problems is not touched, and none comes out."""
    made = _planned(catalog, read, shelf, notes)
    with filesystem.scratch() as folder:
        for file in {*made.names, *made.files}:
            filesystem.write_if_changed(folder / file, made.files.get(file) or locate.text(catalog, file))
        load_valid(folder, catalog)
    return made


def _planned(catalog: Folder, read: Callable[[], interpret.Imported], shelf: ResponseCache, notes: Notes) -> _Made:
    """All records are gone from memory when this is over; the check that follows needs as much again."""
    found, past = read(), shelf.imported(str(Path(catalog).resolve()))
    sources, before = Sources(), {}
    if _holds_anything(catalog):
        sources, before = load_valid(catalog), past
        _refuse_lost_lists(three_way_merge.lost_paths(found, before), shelf)
    plan = three_way_merge.Merge(sources, found, before, notes).made()
    files = catalog_files.Placer(sources, plan, lambda file: locate.text(catalog, file), notes).placed()
    return _Made(plan.counts, files, list(sources.mtimes), encoding.json(three_way_merge.remembered(found, past)))


def _refuse_lost_lists(lost: Iterable[str], shelf: ResponseCache) -> None:
    """Without a list, everything in it would seem to be gone, or to have no name."""
    lists = unavailable.lists(lost)
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
        load_valid(catalog)


def _holds_anything(catalog: Folder) -> bool:
    return os.path.isdir(catalog) and any(not name.startswith(".") for name in os.listdir(catalog))


def _rank(file: str) -> int:
    """What is named by others is written before them: whenever this ends, there is a catalog without problems."""
    return _ORDER.index(file) if file in _ORDER else len(_ORDER)
