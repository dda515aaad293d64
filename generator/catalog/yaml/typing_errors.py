"""Common slips in YAML -> where the slip is, and what to do about it.

libyaml says where it cannot go on, which is often a line after the slip, and in words of its own.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

Place: TypeAlias = tuple[int, int]
Slip: TypeAlias = tuple[int, int, str]  # line, column, and what to do

_NO_FIELD = "this should be a field and its value, like title: Paper Moons"
# libyaml's words -> what an author can do about them.
_ADVICE = {
    "found unexpected end of stream": "this quote is never closed",
    "did not find expected ',' or ']'": "this list is never closed with ]",
    "did not find expected ',' or '}'": "these fields are never closed with }",
    "mapping values are not allowed in this context": 'put text that holds ": " in quotes; indent fields alike',
    "found character that cannot start any token": "put text that begins so in quotes; indent with spaces only",
    "did not find expected key": "this belongs to nothing before it; check quotes and indentation",
    "did not find expected <document start>": "this begins further left than the lines above; indent fields alike",
    "did not find expected '-' indicator": "this is no entry of the list above; indent it, or begin it with -",
    "did not find expected node content": "a value is missing here; put text that begins so in quotes",
    "did not find expected alphabetic or numeric character": "put text that begins with * or & in quotes",
    "could not find expected ':'": _NO_FIELD,
    "did not find expected comment or line break": "put text that begins with | or > in quotes",
    "mapping keys are not allowed in this context": "put text that begins with ? in quotes",
    "block sequence entries are not allowed in this context": 'put text that begins with "- " in quotes',
}
# For these, the slip is where libyaml began to read, not where it stopped.
_AT_ITS_BEGINNING = {_NO_FIELD, *(one for one in _ADVICE.values() if "never closed" in one)}

# git writes them at the left margin, where no text of a block can stand.
_CONFLICT = re.compile(rb"^<{7} .*", re.MULTILINE)
_BEGINNING = r"^ *(?:- +)*"
_FIELD = re.compile(rf"{_BEGINNING}[A-Za-z_]\w*:(?= |$)")
_NO_BLANK = re.compile(rf"{_BEGINNING}([A-Za-z_]\w*:(?=[^\s/:])|-(?=[A-Za-z_]))")
_ENTRY = re.compile(r"( *)-(?= |$)")
_PARENT = re.compile(rf"{_BEGINNING}[A-Za-z_]\w*: *(?:#.*)?$")
_ODD = r"(?:[^\S \t]|[\u200b\u2060\ufeff\u00ad])"
_ODD_BLANK = re.compile(rf"{_BEGINNING}(?:[A-Za-z_]\w*:|-)? *(?={_ODD})")
_TAB = re.compile(rf"{_BEGINNING}-?\s*?(?=\t)")
_CURLY = re.compile(rf"{_BEGINNING}[A-Za-z_]\w*: +(?=[“”„‟‘’‚«»])")
_BLOCK = re.compile(rf"{_BEGINNING}([A-Za-z_]\w*: *[|>][-+0-9]*) *(?:#.*)?$")


# So many characters of a line are looked at: a slip stands at its beginning.
_LOOKED_AT = 1000


class Stop(NamedTuple):
    """Where libyaml stopped and why, and what it was reading then."""

    lines: list[str]
    problem: str
    context: str
    at: Place
    since: Place

    def line(self, number: int) -> str:
        # The patterns compare each run of blanks with itself, so a line has an end for them.
        return self.lines[number - 1][:_LOOKED_AT] if number <= len(self.lines) else ""

    def says(self, number: int) -> bool:
        """Whether there is more in a line than a comment."""
        return bool(self.line(number).strip()) and not self.line(number).lstrip().startswith("#")

    def before(self) -> int:
        """The last line above that says anything."""
        return next((one for one in range(self.at[0] - 1, 0, -1) if self.says(one)), 1)

    def near(self) -> Iterator[tuple[int, str]]:
        """The lines in which the slip may be."""
        return ((one, self.line(one)) for one in dict.fromkeys((self.before(), self.at[0])))


def conflicts(text: bytes) -> list[Slip]:
    """Every merge that git could not finish. There is no sense in reading on."""
    remedy = "keep one of both and remove the lines that begin with <<<<<<<, ======= and >>>>>>>"
    return [
        (text.count(b"\n", 0, found.start()) + 1, 1, f"a merge conflict begins here; {remedy}")
        for found in _CONFLICT.finditer(text)
    ]


def slip(stop: Stop) -> Slip:
    """The likeliest slip behind an error of libyaml."""
    line, column, advice = next(filter(None, (look(stop) for look in _LOOKS)), None) or _plainly(stop)
    return line, column, f"is not YAML: {advice}"


def _plainly(stop: Stop) -> Slip:
    advice = _ADVICE.get(stop.problem) or ", ".join(filter(None, (stop.context, stop.problem)))
    return *(stop.since if advice in _AT_ITS_BEGINNING else stop.at), advice


def _tab(stop: Stop) -> Slip | None:
    line, column = stop.at
    found = _TAB.match(stop.line(line))
    if found and found.end() >= column - 1:
        return line, found.end() + 1, "a tab stands here; indent and separate with spaces"
    return None


def _odd_blank(stop: Stop) -> Slip | None:
    for number, line in stop.near():
        if found := _ODD_BLANK.match(line):
            letter = line[found.end()]
            name = f"U+{ord(letter):04X} ({unicodedata.name(letter, 'a blank').lower()})"
            return number, found.end() + 1, f"{name} stands here; write a plain space, or nothing"
    return None


def _curly(stop: Stop) -> Slip | None:
    line, column = stop.at
    found = _CURLY.match(stop.line(line))
    if found and found.end() < column:
        letter = stop.line(line)[found.end()]
        return line, found.end() + 1, f"""{letter} is no quote in YAML; put text that holds ": " in " or '"""
    return None


