"""`check`: list every problem of the catalog."""

import click

from ..catalog.confined_folder import ConfinedFolder
from ..pipeline import run
from . import options
from .help import Command
from .output import print_json, print_lines
from .reporting import handle_errors, print_warnings


@click.command(cls=Command, examples=["check", "check --format github"])
@options.catalog
@options.as_of
@options.jobs
@options.output_format
@handle_errors
def check(catalog: ConfinedFolder, as_of: int | None, jobs: int, output_format: str) -> None:
    """List every problem of the catalog."""
    scan = run.check(catalog, options.now() if as_of is None else as_of, jobs)
    print_warnings(scan, output_format=output_format)
    series, chapters = len(scan.series_files), scan.published
    if output_format == "json":
        warnings = [*scan.warnings, *map(str, scan.located)]
        print_json({"ok": True, "series": series, "chapters": chapters, "warnings": warnings})
    else:
        print_lines(f"{catalog}: {series} series, {chapters} published chapters, no problems")
