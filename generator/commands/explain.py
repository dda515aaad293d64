"""`explain`: describe the fields of the catalog."""

from itertools import groupby

import click

from .. import encoding
from ..catalog import field_help
from ..catalog.field_help import FieldHelp
from ..errors import FlatpanelError
from . import options
from .help import Command
from .output import print_json, print_lines
from .reporting import handle_errors, with_program_name


@click.command(cls=Command, examples=["explain", "explain cover", "explain chapters.pages", "explain site.yaml"])
@click.argument("field", required=False)
@options.as_json
@handle_errors
def explain(field: str | None, as_json: bool) -> None:
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
    if as_json:
        print_json({"ok": True, "fields": [help._asdict() for help in fields]})
        return
    for file, group in groupby(fields, key=lambda help: help.file):
        print_lines(file, bold=True)
        for help in group:
            print_lines(*(_paragraph(help) if field else [_line(help)]))


def _line(field: FieldHelp) -> str:
    return f"  {field.path}{' (required)' * field.required}"


def _paragraph(field: FieldHelp) -> list[str]:
    lines = [_line(field), f"    {field.text}"]
    if field.values:
        lines.append(f"    one of: {', '.join(map(str, field.values))}")
    if field.default not in (None, "", [], False) and not isinstance(field.default, dict):
        lines.append(f"    default: {_written(field.default)}")
    if field.example is not None:
        lines.append(f"    example: {field.path.rpartition('.')[2]}: {_written(field.example)}")
    return lines


def _written(value: object) -> str:
    """A value as YAML takes it on one line; JSON is YAML."""
    return value if isinstance(value, str) else encoding.json(value).decode()
