"""`diff`: compare what clients get from two releases or catalogs."""

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from ..catalog import patterns
from ..catalog.confined_folder import ConfinedFolder
from ..review.diff import as_json as json_output
from ..review.diff import compare, inputs
from ..review.diff import purge as cdn_purge
from ..review.diff.as_markdown import markdown
from ..review.diff.as_text import text
from ..review.diff.compare import Comparison
from ..review.diff.entity_changes import entity_changes
from ..review.diff.lines import left_out
from ..review.diff.model import BodyReader
from . import options
from .help import Command
from .output import print_json, print_lines
from .reporting import handle_errors

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class DiffOptions:
    """What to print, and how."""

    output_format: str
    every: bool
    private: bool
    purge: bool
    base_url: str | None
    exit_code: bool

    def check(self) -> None:
        """Refuse options that exclude each other."""
        if self.purge and self.output_format == "markdown":
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


def _diff_options(command: F) -> F:
    """The options of `DiffOptions` as one argument."""

    @functools.wraps(command)
    def run(*args: Any, as_json: bool, output_format: str, every: bool, private: bool, **kwargs: Any) -> Any:
        if as_json and output_format == "markdown":
            raise click.UsageError("--json means --format json, so it cannot be combined with --format markdown")
        names = ("purge", "base_url", "exit_code")
        diff_options = DiffOptions(
            "json" if as_json else output_format, every, private, **{name: kwargs.pop(name) for name in names}
        )
        diff_options.check()
        return command(*args, diff_options=diff_options, **kwargs)

    for option in (
        click.option("--exit-code", is_flag=True, help="Exit with 1 if anything differs."),
        click.option(
            "--base-url",
            metavar="URL",
            callback=_url_start,
            help="Scheme and host of the URLs to purge.  [default: NEW's base_url]",
        ),
        click.option("--purge", is_flag=True, help="Print the URLs to purge from a CDN instead, one on each line."),
        click.option("--private", is_flag=True, help="Show restricted content, too."),
        click.option("--all", "every", is_flag=True, help="Print the changed fields of every URL."),
        options.as_json,
        click.option(
            "--format",
            "output_format",
            type=click.Choice(("text", "json", "markdown")),
            default="text",
            show_default=True,
            help="Format of the result.",
        ),
    ):
        run = option(run)
    return run  # type: ignore[return-value]


@click.command(
    cls=Command,
    examples=["diff", "diff main --format markdown", "diff dist/releases/3f2a90c41d7be856 dist", "diff HEAD~1 --purge"],
)
@click.argument("old", default="HEAD")
@click.argument("new", default=inputs.WORKING_COPY)
@options.catalog
@options.as_of
@options.jobs
@handle_errors
@_diff_options
def diff(old: str, new: str, catalog: ConfinedFolder, as_of: int | None, jobs: int, diff_options: DiffOptions) -> None:
    """Show what changes for clients.

    Compares OLD with NEW: each is a built folder, a release or its manifest.json, the folder of a catalog, or a git
    revision. `.` is your working copy. By default, shows uncommitted changes.
    """
    with inputs.open_releases(old, new, catalog, options.now() if as_of is None else as_of, jobs) as pair:
        for warning in dict.fromkeys(pair.warnings):
            print_lines(f"warning: {warning}", err=True, fg="yellow")
        comparison = compare.compare(pair.old, pair.new)
        if diff_options.purge:
            _print_purge(
                comparison, diff_options.base_url or pair.new.base_url, as_json=diff_options.output_format == "json"
            )
        else:
            _print_changes(BodyReader(comparison, diff_options.private), diff_options)
        differs = comparison.differs
    if diff_options.exit_code and differs:
        raise SystemExit(1)


def _print_changes(reader: BodyReader, diff_options: DiffOptions) -> None:
    entities, every = entity_changes(reader), diff_options.every
    if diff_options.output_format == "json":
        print_json(json_output.comparison_json(reader, entities, every=every))
    elif diff_options.output_format == "markdown":
        print_lines(*markdown(reader, entities, every=every).removesuffix("\n").split("\n"))
    else:
        for line in text(reader, entities, every=every):
            print_lines(line)


def _print_purge(comparison: Comparison, base_url: str, *, as_json: bool) -> None:
    purge = cdn_purge.purge(comparison, base_url.rstrip("/"))
    if as_json:
        print_json({"urls": purge.urls, "prefixes": purge.prefixes, "settings": comparison.settings})
        return
    print_lines(*purge.urls)
    if comparison.left_out:
        print_lines(left_out(comparison), err=True)
    for prefix in purge.prefixes:
        print_lines(f"purge all URLs that begin with {prefix}, too: they cannot all be listed", err=True)
    if comparison.settings:
        names = ", ".join(comparison.settings)
        print_lines(f"{names} changed too: headers and errors may differ; purge the whole site", err=True)
