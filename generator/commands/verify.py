"""`verify`: compare files, or the responses of a server, with the releases."""

import time
from pathlib import Path
from typing import Any

import click

from ..pipeline.build_options import Options
from ..release.store import Store
from ..review import verify_files, verify_server
from ..review.promises.hosts import HOSTS
from ..review.promises.table import PROMISES
from ..review.repair import RepairResult, repair
from ..review.verify_server import ServerResult
from . import options
from .help import Command
from .importing import key_in_file
from .output import print_json, print_lines, tracker, waiting_notice
from .reporting import handle_errors

_EXAMPLES = [
    "verify",
    "verify --repair",
    "verify --url http://localhost:8000",
    "verify --url https://comics.example --for cloudflare",
]


@click.command(cls=Command, examples=_EXAMPLES)
@options.catalog
@options.out
@options.nginx
@options.jobs
@options.as_json
@click.option("--url", help="Compare every response of a running server instead, such as http://localhost:8000.")
@click.option("--for", "host", type=click.Choice([*HOSTS]), help="With --url: what serves the site.  [default: nginx]")
@click.option("--table", "as_table", is_flag=True, help="With --url: print each promise and whether it is kept.")
@click.option("--key-file", type=click.Path(path_type=Path), help="With --url: file with an API key of the site.")
@options.timeout
@click.option("--repair", "repairing", is_flag=True, help="Restore damaged files from other files or the catalog.")
@click.option("--strict", is_flag=True, help="Exit 1 for leftover files, too.")
@handle_errors
def verify(
    out: Path,
    url: str | None,
    host: str | None,
    as_table: bool,
    key_file: Path | None,
    timeout: float,
    repairing: bool,
    strict: bool,
    as_json: bool,
    **paths: Any,
) -> None:
    """Compare files or a server with the release.

    A server must keep the promises that its host can keep; --table prints them.
    """
    if url is not None and (repairing or strict):
        raise click.UsageError("--repair and --strict check files, so they cannot be combined with --url")
    if url is None and (host or as_table or key_file):
        raise click.UsageError("--for, --table and --key-file are about a server, so they need --url")
    store = Store(out)
    store.refuse_other_kind()
    if url is not None:
        key = key_in_file(key_file) if key_file else ""
        track = tracker("requesting", quiet=as_json)
        result = verify_server.check_server(store, url, time.monotonic, timeout, host or "nginx", key, track)
        _print_server_result(store, url, result, as_table=as_table, as_json=as_json)
        if result.faults and not host and not as_json:
            print_lines("these are differences to nginx; if another host serves the site, name it with --for", err=True)
        if result.faults:
            raise SystemExit(1)
    else:
        build_options = Options(out=out, as_of=0, **paths)
        track = tracker("checking", quiet=as_json)
        if repairing:
            files = repair(build_options, waiting_notice(out), track)
        else:
            files = RepairResult(list(verify_files.check_files(store, track)))
        _print_file_faults(build_options, files, strict=strict, as_json=as_json)


def _print_server_result(store: Store, url: str, result: ServerResult, *, as_table: bool, as_json: bool) -> None:
    faults, missing = result.faults, HOSTS[result.host].missing
    outcomes = {promise.id: result.outcome(promise.id) for promise in PROMISES}
    if as_json:
        table = {"promises": outcomes} if as_table else {}
        print_json({"ok": not faults, "differences": faults, "not_promised": list(missing), **table})
    else:
        if as_table:
            print_lines(*(f"{outcomes[promise.id]:<28} {promise.id:<20} {promise.sentence}" for promise in PROMISES))
        print_lines(*faults, err=True)
        if not faults:
            print_lines(f"{url}: OK: all {result.urls:,} URLs match release {store.current()}")
            print_lines(*(f"{result.host} does not promise {name}: {reason}" for name, reason in missing.items()))


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
