"""`schema`: write JSON Schemas for editors."""

from pathlib import Path

import click

from .. import filesystem
from ..catalog import layout
from ..catalog.confined_folder import ConfinedFolder
from . import options
from .command import Command, Result


@click.command(cls=Command, examples=["schema", "schema schemas"])
@options.catalog
@click.argument("target", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
def schema(catalog: ConfinedFolder, target: Path | None) -> Result:
    """Write JSON Schemas for editors.

    Write one schema for each kind of file into DIR.  [default: .schemas in the catalog]
    """
    # Imported here because it is slow.
    from ..catalog import json_schema as schemas

    files = schemas.files()
    folder = target or layout.existing(catalog) / layout.SCHEMAS
    for name, text in files.items():
        if target:
            filesystem.write_if_changed(target / name, text)
        else:
            catalog.write(f"{layout.SCHEMAS}/{name}", text)
    return Result(lambda: [f"{folder}: {len(files)} schemas"])
