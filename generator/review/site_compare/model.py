"""Responses of a compared site, and the differences between two of them."""

from dataclasses import dataclass
from typing import Any

from ..diff.json_diff import Path, path_text

# Kinds of differences that no JSON has: another status, and a response that one site did not complete.
STATUS, UNUSABLE = "status", "unusable"
V2, V1, UNVERSIONED = "/api/v2", "/api/v1", "/api"
SERIES_LIST = f"{V2}/series"


@dataclass(frozen=True, slots=True)
class Answer:
    """A response without the URL of its site. Status 0: the site sent no usable response."""

    status: int
    value: Any = None
    # The target of a redirect.
    location: str = ""
    # The number of series on a page of the list, if it has several pages.
    page_size: int | None = None

    @property
    def good(self) -> bool:
        return self.status == 200


@dataclass(frozen=True, slots=True)
class Difference:
    """A field of a response that differs, or its status."""

    path: str
    # The path with placeholders, such as /api/v2/series/{slug}.
    route: str
    kind: str
    steps: Path = ()
    first: Any = None
    second: Any = None
    # Empty if no reason is known.
    reason: str = ""

    @property
    def field(self) -> str:
        """The field without identities of list items, such as results[].title."""
        return path_text(tuple("[]" if step.startswith("[") else step for step in self.steps))

    @property
    def place(self) -> str:
        return path_text(self.steps)

    @property
    def name(self) -> str:
        """The name of the field; that of the list for an item of a list."""
        return next((step for step in reversed(self.steps) if not step.startswith("[")), "")


# Reason for a version of the API that only the second site has.
NEW_VERSION = "the first site does not have this version of the API"
