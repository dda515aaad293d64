"""Responses -> the rows of one series with its chapters.

Version 2 and the Cubari JSON have chapters by id, the older versions by number.
"""

from collections.abc import Iterator
from contextlib import suppress
from itertools import count as count_from
from typing import NamedTuple
from urllib.parse import unquote

from ...catalog import field_values
from ...catalog.records import STATUSES, Links
from ...reading_sites.lenient import (
    Fields,
    count,
    entries,
    fields,
    instant,
    line,
    lines,
    number,
    seconds,
    text,
    texts,
    volume,
    whole,
)
from ...reading_sites.responses import OLD, V2
from ..records import ChapterBuilder, StatedChapter
from .chapter_titles import TitleSample, title_template
from .people_and_groups import ImportedLists, StatedPerson, stated_people

# Volume and number.
Key = tuple[int | None, str]
# Digits of a number that the service before this one prints.
_DIGITS = 6
# Fields of chapters that some versions do not state, and the notes about them.
_SOMETIMES = {
    "final": "final: unknown for some chapters",
    "groups": "groups: unknown for some chapters",
}


class _ChapterJson(NamedTuple):
    """The JSON objects that show one chapter; empty where a response does not show it."""

    key: Key
    v2: Fields
    old: Fields
    cubari: Fields
    pages: Fields


