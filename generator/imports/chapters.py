"""Responses -> the chapters of one series: version 2 and Cubari JSON by id, the older versions by number.

No response has the template of full chapter titles, so it is inferred from the titles.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from math import inf
from typing import Any, NamedTuple
from urllib.parse import unquote

from ..catalog import field_values
from ..catalog.records import Chapter
from ..reading_sites.lenient import (
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
    valid_fields,
    volume,
    whole,
)
from ..reading_sites.responses import OLD, V2, Responses
from .imported import ImportedChapter
from .pages import note_gaps, page_urls, stored_pages
from .people_and_groups import ImportedLists, modified_field

# Volume and number.
Key = tuple[int | None, str]
# Digits of a number that the service before this one prints.
_DIGITS = 6
# Fields that some versions do not state, and the notes about them.
_SOMETIMES = {
    "final": "final: unknown for some chapters",
    "groups": "groups: unknown for some chapters",
}


class TitleSample(NamedTuple):
    """A full title and the values of the template's fields."""

    full: str
    volume: int | None
    parts: Mapping[str, str]


class _ChapterJson(NamedTuple):
    """The JSON objects that show one chapter; empty where a response does not show it."""

    key: Key
    v2: dict[str, Any]
    old: dict[str, Any]
    cubari: dict[str, Any]
    pages: dict[str, Any]


def _imported_chapter(chapter: _ChapterJson, lists: ImportedLists) -> ImportedChapter:
    (volume, number), v2, old, cubari, pages = chapter
    published = instant(v2.get("published"))
    full_title = v2.get("full_title", old.get("full_title"))
    return ImportedChapter(
        volume=volume,
        number=number,
        id=whole(v2.get("id")),
        title=text(v2.get("title", old.get("title"))),
        full_title=line(full_title) if isinstance(full_title, str) else None,
        published=instant(old.get("date")) if published is None else published,
        final=v2.get("final", old.get("final")) is True,
        views=count(v2.get("views")),
        group_ids=[whole(group.get("id")) for group in entries(old.get("groups"))],
        group_names=lines(v2.get("groups")) or [line(group.get("name")) for group in entries(old.get("groups"))],
        page_urls=page_urls(pages, old, cubari, lists),
        # The oldest version has no URLs.
        page_names=[unquote(name) for name in texts(old["pages"])] if "pages" in old else None,
        page_numbers=[whole(page.get("number")) or 0 for page in entries(pages.get("results"))],
        modified=_modified(v2, old, cubari, lists.responses),
        in_v2=bool(v2),
        unstated=sorted(_SOMETIMES.keys() - v2.keys() - old.keys()),
    )


def _modified(v2: Fields, old: Fields, cubari: Fields, responses: Responses) -> int | None:
    """Return the time in the Cubari JSON, or the Last-Modified of the response that shows the chapter alone."""
    paths = (f"{V2}/chapters/{v2.get('id')}", *(f"{version}/series/{old.get('path')}" for version in OLD))
    times = (seconds(cubari.get("last_updated")), *(responses[path].modified for path in paths))
    return next((time for time in times if time is not None), None)


def _in_cubari(key: Key, v2: dict[str, Any], by_number: dict[str, dict[str, Any]]) -> dict[str, Any]:
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


@dataclass(slots=True)
class ChapterReader:
    """Reads the chapters of one series."""

    lists: ImportedLists
    slug: str
    series_title: str
    # Each chapter with its valid fields.
    chapters: list[tuple[ImportedChapter, Fields]] = field(default_factory=list)
    ids: set[int] = field(default_factory=set)
    numbers: set[Key] = field(default_factory=set)
    titles: list[TitleSample] = field(default_factory=list)

    def read(self) -> list[Fields]:
        """Return the valid fields of each chapter in reading order; of one number, by id."""
        for chapter in self._chapters():
            self._add(chapter)
        self.chapters.sort(key=lambda pair: (pair[0].volume or inf, float(pair[0].number), pair[0].id or inf))
        return [record for _, record in self.chapters]

    def _chapters(self) -> Iterator[ImportedChapter]:
        """Yield the chapters of version 2, then those that only older versions show."""
        responses = self.lists.responses
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
                json = _ChapterJson(key, v2, self._counterpart(key, old), in_cubari, pages)
                yield _imported_chapter(json, self.lists)
        for key, chapter in old.items():
            yield _imported_chapter(_ChapterJson(key, {}, chapter, {}, {}), self.lists)

    def _note(self, sentence: str) -> None:
        self.lists.notes.add(sentence, self.slug)

    def _key(self, stated_volume: Any, stated_number: Any) -> Key | None:
        try:
            if stated_volume in ("None", "null"):
                self._note("volume None or null is imported as no volume")
            return volume(stated_volume), number(stated_number)
        except ValueError as error:
            self._note(f"{error}; chapter skipped")
            return None

    def _old(self) -> Iterator[tuple[Key, dict[str, Any]]]:
        """Yield the chapters of the newest of the older versions, with their path there."""
        series = self.lists.responses.old_series(self.slug)
        for stated_volume, chapters in fields(series.get("volumes")).items():
            for stated_number, chapter in fields(chapters).items():
                if isinstance(chapter, dict) and (key := self._key(stated_volume, stated_number)):
                    yield key, {**chapter, "path": f"{self.slug}/{key[0] or 0}/{stated_number}"}

    def _counterpart(self, key: Key, old: dict[Key, dict[str, Any]]) -> dict[str, Any]:
        """Remove and return the chapter of an older version that is this one."""
        if key in old:
            return old.pop(key)
        short = number(f"{float(key[1]):.{_DIGITS}g}")
        if short != key[1] and (key[0], short) in old:
            self._note(f"the older versions round numbers to {_DIGITS} digits; version 2 is used")
            return old.pop((key[0], short))
        return {}

    def _add(self, chapter: ImportedChapter) -> None:
        if self._is_duplicate(chapter):
            self._note(f"chapter {chapter.number} is a duplicate; skipped")
            return
        if not chapter.in_v2 and len(chapter.number.replace(".", "").strip("0")) >= _DIGITS:
            self._note(f"chapter {chapter.number} may be rounded by the site")
        for name in chapter.unstated:
            self._note(_SOMETIMES[name])
        place = f"{self.slug} chapter {chapter.number}"
        record = valid_fields(Chapter, self._fields(chapter), place, self.lists.notes)
        if record is None:
            return
        pages = stored_pages(chapter, self.slug, self.lists)
        note_gaps(chapter.page_numbers, place, self.lists.notes)
        if pages is None:
            self._note("pages: unknown for some chapters")
        record = valid_fields(Chapter, record | {"pages": pages or []}, place, self.lists.notes) or record
        self.chapters.append((chapter, record))
        self.numbers.add((chapter.volume, chapter.number))
        self.ids |= {chapter.id} if chapter.id else set()
        if chapter.full_title is not None:
            parts = _title_parts(chapter, self.series_title, record)
            # Up to release 0.8.3, the original service shows 0 as the volume of a chapter without one.
            full_title = chapter.full_title if chapter.volume else chapter.full_title.removeprefix("Vol. 0, ")
            self.titles.append(TitleSample(full_title, chapter.volume, parts))

    def _is_duplicate(self, chapter: ImportedChapter) -> bool:
        """Whether an id or a number is used. Chapters without a volume may share a number, if they have ids."""
        may_share = chapter.volume is None and chapter.id is not None
        return chapter.id in self.ids or ((chapter.volume, chapter.number) in self.numbers and not may_share)

    def _fields(self, chapter: ImportedChapter) -> Fields:
        return {
            "id": chapter.id,
            "volume": chapter.volume,
            "number": chapter.number,
            "title": chapter.title,
            "published": None if chapter.published is None else field_values.iso(chapter.published),
            "final": chapter.final,
            "groups": _groups(self.lists, chapter, self.slug),
            "pages": [],
            "views": chapter.views,
            "modified": modified_field(chapter.modified, f"chapter {self.slug}", self.lists.notes),
        }


