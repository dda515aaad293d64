"""Build the site and print the result, for `build` and `serve`."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..catalog import field_values, layout
from ..pipeline import run as pipeline
from ..pipeline.build_options import Options
from ..pipeline.build_result import BuildResult
from .output import is_terminal, print_json, print_lines, progress_bar, waiting_notice
from .reporting import print_warnings, with_program_name

if TYPE_CHECKING:
    from ..pipeline.series_renderer import RenderedSeries
    from ..review.report.data import ReportCollector, ReportData


def build_site(
    options: Options, report: Path | None = None, *, output_format: str = "text", quiet: bool = False
) -> BuildResult:
    """Build the site, print the result, and write the `report` page."""
    collector = _collector(options, report) if report or output_format == "json" else None
    started = time.perf_counter()
    progress = _progress if is_terminal() and not (output_format == "json" or quiet) else None
    result = pipeline.build(options, waiting_notice(options.out), progress, collector)
    data = collector.data if collector else None
    if report and data:
        _write_report(report, data, result)
    seconds = time.perf_counter() - started
    print_warnings(result, output_format=output_format)
    if output_format == "json":
        print_json(_result_json(result, data, seconds))
    elif not quiet:
        print_lines(*_summary(result, options, report, seconds))
    return result


def _collector(options: Options, report: Path | None) -> "ReportCollector":
    """The collector of the data of a report. Raises if the report cannot be written."""
    # Imported here and below: most builds have no report, and a build without changes takes no longer than its imports.
    from ..review.report import page
    from ..review.report.data import ReportCollector

    if report:
        # The build may create the folders that it writes.
        others = (options.catalog / layout.SERIES, options.nginx, options.cache)
        page.check_path(report, options.out, filter(None, others))
    return ReportCollector()


def _write_report(report: Path, data: "ReportData", result: BuildResult) -> None:
    from ..review.report import page

    page.write(report, page.render(data, result.release, result.changes, _warnings(result), result.removed))


def _warnings(result: BuildResult) -> list[str]:
    return [*map(with_program_name, result.warnings), *map(str, result.located)]


def _progress(rendered: "Iterator[RenderedSeries]", count: int) -> "Iterator[RenderedSeries]":
    with progress_bar(rendered, label="building series", length=count, show_pos=True) as items:
        yield from items


def _result_json(result: BuildResult, data: "ReportData | None", seconds: float) -> dict[str, object]:
    return {
        "ok": True,
        "release": result.release,
        **result.changes,
        "resources": result.resources,
        "bytes_written": result.written,
        "seconds": round(seconds, 3),
        "next_publication": None if result.next_publication is None else field_values.iso(result.next_publication),
        "warnings": _warnings(result),
        "no_longer_published": result.removed.plain(),
        **(data.plain() if data else {}),
    }


def _summary(result: BuildResult, options: Options, report: Path | None, seconds: float) -> list[str]:
    counts = ", ".join(f"{count} {kind}" for kind, count in result.changes.items())
    lines = [
        f"release {result.release} in {options.out}: {counts}",
        f"{result.resources} resources, {result.written:,} bytes written in {seconds:.2f} s",
    ]
    if result.removed:
        lines += [f"no longer published: {result.removed.sentence}", *result.removed.lines()]
    if result.conf_written:
        lines.append(f"wrote {options.nginx}")
    if report:
        lines.append(f"wrote {report}")
    if result.next_publication is not None:
        lines.append(f"next scheduled chapter: {field_values.iso(result.next_publication)}")
    return lines
