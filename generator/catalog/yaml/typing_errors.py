"""Common typing errors in YAML -> their position and the fix.

libyaml reports where parsing failed, which is often a line below the typing error, and in the parser's terms.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

Position: TypeAlias = tuple[int, int]  # line and column, from 1
Flaw: TypeAlias = tuple[int, int, str]  # line, column, message

# The quotes of word processors. YAML takes them for a part of the text.
CURLY_QUOTES = "\u201c\u201d\u201e\u201f\u2018\u2019\u201a\u201b"
_NOT_A_FIELD = "expected a field and its value, like title: Paper Moons"
# libyaml's words -> what an author can do.
_ADVICE = {
    "found unexpected end of stream": "missing closing quote",
    "did not find expected ',' or ']'": "missing ] at the end of this list",
    "did not find expected ',' or '}'": "missing } after these fields",
    "mapping values are not allowed in this context": 'unexpected ": "; put the text in quotes, or align the fields',
    "found character that cannot start any token": "unexpected character; put text in quotes, indent with spaces",
    "did not find expected key": "unexpected text; check quotes and indentation",
    "did not find expected <document start>": "indented less than the lines above; align the fields",
    "did not find expected '-' indicator": "expected a list entry; begin it with -, or indent it",
    "did not find expected node content": "expected a value; put text that begins with this character in quotes",
    "did not find expected alphabetic or numeric character": "put text that begins with * or & in quotes",
    "could not find expected ':'": _NOT_A_FIELD,
    "did not find expected comment or line break": "put text that begins with | or > in quotes",
    "mapping keys are not allowed in this context": "put text that begins with ? in quotes",
    "block sequence entries are not allowed in this context": 'put text that begins with "- " in quotes',
}
# For these, the error is where libyaml began to read the value, not where it stopped.
_AT_START_OF_VALUE = {
    _NOT_A_FIELD,
    *(advice for advice in _ADVICE.values() if advice.startswith("missing ")),
}

# git writes these markers at the left margin, where the text of a block cannot be.
_CONFLICT = re.compile(rb"^<{7} .*", re.MULTILINE)
_LINE_START = r"^ *(?:- +)*"
_FIELD = re.compile(rf"{_LINE_START}[A-Za-z_]\w*:(?= |$)")
_MISSING_SPACE = re.compile(rf"{_LINE_START}([A-Za-z_]\w*:(?=[^\s/:])|-(?=[A-Za-z_]))")
_ENTRY = re.compile(r"( *)-(?= |$)")
_FIELD_WITHOUT_VALUE = re.compile(rf"{_LINE_START}[A-Za-z_]\w*: *(?:#.*)?$")
_UNUSUAL_SPACE = re.compile(rf"{_LINE_START}(?:[A-Za-z_]\w*:|-)? *(?=(?:[^\S \t]|[\u200b\u2060\ufeff\u00ad]))")
_TAB = re.compile(rf"{_LINE_START}-?\s*?(?=\t)")
_CURLY_QUOTE = re.compile(rf"{_LINE_START}[A-Za-z_]\w*: +(?=[{CURLY_QUOTES}«»])")
_BLOCK_TEXT = re.compile(rf"{_LINE_START}([A-Za-z_]\w*: *[|>][-+0-9]*) *(?:#.*)?$")

# Only the beginning of a line is searched: a typing error is there, and the patterns are slow on long runs of spaces.
_MAX_SEARCHED = 1000


class ParserError(NamedTuple):
    """An error of libyaml: the message, where parsing stopped, and where the value begins that was being read."""

    lines: list[str]
    problem: str
    context: str
    position: Position
    context_position: Position

    def line(self, number: int) -> str:
        return self.lines[number - 1][:_MAX_SEARCHED] if number <= len(self.lines) else ""

    def has_content(self, number: int) -> bool:
        """Return whether a line has more than a comment."""
        return bool(self.line(number).strip()) and not self.line(number).lstrip().startswith("#")

    def previous(self) -> int:
        """Return the number of the last line with content above the error."""
        above = range(self.position[0] - 1, 0, -1)
        return next((number for number in above if self.has_content(number)), 1)

    def candidates(self) -> Iterator[tuple[int, str]]:
        """Yield the lines that may contain the typing error."""
        return ((number, self.line(number)) for number in dict.fromkeys((self.previous(), self.position[0])))


def merge_conflicts(text: bytes) -> list[Flaw]:
    """Return a flaw for every unresolved merge conflict of git. The rest of such a file is not checked."""
    advice = "keep one version and remove the lines that begin with <<<<<<<, ======= and >>>>>>>"
    return [
        (text.count(b"\n", 0, marker.start()) + 1, 1, f"unresolved merge conflict; {advice}")
        for marker in _CONFLICT.finditer(text)
    ]


def likely_cause(error: ParserError) -> Flaw:
    """Return the most likely typing error behind an error of libyaml."""
    advice = _ADVICE.get(error.problem) or ", ".join(filter(None, (error.context, error.problem)))
    position = error.context_position if advice in _AT_START_OF_VALUE else error.position
    line, column, advice = next(filter(None, (check(error) for check in _CHECKS)), None) or (*position, advice)
    return line, column, f"invalid YAML: {advice}"


def _tab(error: ParserError) -> Flaw | None:
    line, column = error.position
    match = _TAB.match(error.line(line))
    if match and match.end() >= column - 1:
        return line, match.end() + 1, "tab character; use spaces"
    return None


def _unusual_space(error: ParserError) -> Flaw | None:
    for number, line in error.candidates():
        if match := _UNUSUAL_SPACE.match(line):
            character = line[match.end()]
            name = f"U+{ord(character):04X} ({unicodedata.name(character, 'unnamed').lower()})"
            return number, match.end() + 1, f"{name}; use a plain space, or remove it"
    return None


def _curly_quote(error: ParserError) -> Flaw | None:
    line, column = error.position
    match = _CURLY_QUOTE.match(error.line(line))
    if match and match.end() < column:
        character = error.line(line)[match.end()]
        return line, match.end() + 1, f"""{character} is not a YAML quote; put text that contains ": " in " or '"""
    return None


