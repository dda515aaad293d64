"""Printing: every text is escaped, then coloured.

File names, catalog values and the output of servers, git and nginx may contain terminal control characters.
"""

import io
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import click

from .. import encoding
from ..errors import escaped

T = TypeVar("T")

_STDOUT = "standard output"

# Control characters that JSON does not escape: DEL, C1, bidirectional marks, line and paragraph separators.
_CONTROL = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def escape_unencodable() -> None:
    """Escape characters that stdout's encoding cannot represent, as Python does on stderr. stdout may be closed."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


@contextmanager
def name_failed_stream(*, err: bool = False) -> Iterator[None]:
    """Name the stream in an error of printing, such as that of a full disk."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = "standard error" if err else _STDOUT
        raise


def discard_unwritten() -> None:
    """Discard output that could not be written, because Python would try again at the end and print the error."""
    for name in ("stdout", "stderr"):
        try:
            if stream := getattr(sys, name):
                stream.flush()
        except OSError:
            setattr(sys, name, None)


def _echo(text: str | bytes, *, nl: bool = False, err: bool = False) -> None:
    with name_failed_stream(err=err):
        click.echo(text, nl=nl, err=err, color=color())


def is_stdout_closed() -> bool:
    """Whether stdout was closed before the program started; Python has no object for it then."""
    return sys.stdout is None


def is_stdout_lost(error: Exception) -> bool:
    """Whether stdout is closed, or the error is that nothing can be written to it."""
    return is_stdout_closed() or getattr(error, "filename", None) == _STDOUT


def failure(error: OSError) -> str:
    """An error of the system as a sentence. Some system calls name no file."""
    if error.filename is not None:
        path = os.fsdecode(error.filename)
        name = os.path.basename(path)
        if isinstance(error, FileExistsError) and name.startswith(".") and name.endswith(".new"):
            # The functions that replace a file or link have just removed the one of this name.
            return f"{path}: another process made this file at the same moment; try again"
        if isinstance(error, FileExistsError) and not os.path.isdir(path):
            return f"{path}: is not a folder"  # and one of this name is needed
        return f"{path}: {error.strerror}"
    # Every call that looks for a file by its name names it, except the one for the working folder.
    if isinstance(error, FileNotFoundError):
        return "working folder: has been removed; change to another folder"
    return error.strerror or str(error)


class _OutputState:
    """The prefix of each line, and whether the last line is unfinished."""

    timestamp: Callable[[], str] | None = None
    is_unfinished = False


@contextmanager
def with_timestamps(timestamp: Callable[[], str]) -> Iterator[None]:
    """Begin each line with the current time."""
    _OutputState.timestamp = timestamp
    try:
        yield
    finally:
        _OutputState.timestamp = None


class Line(NamedTuple):
    """A line of text, its stream, and its style on a terminal."""

    text: str
    err: bool = False
    style: Mapping[str, Any] = MappingProxyType({})


def note(text: str) -> Line:
    """A line on standard error, where no program looks for the result."""
    return Line(text, err=True)


def bold(text: str) -> Line:
    return Line(text, style={"bold": True})


# The chosen format in the context of click, which a command shares with its group.
_FORMAT = f"{__name__}.format"


def choose_format(context: click.Context, parameter: click.Parameter, value: str | bool | None) -> None:
    """Record the format that `--json` or `--format` chooses. The default of an option chooses nothing."""
    if value in (None, False, parameter.default):
        return
    chosen, before = "json" if value is True else str(value), context.meta.get(_FORMAT)
    if before and chosen != before:
        other = before if chosen == "json" else chosen
        raise click.UsageError(f"--json means --format json, so it cannot be combined with --format {other}")
    context.meta[_FORMAT] = chosen


def output_format() -> str:
    """The format of the results and errors of the current command: text, json, github or markdown."""
    context = click.get_current_context(silent=True)
    return str(context.meta.get(_FORMAT, "text")) if context else "text"


