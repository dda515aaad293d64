"""The plan of a merge: records to add, fields to change, entries to remove, slugs that change."""

from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from ..catalog.reader import Sources
from ..catalog.references import NameIndex
from ..catalog.yaml.positions import YamlPath
from ..reading_sites.lenient import Fields
from ..reading_sites.notes import Notes
from .records import Imported
from .spilled import spilled_records

FILES = {kind: f"{kind}.yaml" for kind in ("authors", "artists", "categories", "members", "groups")}
ACCOUNTS, KEYS = "accounts.yaml", "keys.yaml"
# Fields that reference a list, and its kind.
REFERENCES = {"authors": "authors", "artists": "artists", "groups": "groups"}
# Which value a conflict gets; empty: the catalog's value stays, and the next import shows the conflict again.
Choice = Literal["", "mine", "theirs"]


def chapters_of(slug: str) -> str:
    """Return the kind that the chapters of a series have in a memory."""
    return f"chapters/{slug}"


class Place(NamedTuple):
    """The kind and id of a record in the memory of the last import, and its name in notes."""

    memory: tuple[str, str]
    label: str
    # Fields whose values no note shows.
    private: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field of the catalog that gets another value; None removes the field."""

    file: str
    path: YamlPath
    name: str
    value: Any
    # Whether references in the value are already names.
    is_spelled: bool = False


@dataclass(frozen=True, slots=True)
class Removal:
    """An entry that leaves the catalog; without a path, the whole file."""

    file: str
    path: YamlPath = ()


@dataclass(slots=True)
class Plan:
    """The records to add and the fields to change; `series` are new series with their chapters."""

    site: Fields | None = None
    lists: dict[str, list[Fields]] = field(default_factory=dict)
    series: MutableMapping[str, tuple[Fields, list[Fields]]] = field(default_factory=spilled_records)
    chapters: dict[str, list[Fields]] = field(default_factory=dict)
    changes: list[FieldChange] = field(default_factory=list)
    removals: list[Removal] = field(default_factory=list)
    # Old slug -> new slug.
    moves: dict[str, str] = field(default_factory=dict)
    # How files refer to each id of a list after the merge, by kind.
    names: dict[str, dict[Any, str | int]] = field(default_factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        in_new_series = sum(len(chapters) for _, chapters in self.series.values())
        return {
            "series": len(self.series),
            "chapters": sum(map(len, self.chapters.values())) + in_new_series,
            "others": sum(map(len, self.lists.values())) + (self.site is not None),
            "changes": len(self.changes),
            "removed": len({(removal.file, removal.path) for removal in self.removals}),
            "renamed": len(self.moves),
        }


@dataclass(slots=True)
class MergeState:
    """The input of a merge, and what its steps collect."""

    sources: Sources
    imported: Imported
    # What the last import saved, by kind and id; empty if it is unknown.
    last: MutableMapping[str, dict[str, Any]]
    notes: Notes
    choice: Choice = ""
    # Whether entries that the site removed are removed here.
    removes: bool = False
    plan: Plan = field(default_factory=Plan)
    # Fields whose conflict is not decided; the next import compares them with the import before this one.
    undecided: list[tuple[tuple[str, str], str]] = field(default_factory=list)
    # Differences between the site and an entry of the catalog that the last import does not explain.
    differences: list[str] = field(default_factory=list)
    # Ids that name other people here than on the site.
    other_people: dict[tuple[str, Any], str] = field(default_factory=dict)
    directories: dict[str, NameIndex[Any]] = field(init=False)

    def __post_init__(self) -> None:
        self.directories = {
            kind: NameIndex[Any].of(entry.record for entry in self.sources.lists[file]) for kind, file in FILES.items()
        }

    def last_of(self, kind: str) -> dict[str, Fields]:
        """Return the records of a kind at the last import. Each call reads them: do not call it for each record."""
        return self.last.get(kind, {})
