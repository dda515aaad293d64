"""Responses -> the rows of people, categories and groups, and the ids of the names that series state."""

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ...reading_sites.image_paths import SiteImages
from ...reading_sites.lenient import Fields, entries, fields, line, lines, text, texts, whole
from ...reading_sites.responses import OLD, V2, Responses
from ..records import RecordBuilder

_CONTACTS = ("website", "email", "discord", "twitter", "reddit", "irc")
# The list of the ids of categories, and the list that shows whether version 1 exists.
_WITH_CATEGORY_IDS = ("/api/v1/categories", "/api/v1/releases")


# People of one name: their aliases show which of them made a series. The lists of authors in version 1 of the original
# service are those of the artists. But each series of version 1 has the names and aliases of its authors, in the order
# of their ids.


class StatedPerson(NamedTuple):
    """The name of a person and the aliases, in alphabetical order."""

    name: str
    aliases: tuple[str, ...] = ()


def stated_people(people: Any) -> list[StatedPerson]:
    """The people of a series in an older version, which has a list for each person: name, then aliases."""
    names = [lines(person) for person in people] if isinstance(people, list) else []
    return [StatedPerson(person[0], tuple(sorted(person[1:]))) for person in names if person]


def ids_in_order(records: Mapping[int, Fields], people: Iterable[list[StatedPerson]]) -> dict[StatedPerson, int]:
    """Return the ids of people by lists in the order of ids. A list counts if it has all people of one name."""
    ids: dict[str, list[int]] = {}
    for id in sorted(records):
        ids.setdefault(records[id]["name"], []).append(id)
    pairs = [
        (person, id)
        for stated in people
        for name in dict.fromkeys(person.name for person in stated)
        if len(same_name := [person for person in stated if person.name == name]) == len(ids.get(name, ()))
        for person, id in zip(same_name, ids[name], strict=True)
    ]
    return _unique(pairs)


def ids_by_aliases(records: Mapping[int, Fields]) -> dict[StatedPerson, int]:
    """Return the id of each person that has its name and aliases alone."""
    return _unique(
        (StatedPerson(record["name"], tuple(sorted(record.get("aliases", ())))), id) for id, record in records.items()
    )


def _unique(pairs: Iterable[tuple[StatedPerson, int]]) -> dict[StatedPerson, int]:
    ids: dict[StatedPerson, set[int]] = {}
    for person, id in pairs:
        ids.setdefault(person, set()).add(id)
    return {person: min(same) for person, same in ids.items() if len(same) == 1}


class ImportedLists:
    """The records that series reference, and the data to resolve these references."""

    def __init__(self, responses: Responses, images: SiteImages, builder: RecordBuilder) -> None:
        self.responses, self.images, self.builder = responses, images, builder
        self.records, self.notes = builder.lists, builder.notes
        # By kind: the id of each person that has this name and these aliases alone.
        self.ids_by_aliases: dict[str, dict[StatedPerson, int]] = {}
        # (kind, slug) -> ids of the people who list the series among their own, in the older versions.
        self.makers: dict[tuple[str, str], list[int]] = {}
        # Kinds of which a response names an entry, although their list may be empty.
        self.incomplete: set[str] = set()
        # By kind: ids of people that no response has.
        self.new_ids: dict[str, set[int]] = {}

    def read(self) -> None:
        for kind in ("authors", "artists"):
            self.builder.add(kind, self._people(kind))
            self.ids_by_aliases[kind] = ids_by_aliases(self.records[kind])
        self.builder.add_categories(self._categories())
        self.builder.add("members", _members(self))
        self.builder.add("groups", self._groups())

    def v2(self, kind: str) -> Iterator[dict[str, Any]]:
        return entries(fields(self.responses[f"{V2}/{kind}"].value).get("results"))

    def old(self, kind: str) -> list[dict[str, Any]]:
        """The entries in the newest of the older versions that has any."""
        lists = (list(entries(self.responses[f"{version}/{kind}"].value)) for version in OLD)
        return next(filter(None, lists), [])

    def fault(self, kind: str) -> str:
        """Return why a list of people cannot be used although a series names one; "" if the list lacks the name only.

        Without version 2, an empty list of authors may be that of the artists.
        """
        if any(self.v2(kind)):
            return ""
        paths = [f"{version}/{kind}" for version in (V2, *OLD)]
        if any(map(self.responses.failed, paths)):
            return "failed"
        return "is empty" if self.responses[paths[0]].understood else ""

    def wrongly_empty(self) -> Iterator[str]:
        """Yield the paths of lists without entries, although other responses name some."""
        for kind in self.incomplete:
            if not list(self.v2(kind)) and not self.old(kind):
                yield from (f"{version}/{kind}" for version in (V2, *OLD))

    def named(self, kind: str, name: str, taken: list[int], own: Container[int] = ()) -> int | None:
        """Return the first entry of a name, if possible one of `own`; None if there is none that is not taken."""
        same_name = [id for id, entry in self.records[kind].items() if entry["name"] == name and id not in taken]
        of_own = [id for id in same_name if id in own]
        if len(same_name) > 1 and len(of_own) != 1:
            self.note_same_name(kind, name)
        return next(iter(of_own or same_name), None)

    def note_same_name(self, kind: str, name: str) -> None:
        sentence = "several have the same name, and no response shows which is meant; the first is used"
        self.notes.add(sentence, f"{kind} {name}")

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

    def _categories(self) -> Iterator[Fields]:
        old = self.old("categories")
        ids = {text(entry.get("name")): entry.get("id") for entry in old}
        for entry in list(self.v2("categories")) or old:
            name = text(entry.get("name"))
            if name not in ids and any(map(self.responses.failed, _WITH_CATEGORY_IDS)):
                # An invented id would stay.
                self.notes.add("id of the category unknown, because a list of version 1 failed; skipped", name)
                continue
            if name not in ids:
                self.notes.add("id of the category unknown; made from its name", name)
            description = text(entry.get("description"))
            yield {"id": ids.get(name) or category_id(name), "name": name, "description": description}

    def _groups(self) -> Iterator[Fields]:
        old = {whole(group.get("id")): group for group in self.old("groups")}
        for group in list(self.v2("groups")) or list(old.values()):
            yield {
                "id": group.get("id"),
                "name": text(group.get("name")),
                "description": text(group.get("description")),
                **{name: text(group.get(name)) for name in _CONTACTS},
                "logo": self.images.url(text(group.get("logo"))) or None,
                "members": _roles(self, group, old.get(whole(group.get("id")), {})),
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
    folder = f"{OLD[0]}/series"
    series = [fields(response.value) for path, response in responses.items() if path.rpartition("/")[0] == folder]
    stated = ids_in_order(names, [stated_people(one.get("authors")) for one in series])
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
    # Version 1 may have the names of members, but not their contacts.
    lists.incomplete.add("members")
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


def _id_and_name(entry: dict[str, Any]) -> tuple[int | None, str]:
    return whole(entry.get("id")), text(entry.get("name"))


def category_id(name: str) -> str:
    """The id that the original service gives to a new category. It keeps the id if the name changes."""
    return name.lower()
