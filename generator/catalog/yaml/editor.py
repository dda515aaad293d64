"""Small edits of hand-written YAML that keep all comments and line breaks.

Pure functions from text to text. Each parses its result: an edit with another value than intended is refused.
"""

import codecs
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from operator import itemgetter
from typing import Any, NamedTuple

from ...errors import FlatpanelError
from . import reader, writer
from .positions import YamlPath, read_positions
from .typing_errors import Position

_LINE_BREAK = re.compile(r"\r\n?|\n")
_NO_CONTENT = re.compile(r"\s*(?:#.*)?", re.DOTALL)
_EMPTY_LIST = re.compile(r"\[\s*\]")
_COMMENT = re.compile(r"\s#")
# The marker that ends a document, and all comments after it.
_END = re.compile(r"(?<![^\r\n])\.\.\.(?=\s|\Z).*", re.DOTALL)
# The start of a mapping in braces; an anchor, white space and comments can precede the brace.
_BRACE = re.compile(r"(?:&\S++)?(?:\s|#[^\r\n]*+)*+\{")


class _Text:
    """A YAML text with its value and the positions of all parts."""

    def __init__(self, text: bytes) -> None:
        # Positions do not count a byte order mark.
        self.mark = codecs.BOM_UTF8 if text.startswith(codecs.BOM_UTF8) else b""
        decoded = text.decode("utf-8-sig")
        self.whole = _END.sub("", decoded)
        self.end = decoded[len(self.whole) :]
        self.lines = self.whole.splitlines(keepends=True)
        self.starts = [0, *accumulate(map(len, self.lines))]
        self.value = reader.load(text)
        self.positions = read_positions(text)

    def offset(self, position: Position) -> int:
        line, column = position
        return self.starts[line - 1] + column - 1

    def line_break(self, offset: int = 0) -> str:
        """Return the first line break after an offset."""
        match = _LINE_BREAK.search(self.whole, offset)
        return match[0] if match else "\n"

    def joined(self, lines: Iterable[str]) -> str:
        """Join lines with the line break of this text."""
        return "".join(f"{line}{self.line_break()}" for line in lines)

    def is_inline(self, path: YamlPath) -> bool:
        """Return whether a value is inside braces or brackets, or has them itself."""
        return any(
            _BRACE.match(self.whole, self.offset(self.positions.position(path[:depth])))
            or self.whole.startswith("[", self.offset(self.positions.position(path[:depth])))
            for depth in range(len(path) + 1)
        )

    def content_end(self, path: YamlPath) -> int:
        """Return the number of the last line of a block, without the comments after it."""
        line, column = self.positions.ends[path]
        end = line if column > 1 and self.offset((line, column)) == len(self.whole) else line - 1
        while _NO_CONTENT.fullmatch(self.lines[end - 1]):
            end -= 1
        return end

    def checked(self, edited: str, intended: Any) -> bytes:
        """Return the edited text if it has the intended value."""
        result = self.mark + f"{edited}{self.end}".encode()
        try:
            if (reader.load(result) or None) == (intended or None):
                return result
        except reader.Malformed:
            pass
        raise NotEditable()


class NotEditable(FlatpanelError):
    """The values at `paths` are written in a form that an edit would change to another value."""

    def __init__(self, paths: Iterable[YamlPath] = ()) -> None:
        self.paths = tuple(paths)
        super().__init__("cannot be edited in this form; write one field per line, and each item of a list below a `-`")


def with_ids(text: bytes, ids: Mapping[YamlPath, int]) -> bytes:
    """Add `id` as the first field of the mapping at each path."""
    old = _Text(text)
    first: dict[YamlPath, Position] = {}
    for path, position in old.positions.keys.items():
        first.setdefault(path[:-1], position)
    pieces, copied = [], 0
    # A mapping without keys of its own is an alias.
    for path in sorted(ids.keys() & first.keys(), key=first.__getitem__):
        offset = old.offset(first[path])
        if _BRACE.match(old.whole, old.offset(old.positions.position(path))):
            after = ", "
        else:
            after = old.line_break(offset) + " " * (first[path][1] - 1)
        pieces += [old.whole[copied:offset], f"id: {ids[path]}{after}"]
        copied = offset
    for path, number in ids.items():
        _at(old.value, path)["id"] = number
    try:
        return old.checked("".join([*pieces, old.whole[copied:]]), old.value)
    except NotEditable:

        def is_unusual(path: YamlPath) -> bool:
            """Return whether a mapping is an alias, or begins with `? key`."""
            start = old.positions.position(path)
            return path not in first or old.whole[old.offset(start) : old.offset(first[path])].rstrip().endswith("?")

        raise NotEditable(list(filter(is_unusual, ids)) or ids) from None


