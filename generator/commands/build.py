"""`build`: make a release from the catalog."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from ..pipeline.build_options import Options
from . import github_annotations, options
from .building import build_site
from .help import Command
from .output import print_json, print_lines
from .reporting import handle_errors, print_warning


@click.command(
    cls=Command,
    examples=["build", "build --check", "build --as-of 2026-12-24 --out preview/dist", "build --report report.html"],
)
@options.catalog
@options.out
@options.nginx
@options.cache
@options.as_of
@options.previous("Previous manifest.json, or built site; unchanged bodies keep their Last-Modified.")
@options.jobs
@options.output_format
@click.option("--quiet", is_flag=True, help="Print only warnings and errors.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a build would change anything.")
@click.option(
    "--max-removed",
    type=click.IntRange(0, 100),
    metavar="PERCENT",
    help="Refuse to remove more than PERCENT of the published series and chapters; fewer than 3 are always allowed.",
)
@click.option("--report", type=click.Path(path_type=Path), help="Write an HTML page: contents, changes, sizes.")
@handle_errors
def build(as_of: int | None, output_format: str, quiet: bool, check: bool, report: Path | None, **paths: Any) -> None:
    """Build the site (default)."""
    if check and report:
        raise click.UsageError("--check writes nothing, so it cannot be combined with --report")
    if check and paths["max_removed"] is not None:
        raise click.UsageError("--check writes nothing, so it cannot be combined with --max-removed")
    build_options = Options(as_of=options.now() if as_of is None else as_of, **paths)
    if check:
        # Imported here: a build without changes takes no longer than its imports.
        from ..review import trial_build

        sentences = trial_build.outdated(build_options, partial(print_warning, output_format=output_format))
        _print_outdated(sentences, output_format, quiet)
    else:
        build_site(build_options, report, output_format=output_format, quiet=quiet)


def _print_outdated(sentences: list[str], output_format: str, quiet: bool) -> None:
    if output_format == "json":
        print_json({"ok": not sentences, "outdated": sentences})
    elif sentences and output_format == "github":
        print_lines(*map(github_annotations.error, sentences))
    elif sentences:
        print_lines(*sentences, err=True)
    elif not quiet:
        print_lines("up to date")
    if sentences:
        raise SystemExit(1)
