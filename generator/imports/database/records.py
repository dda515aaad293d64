"""Tables -> the records of an import: lists, series with chapters, and the old slugs of series."""

import re
from collections.abc import Collection, Iterator
from typing import Any

from ...catalog import field_values, patterns
from ...catalog.patterns import MAX_SLUG
from ...catalog.site_settings import Site
from ...reading_sites.lenient import Fields
from ...reading_sites.notes import Notes
from ..records import ChapterBuilder, Imported, RecordBuilder, StatedChapter, reading_order
from . import accounts, rows
from .accounts import AccountData
from .tables import Row, Tables

# The base URL where the database does not have one.
_UNKNOWN = "http://localhost:8000"
_MEDIA = "/media/"


def read(tables: Tables, media: str, now: int, notes: Notes, data: AccountData) -> Imported:
    """Return the records of a database, without settings; `media` is the URL of the media folder."""
    builder = RecordBuilder(media, now, notes)
    add_lists(tables, builder)
    imported = Imported(lists=builder.lists)
    for slug, series, chapters in SeriesRows(tables, builder).read():
        imported.series[slug], imported.chapters[slug] = series, chapters
    notes.add("the database has no times of changes of people, categories and groups; the time of the file is used")
    if data:
        imported.accounts = accounts.read(tables, media, notes, personal=data == "personal data")
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


def add_lists(tables: Tables, builder: RecordBuilder) -> None:
    """Add the people, categories, members and groups in the order of their ids."""
    for kind, model in (("authors", "author"), ("artists", "artist")):
        # In the order of the alphabet, as responses have them.
        aliases = {id: sorted(names) for id, names in rows.aliases(tables, model).items()}
        people = tables.in_order(f"reader_{model}")
        builder.add(kind, ({**row, "aliases": aliases.get(row["id"], [])} for row in people))
    builder.add_categories(tables.in_order("reader_category"))
    builder.add("members", tables.in_order("groups_member"))
    builder.add("groups", _groups(tables, builder))


def _groups(tables: Tables, builder: RecordBuilder) -> Iterator[Fields]:
    roles: rows.Grouped = {}
    for row in tables.in_order("groups_role"):
        if row["member_id"] in builder.lists["members"]:
            role = {"member": row["member_id"], "role": _ROLES.get(row["role"], row["role"])}
            roles.setdefault(row["group_id"], []).append(role)
        else:
            builder.notes.add("unknown member; role skipped", f"groups {row['group_id']}")
    for row in tables.in_order("groups_group"):
        contacts = {name: row.get(name, "") for name in _CONTACTS}
        logo = rows.image_url(builder.media, row["logo"]) or None
        yield {"id": row["id"], **contacts, "logo": logo, "members": roles.get(row["id"], [])}


# Series with their chapters

_OF_SERIES = ("title", "description", "status", "licensed", "modified")
_OF_CHAPTERS = ("id", "volume", "number", "title", "published", "final", "views", "modified")


class SeriesRows:
    """Reads one series after the other. Rows that belong to series are grouped by the id of series or chapter."""

    def __init__(self, tables: Tables, builder: RecordBuilder) -> None:
        self.tables, self.builder, self.notes = tables, builder, builder.notes
        self.aliases, self.chapters = rows.aliases(tables, "series"), rows.chapters(tables)
        self.pages = rows.Pages(tables)
        self.groups = rows.links(tables, "reader_chapter_groups", "chapter_id", "group_id")
        self.links = {
            kind: rows.links(tables, f"reader_series_{kind}", "series_id", column)
            for kind, column in (("authors", "author_id"), ("artists", "artist_id"), ("categories", "category_id"))
        }

    def read(self) -> Iterator[tuple[str, Fields, list[Fields]]]:
        """Yield the slug and the records of each series and of its chapters."""
        series = list(self._with_slugs())
        formerly = old_slugs(self.tables, [row["slug"] for row in series], self.notes)
        for row in series:
            slug, id = row["slug"], row["id"]
            stated = {
                **{name: row[name] for name in _OF_SERIES},
                **{kind: self._in(kind, ids.get(id, []), slug) for kind, ids in self.links.items()},
                "aliases": self.aliases.get(id, []),
                "cover": rows.image_url(self.builder.media, row["cover"]),
                "chapter_title": row["format"],
                "formerly": formerly.get(slug, []),
            }
            if record := self.builder.series(slug, stated):
                chapters = self._chapters(row)
                self.builder.note_scheduled(slug, chapters)
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

    def _in(self, kind: str, ids: list[Any], place: str) -> list[Any]:
        """Return the ids that the records of a kind have."""
        records = self.builder.lists[kind]
        if any(id not in records for id in ids):
            self.notes.add(f"unknown {kind}; skipped", place)
        return [id for id in ids if id in records]

    def _chapters(self, series: Row) -> list[Fields]:
        """Return the chapters of a series in reading order."""
        slug, chapters = series["slug"], ChapterBuilder(self.builder, series["slug"])
        for row in sorted(self.chapters.get(series["id"], ()), key=reading_order):
            if row["number"] is None:
                self.notes.add("invalid chapter number; chapter skipped", slug)
                continue
            groups = self._in("groups", self.groups.get(row["id"], []), f"{slug} chapter {row['number']}")
            pages = self.pages.of(row["id"])
            urls = [rows.image_url(self.builder.media, page.image) for page in pages]
            stated = {**{name: row[name] for name in _OF_CHAPTERS}, "groups": groups}
            chapters.add(StatedChapter(stated, urls, page_numbers=[page.number for page in pages]))
        return chapters.in_order()


# Redirects of old slugs: `formerly` of the series that has the slug now

# The page of a series.
_SERIES_PAGE = re.compile(r"/reader/([^/]+)/?")
_BY_HAND = "redirect written by hand: not of a series; add it to the configuration of your server"


def old_slugs(tables: Tables, slugs: Collection[str], notes: Notes) -> dict[str, list[str]]:
    """Return the old slugs of each series, the first one first; a note names every other redirect."""
    targets = {row["old_path"]: row["new_path"] for row in tables.in_order("django_redirect")}
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
