"""The result of a comparison in groups, as text and as JSON: what only one site has, other differences, reasons."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from ...errors import counted, escaped
from ...reading_sites.lenient import fields, number, text
from ..diff.json_diff import ADDED, REMOVED, JsonChange
from ..diff.lines import change_text, cut
from .facts import STATUS, UNUSABLE, Difference
from .run import CompareOptions, CompareResult

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
    """The series, chapters, people or categories that an item is about."""
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


# The result as lines of text that fit a screen

# Lines, and their length.
SCREEN, WIDTH = 40, 196
# Groups without a reason, notes and names that are shown; the rest is counted.
MAX_GROUPS, MAX_NOTES, MAX_NAMES = 12, 3, 3
_PLURALS = {"category": "categories", "series": "series"}


def comparison_lines(result: CompareResult) -> list[str]:
    """Return the lines: what has no reason first."""
    groups, unexplained = summary(result.differences), len(result.unexplained)
    lines = [f"{counted(result.paths, 'response')} of each site compared, {result.equal:,} equal"]
    for url, stated in result.stated.items():
        lines.append(f"URLs in responses of {url} begin with {stated}; only the paths behind it are compared")
    for note in [*result.notes[:MAX_NOTES], *_more(len(result.notes) - MAX_NOTES, "notes with --json")]:
        lines.append(f"note: {note}")
    if unexplained:
        lines += [f"{counted(unexplained, 'difference')} without a known reason:"]
        lines += [f"  {line}" for line in _unexplained(groups)]
    if groups.by_reason:
        lines.append(f"{counted(len(result.differences) - unexplained, 'difference')} with a known reason:")
        reasons = [
            f"  {len(differences):,} × {reason}: {example(differences[0])}"
            for reason, differences in groups.by_reason.items()
        ]
        shown = max(SCREEN - len(lines) - 2, 1)
        lines += [*reasons[:shown], *_more(len(reasons) - shown, "reasons with --json")]
    return [line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…" for line in lines]


def _unexplained(groups: Summary) -> Iterator[str]:
    for which, names in (("first", groups.only_first), ("second", groups.only_second)):
        for kind, those in names.items():
            more = f" and {len(those) - MAX_NAMES:,} more" if len(those) > MAX_NAMES else ""
            label = kind if len(those) == 1 else _PLURALS.get(kind, f"{kind}s")
            yield f"{len(those):,} {label} only on the {which} site: {cut(escaped(', '.join(those[:MAX_NAMES])))}{more}"
    if groups.following:
        yield f"{counted(groups.following, 'other difference')} of responses that mention these"
    for differences in groups.others[:MAX_GROUPS]:
        yield f"{len(differences):,} × {label_of(differences)}: {example(differences[0])}"
    yield from _more(len(groups.others) - MAX_GROUPS, "kinds of differences with --json")


def label_of(differences: Sequence[Difference]) -> str:
    """The kind of response and its field."""
    first = differences[0]
    kind = {STATUS: "another status", UNUSABLE: "no usable response"}.get(first.kind, first.kind)
    return f"{first.route} {first.field} {kind}" if first.field else f"{first.route} {kind}"


def example(difference: Difference) -> str:
    """A difference in one line."""
    path = cut(escaped(difference.path))
    if difference.kind in (STATUS, UNUSABLE):
        return f"{path}: {difference.first} → {difference.second}"
    if not difference.steps:
        return path
    change = JsonChange(difference.steps, difference.kind, difference.first, difference.second)
    return f"{path} {change_text(change)}"


def _more(count: int, label: str) -> Iterator[str]:
    if count > 0:
        yield f"  and {count:,} more {label}"


def result_json(options: CompareOptions, result: CompareResult) -> dict[str, Any]:
    """The result as JSON. Nothing without a reason is left out."""
    groups = summary(result.differences)
    return {
        "ok": not result.unexplained,
        "first": str(options.first),
        "second": str(options.second),
        "stated": result.stated,
        "responses": result.paths,
        "equal": result.equal,
        "requests": result.requests,
        "only_first": groups.only_first,
        "only_second": groups.only_second,
        "differences": [_difference(difference) for difference in result.unexplained],
        "reasons": [
            {"reason": reason, "count": len(differences), "example": _difference(differences[0])}
            for reason, differences in groups.by_reason.items()
        ],
        "notes": result.notes,
    }


def _difference(difference: Difference) -> dict[str, Any]:
    return {
        "path": difference.path,
        "field": difference.place,
        "change": difference.kind,
        "first": difference.first,
        "second": difference.second,
    }
