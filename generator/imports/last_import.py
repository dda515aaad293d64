"""What an import saves for the next one: the values of the site, and the paths that had a usable response."""

from collections.abc import Iterable

from ..reading_sites.lenient import Fields
from . import unavailable
from .merge_accounts import PERSONAL_DATA
from .merge_chapters import key
from .records import Imported
from .spilled import spilled_records


def saved(imported: Imported, last: Fields, undecided: Iterable[tuple[tuple[str, ...], str]]) -> Fields:
    """Return what the next import needs of this one, and of earlier ones for paths that are unavailable now.

    A field whose conflict is not decided keeps the value of the last import: the next one shows the conflict again.
    """
    lost = lost_paths(imported, last)
    unavailable_slugs = unavailable.series(lost)
    # An import without requests says nothing about responses.
    usable = imported.usable or dict.fromkeys(last.get("told", ()), True)
    lists = {kind: {str(id): record for id, record in records.items()} for kind, records in imported.lists.items()}
    chapters = spilled_records(last.get("chapters"))
    for slug, of_series in imported.chapters.items():
        if slug not in unavailable_slugs:
            chapters[slug] = chapters.get(slug, {}) | {key(chapter): chapter for chapter in of_series}
    series = {slug: record for slug, record in imported.series.items() if slug not in unavailable_slugs}
    memory = {
        "site": last.get("site", {}) if lost or not imported.site else imported.site,
        "lists": {kind: last.get("lists", {}).get(kind, {}) | records for kind, records in lists.items()},
        "series": last.get("series", {}) | series,
        "chapters": chapters,
        "accounts": _accounts(imported, last.get("accounts", {})),
        "is_flatpanel": imported.is_flatpanel,
        "told": lost + [path for path, is_usable in usable.items() if is_usable],
    }
    restore(memory, last, undecided)
    return memory


def restore(memory: Fields, last: Fields, undecided: Iterable[tuple[tuple[str, ...], str]]) -> None:
    """Give the fields whose conflict is not decided the values of the last import."""
    fields: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for place, name in undecided:
        fields.setdefault(place[:-1], []).append((place[-1], name))
    for around, names in fields.items():
        _restore(memory, last, around, names)


def _accounts(imported: Imported, last: Fields) -> Fields:
    """Return the accounts of this import, and of earlier ones; personal data of the last import that had it."""
    if imported.accounts is None:
        return last
    hidden = () if imported.accounts.has_personal_data else PERSONAL_DATA
    records = {
        username: {name: value for name, value in last.get(username, {}).items() if name in hidden} | record
        for username, record in imported.accounts.records.items()
    }
    # A key that comes back with its account is not one that people removed here.
    gone = {username: {**record, "keys": []} for username, record in last.items() if username not in records}
    return gone | records


def _restore(memory: Fields, last: Fields, around: tuple[str, ...], names: Iterable[tuple[str, str]]) -> None:
    """Give fields of records that are in the same place the values of the last import."""
    outer, parent, before = memory, memory, last
    for step in around:
        outer, parent, before = parent, parent[step], before.get(step, {})
    for leaf, name in names:
        record = {field: value for field, value in parent.get(leaf, {}).items() if field != name}
        value = before.get(leaf, {})
        parent[leaf] = record | ({name: value[name]} if name in value else {})
    if around:
        outer[around[-1]] = parent


def lost_paths(imported: Imported, last: Fields) -> list[str]:
    """Return the paths with a usable response at the last import and none now."""
    return [path for path in last.get("told", ()) if not imported.usable.get(path, True)]
