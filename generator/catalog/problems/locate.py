"""Problems with paths -> problems with lines and columns, found by reading the files a second time.

The first problems have an excerpt: the line, prepared for a terminal. Control characters are escaped, long lines are
shortened, and secrets are removed. Columns are those of a terminal: East Asian characters take two.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from itertools import groupby, pairwise
from typing import NamedTuple

from ...errors import FIRST, MAX_EXCERPTS, Excerpt, Problem, UnlocatedProblem, escaped
from .. import api_keys, confined_folder
from ..confined_folder import Folder
from ..messages import field_name
from ..yaml import reader
from ..yaml.positions import LINE_BREAK, Positions, YamlPath, read_positions
from ..yaml.typing_errors import Position
from . import doc_links


class _Help(NamedTuple):
    """The anchor of a problem in docs/catalog.md, and the file and fields for `explain`."""

    anchor: str
    topic: tuple[str, ...] = ()
    of_file: bool = False


def locate(folder: Folder, problems: Iterable[UnlocatedProblem]) -> list[Problem]:
    """Return the problems with lines and columns, sorted by file and line.

    Every file with a problem is also searched for YAML errors and plaintext keys. The first problems get excerpts.
    """
    located: list[Problem] = []
    places = Places(folder)
    for file, group in groupby(sorted(problems, key=lambda problem: problem.file), key=lambda problem: problem.file):
        content, positions = text(folder, file), places.positions(file)
        helps = dict(_file_problems(str(folder / file), content, positions, places, group))
        ordered = sorted(helps)
        with_excerpt = ordered[: max(0, MAX_EXCERPTS - len(located))]
        lines = SourceLines(file, content, positions)
        for problem in with_excerpt:
            help = helps[problem]
            excerpt = None if help.of_file else lines.excerpt((problem.line, problem.column))
            docs = f"{doc_links.PAGE}#{help.anchor}"
            located.append(replace(problem, docs=docs, topic=help.topic, excerpt=excerpt))
        located += ordered[len(with_excerpt) :]
    return located


class Places:
    """The positions in the files of a catalog. A few files are kept: a message can name the line of another file."""

    def __init__(self, folder: Folder) -> None:
        self.positions: Callable[[str], Positions] = lru_cache(8)(lambda file: read_positions(text(folder, file)))

    def message(self, problem: UnlocatedProblem) -> str:
        """Return the message of a problem with the line of the value that it repeats."""
        if not problem.first:
            return problem.message
        file, path = problem.first
        line = self.positions(file).position(path)[0]
        return problem.message.replace(FIRST, f"in line {line}" if file == problem.file else f"in {file}:{line}")


def _file_problems(
    path: str, content: bytes, positions: Positions, places: Places, problems: Iterable[UnlocatedProblem]
) -> Iterator[tuple[Problem, _Help]]:
    for line, column, message in positions.flaws:
        yield Problem(path, line, column, "", api_keys.redacted(message)), _Help(doc_links.YAML)
    for position in _key_positions(content, positions):
        yield Problem(path, *position, "", api_keys.PLAINTEXT), _Help(doc_links.KEYS, ("accounts.yaml", "keys"))
    for problem in problems:
        if problem.message:
            line, column = positions.position(problem.path, of_key=problem.of_key)
            field, message = (api_keys.redacted(part) for part in (field_name(problem.path), places.message(problem)))
            # For a missing field, the section of the record explains more than that of the values.
            of_key = problem.of_key or problem.path not in positions.starts
            anchor = doc_links.anchor(problem.file, problem.path, of_key=of_key)
            help = _Help(anchor, _topic(problem, of_key=of_key), not problem.path)
            yield Problem(path, line, column, field, message), help


def _topic(problem: UnlocatedProblem, *, of_key: bool) -> tuple[str, ...]:
    names = [step for step in problem.path if isinstance(step, str)]
    ends_with_name = bool(names) and problem.path[-1] == names[-1]
    return (problem.file, *(names[:-1] if of_key and ends_with_name else names))


def text(folder: Folder, file: str) -> bytes:
    """Return the content of a file; b"" if it cannot be read."""
    try:
        return confined_folder.of(folder).content(file)[0]
    except OSError:
        return b""


def _key_positions(content: bytes, positions: Positions) -> list[Position]:
    """Return the positions of plaintext keys, or else of texts that are keys after YAML escapes are resolved."""
    if keys := api_keys.positions(content):
        return keys
    with suppress(reader.Malformed):
        texts = _texts(reader.load(content), ())
        keys = [positions.position(path, of_key=of_key) for text, path, of_key in texts if api_keys.contains_key(text)]
    return keys


def _texts(value: object, path: YamlPath) -> Iterator[tuple[str, YamlPath, bool]]:
    """Yield every text with its path, and whether it is the name of a field."""
    if isinstance(value, str):
        yield value, path, False
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, (*path, index))
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name, (*path, name), True
            yield from _texts(item, (*path, name))


# Excerpts

# Columns of an excerpt, and columns before the problem if the line is longer.
_WIDTH = 100
_BEFORE = 60
_ELLIPSIS = "…"
_TAB = "    "
# The field with digests, and by mistake keys.
_KEYS = "keys"
# Fields with secrets, in any file.
_SECRET = re.compile(r"""(?:key|sha\d+|digest|secret|token|passw)\w*["']?\s*:""", re.IGNORECASE)


