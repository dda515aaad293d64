"""Plain records -> YAML as people would write it: one field a line, quotes only where they are needed.

Pure functions. Each file is read again before it is given away: it says what was meant, or it is refused.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from typing import Any

from ...errors import FlatpanelError
from . import reader
from .positions import YamlPath

WIDTH = 100
# A list of such small things has one line for each.
_SMALL = 2
_STEP = "  "
_NAME = re.compile(r"[A-Za-z0-9_]+")
# Python would not print them, and people write them: a tab, the wide blank of Japanese, and what joins emoji.
_USUAL = "\t\u3000\u200d"


def file(value: Any, heading: str = "", remarks: Mapping[YamlPath, str] | None = None) -> bytes:
    """A file that holds `value`, under a comment, and with a comment above every field in `remarks`."""
    above = _comment(heading, "")
    body = [*_block(value, (), remarks or {})] if value else []
    gap = [""] if above and body else []
    text = "".join(f"{line}\n" for line in (*above, *gap, *body)).encode()
    with suppress(reader.Malformed):
        if (reader.load(text) or None) == (value or None):
            return text
    raise FlatpanelError("holds something that YAML cannot say, such as half of a character")


def lines(value: Any) -> list[str]:
    """The lines of a value that stands in a file as deep as somebody indents them."""
    return [*_block(value, (), {})]


def field(name: str, value: Any) -> list[str]:
    """The lines of one field with its value."""
    return [*_field(name, value, (), {})]


def inline(value: Any) -> str:
    """A value as it may stand between braces."""
    return _flow(value) if isinstance(value, list) else scalar(value, flow=True)


def _comment(text: str, indent: str) -> list[str]:
    return [f"{indent}# {line}".rstrip() for line in text.splitlines()]


def _block(value: Any, path: YamlPath, remarks: Mapping[YamlPath, str]) -> Iterator[str]:
    """A mapping or a list as lines, from the left margin on."""
    if isinstance(value, dict):
        for index, (name, one) in enumerate(value.items()):
            if index and _is_long(one):
                yield ""
            yield from _comment(remarks.get((*path, name), ""), "")
            yield from _field(name, one, (*path, name), remarks)
        return
    apart = _is_long(value)
    for index, one in enumerate(value):
        if index and apart:
            yield ""
        yield from _item(one, (*path, index), remarks, small=not apart)


def _is_long(value: Any) -> bool:
    """A list whose entries have several lines, so that a blank one between them is welcome."""
    return isinstance(value, list) and any(isinstance(one, dict) and not _is_small(one) for one in value)


def _is_small(value: Mapping[str, Any]) -> bool:
    return len(value) <= _SMALL and all(_one_line(one) for one in value.values())


def _one_line(value: Any) -> bool:
    return not isinstance(value, dict | list) and len(str(value)) < WIDTH // 2 and "\n" not in str(value)


def _item(value: Any, path: YamlPath, remarks: Mapping[YamlPath, str], *, small: bool) -> Iterator[str]:
    if isinstance(value, dict) and small:
        fields = ", ".join(f"{_key(name)}: {scalar(one, flow=True)}" for name, one in value.items())
        yield f"- {{{fields}}}"
    elif isinstance(value, dict | list) and value:
        first, *others = _block(value, path, remarks)
        yield f"- {first}"
        yield from _indented(others)
    else:
        first, *others = _scalar_lines(value)
        yield f"- {first}"
        yield from _indented(others)


def _field(name: str, value: Any, path: YamlPath, remarks: Mapping[YamlPath, str]) -> Iterator[str]:
    key = _key(name)
    if isinstance(value, list) and (flow := _flow(value)) and len(key) + len(flow) < WIDTH:
        yield f"{key}: {flow}"
    elif isinstance(value, dict | list) and value:
        yield f"{key}:"
        yield from _indented(_block(value, path, remarks))
    else:
        first, *others = _scalar_lines(value)
        yield f"{key}: {first}"
        yield from _indented(others)


def _indented(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield f"{_STEP}{line}" if line else ""


def _flow(value: list[Any]) -> str:
    """A list on one line, if nothing in it needs more."""
    if any(isinstance(one, dict | list) for one in value):
        return ""
    return f"[{', '.join(scalar(one, flow=True) for one in value)}]"


def _key(name: str) -> str:
    return name if _NAME.fullmatch(name) else _quoted(name)


def _scalar_lines(value: Any) -> list[str]:
    """A value that is no list and no mapping: on one line, or several below an indicator."""
    if isinstance(value, str):
        for form in (_literal, _folded):
            found = form(value)
            if found and _reads_as(f"x: {found[0]}\n" + "".join(f"{one}\n" for one in _indented(found[1:])), value):
                return found
    return [scalar(value)]


def _literal(text: str) -> list[str]:
    """The lines as they are, if there are several."""
    if "\n" not in text or text.endswith("\n\n") or not _is_visible(text.replace("\n", "")):
        return []
    return ["|" if text.endswith("\n") else "|-", *text.removesuffix("\n").split("\n")]


def _folded(text: str) -> list[str]:
    """One long line in several; a blank more would be seen by nobody."""
    words = text.split(" ")
    if len(text) <= WIDTH or "" in words or not _is_visible(text):
        return []
    found, line = [">-"], ""
    for word in words:
        if line and len(line) + len(word) >= WIDTH - len(_STEP):
            found.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*found, line]


def scalar(value: Any, *, flow: bool = False) -> str:
    """A value on one line; a text without quotes where it is read as the same text, also between [ and ]."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case dict() | list():
            return "{}" if isinstance(value, dict) else "[]"
        case Decimal():
            return f"{value:f}"
        case str():
            plain = f"x: [{value}]\n" if flow else f"x: {value}\n"
            visible = _is_visible(value) and "\t" not in value
            return value if visible and _reads_as(plain, [value] if flow else value) else _quoted(value)
        case _:
            return str(value)


def _reads_as(text: str, value: Any) -> bool:
    with suppress(reader.Malformed):
        return bool(reader.load(text.encode()) == {"x": value})
    return False


def _is_visible(text: str) -> bool:
    return all(letter.isprintable() or letter in _USUAL for letter in text)


def _quoted(text: str) -> str:
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    return letter if letter.isprintable() or letter in "\u3000\u200d" else f"\\U{ord(letter):08x}"
