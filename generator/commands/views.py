"""`views`: count the requests in server logs."""

from pathlib import Path

import click

from ..authoring import view_counts
from ..catalog.confined_folder import ConfinedFolder
from ..errors import counted
from . import options
from .command import Command, Result, warning
from .output import Line


@click.command(cls=Command, examples=["views dist/run/views.log"])
@options.catalog
@options.as_json
@click.argument("logs", metavar="LOG...", nargs=-1, required=True, type=click.Path(path_type=Path))
def views(catalog: ConfinedFolder, logs: tuple[Path, ...]) -> Result:
    """Add the views in nginx's logs.

    The logs may be gzipped. Views that were counted before are not counted again.
    """
    result = view_counts.add_views(catalog, logs)
    tally = result.tally
    lines: list[str | Line] = [
        warning(f"{log}: {counted(count, 'line')} invalid, skipped; an incomplete last line counts once it is complete")
        for log, count in result.unreadable.items()
    ]
    if tally.too_old:
        too_old = f"{counted(tally.too_old, 'line')} of {tally.closed} or earlier skipped: too old to detect duplicates"
        lines.append(warning(too_old))
    lines.append(f"{catalog}: {counted(tally.counted, 'view')} added, {tally.repeated} already counted")
    return Result(
        lambda: lines,
        lambda: {
            "ok": True,
            "counted": tally.counted,
            "repeated": tally.repeated,
            "too_old": tally.too_old,
            "unreadable": result.unreadable,
        },
    )
