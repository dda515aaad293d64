"""Differences as groups: what only one site has, other differences without a reason, and known reasons."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from ...reading_sites.lenient import fields, number, text
from ..diff.json_diff import ADDED, REMOVED
from .model import Difference

# The kind of an item of a list, by the name of the list.
_KINDS = {
    "series": "series",
    "authors": "author",
    "artists": "artist",
    "groups": "group",
    "members": "member",
    "categories": "category",
}
# Parameters that filter no series.
_UNFILTERED = ("sort", "date_format", "page", "limit")

# A kind such as series, and a name.
Entity = tuple[str, str]


@dataclass(slots=True)
class Summary:
    """Groups of differences, each in the order of the first one."""

    # By kind, the names that only the first or the second site has.
    only_first: dict[str, list[str]] = field(default_factory=dict)
    only_second: dict[str, list[str]] = field(default_factory=dict)
    # Differences in responses that mention these names.
    following: int = 0
    # Differences without a reason in one field of one kind of response.
    others: list[list[Difference]] = field(default_factory=list)
    by_reason: dict[str, list[Difference]] = field(default_factory=dict)


def summary(differences: Iterable[Difference]) -> Summary:
    """Group differences."""
    result, unexplained = Summary(), list[Difference]()
    for difference in differences:
        if difference.reason:
            result.by_reason.setdefault(difference.reason, []).append(difference)
        else:
            unexplained.append(difference)
    only = {kind: _only(kind, unexplained) for kind in (REMOVED, ADDED)}
    result.only_first, result.only_second = (_by_kind(only[kind]) for kind in (REMOVED, ADDED))
    groups: dict[tuple[str, str, str], list[Difference]] = {}
    for difference in unexplained:
        entities = {*_entities(difference)}
        if entities and entities <= only.get(difference.kind, {}).keys():
            result.following += not _is_listed(difference)
        else:
            groups.setdefault((difference.route, difference.kind, difference.field), []).append(difference)
    result.others = list(groups.values())
    return result


def _only(kind: str, differences: Iterable[Difference]) -> dict[Entity, None]:
    """The entities that are missing in a list of all, or additional there."""
    return {
        entity: None
        for difference in differences
        if difference.kind == kind and _is_listed(difference)
        for entity in _entities(difference)
    }


def _by_kind(entities: Iterable[Entity]) -> dict[str, list[str]]:
    by_kind: dict[str, list[str]] = {}
    for kind, name in entities:
        by_kind.setdefault(kind, []).append(name)
    return by_kind


def _is_listed(difference: Difference) -> bool:
    """Whether a difference is an item of a list of all people, series or chapters."""
    path, _, query = difference.path.partition("?")
    if any(name not in _UNFILTERED for name, _ in parse_qsl(query)) or path.endswith("/releases"):
        return False
    if difference.route.startswith("/api/v2/cubari"):
        return len(difference.steps) == 2 and difference.steps[0] == "chapters"
    steps = difference.steps[1:] if difference.steps[:1] in (("results",), ("volumes",)) else difference.steps
    if difference.steps[:1] == ("volumes",) or "{volume}" in difference.route:
        return len(steps) in (1, 2) and all(step.startswith('["') for step in steps)
    return len(steps) == 1 and steps[0].startswith("[")


def _entities(difference: Difference) -> Iterator[Entity]:
    """The series, chapters, people or categories that an added or removed item is about."""
    if difference.kind not in (ADDED, REMOVED):
        return
    item = difference.first if difference.kind == REMOVED else difference.second
    parts, steps = difference.path.partition("?")[0].split("/"), difference.steps
    if difference.route.startswith("/api/v2/cubari") and len(steps) == 2 and steps[0] == "chapters":
        yield from _chapter(parts[4], fields(item).get("volume"), fields(item).get("number"))
    elif steps[:1] == ("volumes",) or "{volume}" in difference.route:
        yield from _old_chapters(parts, [step.strip('[]"') for step in steps if step != "volumes"], item)
    elif isinstance(item, dict) and "published" in item:
        yield from _chapter(text(item.get("series")), item.get("volume"), item.get("number"))
    else:
        name = difference.name if difference.name not in ("", "results") else parts[3] if len(parts) > 3 else ""
        kind = "series" if name == "releases" else _KINDS.get(name)
        value = text(fields(item).get("slug" if kind == "series" else "name")) or text(item)
        if kind and value:
            yield kind, value


def _chapter(slug: str, volume: Any, stated: Any) -> Iterator[Entity]:
    try:
        yield "chapter", f"{slug} {volume if volume not in (None, 'None') else 0}/{number(stated)}"
    except ValueError:
        return


def _old_chapters(parts: list[str], keys: list[str], item: Any) -> Iterator[Entity]:
    """The chapters of version 1 and of the unversioned API: one of a volume, or a whole volume."""
    slug = parts[parts.index("series") + 1]
    keys = [*parts[parts.index("series") + 2 :], *keys]
    if len(keys) == 1:
        for stated in fields(item):
            yield from _chapter(slug, keys[0], stated)
    elif len(keys) == 2:
        yield from _chapter(slug, *keys)
