"""`export`: write the current release as plain files."""

from pathlib import Path

import click

from ..release.export import export_release
from ..release.store import Store
from . import options
from .help import Command
from .output import print_lines
from .reporting import handle_errors


@click.command(cls=Command, examples=["export public"])
@options.out
@click.argument("target", metavar="DIR", type=click.Path(path_type=Path))
@handle_errors
def export(out: Path, target: Path) -> None:
    """Write the release as plain files.

    DIR gets the body of each public URL and its headers, for hosts other than nginx. Restricted URLs and those with
    parameters are left out.
    """
    count = export_release(Store(out), target)
    print_lines(f"{target}: {count} resources")
