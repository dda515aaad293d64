"""Options that several commands share."""

import dataclasses
import functools
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from .. import encoding
from ..catalog import field_values
from ..catalog.confined_folder import ConfinedFolder
from ..errors import FlatpanelError
from ..server_url import REQUEST_SECONDS
from . import output

F = TypeVar("F", bound=Callable[..., Any])


class Instant(click.ParamType[int]):
    """A time in the forms of the catalog, or seconds since 1970.

    `or_seconds=False` refuses seconds, which look like a day without its dashes.
    """

    name = "TIME"

    def __init__(self, *, or_seconds: bool = True) -> None:
        self.or_seconds = or_seconds

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            seconds = _seconds(value) if self.or_seconds else None
            return field_values.instant(value) if seconds is None else seconds
        except ValueError as error:
            self.fail(f"{error}, not {value}" if str(error).startswith("should be") else str(error), param, ctx)


def _seconds(text: str) -> int | None:
    """Seconds since 1970, or None if the text is not a number in the supported range."""
    return int(text) if text.isdecimal() and len(text) <= 12 and int(text) <= encoding.LAST_INSTANT else None


def now() -> int:
    """SOURCE_DATE_EPOCH, which makes a build reproducible, or the clock."""
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

    with_folder = click.option(
        "--cache",
        type=click.Path(path_type=Path),
        help="Folder that makes the next build faster.  [default: .flatpanel_cache beside --out]",
    )
    without = click.option("--no-cache", is_flag=True, help="Ignore the cache and do not write one.")
    return with_folder(without(run))  # type: ignore[return-value]


def grouped(
    name: str, kind: type, *options: Callable[[Any], Any]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Options as one argument of a command: `kind`, a dataclass whose fields have the names of the options.

    Without `options`, those that the command has anyway.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def run(*args: Any, **kwargs: Any) -> Any:
            values = {field.name: kwargs.pop(field.name) for field in dataclasses.fields(kind)}
            return command(*args, **kwargs, **{name: kind(**values)})

        return functools.reduce(lambda inner, option: option(inner), reversed(options), run)

    return decorate


as_json = click.option(
    "--json",
    "as_json",
    is_flag=True,
    callback=output.choose_format,
    expose_value=False,
    help="Print the result as JSON.",
)


def output_format(formats: Sequence[str], help: str, **attributes: Any) -> Callable[[F], F]:
    """`--format` and its short form `--json`."""
    option = click.option(
        "--format",
        "output_format",
        type=click.Choice(formats),
        callback=output.choose_format,
        expose_value=False,
        help=help,
        **attributes,
    )
    return lambda command: option(as_json(command))


format_of_errors = output_format(
    ["text", "json", "github"], "Format of errors; github: annotations of a workflow.  [default: text]"
)


def previous(help: str) -> Callable[[F], F]:
    """`--previous` as a file or None. Of a folder, it is the manifest that `diff` reads."""

    def decorate(command: F) -> F:
        @functools.wraps(command)
        def run(*args: Any, previous: Path | None, **kwargs: Any) -> Any:
            if previous and previous.is_dir():
                # Imported here because few commands need it.
                from ..release.manifest_reader import refuse_damaged
                from ..release.store import find_manifest

                folder, previous = previous, find_manifest(previous)
                if not previous:
                    refuse_damaged(folder)
                    message = "contains no release; pass a manifest.json, or the folder of a built site"
                    raise FlatpanelError(f"{folder}: {message}")
            return command(*args, previous=previous, **kwargs)

        option = click.option("--previous", type=click.Path(path_type=Path), help=help)
        return option(run)  # type: ignore[return-value]

    return decorate


def catalog(command: F) -> F:
    """`--catalog` and `--follow` as one argument, through which the catalog is read and written."""

    @functools.wraps(command)
    def run(*args: Any, catalog: Path, follow: tuple[Path, ...], **kwargs: Any) -> Any:
        return command(*args, catalog=ConfinedFolder(catalog, follow), **kwargs)

    folder = _path("catalog", "catalog_src", "Folder of the catalog.")
    links = click.option(
        "--follow",
        metavar="DIR",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        multiple=True,
        help="Allow symbolic links in the catalog to lead into DIR; may be repeated.",
    )
    return folder(links(run))  # type: ignore[return-value]


out = _path("out", "dist", "Folder of the releases.")
nginx = _path("nginx", "nginx.conf", "Main nginx configuration to write.")
as_of = click.option(
    "--as-of",
    type=Instant(),
    callback=lambda context, parameter, value: now() if value is None else value,
    help="Build the site as of this time.  [default: now]",
)
jobs = click.option(
    "--jobs",
    type=click.IntRange(1),
    default=lambda: os.cpu_count() or 1,
    show_default="number of CPUs",
    help="Number of processes.",
)
previous_ids = previous("Previous manifest.json, or built site; its ids are not used again.")
timeout = click.option(
    "--timeout",
    type=click.IntRange(1, 86_400),
    default=int(REQUEST_SECONDS),
    show_default=True,
    metavar="SECONDS",
    help="Maximum time for one response.",
)

# Of targets.
lock_seconds = click.option(
    "--lock-seconds",
    type=click.IntRange(1, 3600),
    default=15,
    show_default=True,
    help="Time to wait for another publish; s3: without a sign of it, its lock is taken over.",
)
endpoint = click.option("--endpoint", help="s3: URL of the store.  [default: AWS_ENDPOINT_URL]")
region = click.option("--region", help="s3: Region of the bucket.  [default: AWS_REGION]")
retries = click.option(
    "--retries", type=click.IntRange(0, 20), default=6, show_default=True, help="s3: Tries after a failed request."
)
without_lock = click.option(
    "--without-lock", is_flag=True, help="s3: Publish to a store that ignores conditions of writes."
)
