"""`views`: count the requests in server logs."""

from pathlib import Path

import click

from ..authoring import view_counts
from ..catalog.confined_folder import ConfinedFolder
from . import options
from .help import Command
from .output import print_json, print_lines
from .reporting import handle_errors, print_warning


@click.command(cls=Command, examples=["views dist/run/views.log"])
@options.catalog
@options.as_json
@click.argument("logs", metavar="LOG...", nargs=-1, required=True, type=click.Path(path_type=Path))
@handle_errors
def views(catalog: ConfinedFolder, as_json: bool, logs: tuple[Path, ...]) -> None:
    """Add the views in nginx's logs.

    The logs may be gzipped. Views that were counted before are not counted again.
    """
    result = view_counts.add_views(catalog, logs)
    tally = result.tally
    if as_json:
        counts = {"ok": True, "counted": tally.counted, "repeated": tally.repeated, "too_old": tally.too_old}
        print_json(counts | {"unreadable": result.unreadable})
        return
    for log, count in result.unreadable.items():
        print_warning(f"{log}: {_lines(count)} invalid, skipped; an incomplete last line counts once it is complete")
    if tally.too_old:
        print_warning(f"{_lines(tally.too_old)} of {tally.closed} or earlier skipped: too old to detect duplicates")
    print_lines(f"{catalog}: {tally.counted} views added, {tally.repeated} already counted")


def _lines(count: int) -> str:
    return f"{count} line{'s' * (count > 1)}"
