"""`pack`: write the current release as packs, with a worker that answers from them."""

from functools import partial
from pathlib import Path

import click

from ..catalog.layout import refuse_among_sources
from ..errors import counted
from ..hosts.packs import pack_files
from ..release.store import Store, refuse_inside
from . import options
from .command import Command, Result, warning
from .output import Line, counter, note


@click.command(cls=Command, examples=["pack edge", "pack edge --dry-run", "pack edge --json"])
@options.out
@options.as_json
@click.option("--dry-run", is_flag=True, help="Count what would be written and removed; write nothing.")
@click.argument("target", metavar="DIR", type=click.Path(path_type=Path))
def pack(out: Path, target: Path, dry_run: bool) -> Result:
    """Pack the release for an edge worker.

    DIR gets the worker and files with many bodies each, for Cloudflare Workers, Deno and workerd. A second pack into
    the same folder writes what has changed.
    """
    refuse_inside(out, target, "choose another folder")
    refuse_among_sources(target, "choose another folder")
    totals = pack_files.pack_release(Store(out), target, write=not dry_run, counter=partial(counter, "packing"))
    wrote, removed = ("would write", "would remove") if dry_run else ("wrote", "removed")
    lines: list[str | Line] = [
        f"{target}: release {totals.release}; URLs: {totals.urls:,}, packs: {totals.packs:,}, "
        f"large bodies: {totals.large:,}",
        f"{wrote} {counted(totals.written, 'file')} with {counted(totals.bytes, 'byte')}, {removed} {totals.removed:,}",
        *(note(f"{target / file}: was changed, so it stays as it is") for file in totals.left),
        *(warning(f"{out / file}: is larger than 25 MiB, which Cloudflare refuses") for file in totals.too_large),
    ]
    return Result(lambda: lines, lambda: {"ok": True, **totals._asdict()})