class SeriesReader:
    """Reads one series with its chapters."""

    def __init__(self, lists: ImportedLists, slug: str) -> None:
        self.lists, self.responses, self.slug = lists, lists.responses, slug
        self.v2, self.old = fields(self.responses[f"{V2}/series/{slug}"].value), self.responses.old_series(slug)
        self.title = text(self.v2.get("title") or self.old.get("title"))
        self.full_titles: list[TitleSample] = []

    def read(self, *, all_locked: bool) -> tuple[Fields, list[Fields]] | None:
        """Return the records of the series and of its chapters; None if a required field is missing.

        `all_locked` says whether the chapters of all series need a key.
        """
        responses, builder, slug, v2, old = self.responses, self.lists.builder, self.slug, self.v2, self.old
        listed, cubari = responses[f"{V2}/series/{slug}/chapters"], responses[f"{V2}/cubari/{slug}"]
        if not self.title and responses.failed(f"{V2}/series/{slug}"):
            self._note("its own response failed; the series is skipped until the next import")
            return None
        chapters = self._read_chapters()
        chapter_title = title_template(self.full_titles)
        licensed = v2.get("licensed") is True or 451 in (listed.status, cubari.status)
        has_ids = any("id" in chapter for chapter in chapters)
        dates = (responses[f"{version}/series/{slug}"].modified for version in (V2, *OLD))
        row = {
            "title": self.title,
            "aliases": texts(v2.get("aliases", old.get("aliases"))),
            "description": text(v2.get("description", old.get("description"))),
            "authors": self._people("authors"),
            "artists": self._people("artists"),
            "categories": self._categories(),
            # Only this program states these.
            "kind": text(v2.get("kind")),
            "rating": text(v2.get("rating")),
            "language": text(v2.get("language")),
            "links": self._links(),
            "status": self._status(),
            "licensed": licensed,
            # Version 2 lists a licensed series without it only if chapters have ids.
            "updated": instant(v2.get("updated")) if licensed and not has_ids else None,
            # The older versions do not show a series that needs a key.
            "restricted": listed.locked and not old and not all_locked,
            "cover": self.lists.images.url(text(v2.get("cover") or old.get("cover"))),
            "chapter_title": chapter_title,
            "modified": next((date for date in dates if date is not None), None),
        }
        if chapter_title is None:
            self._note("no chapter_title fits all full titles; the default is used")
        record = builder.series(slug, row)
        if record is None:
            return None
        views = count(v2.get("views"))
        if chapters and licensed and views and not responses.is_original:
            # Version 2 does not show these chapters, but the sum of their views. The original service adds up wrong.
            chapters[0] |= {"views": views}
        if licensed and not chapters:
            self._note("licensed; its chapters are not available")
        if v2 and any("id" not in chapter for chapter in chapters):
            self._note("ids of some chapters are unknown; `python build.py ids` assigns new ones")
        builder.note_scheduled(slug, chapters)
        return record, chapters

    def _note(self, sentence: str) -> None:
        self.lists.notes.add(sentence, self.slug)

    def _status(self) -> str:
        status = text(self.v2.get("status")).lower().replace("cancelled", "canceled")
        if status in STATUSES:
            return status
        self._note("status: only completed or not is known, not hiatus or canceled")
        return "completed" if self.v2.get("completed", self.old.get("completed")) is True else "ongoing"

    def _categories(self) -> list[str]:
        ids, in_old = self.lists.builder.category_ids, entries(self.old.get("categories"))
        names = lines(self.v2.get("categories")) or [line(entry.get("name")) for entry in in_old]
        if any(name not in ids for name in names):
            self.lists.incomplete.add("categories")
            self._note("unknown category; skipped")
        return sorted({ids[name] for name in names if name in ids})

    def _links(self) -> Fields:
        return {name: value for name, value in fields(self.v2.get("links")).items() if name in Links.model_fields}

    def _people(self, kind: str) -> list[int]:
        """Return the ids of the people in the newest version that names them."""
        names, in_old = lines(self.v2[kind]) if kind in self.v2 else None, stated_people(self.old.get(kind))
        old_names = [person.name for person in in_old]
        makers = self.lists.makers.get((kind, self.slug), [])
        if names is None and kind == "authors" and self._are_artists(old_names):
            self._note("the listed authors are artists; the series lists of the authors are used")
            return makers
        if names is not None and self.old and sorted(old_names) != sorted(names):
            self._note(f"the older versions name other {kind} than version 2, which is used")
        ids: list[int] = []
        for person in _with_aliases(old_names if names is None else names, in_old):
            id = self.lists.ids_by_aliases[kind].get(person)
            if id is None or id in ids:
                id = self.lists.named(kind, person.name, ids, makers)
            ids += [id] if id else self._new_person(kind, person.name)
        return ids

    def _are_artists(self, names: list[str]) -> bool:
        """Return whether these are names of artists and of no author."""
        authors, artists = (
            {person["name"] for person in self.lists.records[kind].values()} for kind in ("authors", "artists")
        )
        return bool(names) and not authors.intersection(names) and artists.issuperset(names)

    def _new_person(self, kind: str, name: str) -> list[int]:
        """Add a person who is in no list; return the new id, or nothing if the name is invalid or the list is."""
        self.lists.incomplete.add(kind)
        if fault := self.lists.fault(kind):
            # An invented id would stay.
            self._note(f"ids of {kind} unknown, because their list {fault}; skipped until the next import")
            return []
        id = next(number for number in count_from(1) if number not in self.lists.records[kind])
        if not self.lists.builder.add_person(kind, {"id": id, "name": name}, self.slug):
            return []
        self.lists.new_ids.setdefault(kind, set()).add(id)
        self._note(f"unknown name in {kind}; added with a new id")
        return [id]

    # Its chapters

    def _read_chapters(self) -> list[Fields]:
        """Return the records of the chapters in reading order, and keep their full titles."""
        chapters = ChapterBuilder(self.lists.builder, self.slug)
        for chapter in self._chapters():
            if record := chapters.add(self._row(chapter)):
                self._note_unstated(chapter)
                self._add_title(chapter, record)
        return chapters.in_order()

    def _chapters(self) -> Iterator[_ChapterJson]:
        """Yield the chapters of version 2, then those that only older versions show."""
        responses = self.responses
        old, page_paths = dict(self._old()), responses.page_paths(self.slug)
        cubari, cubari_by_number = responses.cubari(self.slug), responses.cubari_by_number(self.slug)
        if any(str(chapter.get("volume")) in ("None", "null") for chapter in (cubari | cubari_by_number).values()):
            self._note("the Cubari JSON has None or null as a volume")
        # Of chapters that share a number, the older versions show the one with the highest id.
        for v2 in sorted(responses.chapters(self.slug), key=lambda chapter: -(whole(chapter.get("id")) or 0)):
            if key := self._key(v2.get("volume"), v2.get("number")):
                id = whole(v2.get("id"))
                in_cubari = cubari.get(str(id)) or _in_cubari(key, v2, cubari_by_number)
                pages = fields(responses[page_paths.get(id or 0, "")].value)
                yield _ChapterJson(key, v2, self._counterpart(key, old), in_cubari, pages)
        for key, chapter in old.items():
            yield _ChapterJson(key, {}, chapter, {}, {})

    def _row(self, chapter: _ChapterJson) -> StatedChapter:
        (volume, number), v2, old, pages = chapter.key, chapter.v2, chapter.old, chapter.pages
        published = instant(v2.get("published"))
        stated = {
            "id": whole(v2.get("id")),
            "volume": volume,
            "number": number,
            "title": text(v2.get("title", old.get("title"))),
            "published": instant(old.get("date")) if published is None else published,
            "final": v2.get("final", old.get("final")) is True,
            "groups": self._groups(v2, old),
            "views": count(v2.get("views")),
            "modified": self._modified(chapter),
        }
        return StatedChapter(
            stated,
            pages=self._page_urls(chapter),
            # The oldest version has no URLs.
            page_names=[unquote(name) for name in texts(old["pages"])] if "pages" in old else None,
            page_numbers=[whole(page.get("number")) or 0 for page in entries(pages.get("results"))],
        )

    def _modified(self, chapter: _ChapterJson) -> int | None:
        """Return the time in the Cubari JSON, or the Last-Modified of the response that shows the chapter alone."""
        responses, old_path = self.responses, chapter.old.get("path")
        paths = (f"{V2}/chapters/{chapter.v2.get('id')}", *(f"{version}/series/{old_path}" for version in OLD))
        times = (seconds(chapter.cubari.get("last_updated")), *(responses[path].modified for path in paths))
        return next((time for time in times if time is not None), None)

    def _groups(self, v2: Fields, old: Fields) -> list[int]:
        """Return the ids of the older versions if all are known; otherwise the ids of the names."""
        groups, in_old = self.lists.records["groups"], list(entries(old.get("groups")))
        old_ids = [whole(group.get("id")) for group in in_old]
        if old_ids and all(id in groups for id in old_ids):
            return [id for id in dict.fromkeys(old_ids) if id is not None]
        ids: list[int] = []
        for name in lines(v2.get("groups")) or [line(group.get("name")) for group in in_old]:
            if id := self.lists.named("groups", name, ids):
                ids.append(id)
            else:
                self.lists.incomplete.add("groups")
                self._note("unknown group; skipped")
        return ids

    def _page_urls(self, chapter: _ChapterJson) -> list[str] | None:
        """Return the encoded URLs of the pages; None if no response states them."""
        urls = _stated_pages(chapter)
        # Where there is version 2, version 1 has names without any encoding.
        names = texts(chapter.old.get("pages_list")) if self.responses[f"{V2}/series"].good else []
        return urls if urls is None else self.lists.images.pages(urls, names)

    def _note_unstated(self, chapter: _ChapterJson) -> None:
        if not chapter.v2 and len(chapter.key[1].replace(".", "").strip("0")) >= _DIGITS:
            self._note(f"chapter {chapter.key[1]} may be rounded by the site")
        for name in sorted(_SOMETIMES.keys() - chapter.v2.keys() - chapter.old.keys()):
            self._note(_SOMETIMES[name])

    def _add_title(self, chapter: _ChapterJson, record: Fields) -> None:
        """Add the full title of a chapter, if one is stated, to those that show the template."""
        full_title = chapter.v2.get("full_title", chapter.old.get("full_title"))
        volume, number = chapter.key
        if isinstance(full_title, str):
            parts = {
                "volume": str(volume or "?"),
                "number": number,
                "title": record.get("title", ""),
                "date": field_values.day(field_values.instant(record["published"])),
                "series": self.title,
            }
            # Up to release 0.8.3, the original service shows 0 as the volume of a chapter without one.
            full = line(full_title) if volume else line(full_title).removeprefix("Vol. 0, ")
            self.full_titles.append(TitleSample(full, volume, parts))

    def _key(self, stated_volume: object, stated_number: object) -> Key | None:
        try:
            if stated_volume in ("None", "null"):
                self._note("volume None or null is imported as no volume")
            return volume(stated_volume), number(stated_number)
        except ValueError as error:
            self._note(f"{error}; chapter skipped")
            return None

    def _old(self) -> Iterator[tuple[Key, Fields]]:
        """Yield the chapters of the newest of the older versions, with their path there."""
        for stated_volume, chapters in fields(self.old.get("volumes")).items():
            for stated_number, chapter in fields(chapters).items():
                if isinstance(chapter, dict) and (key := self._key(stated_volume, stated_number)):
                    yield key, {**chapter, "path": f"{self.slug}/{key[0] or 0}/{stated_number}"}

    def _counterpart(self, key: Key, old: dict[Key, Fields]) -> Fields:
        """Remove and return the chapter of an older version that is this one."""
        if key in old:
            return old.pop(key)
        short = number(f"{float(key[1]):.{_DIGITS}g}")
        if short != key[1] and (key[0], short) in old:
            self._note(f"the older versions round numbers to {_DIGITS} digits; version 2 is used")
            return old.pop((key[0], short))
        return {}


