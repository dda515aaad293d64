"""`build` and `check`."""

import functools
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from .. import encode, pipeline
from ..pipeline import Options, Report
from ..rendering import Rendered
from . import options
from .reporting import as_called, color, reporting


@click.command()
@options.catalog
@options.out
@options.nginx
@options.cache
@options.as_of
@click.option("--previous", type=click.Path(path_type=Path), help="A manifest.json whose validators are continued.")
@options.jobs
@options.as_json
@click.option("--quiet", is_flag=True, help="Print nothing but problems.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a build would change anything.")
@reporting
def build(as_of: int | None, as_json: bool, quiet: bool, check: bool, **paths: Any) -> None:
    """Build the site; this is what happens without a command, too."""
    wanted = Options(as_of=options.now() if as_of is None else as_of, **paths)
    if check:
        _report_outdated(pipeline.outdated(wanted), as_json, quiet)
    else:
        run(wanted, as_json=as_json, quiet=quiet)


def _report_outdated(found: list[str], as_json: bool, quiet: bool) -> None:
    if as_json:
        click.echo(encode.pretty({"ok": not found, "outdated": found}), nl=False)
    elif found:
        click.echo("\n".join(found), err=True)
    elif not quiet:
        click.echo("up to date")
    if found:
        raise SystemExit(1)


def run(wanted: Options, *, as_json: bool = False, quiet: bool = False) -> Report:
    """Build, and say what that did."""
    started = time.perf_counter()
    progress = _progress if sys.stderr.isatty() and not (as_json or quiet) else iter
    report = pipeline.build(wanted, waiting(wanted.out), progress)
    seconds = time.perf_counter() - started
    for warning in report.warnings:
        click.secho(f"warning: {as_called(warning)}", err=True, fg="yellow", color=color())
    if as_json:
        click.echo(encode.pretty(_facts(report, seconds)), nl=False)
    elif not quiet:
        click.echo(_summary(report, wanted, seconds))
    return report


def waiting(out: Path) -> Callable[[], None]:
    """Says why nothing happens."""
    return functools.partial(click.echo, f"{out}: another build is at work; waiting for it", err=True)


def _progress(rendered: Iterator[Rendered]) -> Iterator[Rendered]:
    with click.progressbar(rendered, length=None, label="building", file=sys.stderr) as bar:
        yield from bar


def _facts(report: Report, seconds: float) -> dict[str, object]:
    return {
        "ok": True,
        "release": report.release,
        **report.changes,
        "resources": report.resources,
        "bytes_written": report.written,
        "seconds": round(seconds, 3),
        "next_publication": _iso(report.next_publication),
        "warnings": [as_called(one) for one in report.warnings],
    }


def _summary(report: Report, wanted: Options, seconds: float) -> str:
    counted = ", ".join(f"{count} {kind}" for kind, count in report.changes.items())
    lines = [
        f"release {report.release} in {wanted.out}: {counted}",
        f"{report.resources} resources, {report.written:,} bytes written in {seconds:.2f} s",
    ]
    if report.conf_written:
        lines.append(f"wrote {wanted.nginx}")
    if report.next_publication is not None:
        lines.append(f"the next scheduled chapter is due {_iso(report.next_publication)}")
    return "\n".join(lines)


def _iso(seconds: int | None) -> str | None:
    return None if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"


@click.command()
@options.catalog
@options.as_of
@options.jobs
@options.as_json
@reporting
def check(catalog: Path, as_of: int | None, jobs: int, as_json: bool) -> None:
    """Say everything that is wrong with the catalog; write nothing."""
    found = pipeline.check(catalog, options.now() if as_of is None else as_of, jobs)
    series, chapters = len(found.places), found.published
    if as_json:
        click.echo(encode.pretty({"ok": True, "series": series, "chapters": chapters}), nl=False)
    else:
        click.echo(f"{catalog}: {series} series, {chapters} published chapters, no problems")
