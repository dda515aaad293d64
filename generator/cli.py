"""The command line. The only place that asks the clock or the environment."""

import functools
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from . import __version__, encode, pipeline, store, values
from . import serve as serving
from . import verify as verifying
from .artifact import Published
from .commands import ids, keys, views
from .errors import CatalogError, FlatpanelError
from .pipeline import Options, Report

CATALOG_WRONG = 1

F = TypeVar("F", bound=Callable[..., Any])


class BuildByDefault(click.Group):
    """`python build.py --check` is `python build.py build --check`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("-") and args[0] not in ("--help", "--version")):
            args = ["build", *args]
        return super().parse_args(ctx, args)


class Instant(click.ParamType[int]):
    """A time as the catalog writes it, or seconds since 1970."""

    name = "ISO"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        try:
            return int(value) if value.isdigit() and len(value) < 12 else values.instant(value)
        except ValueError as error:
            self.fail(f"{value} {error}", param, ctx)


def now() -> int:
    """SOURCE_DATE_EPOCH, by which a build can be repeated, or the clock."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH")
    if not fixed:
        return int(time.time())
    try:
        return int(fixed)
    except ValueError:
        raise click.UsageError(f"SOURCE_DATE_EPOCH should be seconds since 1970, not {fixed}") from None


def _path(name: str, default: str, help: str) -> Callable[[F], F]:
    return click.option(f"--{name}", type=click.Path(path_type=Path), default=default, show_default=True, help=help)


_catalog = _path("catalog", "catalog_src", "The folder of the catalog.")
_out = _path("out", "dist", "The folder that is built.")
_nginx = _path("nginx", "nginx.conf", "The main nginx configuration to write.")
_as_of = click.option("--as-of", type=Instant(), help="Build the site as it is at this time.  [default: now]")
_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
_jobs = click.option("--jobs", type=click.IntRange(1), default=lambda: os.cpu_count() or 1, help="Processes to use.")
_previous = click.option(
    "--previous", type=click.Path(path_type=Path), help="A manifest.json whose validators are continued."
)
_port = click.option("--port", type=click.IntRange(1, 65535), help="[default: site.yaml's]")