def with_item(text: bytes, fields: Mapping[str, str]) -> bytes:
    """Append an item in braces, on one line, to the list of a file."""
    old = _Text(text)
    if old.value == []:
        old = _Text(old.mark + _without_empty_list(old).encode())
    item = ", ".join(f"{name}: {writer.scalar(value, flow=True)}" for name, value in fields.items())
    gap = old.line_break() if old.lines and not _LINE_BREAK.search(old.lines[-1]) else ""
    indent = " " * (old.positions.position(())[1] - 1)
    return old.checked(f"{old.whole}{gap}{indent}- {{{item}}}{old.line_break()}", [*(old.value or ()), dict(fields)])


def with_entries(text: bytes, name: str | None, entries: Sequence[Any]) -> bytes:
    """Append items to the block list `name`, or to the list of a file if `name` is None. A missing list is created."""
    old = _Text(text)
    new = list(entries)
    items = (old.value if name is None else old.value.get(name, [])) or []
    if items:
        edited = _with_more_items(old, () if name is None else (name,), len(items), new)
    elif name is None:
        edited = _without_empty_list(old) + old.joined(writer.lines(new))
    elif name in old.value:
        edited = _with_list(old, name, writer.lines(new))
    else:
        indent = old.positions.position(())[1] - 1
        edited = _inserted(old, len(old.lines), _indented(writer.field(name, new), indent))
    longer = [*items, *new]
    return old.checked(edited, longer if name is None else {**old.value, name: longer})


def _with_more_items(old: _Text, path: YamlPath, count: int, new: list[Any]) -> str:
    """Append items below the last one, with empty lines if the list has empty lines between items."""
    dash = _dash(old, count - 1, path)
    line = old.lines[dash]
    pieces = [writer.lines([item]) for item in new]
    # After a single item, as in lists of the writer, items of several lines are separated.
    is_separated = _is_separated(old, dash) if count > 1 else any(len(piece) > 1 for piece in pieces)
    lines = [line for piece in pieces for line in [*[""] * is_separated, *piece]]
    return _inserted(old, _end(old, path), _indented(lines, len(line) - len(line.lstrip(" "))))


def _without_empty_list(old: _Text) -> str:
    """Remove []; the rest of the file is comments."""
    starts, ends = old.positions.starts, old.positions.ends
    start, end = (old.offset(positions[()]) if () in positions else 0 for positions in (starts, ends))
    return (old.whole[:start] + old.whole[end:].lstrip(" ")).lstrip("\r\n")


def _with_list(old: _Text, name: str, item: list[str]) -> str:
    """Replace the empty list `[]` of a field by a block list."""
    line, column = old.positions.keys[(name,)]
    value = old.offset(old.positions.position((name,)))
    match = _EMPTY_LIST.match(old.whole, value)
    if not match:
        raise NotEditable()
    without = old.whole[:value].rstrip(" \t") + old.whole[match.end() :]
    return _inserted(_Text(old.mark + without.encode()), line, _indented(item, column + 1))


def _inserted(old: _Text, index: int, piece: str) -> str:
    """Insert complete lines before the line with this index."""
    line_break = old.line_break()
    gap = line_break if index and not _LINE_BREAK.search(old.lines[index - 1]) else ""
    return "".join([*old.lines[:index], gap, piece.replace("\n", line_break), *old.lines[index:]])


def _indented(lines: list[str], indent: int) -> str:
    return "".join(f"{' ' * indent}{line}\n" if line else "\n" for line in lines)


def _is_separated(text: _Text, dash: int) -> bool:
    """Return whether an empty line is above an item."""
    above = dash - 1
    while text.lines[above].lstrip().startswith("#"):
        above -= 1
    return not text.lines[above].strip()


def _end(text: _Text, path: YamlPath) -> int:
    """Return the index of the line after the value of a field. Comments at the left margin belong to the next field."""
    start = text.positions.position(path, of_key=True)
    keys = text.positions.keys.items()
    later = [position for key, position in keys if len(key) == len(path) == 1 and position > start]
    end = min(later)[0] - 1 if later else len(text.lines)
    while not text.lines[end - 1].strip() or text.lines[end - 1].startswith("#"):
        end -= 1
    return end


