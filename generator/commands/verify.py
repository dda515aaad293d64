"""`verify`: compare files, or the responses of a server, with the releases."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from ..catalog.confined_folder import ConfinedFolder
from ..errors import counted
from ..pipeline.build_options import Options
from ..release.store import Store
from ..review import verify_files, verify_server
from ..review.promises.table import HOSTS, PROMISES
from ..review.repair import RepairResult, repair
from ..review.verify_server import ServerResult
from . import options
from .command import Command, Result
from .importing import key_in_file
from .output import Line, note, tracker, waiting_notice

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
def verify(
    catalog: ConfinedFolder,
    out: Path,
    nginx: Path,
    jobs: int,
    url: str | None,
    host: str | None,
    as_table: bool,
    key_file: Path | None,
    timeout: float,
    repairing: bool,
    strict: bool,
) -> Result:
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
        key, track = key_in_file(key_file) if key_file else "", tracker("requesting")
        result = verify_server.check_server(store, url, time.monotonic, timeout, host or "nginx", key, track)
        outcomes = {promise.id: result.outcome(promise.id) for promise in PROMISES} if as_table else {}
        return Result(
            lambda: _server_lines(store, url, result, outcomes, is_host_given=bool(host)),
            lambda: {
                "ok": not result.faults,
                "differences": result.faults,
                "not_promised": list(HOSTS[result.host].missing),
                **({"promises": outcomes} if outcomes else {}),
            },
            ok=not result.faults,
        )
    build_options = Options(catalog, out, nginx, as_of=0, jobs=jobs)
    if repairing:
        files = repair(build_options, waiting_notice(out), tracker("checking"))
    else:
        files = RepairResult(list(verify_files.check_files(store, tracker("checking"))))
    return _file_result(build_options, files, strict=strict)


def _server_lines(
    store: Store, url: str, result: ServerResult, outcomes: Mapping[str, str], *, is_host_given: bool
) -> Iterator[str | Line]:
    for promise in PROMISES if outcomes else ():
        yield f"{outcomes[promise.id]:<28} {promise.id:<20} {promise.sentence}"
    yield from map(note, result.lines())
    if not result.faults:
        yield f"{url}: OK: all {result.urls:,} URLs match release {store.current()}"
        for name, reason in HOSTS[result.host].missing.items():
            yield f"{result.host} does not promise {name}: {reason}"
    elif not is_host_given:
        yield note("these are differences to nginx; if another host serves the site, name it with --for")


def _file_result(build_options: Options, result: RepairResult, *, strict: bool) -> Result:
    damaged = [str(fault) for fault in result.faults if not fault.leftover]
    leftover = [str(fault) for fault in result.faults if fault.leftover]
    repaired = [str(file) for file in result.repaired]
    ok = not damaged and not (strict and leftover)
    facts = {"ok": ok, "damaged": damaged, "leftover": leftover, "repaired": repaired, "problem": result.problem}

    def lines() -> Iterator[str | Line]:
        out = build_options.out
        if repaired:
            restored = counted(len(repaired), "file")
            yield from (*repaired, f"{out}: restored {restored}; reload nginx to serve them")
        yield from map(note, (*damaged, *leftover))
        if damaged and result.problem:
            yield from map(note, f"{build_options.catalog}: cannot restore files: {result.problem}".splitlines())
        if ok:
            yield f"{out}: OK: all files match release {Store(out).current()}"

    return Result(lines, lambda: facts, ok)
