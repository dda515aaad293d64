"""A whole linked catalog in memory, for tests that compare payloads with it."""

from collections.abc import Mapping
from pathlib import Path

from generator.catalog import git
from generator.catalog.confined_folder import Folder
from generator.catalog.entities import Catalog
from generator.catalog.linking import Linker, allocate_page_ids, needs_allocated_ids
from generator.catalog.problems.load import load_valid
from generator.catalog.reader import Sources


def read_catalog(folder: Folder, as_of: int, *, preview: bool = False) -> Catalog:
    """The catalog in a folder at an instant. Raises every problem."""
    sources = load_valid(folder)
    return link(sources, sources.mtimes | git.file_times(Path(folder), as_of).times, as_of, preview=preview)


def link(sources: Sources, times: Mapping[str, int], as_of: int, *, preview: bool = False) -> Catalog:
    """The catalog of records without problems; `times` are the times at which each file last changed."""
    records = [entry.record for series in sources.series for entry in series.chapters]
    shown = [record for record in records if preview or record.published <= as_of]
    chapters = [(record.id, len(record.pages)) for record in shown if record.id is not None]
    odd = allocate_page_ids((chapter for chapter in chapters if needs_allocated_ids(*chapter)), {})
    linker = Linker(sources, times, as_of, preview=preview)
    return linker.catalog(linker.series(series, times, odd) for series in sources.series)
