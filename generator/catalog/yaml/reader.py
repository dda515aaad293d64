"""YAML 1.2 text -> plain Python values.

libyaml splits the text into events. This module gives them the meaning of the YAML 1.2 core schema, with extra limits:
no tags, no duplicate keys, one document, few aliases, little nesting.
Scalars become None, bool, int, Decimal (keeps every digit) or str. Dates stay text.

`load` keeps no positions, because that costs more than parsing. `positions.read_positions` reads the text again; it is
needed only for a file with a problem.
"""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeAlias

import yaml
from yaml._yaml import CParser
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)

from .typing_errors import CURLY_QUOTES, merge_conflicts

MAX_DEPTH = 24
# Aliases repeat a list of names. These limits prevent ten lines from expanding to a billion nodes.
MAX_ALIASES = 100
MAX_ALIASED_NODES = 10_000
MAX_VALUES = 500_000
# libyaml compares each directive with all others.
MAX_DIRECTIVES = 100

Event: TypeAlias = Any  # an event of libyaml; its attributes depend on its class


class Malformed(Exception):
    """The text is not valid catalog YAML. `positions.read_positions` returns the reasons."""


def load(text: bytes) -> Any:
    """Return the value of the only document in `text`."""
    try:
        return _ValueReader(text).document()
    except (yaml.YAMLError, UnicodeDecodeError, CurlyQuotes) as error:
        raise Malformed from error


class _ValueReader:
    """Build values in one pass over the events; stop at the first error."""

    def __init__(self, text: bytes) -> None:
        # libyaml also accepts UTF-16, and ignores everything after a second BOM.
        text.decode("utf-8")
        if text.count(b"%TAG") > MAX_DIRECTIVES or merge_conflicts(text):
            raise Malformed
        self.next: Callable[[], Event] = CParser(text).get_event
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.aliases = 0
        self.nodes = 0

    def document(self) -> Any:
        self.next()
        if type(self.next()) is StreamEndEvent:
            return None
        value = self.node(self.next(), 0)
        self.next()
        if type(self.next()) is not StreamEndEvent or self.nodes > MAX_VALUES:
            raise Malformed
        return value

    def node(self, event: Event, depth: int) -> Any:
        kind = type(event)
        if kind is AliasEvent:
            return self.alias(event.anchor)
        if event.tag is not None:
            raise Malformed
        before = self.nodes
        self.nodes += 1
        if kind is ScalarEvent:
            value: Any = scalar(event.value) if event.implicit[0] else event.value
        elif depth == MAX_DEPTH:
            raise Malformed
        elif kind is MappingStartEvent:
            value = self.mapping(depth)
        else:
            value = self.sequence(depth)
        if event.anchor is not None:
            self.anchors[event.anchor] = value, self.nodes - before
        return value

    def mapping(self, depth: int) -> dict[str, Any]:
        take, fields = self.next, {}
        while type(key := take()) is not MappingEndEvent:
            if type(key) is not ScalarEvent or key.tag is not None or key.anchor is not None or key.value in fields:
                raise Malformed
            event = take()
            if type(event) is ScalarEvent and event.tag is None and event.anchor is None:
                self.nodes += 1
                fields[key.value] = scalar(event.value) if event.implicit[0] else event.value
            else:
                fields[key.value] = self.node(event, depth + 1)
        return fields

    def sequence(self, depth: int) -> list[Any]:
        take, items = self.next, []
        while type(event := take()) is not SequenceEndEvent:
            if type(event) is ScalarEvent and event.tag is None and event.anchor is None:
                self.nodes += 1
                items.append(scalar(event.value) if event.implicit[0] else event.value)
            else:
                items.append(self.node(event, depth + 1))
        return items

    def alias(self, name: str) -> Any:
        value, size = self.anchors.get(name, (None, MAX_ALIASED_NODES + 1))
        self.aliases += 1
        self.nodes += size
        if self.aliases > MAX_ALIASES or size > MAX_ALIASED_NODES:
            raise Malformed
        return value


# The core schema of YAML 1.2: unquoted text -> None, bool, int, Decimal or str

# Longer numbers stay text: Python refuses to parse them, and no field has such values.
MAX_DIGITS = 400

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_OCTAL_OR_HEX = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,4})?")
_NOT_FINITE = re.compile(r"([-+]?)\.(inf|Inf|INF)|()\.(nan|NaN|NAN)")
# Only values with these first characters can be anything else than text, or an error.
_FIRST_CHARACTERS = frozenset(f"0123456789+-.~nNtTfF{CURLY_QUOTES}")


class CurlyQuotes(ValueError):
    """An unquoted scalar is between curly quotes, which were probably meant as quotes of YAML."""


def scalar(text: str) -> str | int | bool | Decimal | None:
    """Return the value of an unquoted scalar; CurlyQuotes if it is between them."""
    if text and text[0] not in _FIRST_CHARACTERS:
        return text
    if is_in_curly_quotes(text):
        raise CurlyQuotes
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > MAX_DIGITS:
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return Decimal(text)
    if _OCTAL_OR_HEX.fullmatch(text):
        return int(text, 0)
    if match := _NOT_FINITE.fullmatch(text):
        return Decimal("".join(filter(None, match.groups())))
    return text


def is_text(text: str) -> bool:
    """Whether an unquoted scalar is text, also one that is refused for its curly quotes."""
    return is_in_curly_quotes(text) or isinstance(scalar(text), str)


def is_in_curly_quotes(text: str) -> bool:
    return len(text) > 1 and text[0] in CURLY_QUOTES and text[-1] in CURLY_QUOTES
