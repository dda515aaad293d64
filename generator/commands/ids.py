"""`ids`: assign ids to new chapters."""

from pathlib import Path

import click

from ..authoring import chapter_ids
from ..catalog.confined_folder import ConfinedFolder
from ..release.store import highest_id
from . import options
from .command import Command, Result, print_warning


@click.command(cls=Command, examples=["ids"])
@options.catalog
@options.out
@options.previous_ids
@options.as_json
def ids(catalog: ConfinedFolder, out: Path, previous: Path | None) -> Result:
    """Assign ids to chapters without one.

    Writes the ids into the files of the catalog.
    """
    assigned = chapter_ids.assign_ids(catalog, highest_id(out, previous), print_warning)
    lines = [f"{catalog / entry.file}: {chapter_ids.chapter_label(entry.chapter)}: id {entry.id}" for entry in assigned]
    entries = [
        {"file": entry.file, "volume": entry.chapter.volume, "number": entry.chapter.number, "id": entry.id}
        for entry in assigned
    ]
    return Result(
        lambda: lines or [f"{catalog}: every chapter has an id"],
        lambda: {"ok": True, "given": entries},
    )
