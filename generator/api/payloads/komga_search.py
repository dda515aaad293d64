"""Names of series that searches in Komga's API find, and the orders of its lists that `/api/v2` does not have.

Only public series are in it. A search by name has the whole name, in any case of letters.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from ... import encoding
from ...catalog.entities import SeriesSummary

# A set of series is named by the number that this function gives for the positions of its series.
AddSet: TypeAlias = Callable[[Iterable[int]], int]


def tags(series: SeriesSummary) -> list[str]:
    return [series.kind.capitalize()] if series.kind else []


def people(series: SeriesSummary) -> Iterator[tuple[str, str]]:
    """The names of its people, each with a role."""
    yield from ((person.name, "writer") for person in series.authors)
    yield from ((person.name, "penciller") for person in series.artists)


def sets(series: Sequence[SeriesSummary], add: AddSet) -> tuple[int, dict[str, dict[str, int]]]:
    """The set of all public series, and sets of them by tag, publisher and author.

    `series` are all of the index, and their positions are those in it.
    """
    public = {position: entry for position, entry in enumerate(series) if entry.is_public}
    return add(public), {field: _by_name(public, names_of, add) for field, names_of in _NAMES.items()}


def _by_name(
    public: Mapping[int, SeriesSummary], names_of: Callable[[SeriesSummary], Iterable[str]], add: AddSet
) -> dict[str, int]:
    positions: dict[str, list[int]] = {}
    for position, entry in public.items():
        for name in dict.fromkeys(f"/{name.casefold()}" for name in names_of(entry)):
            positions.setdefault(name, []).append(position)
    return {name: add(places) for name, places in positions.items()}


def orders(series: Sequence[SeriesSummary]) -> dict[str, list[SeriesSummary]]:
    """The orders that `/api/v2` does not have. Equal series are sorted by slug."""
    by_slug = sorted(series, key=lambda entry: entry.slug)
    # Another order after each release of chapters, the same for each request until then.
    newest = max((entry.updated for entry in series), default=0)
    keys: dict[str, Callable[[SeriesSummary], Any]] = {
        "created": lambda entry: entry.since,
        "random": lambda entry: encoding.digest(f"{newest} {entry.slug}".encode()),
    }
    return {
        f"{sign}{name}": sorted(by_slug, key=key, reverse=bool(sign))
        for name, key in keys.items()
        for sign in ("", "-")
    }


_NAMES: dict[str, Callable[[SeriesSummary], Iterable[str]]] = {
    "tags": tags,
    "publishers": lambda entry: (group.name for group in entry.groups),
    "authors": lambda entry: (f"{name},{role}" for name, role in people(entry)),
}
