"""Who is meant by a name or an id."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NameIndex(Generic[T]):
    """Things that have an `id` and a `name`, findable by both; a name may belong to several."""

    by_id: dict[Any, T]
    by_name: dict[str, list[T]]

    @classmethod
    def of(cls, things: Iterable[Any]) -> "NameIndex[T]":
        by_id: dict[Any, T] = {}
        by_name: dict[str, list[T]] = {}
        for thing in things:
            by_id.setdefault(thing.id, thing)
            by_name.setdefault(thing.name, []).append(thing)
        return cls(by_id, by_name)

    def candidates(self, reference: str | int) -> list[T]:
        if isinstance(reference, str):
            return self.by_name.get(reference, [])
        return [self.by_id[reference]] if reference in self.by_id else []

    def find(self, reference: str | int) -> T:
        """The one that is meant, in a catalog that has been checked."""
        (found,) = self.candidates(reference)
        return found