def reporting(command: F) -> F:
    """What is wrong with a catalog is printed and ends in exit code 1; what is wrong with us is a traceback."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except FlatpanelError as error:
            _complain(error, as_json=kwargs.get("as_json", False))
            raise SystemExit(CATALOG_WRONG) from None

    return run  # type: ignore[return-value]


def _complain(error: FlatpanelError, *, as_json: bool) -> None:
    if as_json:
        problems = [
            {"file": one.file, "line": one.line, "column": one.column, "field": one.field, "message": one.message}
            for one in getattr(error, "problems", ())
        ]
        click.echo(encode.pretty({"ok": False, "message": str(error), "problems": problems}), nl=False)
        return
    click.secho(str(error), err=True, fg="red", color=_color())
    if isinstance(error, CatalogError):
        count = len(error.problems)
        click.secho(f"{count} problem{'s' * (count > 1)}; nothing was written", err=True, bold=True, color=_color())


def _color() -> bool | None:
    """None lets click ask whether a terminal listens."""
    return False if os.environ.get("NO_COLOR") else None


@click.group(cls=BuildByDefault)
@click.version_option(__version__, prog_name="flatpanel")
def main() -> None:
    """Turn a comic catalog in YAML into a static, cacheable API that nginx serves."""
    # What is built must be readable by the account that serves it, whoever builds.
    os.umask(0o022)


@main.command()
@_catalog
@_out
@_nginx
@_as_of
@_previous
@_jobs
@_json
@click.option("--quiet", is_flag=True, help="Print nothing but problems.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a build would change anything.")
@reporting
def build(as_of: int | None, as_json: bool, quiet: bool, check: bool, **paths: Any) -> None:
    """Build the site; this is what happens without a command, too."""
    options = Options(as_of=as_of if as_of is not None else now(), **paths)
    if check:
        _report_outdated(pipeline.outdated(options), as_json, quiet)
    else:
        _build(options, as_json=as_json, quiet=quiet)


def _report_outdated(found: list[str], as_json: bool, quiet: bool) -> None:
    if as_json:
        click.echo(encode.pretty({"ok": not found, "outdated": found}), nl=False)
    elif found:
        click.echo("\n".join(found), err=True)
    elif not quiet:
        click.echo("up to date")
    if found:
        raise SystemExit(1)


def _build(options: Options, *, as_json: bool = False, quiet: bool = False) -> Report:
    started = time.perf_counter()
    waiting = functools.partial(click.echo, f"{options.out}: another build is at work; waiting for it", err=True)
    progress = _progress if sys.stderr.isatty() and not (as_json or quiet) else iter
    report = pipeline.build(options, waiting, progress)
    seconds = time.perf_counter() - started
    for warning in report.warnings:
        click.secho(f"warning: {warning}", err=True, fg="yellow", color=_color())
    if as_json:
        click.echo(encode.pretty(_facts(report, seconds)), nl=False)
    elif not quiet:
        click.echo(_summary(report, options, seconds))
    return report


def _progress(published: Iterator[Published]) -> Iterator[Published]:
    with click.progressbar(published, length=None, label="building", file=sys.stderr) as bar:
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
        "warnings": report.warnings,
    }


def _summary(report: Report, options: Options, seconds: float) -> str:
    counted = ", ".join(f"{count} {kind}" for kind, count in report.changes.items())
    lines = [
        f"release {report.release} in {options.out}: {counted}",
        f"{report.resources} resources, {report.written:,} bytes written in {seconds:.2f} s",
    ]
    if report.conf_written:
        lines.append(f"wrote {options.nginx}")
    if report.next_publication is not None:
        lines.append(f"the next scheduled chapter is due {_iso(report.next_publication)}")
    return "\n".join(lines)


def _iso(seconds: int | None) -> str | None:
    return None if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"


@main.command()
@_catalog
@_as_of
@_jobs
@_json
@reporting
def check(catalog: Path, as_of: int | None, jobs: int, as_json: bool) -> None:
    """Say everything that is wrong with the catalog; write nothing."""
    found = pipeline.read_catalog(catalog, now() if as_of is None else as_of, jobs)
    chapters = sum(len(series.chapters) for series in found.series)
    if as_json:
        click.echo(encode.pretty({"ok": True, "series": len(found.series), "chapters": chapters}), nl=False)
    else:
        click.echo(f"{catalog}: {len(found.series)} series, {chapters} published chapters, no problems")


@main.command()
@_catalog
@_out
@_nginx
@_as_of
@_jobs
@_port
@click.option("--watch", is_flag=True, help="Build again and reload after every change.")
@reporting
def serve(as_of: int | None, port: int | None, watch: bool, **paths: Any) -> None:
    """Build the site and run nginx on it in the foreground."""
    # Ending this program must end nginx as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    options = Options(as_of=as_of if as_of is not None else now(), local=True, **paths)
    report = _build(options)
    port = port or report.site.port
    with serving.serving(store.Store(options.out), report.dist, port) as server:
        click.secho(f"serving http://localhost:{port}/ (Ctrl-C stops)", bold=True, color=_color())
        try:
            if watch:
                _watch(options, server, report.next_publication, fixed=as_of is not None)
            server.process.wait()
        except KeyboardInterrupt:
            return
    if server.process.returncode:
        raise FlatpanelError(f"nginx ended with exit code {server.process.returncode}")


def _watch(options: Options, server: serving.Server, due: int | None, *, fixed: bool) -> None:
    """Until nginx ends: build after every change, and when a scheduled chapter's time has come."""
    next_publication = due

    def wait() -> bool:
        time.sleep(0.3)
        return server.process.poll() is None

    def is_due() -> bool:
        return not fixed and next_publication is not None and now() >= next_publication

    def changed() -> None:
        nonlocal next_publication
        moment = options.as_of if fixed else now()
        try:
            report = _build(Options(**{**_fields(options), "as_of": moment}))
            server.reload()
            next_publication = report.next_publication
        except FlatpanelError as error:
            _complain(error, as_json=False)
            next_publication = None
            click.echo("the site stays as it was", err=True)

    serving.watch(options.catalog, wait, is_due, changed)


def _fields(options: Options) -> dict[str, Any]:
    return {name: getattr(options, name) for name in options.__slots__}


@main.command()
@_out
@_json
@click.option("--url", help="Ask a running server for everything instead, like http://localhost:8000.")
@reporting
def verify(out: Path, url: str | None, as_json: bool) -> None:
    """Compare what was built, or what a server answers, with what the release promises."""
    built = store.Store(out)
    found = list(verifying.server(built, url) if url else verifying.files(built))
    if as_json:
        click.echo(encode.pretty({"ok": not found, "differences": found}), nl=False)
    elif found:
        click.echo("\n".join(found), err=True)
    else:
        click.echo(f"{url or out}: everything is as release {built.current()} says")
    if found:
        raise SystemExit(1)


@main.command()
@_out
@reporting
def rollback(out: Path) -> None:
    """Make the release before this one the current one again."""
    release = store.Store(out).roll_back()
    click.echo(f"{out}: release {release} is current again; reload nginx to serve it")


@main.command()
@_out
@click.argument("target", metavar="DIR", type=click.Path(path_type=Path))
@reporting
def export(out: Path, target: Path) -> None:
    """Write the current release as a plain tree, for hosts that are not nginx."""
    count = store.Store(out).export(target)
    click.echo(f"{target}: {count} resources")


for command in (ids.ids, keys.keys, views.views):
    main.add_command(command)
