"""What paths of a site answered."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Got:
    """One answer: its JSON, if it was any, and since when it has been so."""

    status: int = 0
    value: Any = None
    modified: int | None = None
    # Whether it took a key.
    locked: bool = False

    @property
    def good(self) -> bool:
        return self.status == 200


class Answers(dict[str, Got]):
    """Answers by path; one that was not asked for has told nothing."""

    def __missing__(self, path: str) -> Got:
        return Got()