def without_item(text: bytes, index: int, path: YamlPath = ()) -> bytes:
    """Remove the lines of an item from the block list at `path`. The comments around it stay.

    Without its last item, the field of a list is removed.
    """
    old = _Text(text)
    items = _at(old.value, path)
    if path and len(items) == 1:
        return with_field(text, path[:-1], str(path[-1]), None)
    start = _dash(old, index, path)
    last = _end(old, path) if path else len(old.lines)
    end = _dash(old, index + 1, path) if index + 1 < len(items) else last
    while _NO_CONTENT.fullmatch(old.lines[end - 1]):
        end -= 1
    del items[index]
    return old.checked("".join(old.lines[:start] + old.lines[end:]), old.value)


def _dash(text: _Text, index: int, path: YamlPath = ()) -> int:
    """Return the index of the line with the dash of an item. The item can begin on a later line."""
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


class FieldEdit(NamedTuple):
    """A field of the mapping at `path`, and its new value; None removes the field."""

    path: YamlPath
    name: str
    value: Any


# The start and the end of a part of a text, and what replaces it.
Span = tuple[int, int, str]


def with_field(text: bytes, path: YamlPath, name: str, value: Any) -> bytes:
    return with_fields(text, [FieldEdit(path, name, value)])


def with_fields(text: bytes, edits: Sequence[FieldEdit]) -> bytes:
    """Set fields, add those that are missing, and remove others; no two edits are of the same field."""
    old = _Text(text)
    pieces, copied = [], 0
    # A field is added before another one that begins there. Those that are added at the same place keep their order.
    for start, end, piece in sorted((_span(old, *edit) for edit in edits), key=itemgetter(0, 1)):
        pieces += [old.whole[copied:start], piece]
        copied = end
    result = old.value or {}
    for path, name, value in edits:
        _at(result, path)[name] = value
        if value is None:
            del _at(result, path)[name]
    return old.checked("".join([*pieces, old.whole[copied:]]), result)


def _span(old: _Text, path: YamlPath, name: str, value: Any) -> Span:
    key = (*path, name)
    if value is None:
        return _removed(old, key)
    return _replaced(old, key, value) if key in old.positions.keys else _added(old, path, name, value)


def _removed(old: _Text, key: YamlPath) -> Span:
    """Remove the lines of a field from a block mapping. The comments around it stay."""
    # A field that comes from an alias has no lines of its own.
    if key not in old.positions.keys:
        raise NotEditable()
    line, column = old.positions.keys[key]
    last, end_column = old.positions.ends[key]
    if old.is_inline(key[:-1]) or old.lines[line - 1][: column - 1].strip():
        raise NotEditable()
    end = old.content_end(key) if last > line and end_column <= column else last
    return old.starts[line - 1], old.starts[end], ""


def _replaced(old: _Text, path: YamlPath, value: Any) -> Span:
    """Replace a value; a comment after it stays."""
    line, column = old.positions.keys[path]
    start, end, gap = old.offset((line, column)), old.offset(old.positions.ends[path]), ""
    if old.positions.ends[path][0] > line and old.positions.ends[path][1] <= column:
        # A block ends where the next value begins; empty lines and comments between them stay.
        end, gap = old.starts[old.content_end(path)], old.line_break(start)
    if isinstance(_at(old.value, path), dict | list) and _COMMENT.search(old.whole, start, end):
        raise FlatpanelError("contains comments that would be lost; edit it by hand")
    if old.is_inline(path[:-1]):
        return old.offset(old.positions.position(path)), end, writer.inline(value)
    indent = " " * (column - 1)
    lines = f"{old.line_break(start)}{indent}".join(writer.field(str(path[-1]), value))
    return start, end, lines + gap


def _added(old: _Text, path: YamlPath, name: str, value: Any) -> Span:
    """Add a field after the last field of one line; a field of several lines is added at the end."""
    lines = writer.field(name, value)
    keys = [key for key in old.positions.keys if key[:-1] == path]
    if old.is_inline(path):
        end = old.offset(old.positions.ends[keys[-1]])
        return end, end, f", {name}: {writer.inline(value)}"
    short = [key for key in keys if old.positions.ends[key][0] == old.positions.keys[key][0]]
    if not short or len(lines) > 1:
        line = old.content_end(path) if keys else len(old.lines)
    else:
        line = old.positions.ends[short[-1]][0]
    indent = " " * (old.positions.keys[keys[0]][1] - 1) if keys else ""
    gap = "" if not line or old.lines[line - 1].endswith(("\n", "\r")) else old.line_break()
    place = old.starts[line]
    return place, place, gap + old.joined([f"{indent}{line}" if line else "" for line in lines])
