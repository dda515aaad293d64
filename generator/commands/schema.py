"""`schema`: write JSON Schemas for editors."""

import shlex
from pathlib import Path

import click

from .. import filesystem
from ..catalog import layout
from ..catalog.confined_folder import ConfinedFolder
from . import options
from .command import Command, Result


@click.command(cls=Command, examples=["schema", "schema schemas", "schema --cms editor"])
@options.catalog
@click.argument("target", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@click.option(
    "--cms",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write a page that edits the catalog in a browser, with Sveltia CMS, into FOLDER instead.",
)
def schema(catalog: ConfinedFolder, target: Path | None, cms: Path | None) -> Result:
    """Write JSON Schemas for editors.

    Write one schema for each kind of file into DIR.  [default: .schemas in the catalog]
    """
    if cms:
        if target:
            raise click.UsageError("DIR is for schemas; leave it out with --cms")
        return _write_cms(cms, catalog)
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


def _write_cms(folder: Path, catalog: ConfinedFolder) -> Result:
    from ..authoring import cms

    cms.write(folder, catalog)
    return Result(
        lambda: [
            f"{folder}: a page that edits {catalog}; next steps:",
            f"  npm install --ignore-scripts --prefix {shlex.quote(str(folder))}",
            f"  python3 -m http.server --bind localhost --directory {shlex.quote(str(folder))} 8001",
            "  open http://localhost:8001/ in a browser of the Chromium family",
        ]
    )
