"""`pack`: write the current release as packs, with a worker that answers from them."""

from pathlib import Path

import click

from ..hosts.packs import pack_files
from ..hosts.packs.pack_files import PackTotals
from ..release.store import Store, refuse_inside
from . import options
from .help import Command
from .output import counter, print_json, print_lines
from .reporting import handle_errors


@click.command(cls=Command, examples=["pack edge", "pack edge --dry-run", "pack edge --json"])
@options.out
@options.as_json
@click.option("--dry-run", is_flag=True, help="Count what would be written and removed; write nothing.")
@click.argument("target", metavar="DIR", type=click.Path(path_type=Path))
@handle_errors
def pack(out: Path, target: Path, as_json: bool, dry_run: bool) -> None:
    """Pack the release for an edge worker.

    DIR gets the worker and files with many bodies each, for Cloudflare Workers, Deno and workerd. A second pack into
    the same folder writes what has changed.
    """
    refuse_inside(out, target, "choose another folder")
    with counter("packing", pack_files.STEPS, quiet=as_json) as progress:
        totals = pack_files.pack_release(Store(out), target, write=not dry_run, progress=progress)
    if as_json:
        print_json({"ok": True, **totals._asdict()})
        return
    print_lines(*_summary(target, totals, ("would write", "would remove") if dry_run else ("wrote", "removed")))
    for file in totals.left:
        print_lines(f"{target / file}: was changed, so it stays as it is", err=True)
    for file in totals.too_large:
        print_lines(f"warning: {out / file}: is larger than 25 MiB, which Cloudflare refuses", err=True, fg="yellow")


def _summary(target: Path, totals: PackTotals, verbs: tuple[str, str]) -> list[str]:
    wrote, removed = verbs
    return [
        f"{target}: release {totals.release}; URLs: {totals.urls:,}, packs: {totals.packs:,}, "
        f"large bodies: {totals.large:,}",
        f"{wrote} {totals.written:,} files with {totals.bytes:,} bytes, {removed} {totals.removed:,}",
    ]
