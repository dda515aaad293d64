"""Responses -> one series with its chapters, as fields of a catalog."""

from dataclasses import dataclass
from itertools import count as count_from
from typing import Any

from ..catalog import field_values
from ..catalog.records import STATUSES, Person, Series
from ..reading_sites.lenient import Fields, count, entries, fields, instant, line, lines, text, texts, valid_fields
from ..reading_sites.responses import OLD, V2, Responses
from .chapters import ChapterReader, title_template
from .imported import ImportedSeries, Names
from .people_and_groups import ImportedLists, modified_field
from .same_names import stated_people


def imported_series(responses: Responses, slug: str) -> ImportedSeries:
    """Put a series together from the JSON of version 2 and of the newest of the older versions."""
    v2 = fields(responses[f"/api/v2/series/{slug}"].value)
    old = responses.old_series(slug)
    chapters = responses[f"/api/v2/series/{slug}/chapters"]
    dates = (responses[f"{version}/series/{slug}"].modified for version in (V2, *OLD))
    return ImportedSeries(
        slug=slug,
        title=text(v2.get("title") or old.get("title")),
        aliases=texts(v2.get("aliases", old.get("aliases"))),
        description=text(v2.get("description", old.get("description"))),
        authors=_names("authors", v2, old),
        artists=_names("artists", v2, old),
        categories=lines(v2.get("categories")) or [line(entry.get("name")) for entry in entries(old.get("categories"))],
        status=text(v2.get("status")).lower().replace("cancelled", "canceled"),
        completed=v2.get("completed", old.get("completed")) is True,
        licensed=v2.get("licensed") is True or 451 in (chapters.status, responses[f"/api/v2/cubari/{slug}"].status),
        updated=instant(v2.get("updated")),
        modified=next((date for date in dates if date is not None), None),
        locked=chapters.locked,
        cover=text(v2.get("cover") or old.get("cover")),
        views=count(v2.get("views")),
        in_v2=bool(v2),
        in_old=bool(old),
    )


def _names(kind: str, v2: dict[str, Any], old: dict[str, Any]) -> Names:
    return Names(lines(v2[kind]) if kind in v2 else None, stated_people(old.get(kind)))


def _updated(series: ImportedSeries, chapters: list[Fields]) -> str | None:
    """The last publication of a licensed series. Without it, version 2 lists a series only if chapters have ids."""
    if not series.licensed or series.updated is None or any("id" in chapter for chapter in chapters):
        return None
    return field_values.iso(series.updated)


