"""`diff`: compare what clients get from two releases or catalogs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import click

from ..catalog import patterns
from ..catalog.confined_folder import ConfinedFolder
from ..review.diff import compare, inputs
from ..review.diff import purge as cdn_purge
from ..review.diff.entities import BodyReader, entity_changes
from ..review.diff.lines import comparison_json, left_out, markdown, text
from . import options
from .command import Command, Result, print_warning
from .output import Line, note, output_format


@dataclass(frozen=True, slots=True)
class DiffOptions:
    """What to print."""

    every: bool
    private: bool
    purge: bool
    base_url: str | None
    exit_code: bool

    def check(self) -> None:
        """Refuse options that exclude each other."""
        if self.purge and output_format() == "markdown":
            raise click.UsageError("--purge prints text or JSON, so it cannot be combined with --format markdown")
        if self.purge and (self.every or self.private):
            raise click.UsageError("--purge prints URLs only, so it cannot be combined with --all or --private")
        if self.base_url and not self.purge:
            raise click.UsageError("--base-url needs --purge")


def _url_start(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Check the part of a URL that precedes the path, and remove slashes from its end."""
    start = value.rstrip("/") if value is not None else None
    if start is not None and (not re.fullmatch(patterns.PATH_OR_URL, f"{start}/") or start.startswith("/")):
        raise click.BadParameter("should be a URL like https://cdn.example", ctx, param)
    return start


@click.command(
    cls=Command,
    examples=["diff", "diff main --format markdown", "diff dist/releases/3f2a90c41d7be856 dist", "diff HEAD~1 --purge"],
)
@click.argument("old", default=inputs.LAST_COMMIT)
@click.argument("new", default=inputs.WORKING_COPY)
@options.catalog
@options.as_of
@options.jobs
@options.output_format(("text", "json", "markdown"), "Format of the result.", default="text", show_default=True)
@options.grouped(
    "diff_options",
    DiffOptions,
    click.option("--all", "every", is_flag=True, help="Print the changed fields of every URL."),
    click.option("--private", is_flag=True, help="Show restricted content, too."),
    click.option("--purge", is_flag=True, help="Print the URLs to purge from a CDN instead, one on each line."),
    click.option(
        "--base-url",
        metavar="URL",
        callback=_url_start,
        help="Scheme and host of the URLs to purge.  [default: NEW's base_url]",
    ),
    click.option("--exit-code", is_flag=True, help="Exit with 1 if anything differs."),
)
def diff(old: str, new: str, catalog: ConfinedFolder, as_of: int, jobs: int, diff_options: DiffOptions) -> Result:
    """Show what changes for clients.

    Compares OLD with NEW: each is a built folder, a release or its manifest.json, the folder of a catalog, or a git
    revision. `.` is your working copy. By default, shows uncommitted changes.
    """
    diff_options.check()
    # Open until the result is printed, which reads bodies.
    pair = click.get_current_context().with_resource(inputs.open_releases(old, new, catalog, as_of, jobs))
    for warning in dict.fromkeys(pair.warnings):
        print_warning(warning)
    comparison = compare.compare(pair.old, pair.new)
    ok = not (diff_options.exit_code and comparison.differs)
    if diff_options.purge:
        purge = cdn_purge.purge(comparison, (diff_options.base_url or pair.new.base_url).rstrip("/"))
        return Result(
            lambda: _purge_lines(comparison, purge),
            lambda: {"urls": purge.urls, "prefixes": purge.prefixes, "settings": comparison.settings},
            ok,
        )
    reader, every = BodyReader(comparison, diff_options.private), diff_options.every
    entities = entity_changes(reader)
    if output_format() == "markdown":
        return Result(lambda: markdown(reader, entities, every=every).removesuffix("\n").split("\n"), ok=ok)
    return Result(
        lambda: text(reader, entities, every=every),
        lambda: comparison_json(reader, entities, every=every),
        ok,
    )


def _purge_lines(comparison: compare.Comparison, purge: cdn_purge.Purge) -> Iterator[str | Line]:
    yield from purge.urls
    if comparison.left_out:
        yield note(left_out(comparison))
    for prefix in purge.prefixes:
        yield note(f"purge all URLs that begin with {prefix}, too: they cannot all be listed")
    if comparison.settings:
        names = ", ".join(comparison.settings)
        yield note(f"{names} changed too: headers and errors may differ; purge the whole site")
