"""`diff`: what a change of the catalog does to those who read the site."""

import re
from typing import Any

import click

from ..catalog.confined_folder import ConfinedFolder
from ..catalog.records import PATH_OR_URL
from ..errors import FlatpanelError
from ..review.diff import as_json as facts
from ..review.diff import compare, inputs
from ..review.diff import purge as spellings
from ..review.diff.as_markdown import markdown
from ..review.diff.as_text import text
from ..review.diff.compare import ReleaseComparison
from ..review.diff.entity_changes import BodyReader, entity_changes
from ..review.diff.inputs import ReleasePair
from ..review.diff.lines import PARTIAL
from . import options
from .output import print_json, print_lines
from .reporting import handle_errors


class Beginning(click.ParamType[str]):
    """What whole addresses begin with."""

    name = "URL"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        found = str(value).rstrip("/")
        if not re.fullmatch(PATH_OR_URL, f"{found}/") or found.startswith("/"):
            self.fail("should be an address like https://cdn.example", param, ctx)
        return found


@click.command()
@click.argument("old", default="HEAD")
@click.argument("new", default=inputs.HERE)
@options.catalog
@options.as_of
@options.jobs
@click.option("--format", "form", type=click.Choice(("text", "json", "markdown")), default="text", show_default=True)
@options.as_json
@click.option("--all", "every", is_flag=True, help="Tell of each URL what changed in it.")
@click.option("--private", is_flag=True, help="Show what only a key opens, too.")
@click.option("--purge", is_flag=True, help="Print what a cache in front has to forget instead, one URL a line.")
@click.option("--base-url", type=Beginning(), help="What the URLs to purge begin with.  [default: NEW's base_url]")
@click.option("--exit-code", is_flag=True, help="Exit with 1 if anything differs.")
@handle_errors
def diff(
    old: str,
    new: str,
    catalog: ConfinedFolder,
    as_of: int | None,
    jobs: int,
    form: str,
    as_json: bool,
    every: bool,
    private: bool,
    purge: bool,
    base_url: str | None,
    exit_code: bool,
) -> None:
    """Say what is new, changed or gone for clients between two sites, catalogs or revisions.

    OLD and NEW are each a built folder, a release or its manifest.json, the folder of a catalog, or whatever git
    understands; a point is the catalog as it lies here. Without them, what was edited since HEAD is told.
    """
    for contradicts, sentence in (
        (as_json and form == "markdown", "--json is short for --format json, and cannot be --format markdown as well"),
        (purge and form == "markdown", "--purge prints text or JSON, not Markdown"),
        (purge and (every or private), "--purge prints what caches kept; --all and --private say what is told instead"),
        (base_url and not purge, "--base-url says what the URLs begin with that --purge prints"),
    ):
        if contradicts:
            raise click.UsageError(sentence)
    form = "json" if as_json else form
    with inputs.open_releases(old, new, catalog, options.now() if as_of is None else as_of, jobs) as pair:
        for warning in dict.fromkeys(pair.warnings):
            print_lines(f"warning: {warning}", err=True, fg="yellow")
        found = compare.compare(pair.old, pair.new)
        if purge:
            _purge(found, base_url or _base_url(pair), as_json=form == "json")
        else:
            _tell(BodyReader(found, private), form, every=every)
        differs = found.differs
    if exit_code and differs:
        raise SystemExit(1)


def _tell(reader: BodyReader, form: str, *, every: bool) -> None:
    found = entity_changes(reader)
    if form == "json":
        print_json(facts.comparison_json(reader, found, every=every))
    elif form == "markdown":
        print_lines(*markdown(reader, found, every=every).removesuffix("\n").split("\n"))
    else:
        for line in text(reader, found, every=every):
            print_lines(line)


def _base_url(pair: ReleasePair) -> str:
    found = pair.new.base_url or pair.old.base_url
    if not found:
        raise FlatpanelError("where the site is cannot be read here; say it with --base-url https://comics.example")
    return found


def _purge(found: ReleaseComparison, base_url: str, *, as_json: bool) -> None:
    purge = spellings.purge(found, base_url.rstrip("/"))
    if as_json:
        print_json({"urls": purge.urls, "prefixes": purge.prefixes, "settings": found.settings})
        return
    print_lines(*purge.urls)
    if found.is_partial:
        print_lines(PARTIAL, err=True)
    for prefix in purge.prefixes:
        print_lines(f"and whatever begins with {prefix}: lists that were filtered or cut cannot be listed", err=True)
    if found.settings:
        print_lines(f"{', '.join(found.settings)} changed too: headers and errors may differ; purge it all", err=True)
