"""Plain values -> readable YAML: one field per line, quotes only where needed.

Pure functions. `file` parses its result and refuses a text with another value.
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
# Mappings with so few short fields are written on one line.
_MAX_SMALL = 2
_STEP = "  "
_NAME = re.compile(r"[A-Za-z0-9_]+")
# Nothing in these means something in YAML. Parsing each scalar would take a tenth of the time of an import.
_SIMPLE = re.compile(r"[A-Za-z0-9_/](?::?[A-Za-z0-9_/.-])*")
# Not printable for Python, but common: tab, ideographic space, and the joiner of emoji.
_COMMON = "\t\u3000\u200d"


def file(value: Any, heading: str = "", remarks: Mapping[YamlPath, str] | None = None) -> bytes:
    """Return a file with `value` below a comment; `remarks` are comments above fields."""
    above = _comment(heading)
    body = [*_block(value, (), remarks or {})] if value else []
    gap = [""] if above and body else []
    text = "".join(f"{line}\n" for line in (*above, *gap, *body)).encode()
    with suppress(reader.Malformed):
        if (reader.load(text) or None) == (value or None):
            return text
    raise FlatpanelError("contains text that YAML cannot represent, such as an unpaired surrogate")


def lines(value: Any) -> list[str]:
    """Return the lines of a value, without indentation."""
    return [*_block(value, (), {})]


def field(name: str, value: Any) -> list[str]:
    """Return the lines of a field."""
    return [*_field(name, value, (), {})]


def inline(value: Any) -> str:
    """Return a value on one line, as inside braces."""
    return _flow(value) if isinstance(value, list) else scalar(value, flow=True)


def _comment(text: str) -> list[str]:
    return [f"# {line}".rstrip() for line in text.splitlines()]


def _block(value: Any, path: YamlPath, remarks: Mapping[YamlPath, str]) -> Iterator[str]:
    """Yield the lines of a mapping or a list, without indentation."""
    if isinstance(value, dict):
        for index, (name, item) in enumerate(value.items()):
            if index and _is_long(item):
                yield ""
            yield from _comment(remarks.get((*path, name), ""))
            yield from _field(name, item, (*path, name), remarks)
        return
    is_long = _is_long(value)
    for index, item in enumerate(value):
        if index and is_long:
            yield ""
        yield from _item(item, (*path, index), remarks, small=not is_long)


def _is_long(value: Any) -> bool:
    """Return whether a value is a list with entries of several lines; empty lines separate them."""
    return isinstance(value, list) and any(isinstance(item, dict) and not _is_small(item) for item in value)


def _is_small(value: Mapping[str, Any]) -> bool:
    return len(value) <= _MAX_SMALL and all(
        not isinstance(item, dict | list) and len(str(item)) < WIDTH // 2 and "\n" not in str(item)
        for item in value.values()
    )


def _item(value: Any, path: YamlPath, remarks: Mapping[YamlPath, str], *, small: bool) -> Iterator[str]:
    if isinstance(value, dict) and small:
        fields = ", ".join(f"{_key(name)}: {scalar(item, flow=True)}" for name, item in value.items())
        yield f"- {{{fields}}}"
    elif isinstance(value, dict | list) and value:
        first, *rest = _block(value, path, remarks)
        yield f"- {first}"
        yield from _indented(rest)
    else:
        first, *rest = _scalar_lines(value)
        yield f"- {first}"
        yield from _indented(rest)


def _field(name: str, value: Any, path: YamlPath, remarks: Mapping[YamlPath, str]) -> Iterator[str]:
    key = _key(name)
    if isinstance(value, list) and (flow := _flow(value)) and len(key) + len(flow) < WIDTH:
        yield f"{key}: {flow}"
    elif isinstance(value, dict | list) and value:
        yield f"{key}:"
        yield from _indented(_block(value, path, remarks))
    else:
        first, *rest = _scalar_lines(value)
        yield f"{key}: {first}"
        yield from _indented(rest)


def _indented(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield f"{_STEP}{line}" if line else ""


def _flow(value: list[Any]) -> str:
    """Return a list on one line; "" if it contains lists or mappings."""
    if any(isinstance(item, dict | list) for item in value):
        return ""
    return f"[{', '.join(scalar(item, flow=True) for item in value)}]"


def _key(name: str) -> str:
    return name if _NAME.fullmatch(name) else _quoted(name)


def _scalar_lines(value: Any) -> list[str]:
    """Return the lines of a scalar: one line, or an indicator and several lines."""
    if isinstance(value, str):
        for form in (_literal, _folded):
            lines = form(value)
            if lines and _reads_as(f"x: {lines[0]}\n" + "".join(f"{line}\n" for line in _indented(lines[1:])), value):
                return lines
    return [scalar(value)]


def _literal(text: str) -> list[str]:
    """Return several lines unchanged, below | or |-."""
    if "\n" not in text or text.endswith("\n\n") or not _is_visible(text.replace("\n", "")):
        return []
    return ["|" if text.endswith("\n") else "|-", *text.removesuffix("\n").split("\n")]


def _folded(text: str) -> list[str]:
    """Return one long line as several, below >-. Double spaces would be lost."""
    words = text.split(" ")
    if len(text) <= WIDTH or "" in words or not _is_visible(text):
        return []
    lines, line = [">-"], ""
    for word in words:
        if line and len(line) + len(word) >= WIDTH - len(_STEP):
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line]


def scalar(value: Any, *, flow: bool = False) -> str:
    """Return a scalar on one line, quoted if needed; `flow` is for values inside [ ] or { }."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case dict() | list():
            return "{}" if isinstance(value, dict) else "[]"
        case Decimal():
            return f"{value:f}"
        case str() if _SIMPLE.fullmatch(value) and reader.scalar(value) == value:
            return value
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
    return text.isprintable() or all(letter.isprintable() or letter in _COMMON for letter in text)


def _quoted(text: str) -> str:
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    return letter if letter.isprintable() or letter in "\u3000\u200d" else f"\\U{ord(letter):08x}"
