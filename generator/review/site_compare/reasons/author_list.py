"""Authors in version 1: the original service lists artists there, so other responses state what is right."""

from collections import Counter
from typing import Any

from ....reading_sites.lenient import entries, line, lines, text, texts
from ..model import V1, V2
from .facts import Facts

PATH = f"{V1}/authors"


def is_corrected(path: str, first: Any, second: Any, facts: Facts) -> bool:
    """Whether the first site states artists as its authors, and the second one the authors of its series."""
    name, rest = path[: len(PATH)], path[len(PATH) :]
    if name != PATH or not first or first != facts.first_value(f"{V1}/artists{rest}"):
        return False
    if rest:
        return second in [*entries(facts.second_value(PATH))]
    people = [*entries(second)]
    authors = [(author.get("id"), author.get("name")) for author in facts.results(f"{V2}/authors")]
    if [(person.get("id"), person.get("name")) for person in people] != authors:
        return False
    stated = Counter(
        (text(series.get("slug")), *_names([text(person.get("name")), *texts(person.get("aliases"))]))
        for person in people
        for series in entries(person.get("series"))
    )
    described = {text(series.get("slug")): series for series in facts.listed(f"{V1}/series")}
    return stated == _credits(facts) and all(_is_complete(person, described) for person in people)


def _credits(facts: Facts) -> Counter[tuple[str, ...]]:
    """The slug of each series of the first site, with the names of each of its authors."""
    return Counter(
        (text(series.get("slug")), *_names(texts(names)))
        for series in facts.listed(f"{V1}/series")
        for names in _items(series.get("authors"))
    )


def _names(names: list[str]) -> list[str]:
    """A name, then other names in a fixed order."""
    return [*map(line, names[:1]), *sorted(lines(names[1:]))]


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_complete(person: dict[str, Any], described: dict[str, dict[str, Any]]) -> bool:
    """Whether a person has all fields, and series as the first site describes them, by title."""
    expected = []
    for series in entries(person.get("series")):
        series_there = described.get(text(series.get("slug")), {})
        aliases = sorted(lines(series_there.get("aliases")))
        stated = texts(series.get("aliases"))
        right = aliases == sorted(stated) and series.get("aliases") == stated
        title = line(series_there.get("title"))
        expected.append({"slug": series_there.get("slug"), "title": title, "aliases": stated if right else None})
    by_title = sorted(expected, key=lambda series: (text(series["title"]), text(series["slug"])))
    return person.get("series") == by_title and isinstance(person.get("aliases"), list)
