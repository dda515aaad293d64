"""`build` and `check`."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click

from ..catalog import field_values, layout
from ..catalog.confined_folder import ConfinedFolder
from ..errors import Problem
from ..pipeline import run as pipeline
from ..pipeline.release_builder import unwatched
from ..pipeline.run import BuildResult, Options
from ..pipeline.scan import CatalogScan
from ..pipeline.series_renderer import RenderedSeries
from ..review import trial_build
from ..review.report import page
from ..review.report.data import ReportCollector, ReportData
from . import github_annotations, options
from .output import is_terminal, print_json, print_lines, progress_bar
from .reporting import handle_errors, print_warning, with_program_name


@click.command()
@options.catalog
@options.out
@options.nginx
@options.cache
@options.as_of
@click.option("--previous", type=click.Path(path_type=Path), help="A manifest.json whose validators are continued.")
@options.jobs
@options.output_format
@click.option("--quiet", is_flag=True, help="Print nothing but problems.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a build would change anything.")
@click.option(
    "--max-removed",
    type=click.IntRange(0, 100),
    metavar="PERCENT",
    help="Write nothing if more of the series and chapters of the release before is gone, and at least three.",
)
@click.option("--report", type=click.Path(path_type=Path), help="Write a page about the site and what changed in it.")
@handle_errors
def build(as_of: int | None, form: str, quiet: bool, check: bool, report: Path | None, **paths: Any) -> None:
    """Build the site; this is what happens without a command, too."""
    if check and report:
        raise click.UsageError("--check writes nothing, a --report neither; leave one of them out")
    if check and paths["max_removed"] is not None:
        raise click.UsageError("--check writes nothing, so --max-removed has nothing to keep; leave one of them out")
    instant = options.now() if as_of is None else as_of
    wanted = Options(as_of=instant, **paths)
    if check:
        _report_outdated(trial_build.outdated(wanted, partial(print_warning, form=form)), form, quiet)
    else:
        run(wanted, report, form=form, quiet=quiet)


def _report_outdated(found: list[str], form: str, quiet: bool) -> None:
    if form == "json":
        print_json({"ok": not found, "outdated": found})
    elif found and form == "github":
        print_lines(*map(github_annotations.error, found))
    elif found:
        print_lines(*found, err=True)
    elif not quiet:
        print_lines("up to date")
    if found:
        raise SystemExit(1)


def run(wanted: Options, report: Path | None = None, *, form: str = "text", quiet: bool = False) -> BuildResult:
    """Build, print the result, and write the `report` page."""
    if report:
        # The paths that a build writes need not exist yet.
        others = (wanted.catalog / layout.SERIES, wanted.nginx, wanted.cache)
        page.check_path(report, wanted.out, filter(None, others))
    collector = ReportCollector()
    started = time.perf_counter()
    progress = _progress if is_terminal() and not (form == "json" or quiet) else unwatched
    done = pipeline.build(wanted, waiting(wanted.out), progress, collector if report or form == "json" else None)
    if report and collector.data:
        page.write(report, page.render(collector.data, done.release, done.changes, _warnings(done), done.removed))
    seconds = time.perf_counter() - started
    _warn(done, form)
    if form == "json":
        print_json(_facts(done, collector.data, seconds))
    elif not quiet:
        print_lines(*_summary(done, wanted, report, seconds))
    return done


def _warnings(done: BuildResult) -> list[str]:
    return [*map(with_program_name, done.warnings), *map(str, done.located)]


def _warn(done: BuildResult | CatalogScan, form: str) -> None:
    warnings: list[str | Problem] = [*done.warnings, *done.located]
    for warning in warnings:
        print_warning(warning, form=form)


def waiting(out: Path) -> Callable[[], None]:
    """Says why nothing happens."""
    return partial(print_lines, f"{out}: another build is at work; waiting for it", err=True)


def _progress(rendered: Iterator[RenderedSeries], count: int) -> Iterator[RenderedSeries]:
    with progress_bar(rendered, label="building series", length=count, show_pos=True) as shown:
        yield from shown


def _facts(report: BuildResult, data: ReportData | None, seconds: float) -> dict[str, object]:
    return {
        "ok": True,
        "release": report.release,
        **report.changes,
        "resources": report.resources,
        "bytes_written": report.written,
        "seconds": round(seconds, 3),
        "next_publication": None if report.next_publication is None else field_values.iso(report.next_publication),
        "warnings": _warnings(report),
        "no_longer_published": report.removed.plain(),
        **(data.plain() if data else {}),
    }


def _summary(report: BuildResult, wanted: Options, page: Path | None, seconds: float) -> list[str]:
    counted = ", ".join(f"{count} {kind}" for kind, count in report.changes.items())
    lines = [
        f"release {report.release} in {wanted.out}: {counted}",
        f"{report.resources} resources, {report.written:,} bytes written in {seconds:.2f} s",
    ]
    if report.removed:
        lines += [f"no longer published: {report.removed.sentence}", *report.removed.lines()]
    if report.conf_written:
        lines.append(f"wrote {wanted.nginx}")
    if page:
        lines.append(f"wrote {page}")
    if report.next_publication is not None:
        lines.append(f"the next scheduled chapter is due {field_values.iso(report.next_publication)}")
    return lines


@click.command()
@options.catalog
@options.as_of
@options.jobs
@options.output_format
@handle_errors
def check(catalog: ConfinedFolder, as_of: int | None, jobs: int, form: str) -> None:
    """Say everything that is wrong with the catalog; write nothing."""
    found = pipeline.check(catalog, options.now() if as_of is None else as_of, jobs)
    _warn(found, form)
    series, chapters = len(found.places), found.published
    if form == "json":
        warnings = [*found.warnings, *map(str, found.located)]
        print_json({"ok": True, "series": series, "chapters": chapters, "warnings": warnings})
    else:
        print_lines(f"{catalog}: {series} series, {chapters} published chapters, no problems")
