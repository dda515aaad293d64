"""Rows -> the people, categories, groups and members of a catalog, by their ids."""

from collections.abc import Container, Iterable, Iterator
from typing import Any

from ...catalog.records import Category
from ...reading_sites.lenient import Fields, valid_fields
from ...reading_sites.notes import Notes
from ..categories import UniqueCategories
from ..merge_plan import MODELS
from . import rows
from .media_paths import MediaFolder
from .tables import Tables

_CONTACTS = ("name", "website", "description", "email", "discord", "twitter", "reddit", "irc")
# What responses show for a role.
_ROLES = {
    "LD": "Leader",
    "TL": "Translator",
    "PR": "Proofreader",
    "CL": "Cleaner",
    "RD": "Redrawer",
    "TS": "Typesetter",
    "RP": "Raw Provider",
    "QC": "Quality Checker",
}


def lists(tables: Tables, media: MediaFolder, notes: Notes) -> dict[str, dict[Any, Fields]]:
    """Return the valid records of each kind, by id."""
    records: dict[str, dict[Any, Fields]] = {
        "authors": dict(_valid("authors", _people(tables, "author"), notes)),
        "artists": dict(_valid("artists", _people(tables, "artist"), notes)),
        "categories": dict(_categories(tables, notes)),
        "members": dict(_valid("members", map(dict, tables.rows("groups_member")), notes)),
    }
    groups = _groups(tables, media, records["members"], notes)
    return records | {"groups": dict(_valid("groups", groups, notes))}


def _valid(kind: str, entries: Iterable[Fields], notes: Notes) -> Iterator[tuple[int, Fields]]:
    for entry in sorted(entries, key=lambda entry: entry["id"] or 0):
        if record := valid_fields(MODELS[kind], entry, f"{kind} {entry['id']}", notes):
            yield record["id"], record


def _people(tables: Tables, model: str) -> Iterator[Fields]:
    """Yield the people with their aliases in the order of the alphabet, as responses have them."""
    aliases = rows.aliases(tables, model)
    for row in tables.rows(f"reader_{model}"):
        yield {**row, "aliases": sorted(aliases.get(row["id"], ()))}


def _categories(tables: Tables, notes: Notes) -> Iterator[tuple[str, Fields]]:
    unique = UniqueCategories(notes)
    for row in sorted(tables.rows("reader_category"), key=lambda row: row["id"]):
        record = valid_fields(Category, row, f"category {row['name']}"[:60], notes)
        if record and unique.add(record) is None:
            yield record["id"], record


def _groups(tables: Tables, media: MediaFolder, members: Container[int], notes: Notes) -> Iterator[Fields]:
    roles: dict[int, list[Fields]] = {}
    for row in sorted(tables.rows("groups_role"), key=lambda row: row["id"] or 0):
        if row["member_id"] in members:
            role = {"member": row["member_id"], "role": _ROLES.get(row["role"], row["role"])}
            roles.setdefault(row["group_id"], []).append(role)
        else:
            notes.add("unknown member; role skipped", f"groups {row['group_id']}")
    for row in tables.rows("groups_group"):
        id = row["id"]
        contacts = {name: row.get(name, "") for name in _CONTACTS}
        logo = media.image(row["logo"], f"groups/{id}/") if row["logo"] else None
        yield {"id": id, **contacts, "logo": logo, "members": roles.get(id, [])}
