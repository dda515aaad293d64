"""What can be wrong with what people gave us.

Anything else that is raised is a defect of this program, and is allowed to look like one.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, order=True, slots=True)
class Problem:
    """One thing that is wrong in one place of a catalog file. Line and column count from 1."""

    file: str
    line: int
    column: int
    field: str
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}"
        return f"{place}: {self.field}: {self.message}" if self.field else f"{place}: {self.message}"


class FlatpanelError(Exception):
    """A finished sentence for the person at the keyboard; the command ends with exit code 1."""


class CatalogError(FlatpanelError):
    """Every problem of a catalog, in the order in which an editor would visit them."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        super().__init__("\n".join(map(str, self.problems)))
