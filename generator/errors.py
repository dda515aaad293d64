"""What can be wrong with what people gave us.

Anything else that is raised is a defect of this program, and is allowed to look like one.
"""

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

from .escaping import escaped


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A line of a file as a terminal shows it, and how many of its columns stand before the place that is meant."""

    line: str
    before: int


@dataclass(frozen=True, order=True, slots=True)
class Problem:
    """One thing that is wrong in one place of a catalog file. Line and column count from 1."""

    file: str
    line: int
    column: int
    field: str
    message: str
    # What helps to understand it: the line, and the part of the documents that says what would be right.
    excerpt: Excerpt | None = dataclasses.field(default=None, compare=False)
    docs: str | None = dataclasses.field(default=None, compare=False)
    # The catalog file and the fields that lead there, without the places in lists: what `explain` explains.
    topic: tuple[str, ...] = dataclasses.field(default=(), compare=False)

    def __str__(self) -> str:
        """One line, whatever the file is called and says."""
        place = f"{self.file}:{self.line}:{self.column}"
        return escaped(f"{place}: {self.field}: {self.message}" if self.field else f"{place}: {self.message}")


class FlatpanelError(Exception):
    """Finished sentences for the person at the keyboard, each a line; the command ends with exit code 1."""

    def __init__(self, *sentences: str) -> None:
        self.sentences = sentences
        super().__init__("\n".join(sentences))


class CatalogError(FlatpanelError):
    """Every problem of a catalog, in the order in which an editor would visit them."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        super().__init__(*map(str, self.problems))
