"""`build`: make a release from the catalog."""

from pathlib import Path

import click

from ..catalog.confined_folder import ConfinedFolder
from ..pipeline.build_options import Options
from . import options
from .building import build_site
from .command import Command, Result, print_warning
from .output import note, output_format


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
@options.format_of_errors
@click.option("--quiet", is_flag=True, help="Print only warnings and errors.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a build would change anything.")
@click.option(
    "--max-removed",
    type=click.IntRange(0, 100),
    metavar="PERCENT",
    help="Refuse to remove more than PERCENT of the published series and chapters; fewer than 3 are always allowed.",
)
@click.option("--report", type=click.Path(path_type=Path), help="Write an HTML page: contents, changes, sizes.")
def build(
    catalog: ConfinedFolder,
    out: Path,
    nginx: Path,
    cache: Path | None,
    as_of: int,
    previous: Path | None,
    jobs: int,
    quiet: bool,
    check: bool,
    max_removed: int | None,
    report: Path | None,
) -> Result:
    """Build the site (default)."""
    if check and report:
        raise click.UsageError("--check writes nothing, so it cannot be combined with --report")
    if check and max_removed is not None:
        raise click.UsageError("--check writes nothing, so it cannot be combined with --max-removed")
    build_options = Options(
        catalog, out, nginx, as_of, previous=previous, jobs=jobs, cache=cache, max_removed=max_removed
    )
    if not check:
        built = build_site(build_options, report, with_data=output_format() == "json", quiet=quiet)
        return Result(lambda: [] if quiet else built.lines(), built.plain)
    # Imported here: a build without changes takes no longer than its imports.
    from ..review import trial_build

    outdated = trial_build.outdated(build_options, print_warning)
    return Result(
        lambda: map(note, outdated) if outdated or quiet else ["up to date"],
        lambda: {"ok": not outdated, "outdated": outdated},
        ok=not outdated,
    )
