"""`next`: the time of the next scheduled chapter."""

from pathlib import Path

import click

from ..catalog.confined_folder import ConfinedFolder
from ..pipeline import run
from ..pipeline.schedule import Schedule, moment
from . import options
from .help import Command
from .output import print_json, print_lines, waiting_notice
from .reporting import handle_errors, print_warning


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
    """Print the next publication time.

    Prints nothing on standard output if no chapter is scheduled.
    """
    if epoch + cron + as_json > 1:
        raise click.UsageError("--epoch, --cron and --json cannot be combined; choose one")
    instant = options.now() if as_of is None else as_of
    schedule = run.schedule(catalog, instant, jobs, every=every, cache=cache, waiting=waiting_notice(out))
    for warning in schedule.warnings:
        print_warning(warning)
    if as_json:
        print_json(_schedule_json(schedule, every=every))
        return
    form = "epoch" if epoch else "cron" if cron else "due"
    for chapter in schedule.chapters if every else ():
        print_lines(f"{moment(chapter.due)[form]} {chapter.path}")
    if schedule.next is None:
        # On standard error: scripts read standard output.
        print_lines(f"{catalog}: no chapter is scheduled", err=True)
    elif not every:
        print_lines(str(moment(schedule.next)[form]))


def _schedule_json(schedule: Schedule, *, every: bool) -> dict[str, object]:
    chapters = {"scheduled": [chapter.plain() for chapter in schedule.chapters]} if every else {}
    return {"ok": True, **moment(schedule.next), **chapters}
