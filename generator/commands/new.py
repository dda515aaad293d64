"""`new`: a series or a chapter that is written down in the right place."""

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from ..authoring import chapter_ids, new_entries
from ..authoring.new_entries import Added
from ..catalog import field_values
from ..catalog.confined_folder import ConfinedFolder
from ..catalog.records import Chapter
from ..release.highest_id import highest_id
from . import options
from .help import CommandGroup
from .output import print_json, print_lines
from .reporting import handle_errors, print_warning

_DRY = click.option("--dry-run", "dry", is_flag=True, help="Print what would be written; write nothing.")


@click.group(cls=CommandGroup)
def new() -> None:
    """Add a series or a chapter."""


@new.command(examples=['new series my-comic --title "My Comic"'])
@options.catalog
@click.argument("slug")
@click.option("--title", required=True, help="The title as it is shown.")
@click.option("--author", "authors", multiple=True, metavar="NAME", help="A writer, by name or id; may be repeated.")
@click.option("--artist", "artists", multiple=True, metavar="NAME", help="Likewise, of those who draw.")
@click.option("--category", "categories", multiple=True, metavar="ID", help="What it is, by id; may be repeated.")
@click.option("--cover", default="cover.jpg", show_default=True, help="A file of the series, or an address.")
@click.option("--folder", "in_folder", is_flag=True, help="Make a folder in which every chapter has a file.")
@_DRY
@options.as_json
@handle_errors
def series(catalog: ConfinedFolder, slug: str, in_folder: bool, dry: bool, as_json: bool, **said: Any) -> None:
    """Add a series.

    SLUG is part of its URLs.
    """
    added = new_entries.add_series(catalog, slug, _said(said), in_folder=in_folder, dry=dry)
    _report(catalog, added, f"the series {slug}", {"slug": slug}, dry=dry, as_json=as_json)


@new.command(examples=["new chapter my-comic --pages scans/chapter-7", "new chapter my-comic --pages chapter-8.cbz"])
@options.catalog
@options.out
@options.previous_ids
@click.argument("slug")
@click.option("--pages", metavar="FOLDER|FILE", type=click.Path(path_type=Path), help="Its images, or a .cbz of them.")
@click.option("--number", help="[default: ComicInfo.xml's, or one above the highest, rounded down]")
@click.option("--volume", type=int, help="0 for none.  [default: ComicInfo.xml's, or none]")
@click.option("--title", help="The title of the chapter alone.  [default: ComicInfo.xml's, or none]")
@click.option("--group", "groups", multiple=True, metavar="NAME", help="Who made it, by name or id; may be repeated.")
@click.option(
    "--published",
    type=options.Instant(or_seconds=False),
    help="When it appears.  [default: ComicInfo.xml's day, or now]",
)
@click.option("--final", is_flag=True, help="The story ends here.")
@_DRY
@options.as_json
@handle_errors
def chapter(
    catalog: ConfinedFolder,
    out: Path,
    previous: Path | None,
    slug: str,
    pages: Path | None,
    published: int | None,
    dry: bool,
    as_json: bool,
    **said: Any,
) -> None:
    """Add a chapter with the next id.

    SLUG is the slug of its series.
    """
    fields = _said(said) | ({"published": field_values.iso(published)} if published is not None else {})
    # As in addresses; otherwise nobody could overrule what ComicInfo.xml says.
    fields |= {"volume": None} if fields.get("volume") == 0 else {}
    known = highest_id(out, previous)
    added = new_entries.add_chapter(
        catalog, slug, fields, pages, highest=known, now=options.now(), dry=dry, warn=print_warning
    )
    record = added.record
    assert isinstance(record, Chapter)
    count = len(record.pages)
    what = f"{chapter_ids.chapter_label(record)}: id {record.id}, {count} page{'s' * (count != 1)}"
    facts = {"id": record.id, "volume": record.volume, "number": record.number, "pages": record.pages}
    _report(catalog, added, what, facts, dry=dry, as_json=as_json)


def _said(options: dict[str, Any]) -> dict[str, Any]:
    """The fields of the options that were given."""
    return {
        name: list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
        for name, value in options.items()
        if value is not None and value is not False and value != ()
    }


def _report(
    catalog: ConfinedFolder, added: Added, what: str, facts: dict[str, Any], *, dry: bool, as_json: bool
) -> None:
    if as_json:
        text = {"file": added.file, **facts, "written": not dry}
        print_json({"ok": True, **text})
        return
    name = str(catalog / added.file)
    if dry:
        before, after = (text.decode("utf-8-sig").splitlines() for text in (added.before, added.after))
        found = difflib.unified_diff(before, after, name if before else "/dev/null", name, lineterm="")
        print_lines(*found)
    print_lines(f"{name}: {what}{'; nothing was written' * dry}", err=dry)
