"""Responses -> the people, categories and groups of a catalog, by their ids."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..catalog import field_values
from ..catalog.records import Category, Group, Member, Person, Record
from ..reading_sites.image_paths import SiteImages
from ..reading_sites.lenient import Fields, entries, fields, line, lines, text, texts, valid_fields, whole
from ..reading_sites.notes import Notes
from ..reading_sites.responses import OLD, Responses
from . import same_names
from .same_names import StatedPerson

_CONTACTS = ("website", "email", "discord", "twitter", "reddit", "irc")
_MODELS: dict[str, type[Record]] = {"authors": Person, "artists": Person, "groups": Group, "members": Member}
# The list of the ids of categories, and the list that shows whether version 1 exists.
_WITH_CATEGORY_IDS = ("/api/v1/categories", "/api/v1/releases")


@dataclass(slots=True)
class ImportedLists:
    """The records that series reference, and the data to resolve these references."""

    responses: Responses
    notes: Notes
    images: SiteImages
    records: dict[str, dict[Any, Fields]] = field(default_factory=dict)
    # By kind: the id of each person that has this name and these aliases alone.
    ids_by_aliases: dict[str, dict[StatedPerson, int]] = field(default_factory=dict)
    # The id of each category by name; names that a catalog cannot hold together have the same id.
    category_ids: dict[str, str] = field(default_factory=dict)
    # (kind, slug) -> ids of the people who list the series among their own, in the older versions.
    makers: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    def read(self) -> None:
        for kind in ("authors", "artists"):
            self.records[kind] = dict(self._valid(kind, self._people(kind)))
            self.ids_by_aliases[kind] = same_names.ids_by_aliases(self.records[kind])
        self.records["categories"] = dict(self._categories())
        self.records["members"] = dict(self._valid("members", _members(self)))
        self.records["groups"] = dict(self._valid("groups", self._groups()))

    def v2(self, kind: str) -> Iterator[dict[str, Any]]:
        return entries(fields(self.responses[f"/api/v2/{kind}"].value).get("results"))

    def old(self, kind: str) -> list[dict[str, Any]]:
        """The entries in the newest of the older versions that has any."""
        lists = (list(entries(self.responses[f"{version}/{kind}"].value)) for version in OLD)
        return next(filter(None, lists), [])

    def note_same_name(self, kind: str, name: str) -> None:
        self.notes.add(
            "several have the same name, and no response shows which is meant; the first is used", f"{kind} {name}"
        )

    def _valid(self, kind: str, entries: Iterable[Fields]) -> Iterator[tuple[int, Fields]]:
        ids = set[int]()
        for entry in entries:
            id = whole(entry["id"])
            record = valid_fields(_MODELS[kind], entry | {"id": id}, f"{kind} {entry['id']}"[:60], self.notes)
            if record and id in ids:
                self.notes.add("duplicate id; the first entry is kept", f"{kind} {id}")
            elif record and id is not None:
                ids.add(id)
                yield id, record

    def _people(self, kind: str) -> Iterator[Fields]:
        old = {_id_and_name(entry): entry for entry in self.old(kind)}
        people = list(self.v2(kind)) or self.old(kind)
        if kind == "authors" and _shows_artists(self):
            yield from _authors_of_series(self.responses, people)
            return
        if old.keys() - map(_id_and_name, people):
            self.notes.add("the older versions name other people than version 2, which is used", kind)
        for person in people:
            id, name = _id_and_name(person)
            entry = old.get((id, name), {})
            if id is not None and entry:
                for series in entries(entry.get("series")):
                    self.makers.setdefault((kind, text(series.get("slug"))), []).append(id)
            yield {"id": person.get("id"), "name": name, "aliases": texts(entry.get("aliases"))}

    def _categories(self) -> Iterator[tuple[str, Fields]]:
        old = self.old("categories")
        ids = {text(entry.get("name")): entry.get("id") for entry in old}
        unique = UniqueCategories(self.notes)
        for entry in list(self.v2("categories")) or old:
            name = text(entry.get("name"))
            if name not in ids and any(map(self.responses.failed, _WITH_CATEGORY_IDS)):
                # An invented id would stay.
                self.notes.add("id of the category unknown, because a list of version 1 failed; skipped", name)
                continue
            if name not in ids:
                self.notes.add("id of the category unknown; made from its name", name)
            category = {
                "id": ids.get(name) or category_id(name),
                "name": name,
                "description": text(entry.get("description")),
            }
            record = valid_fields(Category, category, f"category {name}"[:60], self.notes)
            if not record:
                continue
            other = unique.add(record)
            self.category_ids[record["name"]] = other or record["id"]
            if other is None:
                yield record["id"], record

    def _groups(self) -> Iterator[Fields]:
        old = {whole(group.get("id")): group for group in self.old("groups")}
        for group in list(self.v2("groups")) or list(old.values()):
            id = whole(group.get("id"))
            logo = text(group.get("logo"))
            yield {
                "id": group.get("id"),
                "name": text(group.get("name")),
                "description": text(group.get("description")),
                **{name: text(group.get(name)) for name in _CONTACTS},
                "logo": self.images.image(logo, f"groups/{id}/") if logo else None,
                "members": _roles(self, group, old.get(id, {})),
            }


def _members(lists: ImportedLists) -> list[Fields]:
    members = list(lists.v2("members"))
    if not members:
        in_groups = [member for group in lists.old("groups") for member in entries(group.get("members"))]
        members = list({str(member.get("id")): member for member in in_groups}.values())
        if members:
            lists.notes.add("only the groups of version 1 have members; their contacts are unknown")
    names = ("twitter", "discord", "irc", "reddit")
    return [
        {"id": member.get("id"), "name": text(member.get("name"))} | {name: text(member.get(name)) for name in names}
        for member in members
    ]


def _shows_artists(lists: ImportedLists) -> bool:
    """Whether the older versions have the artists in their list of authors, as the original service does."""
    if not lists.responses.is_original or not list(lists.v2("authors")):
        return False
    authors, artists = (list(map(_id_and_name, lists.old(kind))) for kind in ("authors", "artists"))
    return authors == artists


def _authors_of_series(responses: Responses, people: list[dict[str, Any]]) -> Iterator[Fields]:
    """The authors in version 2, with the aliases that the series in version 1 have."""
    names = {id: {"name": line(person.get("name"))} for person in people if (id := whole(person.get("id")))}
    stated = same_names.ids_in_order(names, same_names.stated_by_series(responses, "authors"))
    aliases = {id: person.aliases for person, id in stated.items()}
    for person in people:
        id, name = _id_and_name(person)
        yield {"id": person.get("id"), "name": name, "aliases": list(aliases.get(id or 0, ()))}


def _roles(lists: ImportedLists, group: dict[str, Any], old: dict[str, Any]) -> list[Fields]:
    """The members of a group and their roles: version 2 has the order, version 1 has the ids."""
    members = lists.records["members"]
    pairs = [
        (id, role)
        for entry in entries(old.get("members"))
        for role in lines(entry.get("roles"))
        if (id := whole(entry.get("id"))) in members
    ]
    labels = lines(group.get("members"))
    if not labels:
        return [{"member": id, "role": role} for id, role in pairs]
    roles = []
    for label in labels:
        # The second spelling is that of the original service up to release 0.8.4.
        by_id = [
            (id, role)
            for id, role in pairs
            if label in (f"{role}: {members[id]['name']}", f"{members[id]['name']} ({role})")
        ]
        candidates = by_id or [
            (id, label.removesuffix(f": {member['name']}"))
            for id, member in members.items()
            if label.endswith(f": {member['name']}")
        ]
        if candidates:
            # A name may end with another name. The longer name leaves the shorter role.
            id, role = min(candidates, key=lambda candidate: len(candidate[1]))
            if len({other for other, other_role in candidates if other_role == role}) > 1:
                lists.note_same_name("members", members[id]["name"])
            roles.append({"member": id, "role": role})
        else:
            lists.notes.add("unknown member; role skipped", f"groups {group.get('id')}")
    return roles


def modified_field(modified: int | None, place: str, notes: Notes) -> str | None:
    """Return the time of the last change of a series or chapter; a note if no response states it."""
    if modified is None:
        notes.add("last modification unknown; the time of the file is used", place)
        return None
    return field_values.iso(modified)


def _id_and_name(entry: dict[str, Any]) -> tuple[int | None, str]:
    return whole(entry.get("id")), text(entry.get("name"))


def category_id(name: str) -> str:
    """The id that the original service gives to a new category. It keeps the id if the name changes."""
    return name.lower()


class UniqueCategories:
    """The categories of an import. Filters match ids and names and ignore case, so all of them are unique together."""

    def __init__(self, notes: Notes) -> None:
        self.notes = notes
        # Each id and name -> the id of its category.
        self._ids: dict[str, str] = {}

    def add(self, record: Fields) -> str | None:
        """Add a category; return the id of an earlier category with its id or name, which replaces it."""
        words = record["id"].casefold(), record["name"].casefold()
        other = next((self._ids[word] for word in words if word in self._ids), None)
        if other is None:
            self._ids |= dict.fromkeys(words, record["id"])
        else:
            place = f"category {record['name']}"[:60]
            self.notes.add(f"its id or name is that of category {other}, which replaces it", place)
        return other
