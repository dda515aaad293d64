"""People of one name: their aliases show which of them made a series.

The lists of authors in version 1 of the original service are those of the artists. But each series of version 1 has the
names and aliases of its authors, in the order of their ids.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..reading_sites.lenient import Fields, fields, lines
from ..reading_sites.responses import OLD, Responses


class StatedPerson(NamedTuple):
    """The name of a person and the aliases, in alphabetical order."""

    name: str
    aliases: tuple[str, ...] = ()


def stated_people(people: Any) -> list[StatedPerson]:
    """The people of a series in an older version, which has a list for each person: name, then aliases."""
    names = [lines(person) for person in people] if isinstance(people, list) else []
    return [StatedPerson(person[0], tuple(sorted(person[1:]))) for person in names if person]


def stated_by_series(responses: Responses, kind: str) -> list[list[StatedPerson]]:
    """The authors or artists of each series in version 1."""
    folder = f"{OLD[0]}/series"
    details = [response.value for path, response in responses.items() if path.rpartition("/")[0] == folder]
    return [stated_people(fields(series).get(kind)) for series in details]


def ids_in_order(records: Mapping[int, Fields], people: Iterable[list[StatedPerson]]) -> dict[StatedPerson, int]:
    """Return the ids of people by lists in the order of ids. A list counts if it has all people of one name."""
    ids: dict[str, list[int]] = {}
    for id in sorted(records):
        ids.setdefault(records[id]["name"], []).append(id)
    pairs = [
        (person, id)
        for stated in people
        for name in dict.fromkeys(person.name for person in stated)
        if len(same_name := [person for person in stated if person.name == name]) == len(ids.get(name, ()))
        for person, id in zip(same_name, ids[name], strict=True)
    ]
    return _unique(pairs)


def ids_by_aliases(records: Mapping[int, Fields]) -> dict[StatedPerson, int]:
    """Return the id of each person that has its name and aliases alone."""
    return _unique(
        (StatedPerson(record["name"], tuple(sorted(record.get("aliases", ())))), id) for id, record in records.items()
    )


def _unique(pairs: Iterable[tuple[StatedPerson, int]]) -> dict[StatedPerson, int]:
    ids: dict[StatedPerson, set[int]] = {}
    for person, id in pairs:
        ids.setdefault(person, set()).add(id)
    return {person: min(same) for person, same in ids.items() if len(same) == 1}
