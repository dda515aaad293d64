"""`new`: add a series or a chapter to the catalog."""

import difflib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from ..authoring import chapter_ids, new_entries
from ..authoring.new_entries import NewEntry
from ..catalog import field_values
from ..catalog.confined_folder import ConfinedFolder
from ..catalog.records import Chapter
from ..errors import FlatpanelError, counted
from ..filesystem import is_inside
from ..release.store import highest_id, refuse_inside
from . import options
from .command import CommandGroup, Result, print_warning
from .output import Line

_DRY = click.option("--dry-run", "dry", is_flag=True, help="Print the change; write nothing.")


@click.group(cls=CommandGroup)
def new() -> None:
    """Add a series or a chapter."""


@new.command(examples=['new series my-comic --title "My Comic"'])
@options.catalog
@click.argument("slug")
@click.option("--title", required=True, help="Title of the series.")
@click.option("--author", "authors", multiple=True, metavar="NAME", help="Author, by name or id; may be repeated.")
@click.option("--artist", "artists", multiple=True, metavar="NAME", help="Artist, by name or id; may be repeated.")
@click.option("--category", "categories", multiple=True, metavar="ID", help="Category, by id; may be repeated.")
@click.option("--cover", default="cover.jpg", show_default=True, help="File of the series, or URL.")
@click.option("--folder", "in_folder", is_flag=True, help="Create a folder with one file per chapter.")
@_DRY
@options.as_json
def series(
    catalog: ConfinedFolder,
    slug: str,
    title: str,
    authors: tuple[str, ...],
    artists: tuple[str, ...],
    categories: tuple[str, ...],
    cover: str,
    in_folder: bool,
    dry: bool,
) -> Result:
    """Add a series.

    SLUG is part of its URLs.
    """
    lists = {"authors": authors, "artists": artists, "categories": categories}
    fields = {"title": title, **{name: list(values) for name, values in lists.items() if values}, "cover": cover}
    entry = new_entries.add_series(catalog, slug, fields, in_folder=in_folder, dry=dry)
    return _result(catalog, entry, f"series {slug}", {"slug": slug}, dry=dry)


@new.command(
    examples=["new chapter my-comic --pages scans/chapter-7", "new chapter my-comic --pages 8.cbz --media media"]
)
@options.catalog
@options.out
@options.previous_ids
@click.argument("slug")
@click.option("--pages", metavar="FOLDER|FILE", type=click.Path(path_type=Path), help="Folder or .cbz of its images.")
@click.option(
    "--media",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the media; gets the pages under the names in the catalog.",
)
@click.option(
    "--number", help="Number of the chapter.  [default: ComicInfo.xml's, or one above the highest, rounded down]"
)
@click.option("--volume", type=int, help="Volume of the chapter; 0 for none.  [default: ComicInfo.xml's, or none]")
@click.option("--title", help="Title of the chapter.  [default: ComicInfo.xml's, or none]")
@click.option("--group", "groups", multiple=True, metavar="NAME", help="Group, by name or id; may be repeated.")
@click.option(
    "--published",
    type=options.Instant(or_seconds=False),
    help="Publication time.  [default: ComicInfo.xml's day, or now]",
)
@click.option("--final", is_flag=True, help="Mark as the last chapter of the story.")
@_DRY
@options.as_json
def chapter(
    catalog: ConfinedFolder,
    out: Path,
    previous: Path | None,
    slug: str,
    pages: Path | None,
    media: Path | None,
    number: str | None,
    volume: int | None,
    title: str | None,
    groups: tuple[str, ...],
    published: int | None,
    final: bool,
    dry: bool,
) -> Result:
    """Add a chapter with the next id.

    SLUG is the slug of its series.
    """
    if media and not pages:
        raise click.UsageError("--media needs --pages: the folder or archive of the images")
    fields = {
        "number": number,
        "volume": volume,
        "title": title,
        "groups": list(groups) or None,
        "published": None if published is None else field_values.iso(published),
        "final": final or None,
    }
    given: dict[str, object] = {name: value for name, value in fields.items() if value is not None}
    if volume == 0:  # no volume, as in URLs; None overrides ComicInfo.xml
        given["volume"] = None
    highest = highest_id(out, previous)
    if media:
        refuse_inside(out, media, "choose another folder with --media")
        if is_inside(os.path.realpath(media), os.path.realpath(catalog.path)):
            raise FlatpanelError(f"{media}: is in the catalog, which has no images; choose another folder with --media")
    folder = ConfinedFolder(media) if media else None
    entry = new_entries.add_chapter(
        catalog, slug, given, pages, folder, highest=highest, now=options.now(), dry=dry, warn=print_warning
    )
    record = entry.record
    assert isinstance(record, Chapter)
    summary = f"{chapter_ids.chapter_label(record)}: id {record.id}, {counted(len(record.pages), 'page')}"
    details = {"id": record.id, "volume": record.volume, "number": record.number, "pages": record.pages}
    return _result(catalog, entry, summary, details, dry=dry)


def _result(catalog: ConfinedFolder, entry: NewEntry, summary: str, details: dict[str, Any], *, dry: bool) -> Result:
    def lines() -> Iterator[str | Line]:
        name = str(catalog / entry.file)
        if dry:
            before, after = (text.decode("utf-8-sig").splitlines() for text in (entry.before, entry.after))
            yield from difflib.unified_diff(before, after, name if before else "/dev/null", name, lineterm="")
        yield Line(f"{name}: {summary}{'; nothing was written' * dry}", err=dry)

    return Result(lines, lambda: {"ok": True, "file": entry.file, **details, "written": not dry})
