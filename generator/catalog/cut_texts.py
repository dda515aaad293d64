"""Warnings about texts that YAML cuts: `title: Night #2` is read as Night, and `title: &Co Inc` as Inc.

YAML is right to read them so, and the author may mean it. So they are warnings, not problems.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..errors import counted
from .messages import field_name, record_errors, record_inside
from .records import Record
from .yaml.positions import LINE_BREAK, Positions, YamlPath, read_positions
from .yaml.reader import is_text

# Further warnings of a file are counted.
MAX_WARNINGS = 3
_MAX_QUOTED = 40
# Only so many characters are checked: one long line can contain many texts.
_MAX_CHECKED = 1000
_COMMENT = re.compile(r"[ \t]*(?<=[ \t])#(?=[^ \t])")
_ALIAS = re.compile(r"\*([^\s,\[\]{}]+)")
_ANCHOR = re.compile(r"&([^\s,\[\]{}]+) +(?=[^\s\"'|>\[{#])")
# The first character of a value that is quoted, a block, or no text.
_NOT_PLAIN = tuple("\"'|>[{&*!")


class CutText(NamedTuple):
    """The position of a comment or an anchor in a text, the field, and the message."""

    line: int
    column: int
    field: str
    message: str


def cut_texts(text: bytes, model: type[Record]) -> list[CutText]:
    """Return the first warnings, and the number of further ones, of a file with one record or a list of records."""
    warnings = sorted(_cut_texts(text, model))
    rest = len(warnings) - MAX_WARNINGS
    return warnings if rest <= 0 else [*warnings[:MAX_WARNINGS], further(rest, warnings[MAX_WARNINGS], "text", "cut")]


def further(count: int, first: CutText, noun: str, fault: str) -> CutText:
    """The warning that stands for all further ones of a file, at the place of the first of these."""
    verb = "is" if count == 1 else "are"
    message = f"{counted(count, f'more {noun}')} of this file {verb} {fault} in the same way"
    return CutText(first.line, first.column, "", message)


def _cut_texts(text: bytes, model: type[Record]) -> Iterator[CutText]:
    positions, lines = read_positions(text), LINE_BREAK.split(text.decode("utf-8-sig"))
    yield from _unused_anchors(positions, lines, model)
    collections = {path[:-1] for path in positions.starts if path}
    for path, (line, column) in positions.ends.items():
        has_line = path not in collections and line <= len(lines)
        comment = _COMMENT.match(lines[line - 1], column - 1) if has_line else None
        if comment:
            first, start = positions.starts[path]
            whole = lines[line - 1][start - 1 :] if first == line else lines[line - 1].lstrip()
            value = whole[: len(whole) - len(lines[line - 1]) + column - 1].rstrip()
            is_plain_text = not lines[first - 1].startswith(_NOT_PLAIN, start - 1) and is_text(value)
            if is_plain_text and _is_valid(model, path, whole.rstrip().expandtabs(1)):
                quoted = value if len(value) <= _MAX_QUOTED else f"…{value[-_MAX_QUOTED:]}"
                message = f'is cut to "{quoted}" by a comment; put the text in quotes, or a space after #'
                yield CutText(line, comment.end(), field_name(path), message)


def _unused_anchors(positions: Positions, lines: list[str], model: type[Record]) -> Iterator[CutText]:
    aliases = {alias for line in lines for alias in _ALIAS.findall(line)}
    for path, (line, column) in positions.starts.items():
        anchor = _ANCHOR.match(lines[line - 1], column - 1) if line <= len(lines) else None
        if anchor and anchor[1] not in aliases:
            value = lines[line - 1][column - 1 : column - 1 + _MAX_CHECKED].rstrip()
            if _is_valid(model, path, value):
                message = f"&{anchor[1]} is read as an anchor, but no alias uses it; put the text in quotes"
                yield CutText(line, column, field_name(path), message)


def _is_valid(model: type[Record], path: YamlPath, text: str) -> bool:
    """Return whether the whole text is a valid value of the field; it is not for a status or a number."""
    *outer, name = (step for step in path if isinstance(step, str))
    for field in outer:
        model = record_inside(model.model_fields[field].annotation) or model
    value: Any = [text] if isinstance(path[-1], int) else text
    return name not in {field for field, _ in record_errors(model, {name: value})}