class SourceLines:
    """The lines of a file, except those that may contain a secret."""

    def __init__(self, file: str, content: bytes, positions: Positions) -> None:
        self._lines = LINE_BREAK.split(content.decode("utf-8-sig", "replace"))
        # The position of keys is unknown in a file with YAML errors.
        is_broken = file == "accounts.yaml" and bool(positions.flaws)
        if file == "keys.yaml" or is_broken or api_keys.has_escaped_key(content):
            self._lines.clear()
        self._secret_lines = set(self._lines_below_keys(positions))

    def _lines_below_keys(self, positions: Positions) -> Iterator[int]:
        """Yield the lines of everything below `keys`. A value ends where the next value or key begins."""
        if not any(_KEYS in path for path in positions.keys):
            return
        starts = sorted(
            (position, _KEYS in path)
            for items in (positions.starts, positions.keys)
            for path, position in items.items()
        )
        end_of_file = ((len(self._lines) + 1, 1), False)
        for ((line, _), is_secret), ((end, column), _) in pairwise([*starts, end_of_file]):
            if is_secret:
                yield line
                yield from range(line, end)
                if self._lines[end - 1 :] and self._lines[end - 1][: column - 1].strip(" -"):
                    yield end

    def excerpt(self, position: Position) -> Excerpt | None:
        """Return the line at a position; None if the line does not exist or may contain a secret."""
        number, column = position
        if number > len(self._lines) or number in self._secret_lines or _SECRET.search(self._lines[number - 1]):
            return None
        line = self._lines[number - 1]
        # A redacted key is shorter.
        return excerpt(api_keys.redacted(line), len(api_keys.redacted(line[: column - 1])))


def excerpt(line: str, offset: int) -> Excerpt:
    """Return the part of a line around the character at `offset`."""
    before, after = line[max(0, offset - _WIDTH) : offset][::-1], line[offset : offset + _WIDTH]
    right = _fitting(after, _WIDTH - _columns(_fitting(before, _BEFORE)))
    left = _fitting(before, _WIDTH - _columns(right))
    start = (_ELLIPSIS if len(left) < offset else "") + "".join(left[::-1])
    end = _ELLIPSIS if offset + len(right) < len(line) else ""
    return Excerpt(f"{start}{''.join(right)}{end}".rstrip(), _columns(start))


def _fitting(characters: str, columns: int) -> list[str]:
    """Return the first characters, escaped, that fit into a number of columns."""
    fitting = []
    for character in characters:
        printed = _TAB if character == "\t" else escaped(character)
        columns -= _columns(printed)
        if columns < 0:
            break
        fitting.append(printed)
    return fitting


def _columns(texts: Iterable[str]) -> int:
    return sum(_width(character) for text in texts for character in text)


def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
