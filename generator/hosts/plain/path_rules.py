"""Few rules for many paths: `/api/series/*` instead of each path below."""

from collections.abc import Iterator, Mapping
from typing import TypeVar

V = TypeVar("V")


def path_rules(values: Mapping[str, V]) -> dict[str, V]:
    """Rules that give each path its value: a path itself, or the end `/*` for all paths below.

    No two rules have a path in common, so their order does not matter.
    """
    # The value of all paths below a folder; no value if they differ.
    below: dict[str, V | None] = {}
    for path, value in values.items():
        for folder in _folders(path):
            if below.setdefault(folder, value) != value:
                below[folder] = None
    return {_rule(path, below): value for path, value in values.items()}


def _rule(path: str, below: Mapping[str, object]) -> str:
    """The rule of the highest folder with one value, or the path."""
    folder = next((folder for folder in _folders(path) if below[folder] is not None), None)
    return path if folder is None else f"{folder}/*"


def _folders(path: str) -> Iterator[str]:
    """The folders around a path, from the highest to the lowest; that of all paths is empty."""
    position = path.find("/")
    while position >= 0:
        yield path[:position]
        position = path.find("/", position + 1)
