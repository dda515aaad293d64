"""`import`: a site that runs elsewhere becomes a catalog here."""

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
from ..authoring.site_import.site_client import MAX_RESPONSE, site_address
from ..catalog.confined_folder import ConfinedFolder
from ..errors import FlatpanelError
from ..server_url import ServerUrl
from . import options
from .help import Command
from .output import is_terminal, print_json, print_lines, progress_bar, prompt_secret
from .reporting import handle_errors

KEY = "FLATPANEL_IMPORT_KEY"
# Of the progress bar.
STEPS = 1000
CACHE = ".flatpanel_import_cache"


class SiteUrl(click.ParamType[ServerUrl]):
    """The address of a site, in whichever of its families."""

    name = "URL"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> ServerUrl:
        try:
            return site_address(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Rate(click.FloatRange):
    """How often a second; what is not a number is between no bounds."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found = float(super().convert(value, param, ctx))
        if math.isnan(found):
            self.fail("should be a number", param, ctx)
        return found


@click.command(
    "import", cls=Command, examples=["import https://comics.example --dry-run", "import https://comics.example"]
)
@click.argument("site", metavar="URL", type=SiteUrl())
@options.catalog
@click.option(
    "--cache",
    type=click.Path(path_type=Path),
    help=f"What came from the site, for the next import.  [default: {CACHE} beside --catalog]",
)
@click.option(
    "--rate",
    type=Rate(0.001, 100),
    default=4,
    show_default=True,
    help="Requests a second at most.",
)
@click.option("--key-file", type=click.Path(path_type=Path), help=f"A file with a key to the site; or set {KEY}.")
@click.option("--ask-key", is_flag=True, help="Ask for a key to the site, which is not shown.")
@options.timeout
@click.option(
    "--max-response",
    type=click.IntRange(1, 4096),
    default=MAX_RESPONSE,
    show_default=True,
    metavar="MIB",
    help="Take no larger response; the number of values in it is bounded in proportion.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be written.")
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

    Run it again to update the copy.
    """
    wanted = ImportOptions(
        address=site,
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
        done = run.run(wanted, progress)
    if as_json:
        print_json(_facts(done))
    else:
        _tell(done, wanted)


def _key(file: Path | None, ask: bool) -> str | None:
    """The key, from where neither other people nor a history of commands see it."""
    if file and ask:
        raise click.UsageError("a key comes from --key-file or from --ask-key, not from both")
    if file:
        key = file.read_text(encoding="utf-8", errors="replace").strip()
        if not key:
            raise FlatpanelError(f"{file}: holds no key")
    elif ask:
        key = prompt_secret("key").strip()
    else:
        key = os.environ.get(KEY, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise FlatpanelError("the key should be one line of plain letters")
    return key or None


@contextmanager
def _progress(as_json: bool) -> Iterator[Progress]:
    """A bar on a terminal."""
    if as_json or not is_terminal():
        yield lambda share: None
        return
    with progress_bar(length=STEPS, label="asking") as shown:
        yield lambda share: shown.update(int(share * STEPS) - shown.pos)


def _facts(done: ImportResult) -> dict[str, object]:
    return {
        "ok": True,
        "requests": done.requests,
        "new": {name: count for name, count in done.counts.items() if name != "changes"},
        "changed": done.counts["changes"],
        "files": sorted(done.files),
        "notes": done.notes,
    }


def _tell(done: ImportResult, wanted: ImportOptions) -> None:
    counts = done.counts
    new = ", ".join(f"{counts[name]} {name}" for name in ("series", "chapters"))
    print_lines(
        f"{wanted.catalog}: new are {new} and {counts['others']} other entries; {counts['changes']} fields changed"
    )
    verb = "would be written" if wanted.dry else "written"
    print_lines(f"{done.requests} requests; {len(done.files)} files {verb}")
    if wanted.dry:
        print_lines(*(f"  {wanted.catalog / file}" for file in sorted(done.files)))
    print_lines("what the site does not tell, or tells wrongly:", bold=True)
    print_lines(*(f"  {note}" for note in done.notes))
