"""Answers -> one series with its chapters, as a catalog would hold them."""

from dataclasses import dataclass
from itertools import count as count_from
from typing import Any

from ...catalog import field_values
from ...catalog.records import Person, Series
from .admitting import admitted
from .chapters import Chapters
from .image_paths import image
from .lenient import count, entries, fields, text, texts
from .people_and_groups import OLD, Lists
from .title_template import template

_STATUSES = ("ongoing", "completed", "hiatus", "canceled")


@dataclass(slots=True)
class Reader:
    """Reads one series after the other, and knows what all of them share."""

    lists: Lists
    now: int
    # Whether the source keeps the chapters of every series behind a key.
    all_locked: bool = False

    def series(self, slug: str) -> tuple[dict[str, Any], list[dict[str, Any]]] | None:
        new, old = self._new(slug), self._old(slug)
        title = text(new.get("title") or old.get("title"))
        chapters = Chapters(self.lists, slug, title)
        found = chapters.read()
        told = {
            "title": title,
            "aliases": list(filter(None, texts(new.get("aliases", old.get("aliases"))))),
            "description": text(new.get("description", old.get("description"))),
            "authors": self._people("authors", slug, new, old),
            "artists": self._people("artists", slug, new, old),
            "categories": self._categories(slug, new, old),
            "status": self._status(slug, new, old),
            "licensed": new.get("licensed") is True or self._status_of(slug) == 451,
            "restricted": self._restricted(slug, old),
            "cover": self._cover(slug, new, old),
            "chapter_title": template(chapters.made),
        }
        if told["chapter_title"] is None:
            self.lists.notes.add("how full titles are made cannot be told from them; the usual way is taken", slug)
        record = admitted(Series, told | {"chapters": []}, slug, self.lists.notes)
        if record is None:
            return None
        if record.get("chapter_title") == field_values.DEFAULT_CHAPTER_TITLE:
            del record["chapter_title"]
        self._views(new, found)
        self._date(slug, record, found)
        self._told(slug, new, old, record, found)
        return record, found

    def _new(self, slug: str) -> dict[str, Any]:
        return fields(self.lists.answers[f"/api/v2/series/{slug}"].value)

    def _old(self, slug: str) -> dict[str, Any]:
        return next((found for one in OLD if (found := fields(self.lists.answers[f"{one}/series/{slug}"].value))), {})

    def _status_of(self, slug: str) -> int:
        return self.lists.answers[f"/api/v2/series/{slug}/chapters"].status

    def _restricted(self, slug: str, old: dict[str, Any]) -> bool:
        """The old families have nothing that takes a key."""
        locked = self.lists.answers[f"/api/v2/series/{slug}/chapters"].locked
        return locked and not old and not self.all_locked

    def _status(self, slug: str, new: dict[str, Any], old: dict[str, Any]) -> str:
        told = text(new.get("status")).lower().replace("cancelled", "canceled")
        if told in _STATUSES:
            return told
        self.lists.notes.add("only whether the series is completed is told, not if it is paused or canceled", slug)
        return "completed" if new.get("completed", old.get("completed")) is True else "ongoing"

    def _cover(self, slug: str, new: dict[str, Any], old: dict[str, Any]) -> str:
        address = text(new.get("cover") or old.get("cover"))
        return image(address, self.lists.root, f"series/{slug}/")

    def _people(self, kind: str, slug: str, new: dict[str, Any], old: dict[str, Any]) -> list[int]:
        names = [texts(one)[0] for one in old.get(kind) or [] if texts(one)] if isinstance(old.get(kind), list) else []
        makers = self.lists.makers.get((kind, slug), [])
        if kind in new:
            if old and sorted(names) != sorted(texts(new[kind])):
                self.lists.notes.add(
                    f"the older versions name other {kind} than version 2 does, which is believed", slug
                )
            names = texts(new[kind])
        elif (
            names and kind == "authors" and not set(names) & self._names(kind) and set(names) <= self._names("artists")
        ):
            self.lists.notes.add(
                "the authors that are told are artists; who has the series among the authors wrote it", slug
            )
            return makers
        found: list[int] = []
        for name in names:
            ids = [one for one, record in self.lists.found[kind].items() if record["name"] == name and one not in found]
            ids.sort(key=lambda one: one not in makers)
            found += ids[:1] or self._stranger(kind, name, slug)
        return found

    def _names(self, kind: str) -> set[str]:
        return {record["name"] for record in self.lists.found[kind].values()}

    def _stranger(self, kind: str, name: str, slug: str) -> list[int]:
        """Somebody whom a series names and no list does; nobody, if that is no name."""
        number = next(one for one in count_from(1) if one not in self.lists.found[kind])
        record = admitted(Person, {"id": number, "name": name}, slug, self.lists.notes)
        if record is None:
            return []
        self.lists.notes.add(f"names one of its {kind} whom no list has, and who has a new id", slug)
        self.lists.found[kind][number] = record
        return [number]

    def _categories(self, slug: str, new: dict[str, Any], old: dict[str, Any]) -> list[str]:
        names = texts(new.get("categories")) or [text(one.get("name")) for one in entries(old.get("categories"))]
        by_name = {record["name"]: one for one, record in self.lists.found["categories"].items()}
        for name in names:
            if name not in by_name:
                self.lists.notes.add("is in a category that no list has; that is left out", slug)
        return sorted({by_name[name] for name in names if name in by_name})

    def _views(self, new: dict[str, Any], chapters: list[dict[str, Any]]) -> None:
        """Of chapters that version 2 does not show, it tells the sum."""
        if chapters and not any("id" in one for one in chapters):
            chapters[0] |= {"views": count(new.get("views"))}

    def _date(self, slug: str, record: dict[str, Any], chapters: list[dict[str, Any]]) -> None:
        series = ("series", slug)
        people = [(kind, one) for kind in ("authors", "artists") for one in record.get(kind, ())]
        genres = [("categories", one) for one in record.get("categories", ())]
        each = [("chapter", slug, one.get("volume"), one["number"]) for one in chapters]
        groups = [("groups", number) for one in chapters for number in one.get("groups", ())]
        shown: dict[str, list[Any]] = {
            f"/api/v2/series/{slug}": [series, *people, *genres],
            f"/api/v2/series/{slug}/chapters": [*each, *groups],
            f"/api/v2/cubari/{slug}": [series, *people, *each, *groups],
            f"/api/v1/series/{slug}": [series, *people, *genres, *each, *groups],
            f"/api/series/{slug}": [series, *people, *each],
        }
        for path, things in shown.items():
            self.lists.dates.saw(self.lists.answers[path].modified, things)

    def _told(
        self,
        slug: str,
        new: dict[str, Any],
        old: dict[str, Any],
        record: dict[str, Any],
        chapters: list[dict[str, Any]],
    ) -> None:
        """What is missing, and what should not have been told."""
        add = self.lists.notes.add
        if record.get("licensed") and not chapters:
            add("is licensed; no answer tells its chapters", slug)
        if new and any("id" not in one for one in chapters):
            add("has chapters whose ids are not told; `python build.py ids` gives them new ones", slug)
        if any((field_values.instant(one["published"]) > self.now) for one in chapters):
            add("tells of chapters that will only be published; they are kept, and appear when it is time", slug)
