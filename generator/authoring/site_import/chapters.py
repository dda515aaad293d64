"""Answers -> the chapters of one series: version 2 and the reader object by id, the older versions by number."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf
from typing import Any
from urllib.parse import unquote

from ...catalog import field_values
from ...catalog.records import Chapter
from .admitting import admitted
from .image_paths import image
from .lenient import count, entries, fields, instant, number, seconds, text, texts, volume, whole
from .people_and_groups import OLD, Lists
from .title_template import TitleSample

Key = tuple[int | None, str]
# What the service before this one prints of a number.
_DIGITS = 6
# What some versions do not tell of chapters.
_SOMETIMES = {
    "final": "whether a chapter is the last of the story is not told",
    "groups": "who published a chapter is not told",
}


@dataclass(slots=True)
class Chapters:
    """What all answers together say of the chapters of a series."""

    lists: Lists
    slug: str
    series_title: str
    # Those that are known, with the dates and full titles that are told of them.
    found: dict[Key, dict[str, Any]] = field(default_factory=dict)
    made: list[TitleSample] = field(default_factory=list)

    def read(self) -> list[dict[str, Any]]:
        old = dict(self._old())
        reader = fields(fields(self.lists.answers[f"/api/v2/cubari/{self.slug}"].value).get("chapters"))
        if any(str(fields(one).get("volume")) in ("None", "null") for one in reader.values()):
            self._note("the reader object writes a word where a chapter has no volume")
        for one in entries(fields(self.lists.answers[f"/api/v2/series/{self.slug}/chapters"].value).get("results")):
            if key := self._key(one.get("volume"), one.get("number")):
                self._add(key, one, self._counterpart(key, old), fields(reader.get(str(one.get("id")))))
        for key, one in old.items():
            self._add(key, {}, one, {})
        ordered = sorted(self.found, key=lambda key: (key[0] or inf, float(key[1])))
        return [self.found[key] for key in ordered]

    def _note(self, sentence: str) -> None:
        self.lists.notes.add(sentence, self.slug)

    def _key(self, told_volume: Any, told_number: Any) -> Key | None:
        try:
            if told_volume in ("None", "null"):
                self._note("a chapter without a volume is in one called None or null; it is in none here")
            return volume(told_volume), number(told_number)
        except ValueError as error:
            self._note(f"a chapter {error}, which is none; it is left out")
            return None

    def _old(self) -> Iterator[tuple[Key, dict[str, Any]]]:
        """The chapters that an older version knows, with the volume and number by which it does."""
        series = next(
            (found for one in OLD if (found := fields(self.lists.answers[f"{one}/series/{self.slug}"].value))), {}
        )
        for told_volume, told in fields(series.get("volumes")).items():
            for told_number, one in fields(told).items():
                if isinstance(one, dict) and (key := self._key(told_volume, told_number)):
                    yield key, {**one, "path": f"{self.slug}/{told_volume}/{told_number}"}

    def _counterpart(self, key: Key, old: dict[Key, dict[str, Any]]) -> dict[str, Any]:
        if key in old:
            return old.pop(key)
        short = number(f"{float(key[1]):.{_DIGITS}g}")
        if short != key[1] and (key[0], short) in old:
            self._note(f"the older versions cut numbers after {_DIGITS} digits; those of version 2 are kept")
            return old.pop((key[0], short))
        return {}

    def _add(self, key: Key, new: dict[str, Any], old: dict[str, Any], read: dict[str, Any]) -> None:
        """One chapter, out of what each answer says of it."""
        if key in self.found:
            self._note(f"chapter {key[1]} stands there twice; the first is kept")
            return
        if not new and len(key[1].replace(".", "").strip("0")) >= _DIGITS:
            self._note(f"chapter {key[1]} may have more digits than the source says")
        for name in sorted(_SOMETIMES.keys() - new.keys() - old.keys()):
            self._note(_SOMETIMES[name])
        place = f"{self.slug} chapter {key[1]}"
        record = admitted(Chapter, self._told(key, new, old), place, self.lists.notes)
        if record is None:
            return
        pages = self._pages(key, new, old, read)
        if pages is None:
            self._note("has chapters whose pages are not told")
        record = admitted(Chapter, record | {"pages": pages or []}, place, self.lists.notes) or record
        self.found[key] = record
        self._date(key, old, read, record)
        full = new.get("full_title", old.get("full_title"))
        if isinstance(full, str):
            self._title(key, record, full)

    def _told(self, key: Key, new: dict[str, Any], old: dict[str, Any]) -> dict[str, Any]:
        published = instant(new.get("published"))
        published = instant(old.get("date")) if published is None else published
        return {
            "id": whole(new.get("id")),
            "volume": key[0],
            "number": key[1],
            "title": text(new.get("title", old.get("title"))),
            "published": None if published is None else field_values.iso(published),
            "final": new.get("final", old.get("final")) is True,
            "groups": self._groups(new, old),
            "pages": [],
            "views": count(new.get("views")),
        }

    def _title(self, key: Key, record: dict[str, Any], full: str) -> None:
        """A full title, and what it must have been made of."""
        parts = {
            "volume": str(key[0] or "?"),
            "number": key[1],
            "title": record.get("title", ""),
            "date": field_values.day(field_values.instant(record["published"])),
            "series": self.series_title,
        }
        self.made.append(TitleSample(full, key[0], parts))

    def _groups(self, new: dict[str, Any], old: dict[str, Any]) -> list[int]:
        known = self.lists.found["groups"]
        told = [whole(one.get("id")) for one in entries(old.get("groups"))]
        if told and all(one in known for one in told):
            return [one for one in dict.fromkeys(told) if one is not None]
        found = []
        for name in texts(new.get("groups")) or [text(one.get("name")) for one in entries(old.get("groups"))]:
            ids = [one for one, record in known.items() if record["name"] == name and one not in found]
            if ids:
                found.append(ids[0])
            else:
                self._note("has a group that no list has; it is left out")
        return found

    def _pages(self, key: Key, new: dict[str, Any], old: dict[str, Any], read: dict[str, Any]) -> list[str] | None:
        """Names of files if all of them lie where ours would, else addresses; None if no answer tells of any."""
        folder = f"series/{self.slug}/{key[0] or 0}/{key[1]}/"
        addresses = self._addresses(new, old, read)
        if addresses is None:
            # They have no addresses in the oldest family.
            return [unquote(name) for name in texts(old["pages"])] if "pages" in old else None
        images = [image(one, self.lists.root, folder) for one in addresses]
        if not any(map(field_values.is_url, images)):
            return images
        self._note("has pages elsewhere than where a catalog keeps its files; their addresses are kept")
        return [image(one, "", folder) for one in addresses]

    def _addresses(self, new: dict[str, Any], old: dict[str, Any], read: dict[str, Any]) -> list[str] | None:
        if isinstance(root := old.get("pages_root"), str):
            return [f"{root}{name}" for name in texts(old.get("pages_list"))]
        if told := fields(read.get("groups")):
            return texts(next(iter(told.values())))
        if told := fields(self.lists.answers[f"/api/v2/chapters/{whole(new.get('id'))}/pages"].value):
            found = sorted(entries(told.get("results")), key=lambda one: whole(one.get("number")) or 0)
            return [text(one.get("image")) for one in found]
        return None

    def _date(self, key: Key, old: dict[str, Any], read: dict[str, Any], record: dict[str, Any]) -> None:
        thing, groups = ("chapter", self.slug, *key), [("groups", one) for one in record.get("groups", ())]
        dates, answers = self.lists.dates, self.lists.answers
        dates.saw(seconds(read.get("last_updated")), [thing])
        if path := old.get("path"):
            dates.saw(answers[f"/api/series/{path}"].modified, [thing])
            dates.saw(answers[f"/api/v1/series/{path}"].modified, [thing, *groups])
        dates.saw(answers[f"/api/v2/chapters/{record.get('id')}"].modified, [thing, *groups])
        dates.saw(answers[f"/api/v2/chapters/{record.get('id')}/pages"].modified, [thing])