def _with_aliases(names: list[str], people: list[StatedPerson]) -> list[StatedPerson]:
    """Return the people of these names, with the aliases of an older version."""
    by_name: dict[str, list[StatedPerson]] = {}
    for person in reversed(people):
        by_name.setdefault(person.name, []).append(person)
    return [by_name[name].pop() if by_name.get(name) else StatedPerson(name) for name in names]


def _in_cubari(key: Key, v2: Fields, by_number: dict[str, Fields]) -> Fields:
    """Remove and return the chapter in Cubari JSON by number that is this one, not another with its number."""
    number = f"{float(key[1]):.{_DIGITS}g}"
    chapter = by_number.get(number, {})
    groups = _joined_names(", ".join(texts(v2.get("groups"))))
    with suppress(ValueError):
        is_same = text(chapter.get("title")) == text(v2.get("title")) and volume(chapter.get("volume")) == key[0]
        if is_same and groups in map(_joined_names, fields(chapter.get("groups"))):
            return by_number.pop(number)
    return {}


def _joined_names(names: str) -> list[str]:
    return sorted((names or "N/A").split(", "))


def _stated_pages(chapter: _ChapterJson) -> list[str] | None:
    """Return the URLs of the pages. The original service makes `pages_root` from the chapter's path, not its files."""
    if groups := fields(chapter.cubari.get("groups")):
        return texts(next(iter(groups.values())))
    if chapter.pages:
        ordered = sorted(entries(chapter.pages.get("results")), key=lambda page: whole(page.get("number")) or 0)
        return [text(page.get("image")) for page in ordered]
    if isinstance(root := chapter.old.get("pages_root"), str):
        return [f"{root}{name}" for name in texts(chapter.old.get("pages_list"))]
    return None
