"""Two JSON values -> what is different, field by field. Pure.

What stands in a list is matched by what it is called, and not by where it stands; that it stands elsewhere is a change
of its own. The order of an object's fields counts as well: two values that differ in no way are the same bytes.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from ... import encoding

ADDED, REMOVED, CHANGED, MOVED = "added", "removed", "changed", "moved"
# What tells the objects of a list apart: the first of these that all of them have, and no two alike.
_IDENTITIES = (("id",), ("slug",), _PLACE := ("volume", "number"), ("number",), ("username",), ("name",), ("series",))
_PLAIN = re.compile(r"[A-Za-z_]\w*")

Path: TypeAlias = tuple[str, ...]


class FieldChange(NamedTuple):
    """A field that is not what it was. Of one that moved, old and new are its places, counted from 1."""

    path: Path
    kind: str
    old: Any = None
    new: Any = None


class _Item(NamedTuple):
    """Something inside a list or an object, and the step that leads to it."""

    step: str
    value: Any


_Items: TypeAlias = dict[Hashable, _Item]


def field_changes(old: Any, new: Any, path: Path = ()) -> Iterator[FieldChange]:
    """Every difference, in the order of the old value; none if both are the same bytes."""
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _inside(_fields(old), _fields(new), path)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _inside(*_matched(old, new), path)
    elif encoding.json(old) != encoding.json(new):
        yield FieldChange(path, CHANGED, old, new)


def path_text(path: Path) -> str:
    """A path as people write it: chapters[number=10.5].title."""
    return "".join(step if step.startswith("[") else f".{step}" for step in path).removeprefix(".")


def _inside(old: _Items, new: _Items, path: Path) -> Iterator[FieldChange]:
    for key in old | new:
        if key not in new:
            yield FieldChange((*path, old[key].step), REMOVED, old=old[key].value)
        elif key not in old:
            yield FieldChange((*path, new[key].step), ADDED, new=new[key].value)
        else:
            yield from field_changes(old[key].value, new[key].value, (*path, new[key].step))
    before, after = _places(old), _places(new)
    for key in _moved(before, after):
        yield FieldChange((*path, new[key].step), MOVED, before[key], after[key])


def _places(items: Iterable[Hashable]) -> dict[Hashable, int]:
    return {key: place for place, key in enumerate(items, 1)}


def _moved(old: Mapping[Hashable, int], new: Iterable[Hashable]) -> list[Hashable]:
    """As few as can be of those that both have, without which the others stand in the same order."""
    common = [key for key in new if key in old]
    stay = {common[index] for index in _longest_ascent([old[key] for key in common])}
    return [key for key in common if key not in stay]


def _longest_ascent(numbers: Sequence[int]) -> Iterator[int]:
    """Where the members of a longest ascending part stand, the last one first."""
    lows: list[int] = []
    ends: list[int] = []
    before: list[int | None] = []
    for index, number in enumerate(numbers):
        length = bisect_left(lows, number)
        before.append(ends[length - 1] if length else None)
        lows[length : length + 1] = [number]
        ends[length : length + 1] = [index]
    at = ends[-1] if ends else None
    while at is not None:
        yield at
        at = before[at]


def _fields(value: Mapping[str, Any]) -> _Items:
    return {
        name: _Item(name if _PLAIN.fullmatch(name) else f"[{encoding.json(name).decode()}]", one)
        for name, one in value.items()
    }


def _matched(old: list[Any], new: list[Any]) -> tuple[_Items, _Items]:
    """The items of two lists, so that those that belong together have the same key."""
    identity = next((one for one in _IDENTITIES if _identifies(one, old) and _identifies(one, new)), None)
    if identity is None:
        return _by_value(old, new)
    names = (_PLACE, identity) if _identifies(_PLACE, old) and _identifies(_PLACE, new) else (identity,)
    return _named(old, identity, names, new), _named(new, identity, names, old)


def _identifies(fields: Iterable[str], items: Iterable[Any]) -> bool:
    seen = set()
    for one in items:
        if not isinstance(one, dict) or any(isinstance(one.get(name, ()), list | dict | tuple) for name in fields):
            return False
        key = _key(fields, one)
        if key in seen:
            return False
        seen.add(key)
    return True


def _key(fields: Iterable[str], one: Mapping[str, Any]) -> tuple[bytes, ...]:
    return tuple(encoding.json(one[name]) for name in fields)


def _named(items: list[Any], identity: Path, names: tuple[Path, ...], others: list[Any]) -> _Items:
    """Each item by its identity, called by a name that it has on both sides."""
    there = {_key(identity, one): one for one in others}
    found: _Items = {}
    for one in items:
        key = _key(identity, one)
        other = there.get(key, one)
        name = next(fields for fields in names if _key(fields, one) == _key(fields, other))
        found[key] = _Item(_step(name, one), one)
    return found


def _step(fields: Path, one: Mapping[str, Any]) -> str:
    """A chapter in no volume is called by its number alone."""
    said = [name for name in fields if name != "volume" or one[name] not in (None, 0, "0")]
    values = (one[name] if isinstance(one[name], str) else encoding.json(one[name]).decode() for name in said)
    return f"[{', '.join(f'{name}={value}' for name, value in zip(said, values, strict=True))}]"


def _by_value(old: list[Any], new: list[Any]) -> tuple[_Items, _Items]:
    """Equal items belong together; of the others, those that stand at the same place."""
    before, after = list(_counted(old)), list(_counted(new))
    both = set(before) & set(after)

    def items(values: list[Any], keys: list[tuple[bytes, int]]) -> _Items:
        return {
            (key if key in both else place): _Item(f"[{place}]", value)
            for place, (key, value) in enumerate(zip(keys, values, strict=True))
        }

    return items(old, before), items(new, after)


def _counted(items: Iterable[Any]) -> Iterator[tuple[bytes, int]]:
    """Each value, and how often it was there before."""
    seen: Counter[bytes] = Counter()
    for one in items:
        text = encoding.json(one)
        yield text, seen[text]
        seen[text] += 1
