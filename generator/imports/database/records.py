"""Tables -> the records of an import: lists, series with chapters, and the old slugs of series."""

import re
from collections.abc import Collection, Container, Iterable, Iterator
from dataclasses import dataclass
from math import inf
from typing import Any

from ...catalog import field_values, patterns
from ...catalog.patterns import MAX_SLUG
from ...catalog.records import Category, Chapter, Series
from ...catalog.site_settings import Site
from ...reading_sites.lenient import Fields, valid_fields
from ...reading_sites.notes import Notes
from ..imported import Imported
from ..merge_plan import MODELS
from ..pages import note_gaps
from ..people_and_groups import UniqueCategories
from . import accounts, rows
from .accounts import AccountData
from .media_paths import MediaFolder
from .rows import Grouped
from .tables import Row, Tables

# The base URL where the database does not have one.
_UNKNOWN = "http://localhost:8000"
_MEDIA = "/media/"


def read(tables: Tables, media: str, now: int, notes: Notes, data: AccountData) -> Imported:
    """Return the records of a database, without settings; `media` is the URL of the media folder."""
    folder = MediaFolder(media)
    imported = Imported(lists=list_records(tables, folder, notes))
    for slug, series, chapters in SeriesRecords(tables, folder, imported.lists, now, notes).read():
        imported.series[slug], imported.chapters[slug] = series, chapters
    notes.add("the database has no times of changes of people, categories and groups; the time of the file is used")
    if data:
        imported.accounts = accounts.read(tables, folder, notes, personal=data == "personal data")
    else:
        notes.add("accounts, bookmarks and API keys are not imported; --accounts brings them")
    return imported


def read_alone(
    tables: Tables, settings: Site | None, base_url: str, now: int, notes: Notes, data: AccountData
) -> Imported:
    """Return the records of a database without a site. The settings of the catalog stay; a new one needs a base URL.

    Without the argument, it is that of the table `django_site`.
    """
    if settings:
        return read(tables, media_url({"base_url": settings.base_url, "media": settings.media}), now, notes, data)
    site = {"base_url": base_url or _base_url(tables, notes)}
    imported = read(tables, media_url(site), now, notes, data)
    imported.site = site
    notes.add("reader, media and page_size are not in the database; defaults are used", "site.yaml")
    return imported


def media_url(site: Fields) -> str:
    """Return the URL of the media folder by the fields of `site.yaml`."""
    media = str(site.get("media", _MEDIA))
    return media if "://" in media else f"{site['base_url']}{media}"


def _base_url(tables: Tables, notes: Notes) -> str:
    """Return the base URL by the table `django_site`, which is as the site was first set up."""
    urls = (f"https://{row['domain']}" for row in tables.rows("django_site"))
    url = next((url for url in urls if re.fullmatch(patterns.HOST, url)), _UNKNOWN)
    if url == _UNKNOWN:
        notes.add(f"the database does not have the address of the site; base_url is {url}: change it", "site.yaml")
    else:
        notes.add(f"base_url is {url}, from the first setup of the old site: check it", "site.yaml")
    return url


# People, categories, groups and members, by their ids

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


def list_records(tables: Tables, media: MediaFolder, notes: Notes) -> dict[str, dict[Any, Fields]]:
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


# Series with their chapters


@dataclass(frozen=True, slots=True)
class RowsOfSeries:
    """The rows that belong to series, by the id of the series or of the chapter."""

    chapters: Grouped
    pages: rows.Pages
    groups: Grouped
    aliases: Grouped
    authors: Grouped
    artists: Grouped
    categories: Grouped

    @classmethod
    def of(cls, tables: Tables) -> "RowsOfSeries":
        return cls(
            rows.chapters(tables),
            rows.Pages(tables),
            rows.links(tables, "reader_chapter_groups", "chapter_id", "group_id"),
            rows.aliases(tables, "series"),
            rows.links(tables, "reader_series_authors", "series_id", "author_id"),
            rows.links(tables, "reader_series_artists", "series_id", "artist_id"),
            rows.links(tables, "reader_series_categories", "series_id", "category_id"),
        )


