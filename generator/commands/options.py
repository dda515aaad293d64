"""The options that several commands share."""

import functools
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from .. import encoding
from ..catalog import field_values
from ..catalog.confined_folder import ConfinedFolder
from ..http_client import REQUEST_SECONDS

F = TypeVar("F", bound=Callable[..., Any])


class Instant(click.ParamType[int]):
    """A time as the catalog writes it, or seconds since 1970, which a day without its dashes would be taken for."""

    name = "ISO"

    def __init__(self, *, or_seconds: bool = True) -> None:
        self.or_seconds = or_seconds

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            seconds = _seconds(value) if self.or_seconds else None
            return field_values.instant(value) if seconds is None else seconds
        except ValueError as error:
            self.fail(f"{error}, not {value}" if str(error).startswith("should be") else str(error), param, ctx)


def _seconds(text: str) -> int | None:
    """Seconds since 1970 where the text is nothing but digits, and not too many."""
    return int(text) if text.isdecimal() and len(text) <= 12 and int(text) <= encoding.LAST_INSTANT else None


def now() -> int:
    """SOURCE_DATE_EPOCH, by which a build can be repeated, or the clock."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH")
    if not fixed:
        return int(time.time())
    seconds = _seconds(fixed)
    if seconds is None:
        raise click.UsageError(f"SOURCE_DATE_EPOCH should be seconds since 1970, not {fixed}")
    return seconds


def _path(name: str, default: str, help: str) -> Callable[[F], F]:
    return click.option(f"--{name}", type=click.Path(path_type=Path), default=default, show_default=True, help=help)


def cache(command: F) -> F:
    """`--cache` and `--no-cache` as one argument: a folder, or None."""

    @functools.wraps(command)
    def run(*args: Any, out: Path, cache: Path | None, no_cache: bool, **kwargs: Any) -> Any:
        folder = None if no_cache else cache or out.absolute().parent / ".flatpanel_cache"
        return command(*args, out=out, cache=folder, **kwargs)

    where = click.option(
        "--cache",
        type=click.Path(path_type=Path),
        help="What a build remembers for the next one.  [default: .flatpanel_cache beside --out]",
    )
    without = click.option("--no-cache", is_flag=True, help="Build from nothing, and remember nothing.")
    return where(without(run))  # type: ignore[return-value]


as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


def output_format(command: F) -> F:
    """`--format` and `--json`, which is short for one of its values, as one argument."""

    @functools.wraps(command)
    def run(*args: Any, form: str | None, as_json: bool, **kwargs: Any) -> Any:
        if as_json and form not in (None, "json"):
            raise click.UsageError(f"--json is short for --format json, and cannot be --format {form} as well")
        return command(*args, form="json" if as_json else form or "text", **kwargs)

    which = click.option(
        "--format",
        "form",
        type=click.Choice(["text", "json", "github"]),
        help="How to say what is wrong: to people, to programs, or beside the lines on GitHub.  [default: text]",
    )
    return which(as_json(run))  # type: ignore[return-value]


def catalog(command: F) -> F:
    """`--catalog` and `--follow` as one argument, through which the files of the catalog are read and written."""

    @functools.wraps(command)
    def run(*args: Any, catalog: Path, follow: tuple[Path, ...], **kwargs: Any) -> Any:
        return command(*args, catalog=ConfinedFolder(catalog, follow), **kwargs)

    where = _path("catalog", "catalog_src", "The folder of the catalog.")
    links = click.option(
        "--follow",
        metavar="DIR",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        multiple=True,
        help="Let links in the catalog lead into DIR; may be repeated.",
    )
    return where(links(run))  # type: ignore[return-value]


out = _path("out", "dist", "The folder that is built.")
previous_ids = click.option(
    "--previous", type=click.Path(path_type=Path), help="A manifest.json whose ids are not given again."
)
nginx = _path("nginx", "nginx.conf", "The main nginx configuration to write.")
as_of = click.option("--as-of", type=Instant(), help="Build the site as it is at this time.  [default: now]")
jobs = click.option("--jobs", type=click.IntRange(1), default=lambda: os.cpu_count() or 1, help="Processes to use.")
timeout = click.option(
    "--timeout",
    type=click.IntRange(1, 86_400),
    default=int(REQUEST_SECONDS),
    show_default=True,
    metavar="REQUEST_SECONDS",
    help="Wait no longer for one response as a whole.",
)
