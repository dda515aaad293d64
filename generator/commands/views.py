"""`views`: from the server's log into the next build."""

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
    folded = view_counts.fold_views(catalog, logs)
    tally = folded.tally
    if as_json:
        facts = {"ok": True, "counted": tally.counted, "repeated": tally.repeated, "too_old": tally.too_old}
        print_json(facts | {"unreadable": folded.unreadable})
        return
    for log, count in folded.unreadable.items():
        print_warning(f"{log}: {_lines(count)} cannot be read; a cut line counts when it is given whole")
    if tally.too_old:
        print_warning(f"{_lines(tally.too_old)} from {tally.closed} or before; too old to be told from counted ones")
    print_lines(f"{catalog}: {tally.counted} views counted, {tally.repeated} were counted already")


def _lines(count: int) -> str:
    return f"{count} line{'s' * (count > 1)}"
