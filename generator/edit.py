"""Changes to YAML that people wrote: as few characters as it takes, and never a comment or a line break of theirs.

Pure functions from text to text. Each reads its result again: it says what was meant, or nothing is done.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from . import yaml12
from .errors import FlatpanelError
from .yaml12 import Path


def with_first_field(text: bytes, name: str, values: Mapping[Path, int]) -> bytes:
    """`text` with the field `name: value` put first into the mapping at each path."""
    survey = yaml12.survey(text)
    lines = text.decode("utf-8").splitlines(keepends=True)
    wanted = yaml12.load(text)
    places = {path: _first_key(survey, path) for path in values}
    # From the end, so that no place moves before its turn.
    for path in sorted(values, key=lambda path: places[path], reverse=True):
        line, column = places[path]
        old = lines[line - 1]
        before, rest = old[: column - 1], old[column - 1 :]
        ending = "\r\n" if old.endswith("\r\n") else "\n"
        field = f"{name}: {values[path]}"
        flow = before.rstrip().endswith(("{", ",")) or _inside_braces(survey, lines, path)
        indent = " " * len(before)
        lines[line - 1] = f"{before}{field}, {rest}" if flow else f"{before}{field}{ending}{indent}{rest}"
        mapping = _at(wanted, path)
        mapping[name] = values[path]
    return _proven("".join(lines), wanted)


def without_items(text: bytes, indexes: Sequence[int]) -> bytes:
    """A block list without some of its items, the lines of each included."""
    survey = yaml12.survey(text)
    lines = text.decode("utf-8").splitlines(keepends=True)
    wanted = yaml12.load(text)
    count = len(wanted)
    for index in sorted(indexes, reverse=True):
        start = survey.place((index,))[0]
        end = survey.place((index + 1,))[0] if index + 1 < count else len(lines) + 1
        del lines[start - 1 : end - 1]
        del wanted[index]
        count -= 1
    return _proven("".join(lines), wanted)


def with_item(text: bytes, fields: Mapping[str, str]) -> bytes:
    """A block list with one more item, whose values are words that YAML reads as text."""
    wanted = [*(yaml12.load(text) or []), dict(fields)]
    item = ", ".join(f"{name}: {value}" for name, value in fields.items())
    before = text.decode("utf-8")
    if before and not before.endswith("\n"):
        before += "\n"
    return _proven(f"{before}- {{{item}}}\n", wanted)


def _first_key(survey: yaml12.Survey, path: Path) -> tuple[int, int]:
    return min(place for inner, place in survey.keys.items() if inner[:-1] == path)


def _inside_braces(survey: yaml12.Survey, lines: Sequence[str], path: Path) -> bool:
    line, column = survey.place(path)
    return lines[line - 1][column - 1 :].startswith("{")


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def _proven(text: str, wanted: Any) -> bytes:
    """The text, if it says what it should: an edit that would change anything else is not made."""
    result = text.encode()
    try:
        if _without_nothing(yaml12.load(result)) == _without_nothing(wanted):
            return result
    except yaml12.Malformed:
        pass
    raise FlatpanelError("cannot be edited without changing what people wrote; write it by hand")


def _without_nothing(value: Any) -> Any:
    return value or None
