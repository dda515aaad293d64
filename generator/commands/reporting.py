"""How a command ends that cannot do what was asked."""

import functools
import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

from .. import encode
from ..errors import CatalogError, FlatpanelError

CATALOG_WRONG = 1

F = TypeVar("F", bound=Callable[..., Any])


def reporting(command: F) -> F:
    """What a catalog or a disk lacks is printed and ends in exit code 1; what is wrong with us is a traceback."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except BrokenPipeError:
            raise  # whoever read what we print has enough of it; click ends quietly
        except (FlatpanelError, OSError) as error:
            complain(error, as_json=kwargs.get("as_json", False) or kwargs.get("form") == "json")
            raise SystemExit(CATALOG_WRONG) from None

    return run  # type: ignore[return-value]


def complain(error: FlatpanelError | OSError, *, as_json: bool = False) -> None:
    if as_json:
        problems = [
            {"file": one.file, "line": one.line, "column": one.column, "field": one.field, "message": one.message}
            for one in getattr(error, "problems", ())
        ]
        click.echo(encode.pretty({"ok": False, "message": _sentence(error), "problems": problems}), nl=False)
        return
    click.secho(_sentence(error), err=True, fg="red", color=color())
    if isinstance(error, CatalogError):
        count = len(error.problems)
        click.secho(f"{count} problem{'s' * (count > 1)}; nothing was written", err=True, bold=True, color=color())


def _sentence(error: FlatpanelError | OSError) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    # Some calls are about no file.
    return getattr(error, "strerror", None) or str(error)


def color() -> bool | None:
    """None lets click ask whether a terminal listens."""
    return False if os.environ.get("NO_COLOR") else None