def _groups(lists: ImportedLists, chapter: ImportedChapter, slug: str) -> list[int]:
    """The ids of the older versions if all are known; otherwise the ids of the names."""
    groups = lists.records["groups"]
    if chapter.group_ids and all(id in groups for id in chapter.group_ids):
        return [id for id in dict.fromkeys(chapter.group_ids) if id is not None]
    ids: list[int] = []
    for name in chapter.group_names:
        same_name = [id for id, group in groups.items() if group["name"] == name and id not in ids]
        if len(same_name) > 1:
            lists.note_same_name("groups", name)
        if same_name:
            ids.append(same_name[0])
        else:
            lists.notes.add("unknown group; skipped", slug)
    return ids


def _title_parts(chapter: ImportedChapter, series_title: str, record: Fields) -> dict[str, str]:
    return {
        "volume": str(chapter.volume or "?"),
        "number": chapter.number,
        "title": record.get("title", ""),
        "date": field_values.day(field_values.instant(record["published"])),
        "series": series_title,
    }


# The template of full chapter titles

# Numbers in a title that may come from a field; each doubles the candidates.
_MAX_CHOICES = 6
_WORDS = ("title", "series", "date")
_NUMBERS = ("volume", "number")
_FIELDS = {f"{{{name}}}" for name in field_values.TITLE_FIELDS}
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?|\?)")


def title_template(samples: Sequence[TitleSample]) -> str | None:
    """Return the template of all samples, the default one if that fits; None if there is none."""
    if not samples or _fits(field_values.DEFAULT_CHAPTER_TITLE, samples):
        return field_values.DEFAULT_CHAPTER_TITLE
    best = max(samples, key=lambda one: (one.volume is not None, bool(one.parts["title"]), len(one.parts["title"])))
    return next((template for template in _candidates(best) if _fits(template, samples)), None)


def _fits(template: str, samples: Sequence[TitleSample]) -> bool:
    return all(field_values.full_title(template, sample.volume, sample.parts) == sample.full for sample in samples)


def _candidates(sample: TitleSample) -> Iterator[str]:
    """Yield the templates that make this title. A number in it may be the volume, the chapter, or literal."""
    pieces = [sample.full]
    for name in sorted(_WORDS, key=lambda name: -len(sample.parts[name])):
        pieces = [part for piece in pieces for part in _with_field(piece, sample.parts[name], name)]
    pieces = [part for piece in pieces for part in _split_numbers(piece)]
    choices = [
        (*(f"{{{name}}}" for name in _NUMBERS if sample.parts[name] == piece), _literal(piece)) for piece in pieces
    ]
    if sum(len(choice) > 1 for choice in choices) <= _MAX_CHOICES:
        yield from map("".join, product(*choices))


def _literal(piece: str) -> str:
    return piece if piece in _FIELDS else piece.replace("{", "{{").replace("}", "}}")


def _with_field(piece: str, value: str, name: str) -> list[str]:
    """Split a text at each occurrence of a value, and put the field with this name there."""
    if not value or piece in _FIELDS:
        return [piece]
    pairs = ((part, f"{{{name}}}") for part in piece.split(value))
    return [part for pair in pairs for part in pair][:-1]


def _split_numbers(piece: str) -> list[str]:
    """Split a text into numbers and the text between them."""
    return [piece] if piece in _FIELDS else _NUMBER.split(piece)
