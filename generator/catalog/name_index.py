"""Find entities by name or id."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NameIndex(Generic[T]):
    """Index of entities with an `id` and a `name`. Several may have the same name."""

    by_id: dict[Any, T]
    by_name: dict[str, list[T]]

    @classmethod
    def of(cls, entities: Iterable[Any]) -> "NameIndex[T]":
        by_id: dict[Any, T] = {}
        by_name: dict[str, list[T]] = {}
        for entity in entities:
            by_id.setdefault(entity.id, entity)
            by_name.setdefault(entity.name, []).append(entity)
        return cls(by_id, by_name)

    def candidates(self, reference: str | int) -> list[T]:
        """The entities with this name (a string) or this id (a number)."""
        if isinstance(reference, str):
            return self.by_name.get(reference, [])
        return [self.by_id[reference]] if reference in self.by_id else []

    def find(self, reference: str | int) -> T:
        """The entity of a reference that has been checked."""
        (entity,) = self.candidates(reference)
        return entity