def _unindented(stop: Stop) -> Slip | None:
    """A text below `>-` that is not further right than the field."""
    heads = ((number, _BLOCK.match(stop.line(number))) for number in range(stop.at[0] - 1, 0, -1))
    number, head = next(((number, head) for number, head in heads if head), (0, None))
    below = next((one for one in range(number + 1, stop.at[0] + 1) if stop.line(one).strip()), 0)
    if head and below and _indent(stop.line(below)) <= head.start(1) and not _FIELD.match(stop.line(below)):
        return below, _indent(stop.line(below)) + 1, f"indent the text of {head[1]} further than its field"
    return None


def _no_blank(stop: Stop) -> Slip | None:
    for number, line in stop.near():
        if found := _NO_BLANK.match(line):
            return number, found.end() + 1, f"write a blank after {found[1]}"
    return None


def _first_entry(stop: Stop) -> Slip | None:
    """The entries of a list begin with -, but for the first."""
    entry = _ENTRY.match(stop.line(stop.at[0]))
    if stop.problem != "did not find expected key" or not entry or entry.end() != stop.at[1]:
        return None
    first = stop.at[0]
    for number in (one for one in range(first - 1, 0, -1) if stop.says(one)):
        text = stop.line(number)
        if _ENTRY.match(text) and _indent(text) <= len(entry[1]):
            return None
        if _PARENT.match(text) and _indent(text) < len(entry[1]):
            break
        first = number
    return first, _indent(stop.line(first)) + 1, "begin the first entry of this list with - as well"


def _further_right(stop: Stop) -> Slip | None:
    """A field below another, and not under its first letter; or below what is no field at all."""
    number, column = stop.at
    here, above = _FIELD.match(stop.line(number)), stop.before()
    if stop.problem != "mapping values are not allowed in this context" or not here or here.end() != column:
        return None
    if not _FIELD.match(stop.line(above)):
        return above, _indent(stop.line(above)) + 1, _NO_FIELD
    return number, _indent(stop.line(number)) + 1, "this is further right than the field above; indent fields alike"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


# The surer ones first.
_LOOKS: tuple[Callable[[Stop], Slip | None], ...] = (
    _tab,
    _odd_blank,
    _curly,
    _unindented,
    _no_blank,
    _first_entry,
    _further_right,
)
