"""`export`: write the current release as plain files."""

from pathlib import Path

import click

from ..catalog.layout import refuse_among_sources
from ..hosts.cubari_gists import export_gists
from ..hosts.plain import export as plain
from ..hosts.plain.export import export_release
from ..release.store import Store, refuse_inside
from . import options
from .command import Command, Result, show, warning
from .output import Line, note, tracker


@click.command(cls=Command, examples=["export public", "export public --for cloudflare", "export --cubari gists"])
@options.out
@click.option(
    "--for",
    "host",
    type=click.Choice(sorted(plain.HOSTS)),
    help="Write the files and rules of this host; a second export writes only what changed.",
)
@click.option(
    "--cubari",
    "gists",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Write one file a series for cubari.moe into this folder; a second export writes only what changed.",
)
@click.argument("target", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
def export(out: Path, host: str | None, gists: Path | None, target: Path | None) -> Result:
    """Write the release as plain files.

    DIR gets the body of each public URL and its headers, for hosts other than nginx. Restricted URLs and those with
    parameters are left out. With --for, DIR gets the file names and the rules of one host.
    """
    if not target and not gists:
        raise click.UsageError("pass a folder, --cubari with a folder, or both")
    if host and not target:
        raise click.UsageError("--for needs a folder")
    store = Store(out)
    for folder in filter(None, (target, gists)):
        refuse_inside(out, folder, "choose another folder")
        refuse_among_sources(folder, "choose another folder")
    lines: list[str | Line] = []
    if target:
        if host:
            lines += _export_for(store, host, target)
        else:
            lines.append(f"{target}: {export_release(store, target, tracker('writing'))} resources")
    if gists:
        # The first export is done, even if this one fails.
        show(lines)
        totals = export_gists(store, gists)
        lines = [f"{gists}: {totals.series} series, {totals.written} written, {totals.removed} removed"]
    return Result(lambda: lines)


def _export_for(store: Store, host: str, target: Path) -> list[str | Line]:
    folder, warnings = plain.export_for(store, host, target, tracker("writing"))
    return [
        *map(warning, warnings),
        *(note(f"{target / name}: has your changes and was kept") for name in folder.kept),
        f"{target}: {folder.files} files, {folder.written} written, {folder.removed} removed",
    ]
