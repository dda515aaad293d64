"""Build the site with a progress bar and a report, for `build`, `serve` and `init`."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..catalog import field_values, layout, theme_files
from ..pipeline import run as pipeline
from ..pipeline.build_options import Options
from ..pipeline.build_result import BuildResult
from .command import print_warnings, with_program_name
from .output import progress_bar, shows_progress, waiting_notice

if TYPE_CHECKING:
    from ..pipeline.series_renderer import RenderedSeries
    from ..review.report.data import ReportCollector, ReportData


@dataclass(frozen=True, slots=True)
class SiteBuild:
    """A finished build as lines and as JSON."""

    options: Options
    result: BuildResult
    seconds: float
    report: Path | None
    # For a report, or for JSON.
    data: "ReportData | None"

    def lines(self) -> list[str]:
        result = self.result
        counts = ", ".join(f"{count} {kind}" for kind, count in result.changes.items())
        lines = [
            f"release {result.release} in {self.options.out}: {counts}",
            f"{result.resources} resources, {result.written:,} bytes written in {self.seconds:.2f} s",
        ]
        if result.removed:
            lines += [f"no longer published: {result.removed.sentence}", *result.removed.lines()]
        if result.conf_written:
            lines.append(f"wrote {self.options.nginx}")
        if self.report:
            lines.append(f"wrote {self.report}")
        if result.next_publication is not None:
            lines.append(f"next scheduled chapter: {field_values.iso(result.next_publication)}")
        return lines

    def plain(self) -> dict[str, object]:
        result = self.result
        due = result.next_publication
        return {
            "ok": True,
            "release": result.release,
            **result.changes,
            "resources": result.resources,
            "bytes_written": result.written,
            "seconds": round(self.seconds, 3),
            "next_publication": None if due is None else field_values.iso(due),
            "warnings": _warnings(result),
            "no_longer_published": result.removed.plain(),
            **(self.data.plain() if self.data else {}),
        }


def build_site(
    options: Options, report: Path | None = None, *, with_data: bool = False, quiet: bool = False
) -> SiteBuild:
    """Build the site, print its warnings, and write the `report` page. `with_data` adds its data to the JSON."""
    collector = _collector(options, report) if report or with_data else None
    started = time.perf_counter()
    progress = _progress if shows_progress() and not quiet else None
    result = pipeline.build(options, waiting_notice(options.out), progress, collector)
    data = collector.data if collector else None
    if report and data:
        from ..review.report import page

        warnings = _warnings(result)
        page.write(report, page.render(data, result.release, result.changes, warnings, result.removed))
    seconds = time.perf_counter() - started
    print_warnings(result)
    return SiteBuild(options, result, seconds, report, data)


def _collector(options: Options, report: Path | None) -> "ReportCollector":
    """The collector of the data of a report. Raises if the report cannot be written."""
    # Imported here and below: most builds have no report, and a build without changes takes no longer than its imports.
    from ..review.report import page
    from ..review.report.data import ReportCollector

    if report:
        # The build may create the folders that it writes.
        theme = theme_files.folder_of(options.catalog).path
        others = (options.catalog / layout.SERIES, theme, options.nginx, options.cache)
        page.check_path(report, options.out, filter(None, others))
    return ReportCollector()


def _warnings(result: BuildResult) -> list[str]:
    return [*map(with_program_name, result.warnings), *map(str, result.located)]


def _progress(rendered: "Iterator[RenderedSeries]", count: int) -> "Iterator[RenderedSeries]":
    with progress_bar(rendered, label="building series", length=count, show_pos=True) as items:
        yield from items