@dataclass(slots=True)
class SeriesReader:
    """Reads one series after the other."""

    lists: ImportedLists
    now: int
    # Whether the chapters of all series need a key.
    all_locked: bool = False

    def series(self, slug: str) -> tuple[Fields, list[Fields]] | None:
        """Return the valid fields of a series and of its chapters; None if a required field is missing."""
        series = imported_series(self.lists.responses, slug)
        if not series.title and self.lists.responses.failed(f"/api/v2/series/{slug}"):
            self._note(series, "its own response failed; the series is skipped until the next import")
            return None
        reader = ChapterReader(self.lists, slug, series.title)
        chapters = reader.read()
        chapter_title = title_template(reader.titles)
        stated = {
            "title": series.title,
            "aliases": series.aliases,
            "description": series.description,
            "authors": self._people("authors", series, series.authors),
            "artists": self._people("artists", series, series.artists),
            "categories": self._categories(series),
            "status": self._status(series),
            "licensed": series.licensed,
            "updated": _updated(series, chapters),
            # The older versions do not show a series that needs a key.
            "restricted": series.locked and not series.in_old and not self.all_locked,
            "cover": self.lists.images.image(series.cover, f"series/{slug}/"),
            "chapter_title": chapter_title,
            "modified": modified_field(series.modified, f"series {slug}", self.lists.notes),
            "chapters": [],
        }
        if chapter_title is None:
            self._note(series, "no chapter_title fits all full titles; the default is used")
        record = valid_fields(Series, stated, slug, self.lists.notes)
        if record is None:
            return None
        if record.get("chapter_title") == field_values.DEFAULT_CHAPTER_TITLE:
            del record["chapter_title"]
        if chapters and series.licensed and series.views and not self.lists.responses.is_original:
            # Version 2 does not show these chapters, but the sum of their views. The original service adds up wrong.
            chapters[0] |= {"views": series.views}
        self._note_gaps(series, record, chapters)
        return record, chapters

    def _note(self, series: ImportedSeries, sentence: str) -> None:
        self.lists.notes.add(sentence, series.slug)

    def _status(self, series: ImportedSeries) -> str:
        if series.status in STATUSES:
            return series.status
        self._note(series, "status: only completed or not is known, not hiatus or canceled")
        return "completed" if series.completed else "ongoing"

    def _people(self, kind: str, series: ImportedSeries, names: Names) -> list[int]:
        makers = self.lists.makers.get((kind, series.slug), [])
        if names.v2 is None and kind == "authors" and self._are_artists(names.in_old):
            self._note(series, "the listed authors are artists; the series lists of the authors are used")
            return makers
        if names.v2 is not None and series.in_old and sorted(names.in_old) != sorted(names.v2):
            self._note(series, f"the older versions name other {kind} than version 2, which is used")
        ids: list[int] = []
        for person in names.people:
            id = self.lists.ids_by_aliases[kind].get(person)
            if id is None or id in ids:
                id = self._same_name(kind, person.name, ids, makers)
            ids += [id] if id else self._new_person(kind, person.name, series)
        return ids

    def _same_name(self, kind: str, name: str, taken: list[int], makers: list[int]) -> int | None:
        """The first person of a name, if possible one who lists the series as own; None if there is none."""
        people = self.lists.records[kind].items()
        same_name = [id for id, person in people if person["name"] == name and id not in taken]
        own = [id for id in same_name if id in makers]
        if len(same_name) > 1 and len(own) != 1:
            self.lists.note_same_name(kind, name)
        return next(iter(own or same_name), None)

    def _are_artists(self, names: list[str]) -> bool:
        """Whether these are names of artists and of no author."""
        authors, artists = (
            {person["name"] for person in self.lists.records[kind].values()} for kind in ("authors", "artists")
        )
        return bool(names) and not authors.intersection(names) and artists.issuperset(names)

    def _new_person(self, kind: str, name: str, series: ImportedSeries) -> list[int]:
        """Add a person who is in no list; return the new id, or nothing if the name is invalid or the list failed."""
        if self.lists.responses.failed(f"/api/v2/{kind}"):
            # An invented id would stay.
            self._note(series, f"ids of {kind} unknown, because their list failed; skipped until the next import")
            return []
        id = next(number for number in count_from(1) if number not in self.lists.records[kind])
        record = valid_fields(Person, {"id": id, "name": name}, series.slug, self.lists.notes)
        if record is None:
            return []
        self._note(series, f"unknown name in {kind}; added with a new id")
        self.lists.records[kind][id] = record
        return [id]

    def _categories(self, series: ImportedSeries) -> list[str]:
        ids = self.lists.category_ids
        if any(name not in ids for name in series.categories):
            self._note(series, "unknown category; skipped")
        return sorted({ids[name] for name in series.categories if name in ids})

    def _note_gaps(self, series: ImportedSeries, record: Fields, chapters: list[Fields]) -> None:
        if record.get("licensed") and not chapters:
            self._note(series, "licensed; its chapters are not available")
        if series.in_v2 and any("id" not in chapter for chapter in chapters):
            self._note(series, "ids of some chapters are unknown; `python build.py ids` assigns new ones")
        if any(field_values.instant(chapter["published"]) > self.now for chapter in chapters):
            self._note(series, "contains scheduled chapters; they are imported, and appear at their time")
