"""Changes to YAML that people wrote: as few characters as it takes, and never a comment or a line break of theirs.

Pure functions from text to text. Each reads its result again: it says what was meant, or nothing is done.
"""

import codecs
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from ...errors import FlatpanelError
from . import reader, writer
from .positions import YamlPath, read_positions
from .typing_errors import Position

_LINE_BREAK = re.compile(r"\r\n?|\n")
_NO_CONTENT = re.compile(r"\s*(?:#.*)?", re.DOTALL)
_EMPTY_LIST = re.compile(r"\[\s*\]")
_COMMENT = re.compile(r"\s#")
# From where a mapping begins to the brace that it may have: an anchor, white space and comments stand before it.
_BRACE = re.compile(r"(?:&\S++)?(?:\s|#[^\r\n]*+)*+\{")


class _Text:
    """Text, and what it says and where."""

    def __init__(self, text: bytes) -> None:
        # Places do not count a byte order mark.
        self.mark = codecs.BOM_UTF8 if text.startswith(codecs.BOM_UTF8) else b""
        self.whole = text.decode("utf-8-sig")
        self.lines = self.whole.splitlines(keepends=True)
        self.starts = [0, *accumulate(map(len, self.lines))]
        self.value = reader.load(text)
        self.positions = read_positions(text)

    def offset(self, place: Position) -> int:
        line, column = place
        return self.starts[line - 1] + column - 1

    def line_break(self, offset: int = 0) -> str:
        """The one that the file has at this place."""
        found = _LINE_BREAK.search(self.whole, offset)
        return found[0] if found else "\n"

    def broken(self, lines: Iterable[str]) -> str:
        """Lines as they are broken in this file."""
        return "".join(f"{line}{self.line_break()}" for line in lines)

    def is_inline(self, path: YamlPath) -> bool:
        """Whether a mapping, or one around it, is written in braces or brackets."""
        return any(
            _BRACE.match(self.whole, self.offset(self.positions.position(path[:depth])))
            or self.whole.startswith("[", self.offset(self.positions.position(path[:depth])))
            for depth in range(len(path) + 1)
        )

    def content_end(self, path: YamlPath) -> int:
        """How many lines there are up to the last one of a block, without the comments behind it."""
        line, column = self.positions.ends[path]
        end = line if column > 1 and self.offset((line, column)) == len(self.whole) else line - 1
        while _NO_CONTENT.fullmatch(self.lines[end - 1]):
            end -= 1
        return end

    def proven(self, whole: str, wanted: Any) -> bytes:
        """The text, if it says what it should: an edit that would change anything else is not made."""
        result = self.mark + whole.encode()
        try:
            if (reader.load(result) or None) == (wanted or None):
                return result
        except reader.Malformed:
            pass
        raise _cannot_be_edited()


def _cannot_be_edited() -> FlatpanelError:
    return FlatpanelError("is written in a way that cannot be edited here; write it with one field a line")


def with_first_field(text: bytes, name: str, values: Mapping[YamlPath, int]) -> bytes:
    """`text` with the field `name` put first into the mapping at each path."""
    old = _Text(text)
    first: dict[YamlPath, Position] = {}
    for path, place in old.positions.keys.items():
        first.setdefault(path[:-1], place)
    pieces, done = [], 0
    # A mapping without a field of its own is an alias, and stands for another.
    for path in sorted(values.keys() & first.keys(), key=first.__getitem__):
        offset = old.offset(first[path])
        if _BRACE.match(old.whole, old.offset(old.positions.position(path))):
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
    item = ", ".join(f"{name}: {writer.scalar(value, flow=True)}" for name, value in fields.items())
    gap = old.line_break() if old.lines and not _LINE_BREAK.search(old.lines[-1]) else ""
    indent = " " * (old.positions.position(())[1] - 1)
    return old.proven(f"{old.whole}{gap}{indent}- {{{item}}}{old.line_break()}", [*(old.value or ()), dict(fields)])


def with_entries(text: bytes, name: str | None, entries: Sequence[Any]) -> bytes:
    """More items in the block list `name`, or in one that is a whole file, below all others; it is begun if need be."""
    old = _Text(text)
    new = list(entries)
    items = (old.value if name is None else old.value.get(name, [])) or []
    if items:
        whole = _lengthened(old, () if name is None else (name,), len(items), new)
    elif name is None:
        whole = _filled(old, new)
    elif name in old.value:
        whole = _begun(old, name, writer.lines(new))
    else:
        indent = old.positions.position(())[1] - 1
        whole = _inserted(old, len(old.lines), _indented(writer.field(name, new), indent))
    longer = [*items, *new]
    return old.proven(whole, longer if name is None else {**old.value, name: longer})


