"""`explain`: describe the fields of the catalog."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import click

from .. import encoding
from ..catalog import field_help
from ..catalog.field_help import FieldHelp
from ..catalog.yaml import writer
from ..errors import FlatpanelError
from . import options
from .command import Command, Result, with_program_name
from .output import Line, bold


@click.command(cls=Command, examples=["explain", "explain cover", "explain chapters.pages", "explain site.yaml"])
@click.argument("field", required=False)
@options.as_json
def explain(field: str | None) -> Result:
    """Explain a field of the catalog.

    FIELD is a field such as cover or chapters.pages, or a file such as series or site.yaml. Without FIELD, every field
    is listed.
    """
    fields = field_help.matching(field) if field else field_help.fields()
    if not fields:
        similar = field_help.suggestion(str(field))
        hint = (
            f"; did you mean {similar}?"
            if similar
            else with_program_name("; `python build.py explain` lists all fields")
        )
        raise FlatpanelError(f"{field}: no field or file of a catalog has this name{hint}")
    return Result(
        lambda: _lines(fields, in_full=bool(field)),
        lambda: {"ok": True, "fields": [help._asdict() for help in fields]},
    )


def _lines(fields: Sequence[FieldHelp], *, in_full: bool) -> Iterator[str | Line]:
    for file, group in groupby(fields, key=lambda help: help.file):
        yield bold(file)
        for help in group:
            yield from _paragraph(help) if in_full else [_line(help)]


def _line(field: FieldHelp) -> str:
    return f"  {field.path}{' (required)' * field.required}"


def _paragraph(field: FieldHelp) -> list[str]:
    lines = [_line(field), f"    {with_program_name(field.text)}"]
    if field.values:
        lines.append(f"    one of: {', '.join(map(str, field.values))}")
    if field.default not in (None, "", [], False) and not isinstance(field.default, dict):
        lines.append(f"    default: {_written(field.default)}")
    if field.example is not None:
        lines.append(f"    example: {field.path.rpartition('.')[2]}: {_written(field.example)}")
    return lines


def _written(value: object) -> str:
    """A value as YAML takes it on one line; JSON is YAML."""
    return writer.scalar(value) if isinstance(value, str) else encoding.json_text(value)