def _unindented_text(error: ParserError) -> Flaw | None:
    """Find a text below `>-` that is not indented further than its field."""
    above = ((number, _BLOCK_TEXT.match(error.line(number))) for number in range(error.position[0] - 1, 0, -1))
    number, head = next(((number, head) for number, head in above if head), (0, None))
    numbers = range(number + 1, error.position[0] + 1)
    below = next((number for number in numbers if error.line(number).strip()), 0)
    if head and below and _indent(error.line(below)) <= head.start(1) and not _FIELD.match(error.line(below)):
        return below, _indent(error.line(below)) + 1, f"indent the text of {head[1]} further than the field"
    return None


def _missing_space(error: ParserError) -> Flaw | None:
    for number, line in error.candidates():
        if match := _MISSING_SPACE.match(line):
            return number, match.end() + 1, f"missing space after {match[1]}"
    return None


def _first_entry(error: ParserError) -> Flaw | None:
    """Find a list whose first entry does not begin with -."""
    entry = _ENTRY.match(error.line(error.position[0]))
    if error.problem != "did not find expected key" or not entry or entry.end() != error.position[1]:
        return None
    first = error.position[0]
    for number in (number for number in range(first - 1, 0, -1) if error.has_content(number)):
        line = error.line(number)
        if _ENTRY.match(line) and _indent(line) <= len(entry[1]):
            return None
        if _FIELD_WITHOUT_VALUE.match(line) and _indent(line) < len(entry[1]):
            break
        first = number
    return first, _indent(error.line(first)) + 1, "begin the first entry of this list with -, too"


def _indented_too_far(error: ParserError) -> Flaw | None:
    """Find a field that is indented further than the field above, or that follows a line without a field."""
    number, column = error.position
    field, previous = _FIELD.match(error.line(number)), error.previous()
    if error.problem != "mapping values are not allowed in this context" or not field or field.end() != column:
        return None
    if not _FIELD.match(error.line(previous)):
        return previous, _indent(error.line(previous)) + 1, _NOT_A_FIELD
    return number, _indent(error.line(number)) + 1, "indented further than the field above; align the fields"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


# The most certain checks first.
_CHECKS: tuple[Callable[[ParserError], Flaw | None], ...] = (
    _tab,
    _unusual_space,
    _curly_quote,
    _unindented_text,
    _missing_space,
    _first_entry,
    _indented_too_far,
)
