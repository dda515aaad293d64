"""Changes -> lines for people: shortened where they are long, told once where they are many, printable always."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from ... import encoding
from ...api.routes import route_of
from ...catalog.field_values import common_start
from ...escaping import escaped
from .compare import Comparison
from .entity_changes import EntityChange
from .json_diff import ADDED, CHANGED, MOVED, REMOVED, FieldChange, path_text

MARKS = {ADDED: "+", REMOVED: "-", CHANGED: "!", MOVED: "!"}
# How much is shown of a value, and of what stands before the place where a long text differs.
_WIDTH, _BEFORE = 80, 20
# More changes of one kind in one field, of so many things, are told as one.
_FEW = 3
# So many things whose changes are alike are told one by one.
_MANY = 50
PARTIAL = "of one of the two there is only a manifest, so redirects, licences and settings were not compared"


def lines(changes: Iterable[FieldChange], *, most: int | None = None, whole: bool = False) -> Iterator[str]:
    """A line for each change, or for many that are alike; no more than so many."""
    change_text = [[one] for one in changes] if whole else _alike(changes)
    for group in islice(change_text, most):
        more = f", and {len(group) - 1:,} more like it" if len(group) > 1 else ""
        yield f"{MARKS[group[0].kind]} {_told(group[0])}{more}"
    if most is not None and len(change_text) > most:
        yield f"  … and {len(change_text) - most:,} more"


def _alike(changes: Iterable[FieldChange]) -> list[list[FieldChange]]:
    """Changes of the same field of many things in one group, every other one alone."""
    groups: dict[tuple[str, ...], list[FieldChange]] = {}
    for one in changes:
        groups.setdefault(_field(one), []).append(one)
    return [part for group in groups.values() for part in ([group] if len(group) > _FEW else [[one] for one in group])]


def _field(one: FieldChange) -> tuple[str, ...]:
    """What changed how, of whichever thing in a list."""
    return one.kind, *("[]" if step.startswith("[") else step for step in one.path)


def _told(one: FieldChange) -> str:
    path = cut(escaped(path_text(one.path))) or "the whole of it"
    match one.kind:
        case "added":
            return f"{path}: {value_text(one.new)}"
        case "removed":
            return f"{path}: {value_text(one.old)}"
        case "moved":
            return f"{path}: moved from place {one.old} to place {one.new}"
    old, new = one.old, one.new
    if isinstance(old, str) and isinstance(new, str):
        start = max(0, len(common_start(old, new)) - _BEFORE)
        if max(len(old), len(new)) > _WIDTH and start:
            old, new = f"…{old[start:]}", f"…{new[start:]}"
    return f"{path}: {value_text(old)} → {value_text(new)}"


def value_text(value: Any) -> str:
    """A value as JSON, as much of it as fits."""
    return cut(escaped(encoding.json(value).decode()))


def cut(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def summary(found: Comparison) -> str:
    """All of it in a sentence."""
    if not found.differs:
        return "nothing differs"
    said = {"retimed": "kept for another time"}
    counts = found.counts
    unchanged = counts.pop("unchanged")
    parts = [f"{count:,} {said.get(kind, kind)}" for kind, count in counts.items() if count]
    return f"{', '.join([*parts, f'{unchanged:,} unchanged'])}"


def grouped(found: Sequence[EntityChange]) -> Iterator[list[EntityChange]]:
    """The things that have something to say; very many that say the same of the same fields in one group."""
    groups: dict[object, list[EntityChange]] = {}
    for one in found:
        groups.setdefault(_alike_as(one), []).append(one)
    for one in found:
        group = groups[_alike_as(one)]
        if one.is_told and (len(group) <= _MANY or one is group[0]):
            yield group if len(group) > _MANY else [one]


def _alike_as(one: EntityChange) -> object:
    return one.is_told, one.name.kind, one.kind, frozenset(map(_field, one.changes)), tuple(access(one))


def headline(group: Sequence[EntityChange]) -> str:
    """A thing and what became of it, or many."""
    first = group[0]
    if len(group) > 1:
        return f"{first.name.kind} {_names(group)} {first.kind}, all alike; of the first:"
    title = f": {value_text(first.title)}" if first.title else ""
    return f"{escaped(str(first.name))} {first.kind}{title}"


def _names(group: Sequence[EntityChange]) -> str:
    names = escaped(", ".join(one.name.name for one in group[:_FEW]))
    return f"{names} and {len(group) - _FEW:,} more" if len(group) > _FEW else names


def urls(one: EntityChange) -> str:
    """How many of its URLs answer otherwise."""
    kinds = Counter(each.kind for each in one.differences)
    if len(kinds) == 1:
        return counted(len(one.differences), "URL")
    return f"{counted(len(one.differences), 'URL')}: {', '.join(f'{count:,} {kind}' for kind, count in kinds.items())}"


def access(one: EntityChange) -> Iterator[str]:
    """Who may read it now, where that is not who might before."""
    changed = Counter((route_of(each.url), *each.access) for each in one.differences if each.access)
    for (path, before, after), count in changed.items():
        yield f"! {path}: {before} → {after}" + (f" ({count:,} URLs)" if count > 1 else "")


def ages(found: Comparison) -> Iterator[str]:
    """For how long caches keep what they kept for another time before."""
    changed: dict[tuple[int, int], list[str]] = {}
    for one in found.differences:
        if one.ages:
            changed.setdefault(one.ages, []).append(one.url)
    for (before, after), urls in changed.items():
        yield f"! {before} s → {after} s: {counted(len(urls), 'URL')}, such as {escaped(urls[0])}"


def settings(found: Comparison) -> Iterator[str]:
    """The parts of the configuration that differ; whose keys those are is nobody's business."""
    return (f"! {escaped(name)}" for name in found.settings)


def affected(found: Iterable[EntityChange]) -> Iterator[str]:
    """What shows the changes of other things, in a line for each kind."""
    kinds: dict[str, list[EntityChange]] = {}
    for one in found:
        kinds.setdefault(one.name.kind, []).append(one)
    for kind, group in kinds.items():
        urls = counted(sum(len(one.differences) for one in group), "URL")
        reasons = [str(name) for name in dict.fromkeys(name for one in group for name in one.because)]
        because = f", because of {escaped(', '.join(reasons[:_FEW]))}" if reasons else ""
        because += f" and {len(reasons) - _FEW:,} more" if len(reasons) > _FEW else ""
        yield f"{f'{kind} {_names(group)}'.rstrip()} ({urls}{because})"
