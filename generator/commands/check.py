"""`check`: list every problem of the catalog."""

import click

from ..catalog.confined_folder import ConfinedFolder
from ..errors import counted
from ..pipeline import run
from . import options
from .command import Command, Result, print_warnings


@click.command(cls=Command, examples=["check", "check --format github"])
@options.catalog
@options.as_of
@options.jobs
@options.format_of_errors
def check(catalog: ConfinedFolder, as_of: int, jobs: int) -> Result:
    """List every problem of the catalog."""
    scan = run.check(catalog, as_of, jobs)
    print_warnings(scan)
    series, chapters = len(scan.series_files), scan.published
    warnings = [*scan.warnings, *map(str, scan.located)]
    return Result(
        lambda: [f"{catalog}: {counted(series, 'series')}, {counted(chapters, 'published chapter')}, no problems"],
        lambda: {"ok": True, "series": series, "chapters": chapters, "warnings": warnings},
    )