def _lengthened(old: _Text, path: YamlPath, count: int, new: list[Any]) -> str:
    """The text with items below the others, and as far from them as they are from each other."""
    dash = _dash(old, count - 1, path)
    line = old.lines[dash]
    pieces = [writer.lines([one]) for one in new]
    # One item is from no other; as in the lists that we write, those of several lines stand apart.
    apart = _stands_apart(old, dash) if count > 1 else any(len(piece) > 1 for piece in pieces)
    lines = [one for piece in pieces for one in [*[""] * apart, *piece]]
    return _inserted(old, _end(old, path), _indented(lines, len(line) - len(line.lstrip(" "))))


def _filled(old: _Text, new: list[Any]) -> str:
    """The text with items in the place of []; all that there is besides are comments."""
    start, end = (old.offset(place[()]) if () in place else 0 for place in (old.positions.starts, old.positions.ends))
    around = (old.whole[:start] + old.whole[end:].lstrip(" ")).lstrip("\r\n")
    return around + old.broken(writer.lines(new))


def _begun(old: _Text, name: str, item: list[str]) -> str:
    """The text with a list in the place of an empty one, `[]`."""
    line, column = old.positions.keys[(name,)]
    value = old.offset(old.positions.position((name,)))
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


def _end(text: _Text, path: YamlPath) -> int:
    """The line below the value of a field, or below all: comments at the left edge belong to what follows it."""
    start = text.positions.position(path, of_key=True)
    later = [place for one, place in text.positions.keys.items() if len(one) == len(path) == 1 and place > start]
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


def _dash(text: _Text, index: int, path: YamlPath = ()) -> int:
    """The line, counted from 0, of the dash of an item; what it introduces may begin further down."""
    line, column = text.positions.position((*path, index))
    if text.lines[line - 1][: column - 1].strip():
        return line - 1
    line -= 2
    while _NO_CONTENT.fullmatch(text.lines[line]):
        line -= 1
    return line


def _at(value: Any, path: YamlPath) -> Any:
    for step in path:
        value = value[step]
    return value


def with_field(text: bytes, path: YamlPath, name: str, value: Any) -> bytes:
    """`text` with another value of one field in the mapping at `path`, or with that field as well."""
    old = _Text(text)
    is_there = (*path, name) in old.positions.keys
    whole = _replaced(old, (*path, name), value) if is_there else _added(old, path, name, value)
    if path or old.value:
        _at(old.value, path)[name] = value
    return old.proven(whole, old.value or {name: value})


def _replaced(old: _Text, path: YamlPath, value: Any) -> str:
    """Another value in the place of one; what stands behind it stays there."""
    line, column = old.positions.keys[path]
    start, end, gap = old.offset((line, column)), old.offset(old.positions.ends[path]), ""
    if old.positions.ends[path][0] > line and old.positions.ends[path][1] <= column:
        # A block ends where the next thing begins, but what is between them is not part of it.
        end, gap = old.starts[old.content_end(path)], old.line_break(start)
    if isinstance(_at(old.value, path), dict | list) and _COMMENT.search(old.whole, start, end):
        raise FlatpanelError("holds comments that would be lost; write it anew")
    if old.is_inline(path[:-1]):
        return old.whole[: old.offset(old.positions.position(path))] + writer.inline(value) + old.whole[end:]
    indent = " " * (column - 1)
    shown = f"{old.line_break(start)}{indent}".join(writer.field(str(path[-1]), value))
    return old.whole[:start] + shown + gap + old.whole[end:]


def _added(old: _Text, path: YamlPath, name: str, value: Any) -> str:
    """Behind the last field that is one line, or at the end of the file where the field itself has many."""
    lines = writer.field(name, value)
    keys = [one for one in old.positions.keys if one[:-1] == path]
    if old.is_inline(path):
        end = old.offset(old.positions.ends[keys[-1]])
        return f"{old.whole[:end]}, {name}: {writer.inline(value)}{old.whole[end:]}"
    short = [one for one in keys if old.positions.ends[one][0] == old.positions.keys[one][0]]
    if not short or len(lines) > 1:
        line = old.content_end(path) if keys else len(old.lines)
    else:
        line = old.positions.ends[short[-1]][0]
    indent = " " * (old.positions.keys[keys[0]][1] - 1) if keys else ""
    before = "".join(old.lines[:line])
    before += "" if not before or before.endswith(("\n", "\r")) else old.line_break()
    return before + old.broken([f"{indent}{one}" if one else "" for one in lines]) + "".join(old.lines[line:])
