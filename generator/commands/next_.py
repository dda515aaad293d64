"""`next`: when a chapter appears, for whoever has to build then."""

from pathlib import Path

import click

from ..catalog.confined_folder import ConfinedFolder
from ..pipeline import run
from ..pipeline.schedule import Schedule, moment
from . import options
from .build import waiting
from .output import print_json, print_lines
from .reporting import handle_errors, print_warning


@click.command("next")
@options.catalog
@options.out
@options.cache
@options.as_of
@options.jobs
@click.option("--all", "every", is_flag=True, help="Print every scheduled chapter, one a line.")
@click.option("--epoch", is_flag=True, help="Print seconds since 1970.")
@click.option("--cron", is_flag=True, help="Print a line of cron for the minute, in UTC.")
@options.as_json
@handle_errors
def next_(
    catalog: ConfinedFolder,
    out: Path,
    cache: Path | None,
    as_of: int | None,
    jobs: int,
    every: bool,
    epoch: bool,
    cron: bool,
    as_json: bool,
) -> None:
    """Print when the next scheduled chapter is due; nothing if none is."""
    if epoch + cron + as_json > 1:
        raise click.UsageError("--epoch, --cron and --json are forms of the same answer; choose one of them")
    instant = options.now() if as_of is None else as_of
    found = run.schedule(catalog, instant, jobs, every=every, cache=cache, waiting=waiting(out))
    for warning in found.warnings:
        print_warning(warning)
    if as_json:
        print_json(_facts(found, every=every))
        return
    form = "epoch" if epoch else "cron" if cron else "due"
    for one in found.chapters if every else ():
        print_lines(f"{moment(one.due)[form]} {one.address}")
    if found.next is None:
        # Not among what a script reads.
        print_lines(f"{catalog}: nothing is scheduled", err=True)
    elif not every:
        print_lines(str(moment(found.next)[form]))


def _facts(found: Schedule, *, every: bool) -> dict[str, object]:
    listed = {"scheduled": [one.plain() for one in found.chapters]} if every else {}
    return {"ok": True, **moment(found.next), **listed}
