"""The records of an import: the site's statements about its series and chapters, made where its JSON is read."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .lenient import Fields


class Names(NamedTuple):
    """The names of people: in version 2, None if it names none, and in the older versions."""

    v2: list[str] | None
    old: list[str]


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
    # slug/volume/number in the older versions.
    old_path: str | None
    # `last_updated` in the Cubari JSON.
    updated: int | None
    in_v2: bool
    # Fields that no response states.
    unstated: list[str]


@dataclass(slots=True)
class Imported:
    """The records of a site as YAML fields; people and groups are referenced by id."""

    site: Fields = field(default_factory=dict)
    # By kind, then by id.
    lists: dict[str, dict[Any, Fields]] = field(default_factory=dict)
    series: dict[str, Fields] = field(default_factory=dict)
    chapters: dict[str, list[Fields]] = field(default_factory=dict)
    # Paths, and whether their responses are usable.
    usable: dict[str, bool] = field(default_factory=dict)