def print_lines(*lines: str, err: bool = False, nl: bool = True, **style: Any) -> None:
    """Print each text as one line. `style` applies if the output is a terminal."""
    prefix = _OutputState.timestamp() if _OutputState.timestamp and not _OutputState.is_unfinished else ""
    texts = [prefix + escaped(line) for line in lines]
    if lines:
        _OutputState.is_unfinished = not nl
        _echo("\n".join(click.style(line, **style) if style else line for line in texts), nl=nl, err=err)


def print_data(lines: Iterable[str]) -> None:
    """Print lines for another program, as UTF-8: escaped only if stdout is a terminal."""
    if is_stdout_closed() or sys.stdout.isatty():
        print_lines(*lines)
        return
    for line in lines:
        _echo(f"{line}\n".encode())


def print_json(value: object) -> None:
    """Print a value as JSON, with terminal control characters as JSON escapes."""
    try:
        text = encoding.pretty(value)
    except TypeError:
        text = encoding.pretty(_encodable(value))
    _echo(_CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text.decode()))


def _encodable(value: Any) -> Any:
    """The value with escapes for unpaired surrogates, which file names may contain and UTF-8 cannot represent."""
    match value:
        case str():
            return value.encode(errors="backslashreplace").decode()
        case dict():
            return {_encodable(name): _encodable(item) for name, item in value.items()}
        case list() | tuple():
            return [_encodable(item) for item in value]
    return value


def progress_bar(
    iterable: Iterable[T] | None = None, *, label: str, length: int, show_pos: bool = False
) -> AbstractContextManager[Any]:
    """A progress bar on stderr with the remaining time. `label` is not escaped: pass literals only."""
    # Drawing the bar takes longer than many of the steps.
    steps = max(1, length // 200)
    return click.progressbar(
        iterable, length=length, label=label, show_pos=show_pos, file=sys.stderr, update_min_steps=steps
    )


def shows_progress() -> bool:
    """Whether people read stderr, and no program the result."""
    return is_terminal() and output_format() != "json"


@contextmanager
def counter(label: str, count: int, *, quiet: bool = False) -> Iterator[Callable[[int], None]]:
    """Show a progress bar; yields the function that advances it."""
    if quiet or not shows_progress():
        yield lambda done: None
        return
    with progress_bar(length=count, label=label, show_pos=True) as bar:
        yield bar.update


def tracker(label: str) -> Callable[[Collection[T]], Iterator[T]]:
    """A function that yields the items of a collection and counts them in a progress bar."""

    def tracked(items: Collection[T]) -> Iterator[T]:
        with counter(label, len(items)) as advance:
            for item in items:
                yield item
                advance(1)

    return tracked


def waiting_notice(out: os.PathLike[str]) -> Callable[[], None]:
    """A function that prints that another build holds the lock of `out`."""
    return partial(print_lines, f"{out}: another build or publish is running; waiting for it", err=True)


def prompt_secret(label: str) -> str:
    """Read a line from the terminal without showing it."""
    return str(click.prompt(label, hide_input=True, err=True))


@contextmanager
def escape_usage_errors() -> Iterator[None]:
    """Escape click's messages about arguments, because they quote the arguments."""
    try:
        yield
    except click.UsageError as error:
        # A group without a command prints its help, which contains no user input.
        if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):
            raise
        raise _EscapedUsageError(error) from None


class _EscapedUsageError(click.ClickException):
    exit_code = click.UsageError.exit_code

    def __init__(self, error: click.UsageError) -> None:
        super().__init__(error.format_message())
        self.context = error.ctx

    def show(self, file: Any = None) -> None:
        if self.context:
            usage = self.context.get_usage().split("\n")
            print_lines(*usage, f"Try '{self.context.command_path} --help' for help.", "", err=True)
        print_lines(f"Error: {self.message}", err=True)


def is_terminal() -> bool:
    """Whether stderr is a terminal. It may be closed."""
    return bool(sys.stderr and sys.stderr.isatty())


def color() -> bool | None:
    """None: click decides whether the output is a terminal."""
    return False if os.environ.get("NO_COLOR") else None
