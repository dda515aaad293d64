"""YAML 1.2 text -> plain Python values, and the places they came from. The only importer of the YAML library.

libyaml splits the text into events; what the events mean is decided here, by the core schema of YAML 1.2 and
a little more strictly: no tags, no duplicate keys, no second document, few aliases, little nesting.
Scalars become None, bool, int, Decimal (so that no digit of a number is lost) or str; dates stay text.

`load` knows no positions, because keeping them costs more than parsing. `survey` walks the text again
and is only called for a file in which something is wrong.
"""

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

from .scalars import scalar
from .typing_errors import Stop, conflicts, slip

# What libyaml takes for the end of a line.
LINE_BREAK = re.compile(r"\r\n|[\r\n\x85\u2028\u2029]")
MAX_DEPTH = 24
# Aliases are a convenience for a repeated list of names; these bounds keep ten lines from meaning a billion nodes.
MAX_ALIASES = 100
MAX_ALIASED_NODES = 10_000
MAX_VALUES = 500_000
# libyaml compares each with all others.
MAX_DIRECTIVES = 100
MAX_SKIPPED_DEPTH = 1000  # libyaml takes the longer for each bracket the more of them are open

Event: TypeAlias = Any  # libyaml's; which attributes one has depends on its kind
Path: TypeAlias = tuple[str | int, ...]
Position: TypeAlias = tuple[int, int]
Flaw: TypeAlias = tuple[int, int, str]  # line, column, and what the reader itself objects to there


class Malformed(Exception):
    """The text is not the YAML that a catalog is written in; `survey` tells why."""


def load(text: bytes) -> Any:
    """The one value that `text` stands for."""
    try:
        return _Values(text).document()
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise Malformed from error


class _Values:
    """One pass over the events that builds values and stops at the first oddity."""

    def __init__(self, text: bytes) -> None:
        # libyaml would read UTF-16 as well, and ignores what follows a second BOM.
        text.decode("utf-8")
        if text.count(b"%TAG") > MAX_DIRECTIVES or conflicts(text):
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
        take, found = self.next, {}
        while type(key := take()) is not MappingEndEvent:
            if type(key) is not ScalarEvent or key.tag is not None or key.anchor is not None or key.value in found:
                raise Malformed
            event = take()
            if type(event) is ScalarEvent and event.tag is None and event.anchor is None:
                self.nodes += 1
                found[key.value] = scalar(event.value) if event.implicit[0] else event.value
            else:
                found[key.value] = self.node(event, depth + 1)
        return found

    def sequence(self, depth: int) -> list[Any]:
        take, found = self.next, []
        while type(event := take()) is not SequenceEndEvent:
            if type(event) is ScalarEvent and event.tag is None and event.anchor is None:
                self.nodes += 1
                found.append(scalar(event.value) if event.implicit[0] else event.value)
            else:
                found.append(self.node(event, depth + 1))
        return found

    def alias(self, name: str) -> Any:
        value, size = self.anchors.get(name, (None, MAX_ALIASED_NODES + 1))
        self.aliases += 1
        self.nodes += size
        if self.aliases > MAX_ALIASES or size > MAX_ALIASED_NODES:
            raise Malformed
        return value


@dataclass(slots=True)
class Positions:
    """Where everything in a text stands, and what is wrong with it as YAML."""

    places: dict[Path, Position] = field(default_factory=dict)
    # Where each value is over; one in a block of its own ends where the next thing begins.
    ends: dict[Path, Position] = field(default_factory=dict)
    keys: dict[Path, Position] = field(default_factory=dict)
    flaws: list[Flaw] = field(default_factory=list)

    def place(self, path: Path, *, of_key: bool = False) -> Position:
        """The place of a value (or of its key), or of the nearest thing around it that exists."""
        if of_key and path in self.keys:
            return self.keys[path]
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, (1, 1))


def survey(text: bytes) -> Positions:
    """Every place and every flaw of `text`, as far as it can be read."""
    found = Positions()
    try:
        text.decode("utf-8")
        if text.count(b"%TAG") > MAX_DIRECTIVES:
            found.flaws.append((1, 1, f"has %TAG more than {MAX_DIRECTIVES} times; remove it"))
            return found
        found.flaws += conflicts(text)
        if not found.flaws:
            _Places(text, found).document()
        return found
    except Malformed:
        return found
    except UnicodeDecodeError as error:
        place, what = _line_and_column(text, error.start), "is not UTF-8 text; save the file as UTF-8"
    except yaml.reader.ReaderError as error:
        place, what = _line_and_column(text, error.position), "is not YAML: no text may hold this character; remove it"
    except yaml.MarkedYAMLError as error:
        found.flaws.append(slip(_stop(text, error)))
        return found
    found.flaws.append((*place, what))
    return found


