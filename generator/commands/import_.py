"""`import`: copy the catalog of a running site."""

import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from ..authoring.site_import import run
from ..authoring.site_import.crawl import Progress
from ..authoring.site_import.run import ImportOptions, ImportResult
from ..authoring.site_import.site_client import MAX_RESPONSE, site_url
from ..catalog.confined_folder import ConfinedFolder
from ..errors import FlatpanelError
from ..server_url import ServerUrl
from . import options
from .help import Command
from .output import is_terminal, print_json, print_lines, progress_bar, prompt_secret
from .reporting import handle_errors

KEY = "FLATPANEL_IMPORT_KEY"
# Length of the progress bar.
STEPS = 1000
CACHE = ".flatpanel_import_cache"


class SiteUrl(click.ParamType[ServerUrl]):
    """The URL of a site, or of one of its API pages."""

    name = "URL"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> ServerUrl:
        try:
            return site_url(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Rate(click.FloatRange):
    """A bounded number; FloatRange accepts NaN, which compares as neither too small nor too large."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        rate = float(super().convert(value, param, ctx))
        if math.isnan(rate):
            self.fail("should be a number", param, ctx)
        return rate


@click.command(
    "import", cls=Command, examples=["import https://comics.example --dry-run", "import https://comics.example"]
)
@click.argument("site", metavar="URL", type=SiteUrl())
@options.catalog
@click.option(
    "--cache",
    type=click.Path(path_type=Path),
    help=f"Cache of the site's responses.  [default: {CACHE} beside --catalog]",
)
@click.option(
    "--rate",
    type=Rate(0.001, 100),
    default=4,
    show_default=True,
    help="Maximum requests per second.",
)
@click.option("--key-file", type=click.Path(path_type=Path), help=f"File with an API key of the site; or set {KEY}.")
@click.option("--ask-key", is_flag=True, help="Prompt for an API key of the site.")
@options.timeout
@click.option(
    "--max-response",
    type=click.IntRange(1, 4096),
    default=MAX_RESPONSE,
    show_default=True,
    metavar="MIB",
    help="Largest response; also limits the JSON values in it.",
)
@click.option("--dry-run", is_flag=True, help="Print the files that would change; write nothing.")
@options.as_json
@handle_errors
def import_(
    site: ServerUrl,
    catalog: ConfinedFolder,
    cache: Path | None,
    rate: float,
    key_file: Path | None,
    ask_key: bool,
    timeout: float,
    max_response: int,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Copy the catalog of a running site.

    Run the command again to update the copy.
    """
    import_options = ImportOptions(
        site=site,
        catalog=catalog,
        cache=cache or catalog.path.absolute().parent / CACHE,
        now=options.now(),
        clock=time.monotonic,
        sleep=time.sleep,
        key=_key(key_file, ask_key),
        rate=rate,
        dry=dry_run,
        timeout=timeout,
        max_response=max_response,
    )
    with _progress(as_json) as progress:
        result = run.run(import_options, progress)
    if as_json:
        print_json(_as_json(result))
    else:
        _print(result, import_options)


def _key(file: Path | None, ask: bool) -> str | None:
    """Return the API key from a file, a prompt or the environment: an argument would be visible to other users."""
    if file and ask:
        raise click.UsageError("use --key-file or --ask-key, not both")
    if file:
        key = file.read_text(encoding="utf-8", errors="replace").strip()
        if not key:
            raise FlatpanelError(f"{file}: contains no API key")
    elif ask:
        key = prompt_secret("API key").strip()
    else:
        key = os.environ.get(KEY, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise FlatpanelError("the API key should be one line of printable ASCII characters")
    return key or None


@contextmanager
def _progress(as_json: bool) -> Iterator[Progress]:
    """Show a progress bar if stderr is a terminal."""
    if as_json or not is_terminal():
        yield lambda share: None
        return
    with progress_bar(length=STEPS, label="requesting") as bar:
        yield lambda share: bar.update(int(share * STEPS) - bar.pos)


def _as_json(result: ImportResult) -> dict[str, object]:
    return {
        "ok": True,
        "requests": result.requests,
        "new": {name: count for name, count in result.counts.items() if name != "changes"},
        "changed": result.counts["changes"],
        "files": sorted(result.files),
        "notes": result.notes,
    }


def _print(result: ImportResult, import_options: ImportOptions) -> None:
    counts, catalog, dry = result.counts, import_options.catalog, import_options.dry
    added = f"{counts['series']} series, {counts['chapters']} chapters, {counts['others']} other entries"
    verbs = ("would add", "would update", "would write") if dry else ("added", "updated", "wrote")
    print_lines(f"{catalog}: {verbs[0]} {added}; {verbs[1]} {counts['changes']} fields")
    print_lines(f"{result.requests} requests; {verbs[2]} {len(result.files)} files")
    if dry:
        print_lines(*(f"  {catalog / file}" for file in sorted(result.files)))
    print_lines("notes about the source site:", bold=True)
    print_lines(*(f"  {note}" for note in result.notes))
