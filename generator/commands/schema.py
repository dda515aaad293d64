"""`schema`: what an editor has to know to help."""

from pathlib import Path

import click

from .. import disk, source
from . import options
from .output import say
from .reporting import reporting


@click.command()
@options.catalog
@click.argument("target", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@reporting
def schema(catalog: Path, target: Path | None) -> None:
    """Write JSON Schemas of all files of a catalog, for editors, into DIR or .schemas in the catalog."""
    # Takes its time to load, and nothing else needs it.
    from .. import schema as schemas

    folder = target or source.existing(catalog) / ".schemas"
    found = schemas.files()
    for name, text in found.items():
        disk.write_if_changed(folder / name, text)
    say(f"{folder}: {len(found)} schemas")