def _stop(text: bytes, error: yaml.MarkedYAMLError) -> Stop:
    mark: Any = error.problem_mark
    since: Any = error.context_mark or mark
    lines = LINE_BREAK.split(text.decode("utf-8-sig"))
    places = ((one.line + 1, one.column + 1) for one in (mark, since))
    return Stop(lines, str(error.problem), str(error.context or ""), *places)


def _line_and_column(text: bytes, offset: int) -> Position:
    before = text[:offset].decode("utf-8-sig", "replace")
    return before.count("\n") + 1, len(before) - before.rfind("\n")


class _Places:
    """One pass over the events that keeps places and goes on after every flaw."""

    def __init__(self, text: bytes, found: Positions) -> None:
        self.next: Callable[[], Event] = CParser(text).get_event
        self.found = found
        self.sizes: dict[str, int] = {}
        self.aliases = self.values = 0

    def flaw(self, event: Event, message: str) -> None:
        self.found.flaws.append((*_start(event), message))

    def document(self) -> None:
        self.next()
        if type(self.next()) is StreamEndEvent:
            return
        self.node(self.next(), ())
        self.next()
        if type(second := self.next()) is DocumentStartEvent:
            self.flaw(second, "starts a second document; a catalog file holds one, remove the ---")

    def node(self, event: Event, path: Path) -> int:
        """Walk one node and answer how many nodes it stands for."""
        self.count(event, 1)
        self.found.places[path], self.found.ends[path] = _start(event), _end(event)
        kind = type(event)
        if kind is AliasEvent:
            return self.alias(event)
        if event.tag is not None:
            self.flaw(event, f"has the tag {event.tag.replace('tag:yaml.org,2002:', '!!')}; remove it")
        if len(path) == MAX_DEPTH and kind is not ScalarEvent:
            self.flaw(event, f"is nested deeper than {MAX_DEPTH} levels; no field needs that")
            self.skip(event)
            return 1
        size = 1
        if kind is MappingStartEvent:
            size += self.mapping(path)
        elif kind is SequenceStartEvent:
            size += self.sequence(path)
        if event.anchor is not None:
            self.sizes[event.anchor] = size
        return size

    def mapping(self, path: Path) -> int:
        size, seen = 0, dict[str, Position]()
        while type(key := self.next()) is not MappingEndEvent:
            if type(key) is not ScalarEvent or key.tag is not None or key.anchor is not None:
                self.flaw(key, "cannot be a key; write a plain field name")
                self.skip(key)
                size += self.node(self.next(), (*path, "?"))
                continue
            inner = (*path, key.value)
            if key.value in seen:
                self.flaw(key, f"{key.value} stands here twice, first in line {seen[key.value][0]}; keep one of them")
            seen[key.value] = self.found.keys[inner] = _start(key)
            size += self.node(self.next(), inner)
        self.found.ends[path] = _end(key)
        return size

    def sequence(self, path: Path) -> int:
        size = index = 0
        while type(event := self.next()) is not SequenceEndEvent:
            size += self.node(event, (*path, index))
            index += 1
        self.found.ends[path] = _end(event)
        return size

    def skip(self, event: Event) -> None:
        """Pass over a whole node whose inside does not matter any more."""
        depth = int(isinstance(event, MappingStartEvent | SequenceStartEvent))
        while depth:
            event = self.next()
            depth += isinstance(event, MappingStartEvent | SequenceStartEvent)
            depth -= isinstance(event, MappingEndEvent | SequenceEndEvent)
            if depth > MAX_SKIPPED_DEPTH:
                raise Malformed

    def alias(self, event: Event) -> int:
        self.aliases += 1
        if self.aliases == MAX_ALIASES + 1:
            self.flaw(event, f"is one alias too many; a file may hold {MAX_ALIASES}")
        if event.anchor not in self.sizes:
            self.flaw(event, f"*{event.anchor} names no anchor above it; put text that begins with * in quotes")
            return 1
        if self.sizes[event.anchor] > MAX_ALIASED_NODES:
            self.flaw(event, f"*{event.anchor} stands for more than {MAX_ALIASED_NODES} values; write shorter lists")
        self.count(event, self.sizes[event.anchor] - 1)
        return self.sizes[event.anchor]

    def count(self, event: Event, values: int) -> None:
        self.values += values
        if self.values > MAX_VALUES:
            self.flaw(event, f"is one value too many; a file may hold {MAX_VALUES}")
            raise Malformed


def _start(event: Event) -> Position:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _end(event: Event) -> Position:
    return event.end_mark.line + 1, event.end_mark.column + 1
