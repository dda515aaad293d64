"""Check one series: read its files, or their parsed values, and collect problems and facts.

Runs in worker processes, or in the first one for up to eight series.
"""

from typing import NamedTuple

from .. import encoding
from ..catalog import reader
from ..catalog.confined_folder import ConfinedFolder
from ..catalog.cross_checks import RecordChecks
from ..catalog.layout import SeriesFiles
from ..catalog.reader import Sources
from . import parsed_files, series_facts
from .series_facts import SeriesFacts


class CheckTask(NamedTuple):
    """A series to check, and the values of those of its files that an earlier build parsed, as JSON."""

    files: SeriesFiles
    values: dict[str, bytes]


class CheckedSeries(NamedTuple):
    """The result for one series. The records are not part of it: passing them between processes is slow."""

    files: SeriesFiles
    # The problems, the unreadable files and the cut texts.
    sources: Sources
    # None if the file of the series could not be read.
    facts: SeriesFacts | None
    # Digest and value, as JSON, of each file that was parsed without problems.
    parsed: dict[str, tuple[str, bytes]]


class SeriesChecker:
    """Checks series. Each process has one."""

    def __init__(self, folder: ConfinedFolder, checks: RecordChecks) -> None:
        self.folder, self.checks = folder, checks

    def __call__(self, task: CheckTask) -> CheckedSeries:
        sources = reader.read_series(self.folder, task.files, parsed_files.from_json(task.values))
        facts, parsed = None, {}
        for series in sources.series:
            sources.problems += self.checks.series(series)
            facts = series_facts.facts_of(series)
            records = {entry.file: entry.record for entry in (series.entry, *series.chapters) if not entry.path}
            if not sources.problems:
                parsed = {
                    file: (sources.parsed[file].digest, encoding.json(records[file].to_values()))
                    for file in task.files.files
                    if file in sources.parsed
                }
        sources.series.clear()
        sources.parsed.clear()
        return CheckedSeries(task.files, sources, facts, parsed)
