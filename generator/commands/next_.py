"""`next`: the time of the next scheduled chapter."""

from collections.abc import Iterator
from pathlib import Path

import click

from ..catalog.confined_folder import ConfinedFolder
from ..pipeline import run
from ..pipeline.schedule import Schedule, moment
from . import options
from .command import Command, Result, print_warning
from .output import Line, note, output_format, waiting_notice


@click.command("next", cls=Command, examples=["next", "next --all", "next --cron"])
@options.catalog
@options.out
@options.cache
@options.as_of
@options.jobs
@click.option("--all", "every", is_flag=True, help="List all scheduled chapters, one on each line.")
@click.option("--epoch", is_flag=True, help="Print the time as seconds since 1970.")
@click.option("--cron", is_flag=True, help="Print the time as a crontab schedule, in UTC.")
@options.as_json
def next_(
    catalog: ConfinedFolder,
    out: Path,
    cache: Path | None,
    as_of: int,
    jobs: int,
    every: bool,
    epoch: bool,
    cron: bool,
) -> Result:
    """Print the next publication time.

    Prints nothing on standard output if no chapter is scheduled.
    """
    if epoch + cron + (output_format() == "json") > 1:
        raise click.UsageError("--epoch, --cron and --json cannot be combined; choose one")
    schedule = run.schedule(catalog, as_of, jobs, every=every, cache=cache, waiting=waiting_notice(out))
    for warning in schedule.warnings:
        print_warning(warning)
    form = "epoch" if epoch else "cron" if cron else "due"
    listed = [chapter.plain() for chapter in schedule.chapters]
    return Result(
        lambda: _lines(schedule, form, catalog, every=every),
        lambda: {"ok": True, **moment(schedule.next), **({"scheduled": listed} if every else {})},
    )


def _lines(schedule: Schedule, form: str, catalog: ConfinedFolder, *, every: bool) -> Iterator[str | Line]:
    for chapter in schedule.chapters if every else ():
        yield f"{moment(chapter.due)[form]} {chapter.path}"
    if schedule.next is None:
        # On standard error: scripts read standard output.
        yield note(f"{catalog}: no chapter is scheduled")
    elif not every:
        yield str(moment(schedule.next)[form])
