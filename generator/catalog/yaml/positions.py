"""YAML text -> line and column of every value and key, and every error in the text."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import yaml
from yaml._yaml import CParser
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from .reader import (
    MAX_ALIASED_NODES,
    MAX_ALIASES,
    MAX_DEPTH,
    MAX_DIRECTIVES,
    MAX_VALUES,
    Event,
    Malformed,
    is_in_curly_quotes,
)
from .typing_errors import Flaw, ParserError, Position, likely_cause, merge_conflicts

# The line breaks of libyaml.
LINE_BREAK = re.compile(r"\r\n|[\r\n\x85\u2028\u2029]")
_MAX_SKIPPED_DEPTH = 1000  # libyaml gets slower with every open bracket

YamlPath: TypeAlias = tuple[str | int, ...]


@dataclass(slots=True)
class Positions:
    """Line and column of every value and key of a text, and its YAML errors."""

    starts: dict[YamlPath, Position] = field(default_factory=dict)
    # The end of each value. A block value ends where the next key or item begins.
    ends: dict[YamlPath, Position] = field(default_factory=dict)
    keys: dict[YamlPath, Position] = field(default_factory=dict)
    flaws: list[Flaw] = field(default_factory=list)

    def position(self, path: YamlPath, *, of_key: bool = False) -> Position:
        """Return the position of a value (or its key), or else of the nearest value around it."""
        if of_key and path in self.keys:
            return self.keys[path]
        while path and path not in self.starts:
            path = path[:-1]
        return self.starts.get(path, (1, 1))


def read_positions(text: bytes) -> Positions:
    """Return every position and every flaw of `text`, up to the first error that stops libyaml."""
    positions = Positions()
    try:
        text.decode("utf-8")
        if text.count(b"%TAG") > MAX_DIRECTIVES:
            positions.flaws.append((1, 1, f"has more than {MAX_DIRECTIVES} %TAG directives; remove them"))
            return positions
        positions.flaws += merge_conflicts(text)
        if not positions.flaws:
            _PositionReader(text, positions).document()
        return positions
    except Malformed:
        return positions
    except UnicodeDecodeError as error:
        flaw = (*_line_and_column(text, error.start), "is not UTF-8 text; save the file as UTF-8")
    except yaml.reader.ReaderError as error:
        flaw = (*_line_and_column(text, error.position), "character is not allowed in YAML; remove it")
    except yaml.MarkedYAMLError as error:
        marks: list[Any] = [error.problem_mark, error.context_mark or error.problem_mark]
        lines = LINE_BREAK.split(text.decode("utf-8-sig"))
        places = ((mark.line + 1, mark.column + 1) for mark in marks)
        flaw = likely_cause(ParserError(lines, str(error.problem), str(error.context or ""), *places))
    positions.flaws.append(flaw)
    return positions


def _line_and_column(text: bytes, offset: int) -> Position:
    before = text[:offset].decode("utf-8-sig", "replace")
    return before.count("\n") + 1, len(before) - before.rfind("\n")


class _PositionReader:
    """Record positions in one pass over the events; continue after every flaw."""

    def __init__(self, text: bytes, positions: Positions) -> None:
        self.next: Callable[[], Event] = CParser(text).get_event
        self.positions = positions
        self.sizes: dict[str, int] = {}
        self.aliases = self.values = 0

    def flaw(self, event: Event, message: str) -> None:
        self.positions.flaws.append((*_start(event), message))

    def document(self) -> None:
        self.next()
        if type(self.next()) is StreamEndEvent:
            return
        self.node(self.next(), ())
        self.next()
        if type(second := self.next()) is DocumentStartEvent:
            self.flaw(second, "second YAML document; remove the --- line")

    def node(self, event: Event, path: YamlPath) -> int:
        """Read one node; return how many nodes it expands to."""
        self.count(event, 1)
        self.positions.starts[path], self.positions.ends[path] = _start(event), _end(event)
        kind = type(event)
        if kind is AliasEvent:
            return self.alias(event)
        if event.tag is not None:
            self.flaw(event, f"YAML tag {event.tag.replace('tag:yaml.org,2002:', '!!')} is not allowed; remove it")
        if len(path) == MAX_DEPTH and kind is not ScalarEvent:
            self.flaw(event, f"is nested deeper than {MAX_DEPTH} levels; remove the extra brackets or indentation")
            self.skip(event)
            return 1
        size = 1
        if kind is ScalarEvent and event.implicit[0] and is_in_curly_quotes(event.value):
            self.flaw(event, "curly quotes do not quote in YAML; write straight quotes, or add them around the value")
        if kind is MappingStartEvent:
            size += self.mapping(path)
        elif kind is SequenceStartEvent:
            size += self.sequence(path)
        if event.anchor is not None:
            self.sizes[event.anchor] = size
        return size

    def mapping(self, path: YamlPath) -> int:
        size, first = 0, dict[str, Position]()
        while type(key := self.next()) is not MappingEndEvent:
            if type(key) is not ScalarEvent or key.tag is not None or key.anchor is not None:
                self.flaw(key, "is not a valid field name; write a plain name")
                self.skip(key)
                size += self.node(self.next(), (*path, "?"))
                continue
            inner = (*path, key.value)
            if key.value in first:
                self.flaw(key, f"duplicate field {key.value}, first in line {first[key.value][0]}; remove one of them")
            first[key.value] = self.positions.keys[inner] = _start(key)
            size += self.node(self.next(), inner)
        self.positions.ends[path] = _end(key)
        return size

    def sequence(self, path: YamlPath) -> int:
        size = index = 0
        while type(event := self.next()) is not SequenceEndEvent:
            size += self.node(event, (*path, index))
            index += 1
        self.positions.ends[path] = _end(event)
        return size

    def skip(self, event: Event) -> None:
        """Skip a whole node."""
        depth = int(isinstance(event, MappingStartEvent | SequenceStartEvent))
        while depth:
            event = self.next()
            depth += isinstance(event, MappingStartEvent | SequenceStartEvent)
            depth -= isinstance(event, MappingEndEvent | SequenceEndEvent)
            if depth > _MAX_SKIPPED_DEPTH:
                raise Malformed

    def alias(self, event: Event) -> int:
        self.aliases += 1
        if self.aliases == MAX_ALIASES + 1:
            self.flaw(event, f"too many aliases; a file can have at most {MAX_ALIASES}")
        if event.anchor not in self.sizes:
            self.flaw(event, f"no anchor &{event.anchor} above; put text that begins with * in quotes")
            return 1
        if self.sizes[event.anchor] > MAX_ALIASED_NODES:
            self.flaw(event, f"alias *{event.anchor} expands to more than {MAX_ALIASED_NODES} values; shorten the list")
        self.count(event, self.sizes[event.anchor] - 1)
        return self.sizes[event.anchor]

    def count(self, event: Event, values: int) -> None:
        self.values += values
        if self.values > MAX_VALUES:
            self.flaw(event, f"too many values; a file can have at most {MAX_VALUES}")
            raise Malformed


def _start(event: Event) -> Position:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _end(event: Event) -> Position:
    return event.end_mark.line + 1, event.end_mark.column + 1
