"""`ids`: what a chapter is called for ever, given by the machine."""

from pathlib import Path

import click

from ..authoring import chapter_ids
from ..catalog.confined_folder import ConfinedFolder
from ..release.highest_id import highest_id
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
    """Give an id to every chapter without one.

    Writes the ids into the files of the catalog.
    """
    given = chapter_ids.give_ids(catalog, highest_id(out, previous), print_warning)
    if as_json:
        facts = [
            {"file": one.file, "volume": one.chapter.volume, "number": one.chapter.number, "id": one.id}
            for one in given
        ]
        print_json({"ok": True, "given": facts})
    elif given:
        print_lines(*(f"{catalog / one.file}: {chapter_ids.chapter_label(one.chapter)}: id {one.id}" for one in given))
    else:
        print_lines(f"{catalog}: every chapter has an id")
