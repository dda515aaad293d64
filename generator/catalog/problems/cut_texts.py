"""Texts of a catalog that lose a part: `title: Night #2` is read as Night, and `title: &Co Inc` as Inc.

YAML is right to read them so, and `check` cannot refuse what may be meant; whoever published it should know.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..records import Record
from ..yaml.positions import LINE_BREAK, Positions, YamlPath, read_positions
from ..yaml.scalars import scalar
from .messages import field_name, record_errors, record_inside

# So many of a file are told one by one.
MOST = 3
_LONGEST = 40
_COMMENT = re.compile(r"[ \t]*(?<=[ \t])#(?=[^ \t])")
_ALIAS = re.compile(r"\*([^\s,\[\]{}]+)")
# So much of a text is checked: many may stand in one long line.
_CHECKED = 1000
_ANCHOR = re.compile(r"&([^\s,\[\]{}]+) +(?=[^\s\"'|>\[{#])")
# What begins with one of these is in quotes, in a block of its own, or no text.
_NOT_PLAIN = tuple("\"'|>[{&*!")


class CutText(NamedTuple):
    """Where a comment ends a text, the field, and the sentence about it."""

    line: int
    column: int
    field: str
    message: str


def cut_texts(text: bytes, model: type[Record]) -> list[CutText]:
    """The first of them, and how many more there are; in a file of one record of `model`, or of a list of them."""
    found = sorted(_found(text, model))
    if len(found) > MOST:
        left = len(found) - MOST
        texts = "1 more text of this file loses" if left == 1 else f"{left} more texts of this file lose"
        found[MOST:] = [CutText(*found[MOST][:2], "", f"{texts} a part in the same way; see the first {MOST}")]
    return found


def _found(text: bytes, model: type[Record]) -> Iterator[CutText]:
    positions, lines = read_positions(text), LINE_BREAK.split(text.decode("utf-8-sig"))
    yield from _anchors(positions, lines, model)
    inner = {path[:-1] for path in positions.starts if path}
    for path, (line, column) in positions.ends.items():
        comment = _COMMENT.match(lines[line - 1], column - 1) if path not in inner and line <= len(lines) else None
        if comment:
            first, start = positions.starts[path]
            whole = lines[line - 1][start - 1 :] if first == line else lines[line - 1].lstrip()
            read = whole[: len(whole) - len(lines[line - 1]) + column - 1].rstrip()
            is_text = not lines[first - 1].startswith(_NOT_PLAIN, start - 1) and isinstance(scalar(read), str)
            if is_text and _takes(model, path, whole.rstrip().expandtabs(1)):
                shown = read if len(read) <= _LONGEST else f"…{read[-_LONGEST:]}"
                advice = "put the text in quotes, or a blank after the # of a comment"
                message = f'ends with "{shown}", since " #" begins a comment; {advice}'
                yield CutText(line, comment.end(), field_name(path), message)


def _anchors(positions: Positions, lines: list[str], model: type[Record]) -> Iterator[CutText]:
    """An anchor before a text is of use to an alias only."""
    aliases = {alias for line in lines for alias in _ALIAS.findall(line)}
    for path, (line, column) in positions.starts.items():
        anchor = _ANCHOR.match(lines[line - 1], column - 1) if line <= len(lines) else None
        if (
            anchor
            and anchor[1] not in aliases
            and _takes(model, path, lines[line - 1][column - 1 : column - 1 + _CHECKED].rstrip())
        ):
            message = f"&{anchor[1]} is read as an anchor, and no alias names it; put the text in quotes"
            yield CutText(line, column, field_name(path), message)


def _takes(model: type[Record], path: YamlPath, text: str) -> bool:
    """Whether the field could hold the whole text; a status or a number could not."""
    *outer, name = (step for step in path if isinstance(step, str))
    for field in outer:
        model = record_inside(model.model_fields[field].annotation) or model
    value: Any = [text] if isinstance(path[-1], int) else text
    return name not in {field for field, _ in record_errors(model, {name: value})}
