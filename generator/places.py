"""Complaints about the catalog -> problems with their lines and columns, found by reading the file a second time."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path as Folder

from . import keys, parsing, yaml12
from .errors import Problem
from .messages import field_name
from .yaml12 import Path

_KEY_IN_CLEAR = "here stands a key itself; remove it and make another: `python build.py keys add` keeps its digest only"


@dataclass(frozen=True, slots=True)
class Complaint:
    """A problem whose line is not known yet. `of_key` points at the name of a field, not at its value."""

    file: str
    path: Path
    message: str
    of_key: bool = False


def located(folder: Folder, complaints: Iterable[Complaint]) -> list[Problem]:
    """The complaints with their lines and columns; the flaws of every file that has one come with them."""
    problems = []
    for file, group in groupby(sorted(complaints, key=lambda one: one.file), key=lambda one: one.file):
        content = text(folder, file)
        survey = yaml12.survey(content)
        shown = printable(str(folder / file))
        flaws = [((line, column), message) for line, column, message in survey.flaws]
        flaws += [(place, _KEY_IN_CLEAR) for place in _keys_in(content, survey)]
        problems += [Problem(shown, *place, "", keys.hidden(printable(message))) for place, message in flaws]
        for one in group:
            if one.message:
                line, column = survey.place(one.path, of_key=one.of_key)
                name, message = (keys.hidden(printable(part)) for part in (field_name(one.path), one.message))
                problems.append(Problem(shown, line, column, name, message))
    return problems


def text(folder: Folder, file: str) -> bytes:
    """A file as it was written; nothing if nobody can read it."""
    try:
        return parsing.content(folder / file)[0]
    except OSError:
        return b""


def _keys_in(content: bytes, survey: yaml12.Survey) -> list[yaml12.Place]:
    """Where keys begin, or else the texts that become keys when they are read."""
    found = keys.places(content)
    with suppress(yaml12.Malformed):
        read = _texts(yaml12.load(content), ()) if not found else ()
        found += [survey.place(path, of_key=of_key) for text, path, of_key in read if keys.hidden(text) != text]
    return found


def _texts(value: object, path: Path) -> Iterator[tuple[str, Path, bool]]:
    """Every text with its path, and whether it is the name of a field."""
    if isinstance(value, str):
        yield value, path, False
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from _texts(one, (*path, index))
    elif isinstance(value, dict):
        for name, one in value.items():
            yield name, (*path, name), True
            yield from _texts(one, (*path, name))


def printable(text: str) -> str:
    """What a terminal would take for a command, or a reader for another line, and what nobody can encode."""
    return text if text.isprintable() else "".join(map(_escaped, text))


def _escaped(letter: str) -> str:
    return letter if letter.isprintable() or letter == "\u3000" else letter.encode("unicode_escape").decode()
