"""The options that several commands share."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from .. import encode, values

F = TypeVar("F", bound=Callable[..., Any])


class Instant(click.ParamType[int]):
    """A time as the catalog writes it, or seconds since 1970."""

    name = "ISO"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            seconds = _seconds(value)
            return values.instant(value) if seconds is None else seconds
        except ValueError as error:
            self.fail(f"{error}, not {value}" if str(error).startswith("should be") else str(error), param, ctx)


def _seconds(text: str) -> int | None:
    """Seconds since 1970 where the text is nothing but digits, and not too many."""
    return int(text) if text.isdecimal() and len(text) <= 12 and int(text) <= encode.LAST_INSTANT else None


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


catalog = _path("catalog", "catalog_src", "The folder of the catalog.")
out = _path("out", "dist", "The folder that is built.")
nginx = _path("nginx", "nginx.conf", "The main nginx configuration to write.")
as_of = click.option("--as-of", type=Instant(), help="Build the site as it is at this time.  [default: now]")
as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
jobs = click.option("--jobs", type=click.IntRange(1), default=lambda: os.cpu_count() or 1, help="Processes to use.")
