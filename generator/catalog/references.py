"""References from one record to another by name or id, and the problems of those that match no entry or several."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ..errors import UnlocatedProblem
from .reader import Entry, Sources
from .suggestions import nearest
from .yaml.positions import YamlPath

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


# The word for an entry of each list that can be referred to.
_ENTRY_WORDS = {
    "authors.yaml": "author",
    "artists.yaml": "artist",
    "categories.yaml": "category",
    "groups.yaml": "group",
    "members.yaml": "member",
}
# A person who writes and draws needs an entry in both lists.
_OTHER_LIST = {"authors.yaml": "artists.yaml", "artists.yaml": "authors.yaml"}


class References:
    """The entries of all lists by name and id."""

    def __init__(self, sources: Sources) -> None:
        self._unreadable = sources.unreadable
        self._entries: dict[str, NameIndex[Any]] = {
            file: NameIndex.of(entry.record for entry in sources.lists[file]) for file in _ENTRY_WORDS
        }
        self._names_by_alias = {
            file: {alias: entry.record.name for entry in sources.lists[file] for alias in entry.record.aliases}
            for file in _OTHER_LIST
        }

    def list_problems(
        self, entry: Entry[Any], path: YamlPath, file: str, references: Sequence[str | int]
    ) -> Iterator[UnlocatedProblem]:
        """Yield the problems of a list of references to entries of a file; `path` is the path of the list."""
        for index, reference in enumerate(references):
            yield from self.problems(entry, (*path, index), file, reference)
        matches = [self._entries[file].candidates(reference) for reference in references]
        ids = [entries[0].id if entries else name for entries, name in zip(matches, references, strict=True)]
        yield from repeated_values(entry, path, ids)

    def problems(
        self, entry: Entry[Any], path: YamlPath, file: str, reference: str | int
    ) -> Iterator[UnlocatedProblem]:
        """Yield a problem unless a reference matches exactly one entry of a file."""
        matches = self._entries[file].candidates(reference)
        if file in self._unreadable or len(matches) == 1:
            return
        word = _ENTRY_WORDS[file]
        if matches:
            ids = ", ".join(str(match.id) for match in matches)
            message = f"{len(matches)} {word}s are named {reference}; use an id instead: {ids}"
        elif isinstance(reference, int):
            message = f"no {word} has the id {reference}; see {file}"
        else:
            message = f"no {word} is named {reference}; {self._name_hint(file, reference)}"
        yield UnlocatedProblem(entry.file, path, message)

    def category_problems(self, entry: Entry[Any], categories: Sequence[str]) -> Iterator[UnlocatedProblem]:
        """Yield the problems of a series' categories, which are ids."""
        for index, category in enumerate(categories):
            if category not in self._entries["categories.yaml"].by_id and "categories.yaml" not in self._unreadable:
                message = f"no category has the id {category}; {self._category_hint(category)}"
                yield UnlocatedProblem(entry.file, ("categories", index), message)
        yield from repeated_values(entry, ("categories",), categories)

    def _category_hint(self, category: str) -> str:
        """Suggest an id, also for the name of a category."""
        index = self._entries["categories.yaml"]
        match = nearest(category, [*index.by_id, *index.by_name])
        if match is None:
            return "see categories.yaml"
        return f"did you mean {match if match in index.by_id else index.by_name[match][0].id}?"

    def _name_hint(self, file: str, reference: str) -> str:
        aliases = self._names_by_alias.get(file, {})
        if reference in aliases:
            return f"it is an alias of {aliases[reference]}; use that name"
        if match := nearest(reference, self._entries[file].by_name):
            return f"did you mean {match}?"
        other = _OTHER_LIST.get(file, file)
        if reference in self._entries[other].by_name:
            return f"the name is in {other}; add an entry to {file}, too"
        return f"see {file}"


def repeated_values(entry: Entry[Any], path: YamlPath, values: Sequence[Hashable]) -> Iterator[UnlocatedProblem]:
    """Yield a problem for every value that is in a list a second time."""
    first = set[Hashable]()
    for index, value in enumerate(values):
        if value in first:
            yield UnlocatedProblem(entry.file, (*path, index), "is listed twice; remove one of them")
        first.add(value)
