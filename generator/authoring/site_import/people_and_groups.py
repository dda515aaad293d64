"""Answers -> the people, categories and groups of a catalog, by their ids."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ...catalog.field_values import percent_encoded
from ...catalog.records import Category, Group, Member, Person, Record
from .admitting import admitted
from .answers import Responses
from .image_paths import image
from .last_modified import Dates
from .lenient import entries, fields, text, texts, whole
from .notes import Notes

OLD = ("/api/v1", "/api")
_CONTACTS = ("website", "email", "discord", "twitter", "reddit", "irc")
_MODELS: dict[str, type[Record]] = {"authors": Person, "artists": Person, "groups": Group, "members": Member}
_NO_SLUG = re.compile(r"[^a-z0-9]+")


@dataclass(slots=True)
class Lists:
    """Everything that is not a series, and what has to be known to name it in one."""

    answers: Responses
    notes: Notes
    dates: Dates
    root: str = ""
    found: dict[str, dict[Any, dict[str, Any]]] = field(default_factory=dict)
    # The people of each series, as they themselves tell in the older versions: kind and slug -> ids.
    makers: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    def read(self) -> None:
        for kind in ("authors", "artists"):
            self.found[kind] = dict(self._told(kind, self._people(kind)))
        self.found["categories"] = dict(self._categories())
        self.found["members"] = dict(self._told("members", self._members()))
        self.found["groups"] = dict(self._told("groups", self._groups()))
        self._date_groups()

    def v2(self, name: str) -> Iterator[dict[str, Any]]:
        return entries(fields(self.answers[f"/api/v2/{name}"].value).get("results"))

    def old(self, name: str) -> list[dict[str, Any]]:
        """What the newest of the older families says that says anything."""
        return next((found for one in OLD if (found := list(entries(self.answers[f"{one}/{name}"].value)))), [])

    def _told(self, kind: str, told: Iterable[dict[str, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
        seen = set[int]()
        for one in told:
            number = whole(one["id"])
            record = admitted(_MODELS[kind], one | {"id": number}, f"{kind} {one['id']}"[:60], self.notes)
            if record and number in seen:
                self.notes.add("stands in the list of the source twice; the first is kept", f"{kind} {number}")
            elif record and number is not None:
                seen.add(number)
                self.dates.saw(
                    self.answers[f"/api/v2/{kind}/{number}"].modified, [(kind, number)] if kind in _ALONE else []
                )
                yield number, record

    def _people(self, kind: str) -> Iterator[dict[str, Any]]:
        old = {_named(one): one for one in self.old(kind)}
        told = list(self.v2(kind)) or self.old(kind)
        strangers = [number for number, name in old if (number, name) not in {_named(one) for one in told}]
        if strangers:
            self.notes.add("the older versions name other people than version 2 does, which is believed", kind)
        for one in told:
            number, name = _named(one)
            other = old.get((number, name), {})
            if number is not None and other:
                slugs = [text(work.get("slug")) for work in entries(other.get("series"))]
                for slug in slugs:
                    self.makers.setdefault((kind, slug), []).append(number)
                shown = [(kind, number), *(("series", slug) for slug in slugs)]
                for family in OLD:
                    self.dates.saw(self.answers[f"{family}/{kind}/{number}"].modified, shown)
            yield {"id": one.get("id"), "name": name, "aliases": list(filter(None, texts(other.get("aliases"))))}

    def _categories(self) -> Iterator[tuple[str, dict[str, Any]]]:
        old = self.old("categories")
        ids = {text(one.get("name")): one.get("id") for one in old}
        seen = set[str]()
        for one in list(self.v2("categories")) or old:
            name = text(one.get("name"))
            if name not in ids:
                self.notes.add("no answer tells the id of the category; one is made of its name", name)
            told = {"id": ids.get(name) or slug_of(name), "name": name, "description": text(one.get("description"))}
            record = admitted(Category, told, f"category {name}"[:60], self.notes)
            if record and not {record["id"].casefold(), name.casefold()} & seen:
                seen |= {record["id"].casefold(), name.casefold()}
                path = f"/api/v2/categories/{percent_encoded(name)}"
                self.dates.saw(self.answers[path].modified, [("categories", record["id"])])
                yield record["id"], record
            elif record:
                self.notes.add("is called as another one is; it is left out", f"category {name}"[:60])

    def _members(self) -> list[dict[str, Any]]:
        told = list(self.v2("members"))
        if not told:
            told = [one for group in self.old("groups") for one in entries(group.get("members"))]
            told = list({str(one.get("id")): one for one in told}.values())
            if told:
                self.notes.add("members are known by the groups in version 1 only, which say little of them")
        names = ("twitter", "discord", "irc", "reddit")
        return [
            {"id": one.get("id"), "name": text(one.get("name"))} | {name: text(one.get(name)) for name in names}
            for one in told
        ]

    def _groups(self) -> Iterator[dict[str, Any]]:
        old = {whole(one.get("id")): one for one in self.old("groups")}
        for one in list(self.v2("groups")) or list(old.values()):
            number = whole(one.get("id"))
            logo = text(one.get("logo"))
            yield {
                "id": one.get("id"),
                "name": text(one.get("name")),
                "description": text(one.get("description")),
                **{name: text(one.get(name)) for name in _CONTACTS},
                "logo": image(logo, self.root, f"groups/{number}/") if logo else None,
                "members": self._roles(one, old.get(number, {})),
            }

    def _roles(self, group: dict[str, Any], old: dict[str, Any]) -> list[dict[str, Any]]:
        """Who does what; version 2 knows the order, version 1 the ids."""
        known = self.found["members"]
        pairs = [
            (whole(one.get("id")), role) for one in entries(old.get("members")) for role in texts(one.get("roles"))
        ]
        pairs = [(number, role) for number, role in pairs if number in known]
        spoken = texts(group.get("members"))
        if not spoken:
            return [{"member": number, "role": role} for number, role in pairs]
        found = []
        for words in spoken:
            told = [(number, role) for number, role in pairs if words == f"{role}: {known[number]['name']}"]
            meant = told or [
                (number, words.removesuffix(f": {one['name']}"))
                for number, one in known.items()
                if words.endswith(f": {one['name']}")
            ]
            if meant:
                # One name may end as another does: then the role beside the longer name is the shorter.
                number, role = min(meant, key=lambda one: len(one[1]))
                found.append({"member": number, "role": role})
            else:
                self.notes.add("names a member whom no list has; the role is left out", f"groups {group.get('id')}")
        return found

    def _date_groups(self) -> None:
        """A group shows its members, and a member its groups."""
        groups_of: dict[int, list[tuple[str, int]]] = {number: [] for number in self.found["members"]}
        for number, record in self.found["groups"].items():
            members = [one["member"] for one in record.get("members", ())]
            for member in members:
                groups_of[member].append(("groups", number))
            shown = [("groups", number), *(("members", member) for member in members)]
            self.dates.saw(self.answers[f"/api/v2/groups/{number}"].modified, shown)
            works = [
                text(one.get("slug"))
                for old in self.old("groups")
                if old.get("id") == number
                for one in entries(old.get("series"))
            ]
            self.dates.saw(
                self.answers[f"/api/v1/groups/{number}"].modified, [*shown, *(("series", slug) for slug in works)]
            )
        for member, groups in groups_of.items():
            self.dates.saw(self.answers[f"/api/v2/members/{member}"].modified, [("members", member), *groups])


# Those of which an answer shows nothing else.
_ALONE = ("authors", "artists")


def _named(one: dict[str, Any]) -> tuple[int | None, str]:
    return whole(one.get("id")), text(one.get("name"))


def slug_of(name: str) -> str:
    return _NO_SLUG.sub("-", name.lower()).strip("-") or "category"
