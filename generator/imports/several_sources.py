"""The last import of a catalog that has several sources: a site, and the database of that site.

Each source has a memory of its own: a field changed at the source if it differs from that memory. The memory of all
sources has the values that imports wrote: people edited a field if the catalog differs from it. So an import of a site
keeps the facts that only the database has, and neither source takes a value of the other for an edit.
"""

from typing import Any

from ..catalog import field_values
from ..reading_sites.lenient import Fields
from .spilled import spilled_records

# Fields that responses do not have as such.
_INFERRED = ("chapter_title",)
Records = dict[str, Fields]


def last_values(now: Fields, own: Fields, every: Fields, *, is_exact: bool) -> Fields:
    """Return the last import as the merge needs it: a field that did not change at the source has its value of now.

    All arguments have the form of a memory. A database is exact, the responses of a site are not.
    """
    if not own and is_exact:
        return every

    def last(now: Records, own: Records, every: Records) -> Records:
        names = [name for name in every | own if name in own or name in now]
        values = {name: _last(now.get(name), own.get(name), every.get(name), is_exact) for name in names}
        return {name: record for name, record in values.items() if record}

    chapters = spilled_records()
    for slug in dict.fromkeys([*own.get("chapters", {}), *now["chapters"]]):
        chapters[slug] = last(now["chapters"].get(slug, {}), *_both(own, every, "chapters", slug))
    return {
        **every,
        **own,
        "site": _last(now["site"] or own.get("site"), own.get("site"), every.get("site"), is_exact),
        "lists": {kind: last(now["lists"][kind], *_both(own, every, "lists", kind)) for kind in now["lists"]},
        "series": last(now["series"], *_both(own, every, "series")),
        "chapters": chapters,
    }


def all_values(now: Fields, own: Fields, every: Fields, *, is_exact: bool) -> Fields:
    """Return the memory of all sources after an import of one."""

    def updated(now: Records, own: Records, every: Records) -> Records:
        return every | {name: _updated(now[name], own.get(name), every.get(name), is_exact) for name in now}

    chapters = spilled_records(every.get("chapters"))
    for slug, of_series in now["chapters"].items():
        chapters[slug] = updated(of_series, *_both(own, every, "chapters", slug))
    return {
        **every,
        **now,
        "site": now["site"] or every.get("site", {}),
        "lists": {kind: updated(now["lists"][kind], *_both(own, every, "lists", kind)) for kind in now["lists"]},
        "series": updated(now["series"], *_both(own, every, "series")),
        "chapters": chapters,
    }


def _both(own: Fields, every: Fields, *place: str) -> tuple[Records, Records]:
    for name in place:
        own, every = own.get(name, {}), every.get(name, {})
    return own, every


def _last(now: Fields | None, own: Fields | None, every: Fields | None, is_exact: bool) -> Fields:
    if now is None or (own is None and is_exact):
        return every or own or {}
    if own is None:
        values = every or {}
        return {name: _unless_inexact(name, now[name], value) for name, value in values.items() if name in now}
    written = own if every is None else every
    unchanged = {name: value for name, value in now.items() if own.get(name) == value}
    changed = [name for name in {**own, **now} if name not in unchanged]
    return unchanged | {name: written[name] for name in changed if name in written}


def _updated(now: Fields, own: Fields | None, every: Fields | None, is_exact: bool) -> Fields:
    if every is None or is_exact:
        return now
    kept = {name: value for name, value in every.items() if name in now or name not in (own or {})}
    new = {name: value for name, value in now.items() if name not in every or _is_changed(name, value, own, every)}
    return kept | new


def _is_changed(name: str, now: Any, own: Fields | None, every: Fields) -> bool:
    if own is None:
        return bool(_unless_inexact(name, now, every[name]) != now)
    return bool(own.get(name) != now)


def _unless_inexact(name: str, now: Any, written: Any) -> Any:
    """Return the value that was written; that of the site if both may be the same fact."""
    if name == "modified":
        # The Cubari JSON rounds up to the next second.
        return now if 0 <= field_values.instant(now) - field_values.instant(written) <= 1 else written
    return now if name in _INFERRED else written
