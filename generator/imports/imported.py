"""The records of an import: the site's statements about its series and chapters, made where its JSON is read."""

from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..reading_sites.lenient import Fields
from .same_names import StatedPerson
from .spilled import spilled_records


class Names(NamedTuple):
    """The names of people: in version 2, None if it names none, and in the older versions."""

    v2: list[str] | None
    old: list[StatedPerson]

    @property
    def in_old(self) -> list[str]:
        return [person.name for person in self.old]

    @property
    def people(self) -> list[StatedPerson]:
        """The people in the newest version that names them, with the aliases of an older version."""
        by_name: dict[str, list[StatedPerson]] = {}
        for person in reversed(self.old):
            by_name.setdefault(person.name, []).append(person)
        names = self.in_old if self.v2 is None else self.v2
        return [by_name[name].pop() if by_name.get(name) else StatedPerson(name) for name in names]


@dataclass(frozen=True, slots=True)
class ImportedSeries:
    """A series, put together from the responses of all versions that show it."""

    slug: str
    title: str
    aliases: list[str]
    description: str
    authors: Names
    artists: Names
    # Names of categories.
    categories: list[str]
    # Empty if only `completed` is stated.
    status: str
    completed: bool
    licensed: bool
    # The last publication in version 2.
    updated: int | None
    # The Last-Modified of its own response.
    modified: int | None
    # Whether its chapters need an API key.
    locked: bool
    cover: str
    views: int
    in_v2: bool
    in_old: bool


@dataclass(frozen=True, slots=True)
class ImportedChapter:
    """A chapter, put together from the responses of all versions that show it."""

    volume: int | None
    number: str
    id: int | None
    title: str
    full_title: str | None
    published: int | None
    final: bool
    views: int
    # Of the older versions; None for an invalid id.
    group_ids: list[int | None]
    group_names: list[str]
    # None if no response states them.
    page_urls: list[str] | None
    page_names: list[str] | None
    # As one response states them; empty if none does.
    page_numbers: list[int]
    # Its last change: `last_updated` in the Cubari JSON, or the Last-Modified of its own response.
    modified: int | None
    in_v2: bool
    # Fields that no response states.
    unstated: list[str]


@dataclass(frozen=True, slots=True)
class ImportedAccounts:
    """The accounts of a site by username, as YAML fields. Bookmarks are slugs of the site."""

    records: dict[str, Fields]
    # Whether names, email addresses, bios and avatars were read; otherwise those of the catalog stay.
    has_personal_data: bool = False


@dataclass(slots=True)
class Imported:
    """The records of a site as YAML fields; people and groups are referenced by id."""

    # Empty if the source has no settings.
    site: Fields = field(default_factory=dict)
    # By kind, then by id.
    lists: dict[str, dict[Any, Fields]] = field(default_factory=dict)
    series: dict[str, Fields] = field(default_factory=dict)
    chapters: MutableMapping[str, list[Fields]] = field(default_factory=spilled_records)
    # None if they were not requested.
    accounts: ImportedAccounts | None = None
    # Paths, and whether their responses are usable.
    usable: dict[str, bool] = field(default_factory=dict)
    # Whether the site is one of this program.
    is_flatpanel: bool = False
