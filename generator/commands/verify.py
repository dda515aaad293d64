"""`verify`: are the files of a site, or the answers of a server, those of the release?"""

import time
from pathlib import Path
from typing import Any

import click

from ..pipeline.run import Options
from ..release.store import Store
from ..review import verify_files, verify_server
from ..review.repair import RepairResult, repair
from . import options
from .build import waiting
from .output import print_json, print_lines
from .reporting import handle_errors


@click.command()
@options.catalog
@options.out
@options.nginx
@options.jobs
@options.as_json
@click.option("--url", help="Ask a running server for everything instead, like http://localhost:8000.")
@options.timeout
@click.option("--repair", "repairing", is_flag=True, help="Restore damaged files from their twins or the catalog.")
@click.option("--strict", is_flag=True, help="Exit 1 for leftover files, too.")
@handle_errors
def verify(
    out: Path, url: str | None, timeout: float, repairing: bool, strict: bool, as_json: bool, **paths: Any
) -> None:
    """Compare dist, or a server, with the release."""
    if url is not None and (repairing or strict):
        raise click.UsageError("--repair and --strict are about files; leave out --url")
    if url is not None:
        _tell_answers(Store(out), url, timeout, as_json)
    else:
        wanted = Options(out=out, as_of=0, **paths)
        outcome = (
            repair(wanted, waiting(out)) if repairing else RepairResult(list(verify_files.check_files(Store(out))))
        )
        _tell_files(wanted, outcome, strict=strict, as_json=as_json)


def _tell_answers(built: Store, url: str, timeout: float, as_json: bool) -> None:
    found = list(verify_server.check_server(built, url, time.monotonic, timeout))
    if as_json:
        print_json({"ok": not found, "differences": found})
    elif found:
        print_lines(*found, err=True)
    else:
        print_lines(f"{url}: everything is as release {built.current()} says")
    if found:
        raise SystemExit(1)


def _tell_files(wanted: Options, outcome: RepairResult, *, strict: bool, as_json: bool) -> None:
    damaged = [str(one) for one in outcome.differences if not one.leftover]
    leftover = [str(one) for one in outcome.differences if one.leftover]
    repaired = [str(one) for one in outcome.repaired]
    ok = not damaged and not (strict and leftover)
    if as_json:
        facts = {"damaged": damaged, "leftover": leftover, "repaired": repaired, "problem": outcome.problem}
        print_json({"ok": ok, **facts})
    else:
        if repaired:
            files = "1 file" if len(repaired) == 1 else f"{len(repaired)} files"
            print_lines(*repaired, f"{wanted.out}: {files} restored; reload nginx to serve them")
        print_lines(*damaged, *leftover, err=True)
        if damaged and outcome.problem:
            print_lines(*f"{wanted.catalog}: gave nothing: {outcome.problem}".splitlines(), err=True)
        if ok:
            print_lines(f"{wanted.out}: everything is as release {Store(wanted.out).current()} says")
    if not ok:
        raise SystemExit(1)
