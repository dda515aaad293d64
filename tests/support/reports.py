"""Build with a report, as the command does."""

from pathlib import Path

from generator.pipeline import run
from generator.pipeline.build_options import Options
from generator.pipeline.build_result import BuildResult
from generator.review.report import page as report
from generator.review.report.data import ReportCollector, ReportData


def build_with_report(options: Options, page: Path) -> tuple[BuildResult, ReportData]:
    collector = ReportCollector()
    done = run.build(options, inspect=collector)
    assert collector.data
    warnings = [*done.warnings, *map(str, done.located)]
    report.write(page, report.render(collector.data, done.release, done.changes, warnings, done.removed))
    return done, collector.data
