"""Groups of values by keys of which each value may have several."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value", bound=Hashable)


def grouped(values: Iterable[_Value], keys_of: Callable[[_Value], Iterable[_Key]]) -> dict[_Key, tuple[_Value, ...]]:
    """The values of each key, each once, in their order."""
    groups: dict[_Key, dict[_Value, None]] = {}
    for value in values:
        for key in keys_of(value):
            groups.setdefault(key, {})[value] = None
    return {key: tuple(members) for key, members in groups.items()}