@dataclass(frozen=True, slots=True)
class SeriesRecords:
    """Makes the records of one series after the other."""

    tables: Tables
    media: MediaFolder
    # By kind, then by id.
    lists: dict[str, dict[Any, Fields]]
    now: int
    notes: Notes

    def read(self) -> Iterator[tuple[str, Fields, list[Fields]]]:
        """Yield the slug, the valid fields, and the valid fields of the chapters of each series."""
        of = RowsOfSeries.of(self.tables)
        series = list(self._with_slugs())
        formerly = old_slugs(self.tables, [row["slug"] for row in series], self.notes)
        for row in series:
            slug = row["slug"]
            if record := self._record(row, of, formerly.get(slug, [])):
                chapters = list(self._chapters(row, of))
                if any(field_values.instant(chapter["published"]) > self.now for chapter in chapters):
                    sentence = "contains scheduled chapters; they are imported, and appear at their time"
                    self.notes.add(sentence, slug)
                yield slug, record, chapters

    def _with_slugs(self) -> Iterator[Row]:
        """Yield the series whose slugs a catalog can hold together."""
        slugs: dict[str, str] = {}
        for row in rows.series(self.tables):
            slug = row["slug"]
            if not field_values.is_slug(slug) or len(slug) > MAX_SLUG:
                self.notes.add("invalid slug; series skipped", slug[:60])
            elif (first := slugs.setdefault(slug.lower(), slug)) != slug:
                self.notes.add(f"differs from {first} only in case; series skipped", slug)
            else:
                yield row

    def _record(self, row: Row, of: RowsOfSeries, formerly: list[str]) -> Fields | None:
        id, slug = row["id"], row["slug"]
        stated = {
            "title": row["title"],
            "aliases": of.aliases.get(id, []),
            "description": row["description"],
            "authors": self._in("authors", of.authors.get(id, []), slug),
            "artists": self._in("artists", of.artists.get(id, []), slug),
            "categories": self._in("categories", of.categories.get(id, []), slug),
            "status": row["status"],
            "licensed": row["licensed"],
            "cover": self.media.image(row["cover"], f"series/{slug}/"),
            "chapter_title": row["format"],
            "formerly": formerly,
            "chapters": [],
            "modified": _iso(row["modified"]),
        }
        record = valid_fields(Series, stated, slug, self.notes)
        if record and record.get("chapter_title") == field_values.DEFAULT_CHAPTER_TITLE:
            del record["chapter_title"]
        return record

    def _in(self, kind: str, ids: list[Any], place: str) -> list[Any]:
        """Return the ids that the records of a kind have."""
        if any(id not in self.lists[kind] for id in ids):
            self.notes.add(f"unknown {kind}; skipped", place)
        return [id for id in ids if id in self.lists[kind]]

    def _chapters(self, series: Row, of: RowsOfSeries) -> Iterator[Fields]:
        """Yield the chapters of a series in reading order."""
        slug, used = series["slug"], set[tuple[int, str]]()
        for row in sorted(of.chapters.get(series["id"], ()), key=_reading_order):
            if row["number"] is None:
                self.notes.add("invalid chapter number; chapter skipped", slug)
            elif row["volume"] and (row["volume"], row["number"]) in used:
                self.notes.add(f"chapter {row['number']} is a duplicate; skipped", slug)
            elif record := self._chapter(row, of, slug):
                used.add((row["volume"] or 0, row["number"]))
                yield record

    def _chapter(self, row: Row, of: RowsOfSeries, slug: str) -> Fields | None:
        place, pages = f"{slug} chapter {row['number']}", of.pages.of(row["id"])
        folder = f"series/{slug}/{row['volume'] or 0}/{row['number']}/"
        stated = {
            "id": row["id"],
            "volume": row["volume"],
            "number": row["number"],
            "title": row["title"],
            "published": _iso(row["published"]),
            "final": row["final"],
            "groups": self._in("groups", of.groups.get(row["id"], []), place),
            "pages": [],
            "views": row["views"],
            "modified": _iso(row["modified"]),
        }
        record = valid_fields(Chapter, stated, place, self.notes)
        if record is None:
            return None
        note_gaps([page.number for page in pages], place, self.notes)
        files = self.media.pages([page.image for page in pages], folder, slug, self.notes)
        return valid_fields(Chapter, record | {"pages": files}, place, self.notes) or record


def _iso(instant: int | None) -> str | None:
    return None if instant is None else field_values.iso(instant)


def _reading_order(row: Row) -> tuple[float, float, float]:
    return row["volume"] or inf, float(row["number"] or 0), row["id"] or inf


# Redirects of old slugs: `formerly` of the series that has the slug now

# The page of a series.
_SERIES_PAGE = re.compile(r"/reader/([^/]+)/?")
_BY_HAND = "redirect written by hand: not of a series; add it to the configuration of your server"


def old_slugs(tables: Tables, slugs: Collection[str], notes: Notes) -> dict[str, list[str]]:
    """Return the old slugs of each series, the first one first; a note names every other redirect."""
    targets = {row["old_path"]: row["new_path"] for row in sorted(tables.rows("django_redirect"), key=_by_id)}
    used = {slug.lower() for slug in slugs}
    formerly: dict[str, list[str]] = {}
    for old_path, new_path in targets.items():
        old, new = _slug(old_path), _slug(_end(new_path, targets))
        if old is None or new not in slugs:
            notes.add(_BY_HAND, f"{old_path} -> {new_path or 'nothing (410)'}")
        elif old.lower() in used:
            notes.add("redirect of a slug that another series has or had; skipped", f"{old_path} -> {new_path}")
        else:
            used.add(old.lower())
            formerly.setdefault(str(new), []).append(old)
    return formerly


def _by_id(row: object) -> int:
    return row["id"] or 0  # type: ignore[index]


def _slug(path: str) -> str | None:
    match = _SERIES_PAGE.fullmatch(path)
    return match[1] if match and field_values.is_slug(match[1]) else None


def _end(path: str, targets: dict[str, str]) -> str:
    """Return the last path of a chain; a circle ends where it begins again."""
    passed = set[str]()
    while path in targets and path not in passed:
        passed.add(path)
        path = targets[path]
    return path
