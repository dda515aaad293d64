"""Import a site: options, the API key and the progress bar, for `import` and `init`."""

import math
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from ..catalog.confined_folder import ConfinedFolder
from ..errors import FlatpanelError, counted
from ..imports.database.accounts import AccountData
from ..imports.run import ImportOptions, ImportResult
from ..reading_sites.crawl import Progress
from ..reading_sites.site_client import MAX_RESPONSE, site_url
from ..server_url import ServerUrl, without_password
from . import options
from .command import show
from .output import is_terminal, note, progress_bar, prompt_secret, shows_progress

KEY = "FLATPANEL_IMPORT_KEY"
CACHE = ".flatpanel_import_cache"
# Counts of new records, and their nouns.
_ADDED = {"series": "series", "chapters": "chapter", "others": "other entry"}
# Length of the progress bar.
STEPS = 1000


class Url(click.ParamType[ServerUrl]):
    """The URL of a server. By default of a site, or of one of its API pages."""

    name = "URL"

    def __init__(self, parse: Callable[[str], ServerUrl] = site_url) -> None:
        self.parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> ServerUrl:
        try:
            return self.parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Source(click.ParamType[ServerUrl | Path]):
    """The URL of a site, or a file with its database."""

    name = "URL|FILE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> ServerUrl | Path:
        if os.path.isfile(value):
            return Path(value)
        if "://" not in value:
            self.fail(
                f"should be a file, or a URL like https://comics.example, not {without_password(value)}", param, ctx
            )
        return Url().convert(value, param, ctx)


class Rate(click.FloatRange):
    """A bounded number; FloatRange accepts NaN, which compares as neither too small nor too large."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        rate = float(super().convert(value, param, ctx))
        if math.isnan(rate):
            self.fail("should be a number", param, ctx)
        return rate


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """The options about requests to the site and their responses, as `import` and `init` take them."""

    rate: float
    key_file: Path | None
    ask_key: bool
    timeout: float
    max_response: int
    allow_missing_ids: bool

    def import_options(self, site: ServerUrl | None, catalog: ConfinedFolder, cache: Path | None) -> ImportOptions:
        """Return the options of an import. The default cache is beside the catalog, where later imports look."""
        return ImportOptions(
            site=site,
            catalog=catalog,
            cache=cache or catalog.path.absolute().parent / CACHE,
            now=options.now(),
            clock=time.monotonic,
            sleep=time.sleep,
            key=self.key(),
            rate=self.rate,
            allows_missing_ids=self.allow_missing_ids,
            timeout=self.timeout,
            max_response=self.max_response,
        )

    def key(self) -> str | None:
        """Return the API key from a file, a prompt or the environment: an argument would be visible to other users."""
        if self.key_file and self.ask_key:
            raise click.UsageError("use --key-file or --ask-key, not both")
        if self.key_file:
            return key_in_file(self.key_file)
        key = prompt_secret("API key") if self.ask_key else os.environ.get(KEY, "")
        return _checked_key(key.strip()) or None


def key_in_file(path: Path) -> str:
    """Read an API key from a file."""
    key = path.read_text(encoding="utf-8", errors="replace").strip()
    if not key:
        raise FlatpanelError(f"{path}: contains no API key")
    return _checked_key(key)


def _checked_key(key: str) -> str:
    if not (key.isascii() and key.isprintable()):
        raise FlatpanelError("the API key should be one line of printable ASCII characters")
    return key


@dataclass(frozen=True, slots=True)
class DatabaseOptions:
    """The options about the database of the site, as `import` and `init` take them."""

    file: Path | None
    accounts: bool
    personal_data: bool

    def account_data(self) -> AccountData:
        if self.accounts and self.file is None:
            raise click.UsageError("--accounts needs --from-database: a site does not publish accounts")
        if self.personal_data and not self.accounts:
            raise click.UsageError("--personal-data needs --accounts")
        return "personal data" if self.personal_data else "accounts" if self.accounts else ""


database_options = options.grouped(
    "database",
    DatabaseOptions,
    click.option(
        "--from-database",
        "file",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Database of MangAdventure: an SQLite file, or the JSON of dumpdata.",
    ),
    click.option("--accounts", is_flag=True, help="Import active accounts: usernames, bookmarks, digests of API keys."),
    click.option(
        "--personal-data",
        is_flag=True,
        help="With --accounts: also names, email addresses, bios and avatars. Keeps accounts.yaml out of git.",
    ),
)
request_options = options.grouped(
    "requests",
    RequestOptions,
    click.option("--rate", type=Rate(0.001, 100), default=2.5, show_default=True, help="Maximum requests per second."),
    click.option(
        "--key-file", type=click.Path(path_type=Path), help=f"File with an API key of the site; or set {KEY}."
    ),
    click.option("--ask-key", is_flag=True, help="Prompt for an API key of the site."),
    options.timeout,
    click.option(
        "--max-response",
        type=click.IntRange(1, 4096),
        default=MAX_RESPONSE,
        show_default=True,
        metavar="MIB",
        help="Largest response; also limits the JSON values in it.",
    ),
    click.option(
        "--allow-missing-ids",
        is_flag=True,
        help="Add chapters whose ids no response has; otherwise such an import ends with exit code 1.",
    ),
)


def announce(text: str) -> None:
    """Print what an import expects, below its progress bar."""
    show(map(note, [*[""] * is_terminal(), text]))


@contextmanager
def progress_of_requests() -> Iterator[Progress]:
    """Show a progress bar."""
    if not shows_progress():
        yield lambda share: None
        return
    with progress_bar(length=STEPS, label="requesting") as bar:
        yield lambda share: bar.update(int(share * STEPS) - bar.pos)


def added(counts: Mapping[str, int]) -> list[str]:
    """Return the numbers of new series, chapters and other entries."""
    return [counted(counts[name], noun) for name, noun in _ADDED.items()]


def result_json(result: ImportResult) -> dict[str, object]:
    """Return the counts, files and notes of an import."""
    return {
        "requests": result.requests,
        "new": {name: count for name, count in result.counts.items() if name in _ADDED},
        "changed": result.counts["changes"],
        "removed": result.counts["removed"],
        "renamed": result.counts["renamed"],
        "files": sorted(result.files),
        "notes": result.notes,
        "report": str(result.report),
    }


def shown(path: Path) -> Path:
    """Return a path as a user of the current folder would write it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
