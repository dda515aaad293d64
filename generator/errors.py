"""Errors that a user can fix. Any other exception is a defect of this program and ends in a traceback."""

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

from .escaping import escaped

# Only so many problems have an excerpt and a link.
MAX_EXCERPTS = 50


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
