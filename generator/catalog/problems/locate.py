"""Complaints about the catalog -> problems with their lines and columns, found by reading the file a second time."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

from ...errors import Problem
from .. import api_keys, confined_folder
from ..confined_folder import Folder
from ..yaml import reader
from ..yaml.positions import Positions, YamlPath, read_positions
from ..yaml.typing_errors import Position
from . import doc_links
from .excerpts import SourceLines
from .messages import field_name

# So many problems come with help; whoever has more begins with these.
MAX_EXCERPTS = 50
_KEY_IN_CLEAR = "here stands a key itself; remove it and make another: `python build.py keys add` keeps its digest only"


@dataclass(frozen=True, slots=True)
class UnlocatedProblem:
    """A problem whose line is not known yet. `of_key` points at the name of a field, not at its value."""

    file: str
    path: YamlPath
    message: str
    of_key: bool = False


class _Help(NamedTuple):
    """What explains a problem: the anchor in docs/catalog.md, and the file and the fields for `explain`."""

    anchor: str
    topic: tuple[str, ...] = ()
    of_file: bool = False


def _topic(complaint: UnlocatedProblem, *, of_key: bool) -> tuple[str, ...]:
    names = [step for step in complaint.path if isinstance(step, str)]
    of_field = bool(names) and complaint.path[-1] == names[-1]
    return (complaint.file, *(names[:-1] if of_key and of_field else names))


def locate(folder: Folder, complaints: Iterable[UnlocatedProblem]) -> list[Problem]:
    """The complaints with their lines and columns; the flaws of every file that has one come with them.

    The first of them come with what helps to understand them.
    """
    problems: list[Problem] = []
    for file, group in groupby(sorted(complaints, key=lambda one: one.file), key=lambda one: one.file):
        content = text(folder, file)
        positions = read_positions(content)
        found = dict(_found(str(folder / file), content, positions, group))
        ordered = sorted(found)
        helped = ordered[: max(0, MAX_EXCERPTS - len(problems))]
        lines = SourceLines(file, content, positions)
        for one in helped:
            help = found[one]
            excerpt = None if help.of_file else lines.excerpt((one.line, one.column))
            problems.append(replace(one, docs=f"{doc_links.PAGE}#{help.anchor}", topic=help.topic, excerpt=excerpt))
        problems += ordered[len(helped) :]
    return problems


def _found(
    shown: str, content: bytes, positions: Positions, complaints: Iterable[UnlocatedProblem]
) -> Iterator[tuple[Problem, _Help]]:
    """The problems of a file, each with what explains it."""
    for line, column, message in positions.flaws:
        yield Problem(shown, line, column, "", api_keys.redacted(message)), _Help(doc_links.YAML)
    for place in _keys_in(content, positions):
        yield Problem(shown, *place, "", _KEY_IN_CLEAR), _Help(doc_links.KEYS, ("accounts.yaml", "keys"))
    for one in complaints:
        if one.message:
            line, column = positions.position(one.path, of_key=one.of_key)
            name, message = (api_keys.redacted(part) for part in (field_name(one.path), one.message))
            # Of a field that is not there, the record says more than its values would.
            of_key = one.of_key or one.path not in positions.starts
            docs = doc_links.anchor(one.file, one.path, of_key=of_key)
            yield Problem(shown, line, column, name, message), _Help(docs, _topic(one, of_key=of_key), not one.path)


def text(folder: Folder, file: str) -> bytes:
    """A file as it was written; nothing if nobody can read it."""
    try:
        return confined_folder.of(folder).content(file)[0]
    except OSError:
        return b""


def _keys_in(content: bytes, positions: Positions) -> list[Position]:
    """Where keys begin, or else the texts that become keys when they are read."""
    found = api_keys.positions(content)
    with suppress(reader.Malformed):
        read = _texts(reader.load(content), ()) if not found else ()
        found += [
            positions.position(path, of_key=of_key) for text, path, of_key in read if api_keys.redacted(text) != text
        ]
    return found


def _texts(value: object, path: YamlPath) -> Iterator[tuple[str, YamlPath, bool]]:
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
