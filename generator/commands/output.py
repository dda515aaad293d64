"""Everything that a command prints goes through here: escaped first, then coloured.

File names, values of a catalog, what servers, git and nginx say: any of it may hold characters that a terminal obeys.
"""

import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

import click

from .. import encoding
from ..escaping import escaped

T = TypeVar("T")

# JSON leaves these as they are: DEL, C1, marks of direction, separators of lines and paragraphs.
_OBEYED = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def escape_unencodable() -> None:
    """Escape characters that stdout's encoding does not have, as Python does on stderr. stdout may be closed."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


class _OutputState:
    """What stands at the beginning of each line, and whether the last one goes on."""

    stamp: Callable[[], str] | None = None
    goes_on = False


@contextmanager
def with_timestamps(stamp: Callable[[], str]) -> Iterator[None]:
    """Begin each line with a text of its moment."""
    _OutputState.stamp = stamp
    try:
        yield
    finally:
        _OutputState.stamp = None


def print_lines(*lines: str, err: bool = False, nl: bool = True, **style: Any) -> None:
    """Print each of `lines` as one line, in the colours of `style` where a terminal shows them."""
    begin = _OutputState.stamp() if _OutputState.stamp and not _OutputState.goes_on else ""
    shown = [begin + escaped(line) for line in lines]
    if lines:
        _OutputState.goes_on = not nl
        text = "\n".join(click.style(line, **style) if style else line for line in shown)
        click.echo(text, nl=nl, err=err, color=color())


def print_json(value: object) -> None:
    """Print a value as JSON in which nothing stands that a terminal obeys; programs read the same value."""
    try:
        text = encoding.pretty(value)
    except TypeError:
        text = encoding.pretty(_encodable(value))
    click.echo(_OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text.decode()), nl=False)


def _encodable(value: Any) -> Any:
    """The value with an escape for each half of a character: a file's name may hold them, UTF-8 has none."""
    match value:
        case str():
            return value.encode(errors="backslashreplace").decode()
        case dict():
            return {_encodable(name): _encodable(one) for name, one in value.items()}
        case list() | tuple():
            return [_encodable(one) for one in value]
    return value


def progress_bar(
    iterable: Iterable[T] | None = None, *, label: str, length: int, show_pos: bool = False
) -> AbstractContextManager[Any]:
    """A progress bar on stderr with the remaining time; the label is the program's own text."""
    return click.progressbar(iterable, length=length, label=label, show_pos=show_pos, file=sys.stderr)


def prompt_secret(label: str) -> str:
    """What is typed, which the terminal does not show."""
    return str(click.prompt(label, hide_input=True, err=True))


@contextmanager
def escape_usage_errors() -> Iterator[None]:
    """Print click's complaints about arguments, which repeat them, as everything else."""
    try:
        yield
    except click.UsageError as error:
        # `keys` alone prints its help, which is the program's own text.
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
    """Whether somebody sees how far we are; there may be nothing to print to at all."""
    return bool(sys.stderr and sys.stderr.isatty())


def color() -> bool | None:
    """None lets click ask whether a terminal listens."""
    return False if os.environ.get("NO_COLOR") else None
