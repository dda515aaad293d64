"""`verify`: compare files, or the responses of a server, with the releases."""

import time
from pathlib import Path
from typing import Any

import click

from ..pipeline.build_options import Options
from ..release.store import Store
from ..review import verify_files, verify_server
from ..review.repair import RepairResult, repair
from ..review.verify_server import ServerResult
from . import options
from .help import Command
from .output import print_json, print_lines, waiting_notice
from .reporting import handle_errors


@click.command(cls=Command, examples=["verify", "verify --repair", "verify --url http://localhost:8000"])
@options.catalog
@options.out
@options.nginx
@options.jobs
@options.as_json
@click.option("--url", help="Compare every response of a running server instead, such as http://localhost:8000.")
@options.timeout
@click.option("--repair", "repairing", is_flag=True, help="Restore damaged files from other files or the catalog.")
@click.option("--strict", is_flag=True, help="Exit 1 for leftover files, too.")
@handle_errors
def verify(
    out: Path, url: str | None, timeout: float, repairing: bool, strict: bool, as_json: bool, **paths: Any
) -> None:
    """Compare files or a server with the release."""
    if url is not None and (repairing or strict):
        raise click.UsageError("--repair and --strict check files, so they cannot be combined with --url")
    store = Store(out)
    if url is not None:
        _print_server_result(store, url, verify_server.check_server(store, url, time.monotonic, timeout), as_json)
    else:
        build_options = Options(out=out, as_of=0, **paths)
        if repairing:
            result = repair(build_options, waiting_notice(out))
        else:
            result = RepairResult(list(verify_files.check_files(store)))
        _print_file_faults(build_options, result, strict=strict, as_json=as_json)


def _print_server_result(store: Store, url: str, result: ServerResult, as_json: bool) -> None:
    if as_json:
        print_json({"ok": not result.faults, "differences": result.faults})
    elif result.faults:
        print_lines(*result.faults, err=True)
    else:
        print_lines(f"{url}: OK: all {result.urls:,} URLs match release {store.current()}")
    if result.faults:
        raise SystemExit(1)


def _print_file_faults(build_options: Options, result: RepairResult, *, strict: bool, as_json: bool) -> None:
    out = build_options.out
    damaged = [str(fault) for fault in result.faults if not fault.leftover]
    leftover = [str(fault) for fault in result.faults if fault.leftover]
    repaired = [str(file) for file in result.repaired]
    ok = not damaged and not (strict and leftover)
    if as_json:
        print_json(
            {"ok": ok, "damaged": damaged, "leftover": leftover, "repaired": repaired, "problem": result.problem}
        )
    else:
        if repaired:
            files = "1 file" if len(repaired) == 1 else f"{len(repaired)} files"
            print_lines(*repaired, f"{out}: restored {files}; reload nginx to serve them")
        print_lines(*damaged, *leftover, err=True)
        if damaged and result.problem:
            print_lines(*f"{build_options.catalog}: cannot restore files: {result.problem}".splitlines(), err=True)
        if ok:
            print_lines(f"{out}: OK: all files match release {Store(out).current()}")
    if not ok:
        raise SystemExit(1)
