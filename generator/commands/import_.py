"""`import`: copy the catalog of a running site, or of its database."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click

from ..catalog import layout
from ..catalog.confined_folder import ConfinedFolder
from ..errors import counted
from ..imports import run
from ..imports.merge import Choice
from ..server_url import ServerUrl
from . import importing, options
from .command import Command, Result, with_program_name
from .output import Line, bold

# How many files a dry run names; the others are in the details.
MAX_FILES = 6


@click.command(
    "import",
    cls=Command,
    examples=[
        "import https://comics.example --dry-run",
        "import https://comics.example",
        "import https://comics.example --from-database db.sqlite3",
        "import --from-database db.sqlite3",
        "import --from-database db.sqlite3 --accounts",
    ],
)
@click.argument("site", metavar="[URL]", required=False, type=importing.Url())
@importing.database_options
@options.catalog
@click.option(
    "--cache",
    type=click.Path(path_type=Path),
    help=f"Cache of the site's responses.  [default: {importing.CACHE} beside --catalog]",
)
@importing.request_options
@click.option("--mine", is_flag=True, help="Keep the catalog's value in each conflict.")
@click.option("--theirs", is_flag=True, help="Take the site's value in each conflict.")
@click.option("--remove", "removes", is_flag=True, help="Remove entries that the site has removed.")
@click.option("--from-flatpanel", is_flag=True, help="Copy a site of Flatpanel that seems to be made from the catalog.")
@click.option("--dry-run", is_flag=True, help="Print the files that would change; write nothing.")
@options.as_json
def import_(
    site: ServerUrl | None,
    database: importing.DatabaseOptions,
    catalog: ConfinedFolder,
    cache: Path | None,
    requests: importing.RequestOptions,
    mine: bool,
    theirs: bool,
    removes: bool,
    from_flatpanel: bool,
    dry_run: bool,
) -> Result:
    """Copy the catalog of a running site.

    A site of MangAdventure publishes only a part of its data. With its database, all of it arrives. The
    database alone has no settings.

    Run the command again to update the copy.
    """
    if site is None and database.file is None:
        raise click.UsageError("pass the URL of a site, --from-database, or both")
    if mine and theirs:
        raise click.UsageError("use --mine or --theirs, not both")
    choice: Choice = "mine" if mine else "theirs" if theirs else ""
    accounts = database.account_data()
    import_options = replace(
        requests.import_options(site, catalog, cache),
        database=database.file,
        dry=dry_run,
        choice=choice,
        removes=removes,
        from_flatpanel=from_flatpanel,
        accounts=accounts,
    )
    if not os.path.isdir(catalog):
        layout.refuse_in_catalog(Path(catalog))
    with importing.progress_of_requests() as progress:
        result = run.run(import_options, progress, importing.announce)
    return Result(lambda: _lines(result, import_options), lambda: {"ok": True, **importing.result_json(result)})


def _lines(result: run.ImportResult, import_options: run.ImportOptions) -> Iterator[str | Line]:
    counts, catalog, dry = result.counts, import_options.catalog, import_options.dry
    added = ", ".join(importing.added(counts))
    verbs = ("would add", "would update", "would write") if dry else ("added", "updated", "wrote")
    yield f"{catalog}: {verbs[0]} {added}; {verbs[1]} {counted(counts['changes'], 'field')}"
    if counts["removed"] or counts["renamed"]:
        removed = f"{'would remove' if dry else 'removed'} {counted(counts['removed'], 'entry')}"
        yield f"{removed}; {'would rename' if dry else 'renamed'} {counts['renamed']} series"
    yield f"{counted(result.requests, 'request')}; {verbs[2]} {counted(len(result.files), 'file')}"
    if dry:
        files = [f"  {catalog / file}" for file in sorted(result.files)]
        yield from files[:MAX_FILES]
        if len(files) > MAX_FILES:
            yield f"  and {len(files) - MAX_FILES} more"
    yield bold("notes about the source site:")
    yield from (f"  {with_program_name(note)}" for note in result.summary)
    yield f"details: {importing.shown(result.report)}"
