"""Errors that a user can fix, and how messages become text. Any other exception is a defect and ends in a traceback."""

import dataclasses
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

# Only so many problems have an excerpt and a link.
MAX_EXCERPTS = 50
# More problems of a catalog are not listed: links to one wrong file would have any number.
MAX_LISTED = 20_000


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A line of a file, escaped for a terminal, and the number of columns before the problem."""

    line: str
    before: int


@dataclass(frozen=True, order=True, slots=True)
class Problem:
    """One problem in one place of a catalog file. Line and column count from 1."""

    file: str
    line: int
    column: int
    field: str
    message: str
    # The line, and the URL of the documentation.
    excerpt: Excerpt | None = dataclasses.field(default=None, compare=False)
    docs: str | None = dataclasses.field(default=None, compare=False)
    # The arguments of `explain`: the catalog file and the names of the fields, without positions in lists.
    topic: tuple[str, ...] = dataclasses.field(default=(), compare=False)

    def __str__(self) -> str:
        """One line, escaped for a terminal."""
        place = f"{self.file}:{self.line}:{self.column}"
        return escaped(f"{place}: {self.field}: {self.message}" if self.field else f"{place}: {self.message}")


FIRST = "<line of the first>"


@dataclass(frozen=True, slots=True)
class UnlocatedProblem:
    """A problem by the path of a field, before `locate` finds its line.

    `of_key`: its position is the name of the field, not the value.
    `first` is the file and the path of the value that this one repeats; its line replaces FIRST in the message.
    """

    file: str
    # The names and positions of the fields around the value: `YamlPath`, which this module cannot import.
    path: tuple[str | int, ...]
    message: str
    of_key: bool = False
    first: tuple[str, tuple[str | int, ...]] | None = None


def listed(problems: Iterable[UnlocatedProblem]) -> Iterator[UnlocatedProblem]:
    """The problems of a catalog that are listed; the last one says that others are not."""
    for number, problem in enumerate(problems, start=1):
        yield problem
        if number == MAX_LISTED:
            message = f"only {MAX_LISTED:,} problems are listed; correct these first"
            yield UnlocatedProblem(problem.file, problem.path, message)
            return


class FlatpanelError(Exception):
    """An error of the user, as complete sentences, one a line. The command ends with exit code 1."""

    def __init__(self, *sentences: str) -> None:
        self.sentences = sentences
        super().__init__("\n".join(sentences))


class CatalogError(FlatpanelError):
    """Every problem of a catalog, sorted by file, line and column."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        super().__init__(*map(str, self.problems))

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        """Pass the problems from a worker process, not their texts."""
        return type(self), (self.problems,)


@contextmanager
def about(place: object) -> Iterator[None]:
    """Begin an error with the file that it is about."""
    try:
        yield
    except FlatpanelError as error:
        raise FlatpanelError(f"{place}: {error}") from None


def escaped(text: str) -> str:
    """Replace each unprintable character by an escape such as \\x1b.

    These are control characters (C0, C1, DEL), line breaks, direction marks, invisible characters and unpaired
    surrogates. The ideographic space is printable.
    """
    return text if text.isprintable() else "".join(map(_escaped_character, text))


def _escaped_character(character: str) -> str:
    is_text = character.isprintable() or character == "\u3000"
    return character if is_text else character.encode("unicode_escape").decode()


def counted(count: int, noun: str) -> str:
    """Return a number with its noun in the right form."""
    ends_in_ies = noun.endswith("y") and noun[-2] not in "aeiou"
    plural = noun if noun == "series" else f"{noun[:-1]}ies" if ends_in_ies else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"
