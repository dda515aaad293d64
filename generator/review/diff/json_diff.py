"""Compare two JSON values field by field.

List items are matched by an identity such as `id`, not by position; a changed position is reported separately. The
order of an object's fields counts, too: two values without differences have the same bytes.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from ... import encoding

ADDED, REMOVED, CHANGED, MOVED = "added", "removed", "changed", "moved"
# Identities of list items. The first one is used that all items have, each with a different value.
_IDENTITIES = (("id",), ("slug",), NUMBERED := ("volume", "number"), ("number",), ("username",), ("name",), ("series",))
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")

Path: TypeAlias = tuple[str, ...]


class JsonChange(NamedTuple):
    """A changed field. For a moved one, old and new are positions counted from 1."""

    path: Path
    kind: str
    old: Any = None
    new: Any = None


class _Item(NamedTuple):
    """An item of a list or an object, and its step in the path."""

    step: str
    value: Any


_Items: TypeAlias = dict[Hashable, _Item]


def json_changes(old: Any, new: Any, path: Path = ()) -> Iterator[JsonChange]:
    """Every difference in the order of the old value; none if both have the same bytes."""
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _item_changes(_fields(old), _fields(new), path)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _item_changes(*_matched(old, new), path)
    elif encoding.json(old) != encoding.json(new):
        yield JsonChange(path, CHANGED, old, new)


def path_text(path: Path) -> str:
    """A path as text: chapters[number=10.5].title."""
    return "".join(step if step.startswith("[") else f".{step}" for step in path).removeprefix(".")


def _item_changes(old: _Items, new: _Items, path: Path) -> Iterator[JsonChange]:
    for key in old | new:
        if key not in new:
            yield JsonChange((*path, old[key].step), REMOVED, old=old[key].value)
        elif key not in old:
            yield JsonChange((*path, new[key].step), ADDED, new=new[key].value)
        else:
            yield from json_changes(old[key].value, new[key].value, (*path, new[key].step))
    before, after = _positions(old), _positions(new)
    for key in _moved(before, after):
        yield JsonChange((*path, new[key].step), MOVED, before[key], after[key])


def _positions(items: Iterable[Hashable]) -> dict[Hashable, int]:
    return {key: position for position, key in enumerate(items, 1)}


def _moved(old: Mapping[Hashable, int], new: Iterable[Hashable]) -> list[Hashable]:
    """The smallest set of common items without which the others have the same order."""
    common = [key for key in new if key in old]
    unmoved = {common[index] for index in _longest_ascent([old[key] for key in common])}
    return [key for key in common if key not in unmoved]


def _longest_ascent(numbers: Sequence[int]) -> Iterator[int]:
    """The indexes of a longest ascending subsequence, from the last to the first."""
    lows: list[int] = []
    ends: list[int] = []
    before: list[int | None] = []
    for index, number in enumerate(numbers):
        length = bisect_left(lows, number)
        before.append(ends[length - 1] if length else None)
        lows[length : length + 1] = [number]
        ends[length : length + 1] = [index]
    position = ends[-1] if ends else None
    while position is not None:
        yield position
        position = before[position]


def _fields(value: Mapping[str, Any]) -> _Items:
    return {
        name: _Item(name if _IDENTIFIER.fullmatch(name) else f"[{encoding.json_text(name)}]", item)
        for name, item in value.items()
    }


def _matched(old: list[Any], new: list[Any]) -> tuple[_Items, _Items]:
    """The items of two lists; matching items have the same key."""
    identity = next((fields for fields in _IDENTITIES if _identifies(fields, old) and _identifies(fields, new)), None)
    if identity is None:
        return _matched_by_value(old, new)
    names = (NUMBERED, identity) if _identifies(NUMBERED, old) and _identifies(NUMBERED, new) else (identity,)
    return _named(old, identity, names, new), _named(new, identity, names, old)


def _identifies(fields: Iterable[str], items: Iterable[Any]) -> bool:
    """Whether all items are objects with these fields, each with different plain values."""
    keys = set()
    for item in items:
        if not isinstance(item, dict) or any(isinstance(item.get(name, ()), list | dict | tuple) for name in fields):
            return False
        key = _key(fields, item)
        if key in keys:
            return False
        keys.add(key)
    return True


def _key(fields: Iterable[str], item: Mapping[str, Any]) -> tuple[bytes, ...]:
    return tuple(encoding.json(item[name]) for name in fields)


def _named(items: list[Any], identity: Path, names: tuple[Path, ...], counterparts: list[Any]) -> _Items:
    """The items by identity. The step of an item is the first of `names` with the same values on both sides."""
    counterpart_by_key = {_key(identity, item): item for item in counterparts}
    named: _Items = {}
    for item in items:
        key = _key(identity, item)
        counterpart = counterpart_by_key.get(key, item)
        name = next(fields for fields in names if _key(fields, item) == _key(fields, counterpart))
        named[key] = _Item(item_step(name, item), item)
    return named


def item_step(fields: Path, item: Mapping[str, Any]) -> str:
    """The step of an item with this identity. `volume` is omitted for a chapter without a volume."""
    names = [name for name in fields if name != "volume" or item[name] not in (None, 0, "0")]
    values = (item[name] if isinstance(item[name], str) else encoding.json_text(item[name]) for name in names)
    return f"[{', '.join(f'{name}={value}' for name, value in zip(names, values, strict=True))}]"


def _matched_by_value(old: list[Any], new: list[Any]) -> tuple[_Items, _Items]:
    """Match equal items, and the others by position."""
    before, after = list(_counted(old)), list(_counted(new))
    common = set(before) & set(after)

    def items(values: list[Any], keys: list[tuple[bytes, int]]) -> _Items:
        return {
            (key if key in common else position): _Item(f"[{position}]", value)
            for position, (key, value) in enumerate(zip(keys, values, strict=True))
        }

    return items(old, before), items(new, after)


def _counted(items: Iterable[Any]) -> Iterator[tuple[bytes, int]]:
    """Each value, and how many times it occurs before."""
    counts: Counter[bytes] = Counter()
    for item in items:
        text = encoding.json(item)
        yield text, counts[text]
        counts[text] += 1
