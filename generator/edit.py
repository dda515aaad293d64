"""Changes to YAML that people wrote: as few characters as it takes, and never a comment or a line break of theirs.

Pure functions from text to text. Each reads its result again: it says what was meant, or nothing is done.
"""

import codecs
import re
from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from . import phrasing, scalars, yaml12
from .errors import FlatpanelError
from .yaml12 import Path, Place

_LINE_BREAK = re.compile(r"\r\n?|\n")
_NO_CONTENT = re.compile(r"\s*(?:#.*)?", re.DOTALL)
_EMPTY_LIST = re.compile(r"\[\s*\]")
# From where a mapping begins to the brace that it may have: an anchor, white space and comments stand before it.
_BRACE = re.compile(r"(?:&\S++)?(?:\s|#[^\r\n]*+)*+\{")
_PLAIN = re.compile(r"\w[-\w]*(?: [-\w]+)*", re.ASCII)


class _Text:
    """Text, and what it says and where."""

    def __init__(self, text: bytes) -> None:
        # Places do not count a byte order mark.
        self.mark = codecs.BOM_UTF8 if text.startswith(codecs.BOM_UTF8) else b""
        self.whole = text.decode("utf-8-sig")
        self.lines = self.whole.splitlines(keepends=True)
        self.starts = [0, *accumulate(map(len, self.lines))]
        self.value = yaml12.load(text)
        self.survey = yaml12.survey(text)

    def offset(self, place: Place) -> int:
        line, column = place
        return self.starts[line - 1] + column - 1

    def line_break(self, offset: int = 0) -> str:
        """The one that the file has at this place."""
        found = _LINE_BREAK.search(self.whole, offset)
        return found[0] if found else "\n"

    def proven(self, whole: str, wanted: Any) -> bytes:
        """The text, if it says what it should: an edit that would change anything else is not made."""
        result = self.mark + whole.encode()
        try:
            if (yaml12.load(result) or None) == (wanted or None):
                return result
        except yaml12.Malformed:
            pass
        raise _cannot_be_edited()


def _cannot_be_edited() -> FlatpanelError:
    return FlatpanelError("is written in a way that cannot be edited here; write it with one field a line")


def with_first_field(text: bytes, name: str, values: Mapping[Path, int]) -> bytes:
    """`text` with the field `name` put first into the mapping at each path."""
    old = _Text(text)
    first: dict[Path, Place] = {}
    for path, place in old.survey.keys.items():
        first.setdefault(path[:-1], place)
    pieces, done = [], 0
    # A mapping without a field of its own is an alias, and stands for another.
    for path in sorted(values.keys() & first.keys(), key=first.__getitem__):
        offset = old.offset(first[path])
        if _BRACE.match(old.whole, old.offset(old.survey.place(path))):
            after = ", "
        else:
            after = old.line_break(offset) + " " * (first[path][1] - 1)
        pieces += [old.whole[done:offset], f"{name}: {values[path]}{after}"]
        done = offset
    for path, value in values.items():
        _at(old.value, path)[name] = value
    return old.proven("".join([*pieces, old.whole[done:]]), old.value)


def with_item(text: bytes, fields: Mapping[str, str]) -> bytes:
    """A block list with one more item, on a line of its own at the end."""
    old = _Text(text)
    item = ", ".join(f"{name}: {_scalar(value)}" for name, value in fields.items())
    gap = old.line_break() if old.lines and not _LINE_BREAK.search(old.lines[-1]) else ""
    indent = " " * (old.survey.place(())[1] - 1)
    return old.proven(f"{old.whole}{gap}{indent}- {{{item}}}{old.line_break()}", [*(old.value or ()), dict(fields)])


def with_entry(text: bytes, name: str, fields: Mapping[str, Any]) -> bytes:
    """A mapping with one more item in the block list `name`, below all others; the list is begun if there is none."""
    old = _Text(text)
    item = phrasing.lines([fields])
    items = old.value.get(name, [])
    if items:
        whole = _lengthened(old, name, len(items), item)
    elif name in old.value:
        whole = _begun(old, name, item)
    else:
        indent = old.survey.place(())[1] - 1
        whole = _inserted(old, len(old.lines), _indented([f"{name}:"], indent) + _indented(item, indent + 2))
    return old.proven(whole, {**old.value, name: [*items, phrasing.spelled(fields)]})


def _lengthened(old: _Text, name: str, count: int, item: list[str]) -> str:
    """The text with an item below the others, and as far from them as they are from each other."""
    dash = _dash(old, count - 1, (name,))
    line = old.lines[dash]
    gap = [""] if count == 1 or _stands_apart(old, dash) else []
    return _inserted(old, _end(old, name), _indented([*gap, *item], len(line) - len(line.lstrip(" "))))


def _begun(old: _Text, name: str, item: list[str]) -> str:
    """The text with a list in the place of an empty one, `[]`."""
    line, column = old.survey.keys[(name,)]
    value = old.offset(old.survey.place((name,)))
    found = _EMPTY_LIST.match(old.whole, value)
    if not found:
        raise _cannot_be_edited()
    without = old.whole[:value].rstrip(" \t") + old.whole[found.end() :]
    return _inserted(_Text(old.mark + without.encode()), line, _indented(item, column + 1))


def _inserted(old: _Text, at: int, piece: str) -> str:
    """The text with a piece before the line `at`, counted from 0, on lines of its own."""
    line_break = old.line_break()
    gap = line_break if at and not _LINE_BREAK.search(old.lines[at - 1]) else ""
    return "".join([*old.lines[:at], gap, piece.replace("\n", line_break), *old.lines[at:]])


def _indented(lines: list[str], indent: int) -> str:
    return "".join(f"{' ' * indent}{line}\n" if line else "\n" for line in lines)


def _stands_apart(text: _Text, dash: int) -> bool:
    """Whether there is an empty line between an item and the one above it."""
    above = dash - 1
    while text.lines[above].lstrip().startswith("#"):
        above -= 1
    return not text.lines[above].strip()


def _end(text: _Text, name: str) -> int:
    """The line below the value of a field: comments at the left edge belong to what follows, others to the value."""
    start = text.survey.keys[(name,)]
    later = [place for path, place in text.survey.keys.items() if len(path) == 1 and place > start]
    end = min(later)[0] - 1 if later else len(text.lines)
    while not text.lines[end - 1].strip() or text.lines[end - 1].startswith("#"):
        end -= 1
    return end


def without_item(text: bytes, index: int) -> bytes:
    """A block list without the lines of one item; the comments around it stay."""
    old = _Text(text)
    start = _dash(old, index)
    end = _dash(old, index + 1) if index + 1 < len(old.value) else len(old.lines)
    while _NO_CONTENT.fullmatch(old.lines[end - 1]):
        end -= 1
    del old.value[index]
    return old.proven("".join(old.lines[:start] + old.lines[end:]), old.value)


def _dash(text: _Text, index: int, path: Path = ()) -> int:
    """The line, counted from 0, of the dash of an item; what it introduces may begin further down."""
    line, column = text.survey.place((*path, index))
    if text.lines[line - 1][: column - 1].strip():
        return line - 1
    line -= 2
    while _NO_CONTENT.fullmatch(text.lines[line]):
        line -= 1
    return line


def _scalar(value: str) -> str:
    """A text as YAML that is read as this text: plain if it can be."""
    if _PLAIN.fullmatch(value) and scalars.scalar(value) == value:
        return value
    return '"' + "".join(map(_escaped, value)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08x}"


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value
