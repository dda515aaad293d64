"""`ids`: assign ids to new chapters."""

from pathlib import Path

import click

from ..authoring import chapter_ids
from ..catalog.confined_folder import ConfinedFolder
from ..release.store import highest_id
from . import options
from .help import Command
from .output import print_json, print_lines
from .reporting import handle_errors, print_warning


@click.command(cls=Command, examples=["ids"])
@options.catalog
@options.out
@options.previous_ids
@options.as_json
@handle_errors
def ids(catalog: ConfinedFolder, out: Path, previous: Path | None, as_json: bool) -> None:
    """Assign ids to chapters without one.

    Writes the ids into the files of the catalog.
    """
    assigned = chapter_ids.assign_ids(catalog, highest_id(out, previous), print_warning)
    if as_json:
        entries = [
            {"file": entry.file, "volume": entry.chapter.volume, "number": entry.chapter.number, "id": entry.id}
            for entry in assigned
        ]
        print_json({"ok": True, "given": entries})
    elif assigned:
        print_lines(
            *(
                f"{catalog / entry.file}: {chapter_ids.chapter_label(entry.chapter)}: id {entry.id}"
                for entry in assigned
            )
        )
    else:
        print_lines(f"{catalog}: every chapter has an id")
