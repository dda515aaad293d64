"""The database of the original service -> the catalog that an import should write, and what may differ from it.

`RealDatabase` has one function per table. `differences` compares an imported catalog with it, field by field, and gives
each difference its reason. A difference without a reason is a fault of the import.
"""

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from generator.catalog.field_values import full_title
from generator.catalog.problems.load import load_valid
from generator.catalog.reader import Sources
from tests.support.real_service import AFTER_EDIT, RECORDED_AT, V1_OFF, recorded_bytes

Fields = dict[str, Any]
ROLES = {
    "LD": "Leader",
    "TL": "Translator",
    "PR": "Proofreader",
    "CL": "Cleaner",
    "RD": "Redrawer",
    "TS": "Typesetter",
    "RP": "Raw Provider",
    "QC": "Quality Checker",
}
_CONTACTS = ("website", "description", "email", "discord", "twitter", "reddit", "irc")
# Characters that a catalog cannot hold.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True)
class Difference:
    """A value of the database that the catalog has not, or has in another form."""

    # "missing" in the catalog, "extra" in the catalog, or "changed".
    kind: str
    entity: str
    # Empty for a whole entity.
    field: str
    catalog: Any
    database: Any
    # Empty for a fault.
    reason: str = ""

    def __str__(self) -> str:
        name = f"{self.entity}: {self.field}" if self.field else self.entity
        return (
            f"{self.kind} {name}: catalog {self.catalog!r}, database {self.database!r} ({self.reason or 'no reason'})"
        )


@dataclass
class Entities:
    """Records as plain values: by kind, then by id; a chapter's id is (slug, id) or (slug, volume, number)."""

    records: dict[str, dict[Any, Fields]] = field(default_factory=dict)

    def __getitem__(self, kind: str) -> dict[Any, Fields]:
        return self.records.setdefault(kind, {})


class RealDatabase:
    """The tables of a recorded database; `edited` is the one after the edits."""

    def __init__(self, tables: sqlite3.Connection, version: str) -> None:
        tables.row_factory = sqlite3.Row
        self.tables, self.is_old = tables, version == "v0.4.5"

    def rows(self, query: str) -> list[sqlite3.Row]:
        return list(self.tables.execute(query))

    def aliases(self, model: str) -> dict[Any, list[str]]:
        """The other names of series, authors or artists, by their id."""
        if self.is_old:
            query = f"SELECT {model}_id AS owner, alias AS name FROM reader_{model}alias"
        else:
            query = f"""SELECT object_id AS owner, name FROM reader_alias JOIN django_content_type AS type
                ON type.id = content_type_id WHERE type.app_label = 'reader' AND type.model = '{model}'"""
        names: dict[Any, list[str]] = {}
        for row in self.rows(query):
            names.setdefault(row["owner"], []).append(row["name"])
        return names

    def people(self, model: str) -> dict[int, Fields]:
        """The tables `reader_author` and `reader_artist`."""
        aliases = self.aliases(model)
        return {
            row["id"]: {"name": row["name"], "aliases": sorted(aliases.get(row["id"], []))}
            for row in self.rows(f"SELECT * FROM reader_{model}")
        }

    def categories(self) -> dict[str, Fields]:
        """The table `reader_category`."""
        rows = self.rows("SELECT * FROM reader_category")
        return {row["id"]: {"name": row["name"], "description": row["description"]} for row in rows}

    def members(self) -> dict[int, Fields]:
        """The table `groups_member`."""
        contacts = ("twitter", "discord") if self.is_old else ("twitter", "discord", "irc", "reddit")
        rows = self.rows("SELECT * FROM groups_member")
        return {row["id"]: {name: row[name] for name in ("name", *contacts)} for row in rows}

    def roles(self) -> dict[int, list[tuple[int, str]]]:
        """The table `groups_role`: (member, role) by group."""
        roles: dict[int, list[tuple[int, str]]] = {}
        for row in self.rows("SELECT * FROM groups_role"):
            roles.setdefault(row["group_id"], []).append((row["member_id"], ROLES[row["role"]]))
        return roles

    def groups(self) -> dict[int, Fields]:
        """The table `groups_group`; a logo is a path below the media folder."""
        roles = self.roles()
        names = [name for name in _CONTACTS if not (self.is_old and name in ("reddit", "irc"))]
        return {
            row["id"]: {name: row[name] for name in ("name", *names)}
            | {"logo": row["logo"], "members": sorted(roles.get(row["id"], []))}
            for row in self.rows("SELECT * FROM groups_group")
        }

    def links(self, table: str, owner: str, other: str) -> dict[Any, list[Any]]:
        """A table of links: the sorted ids of the others by owner."""
        links: dict[Any, list[Any]] = {}
        for row in self.rows(f"SELECT {owner}_id AS owner, {other}_id AS other FROM {table}"):
            links.setdefault(row["owner"], []).append(row["other"])
        return {owner: sorted(others) for owner, others in links.items()}

    def series(self) -> dict[str, Fields]:
        """The table `reader_series`; a cover is a path below the media folder."""
        linked = {
            name: self.links(f"reader_series_{name}", "series", model)
            for name, model in (("authors", "author"), ("artists", "artist"), ("categories", "category"))
        }
        aliases = self.aliases("series")
        series = {}
        for row in self.rows("SELECT * FROM reader_series"):
            id = row["slug"] if self.is_old else row["id"]
            series[row["slug"]] = {
                "title": row["title"],
                "description": row["description"],
                "cover": row["cover"],
                "modified": instant(row["modified"]),
                "aliases": sorted(aliases.get(id, [])),
                **{name: links.get(id, []) for name, links in linked.items()},
                **({"status": "completed" if row["completed"] else "ongoing"} if self.is_old else self._newer(row)),
            }
        return series

    def _newer(self, row: sqlite3.Row) -> Fields:
        return {"status": row["status"], "licensed": bool(row["licensed"]), "chapter_title": row["format"]}

    def pages(self) -> dict[int, list[str]]:
        """The table `reader_page`: paths below the media folder in reading order, by chapter."""
        pages: dict[int, list[str]] = {}
        for row in self.rows("SELECT * FROM reader_page ORDER BY chapter_id, number, id"):
            pages.setdefault(row["chapter_id"], []).append(row["image"])
        return pages

    def chapters(self) -> dict[tuple[str, int], Fields]:
        """The table `reader_chapter`, by slug and id."""
        pages, groups = self.pages(), self.links("reader_chapter_groups", "chapter", "group")
        slugs = {} if self.is_old else {row["id"]: row["slug"] for row in self.rows("SELECT * FROM reader_series")}
        published = "uploaded" if self.is_old else "published"
        return {
            (slugs.get(row["series_id"], row["series_id"]), row["id"]): {
                "id": row["id"],
                "volume": row["volume"] or None,
                "number": number(row["number"]),
                "title": row["title"],
                "published": instant(row[published]),
                "modified": instant(row["modified"]),
                "final": bool(row["final"]),
                "groups": groups.get(row["id"], []),
                "pages": pages.get(row["id"], []),
                **({} if self.is_old else {"views": row["views"]}),
            }
            for row in self.rows("SELECT * FROM reader_chapter")
        }

    def redirects(self) -> dict[str, str]:
        """The table `django_redirect`: present slug by old slug."""
        if self.is_old:
            return {}
        slug = re.compile(r"/reader/([^/]+)/")
        pairs = ((slug.fullmatch(row["old_path"]), slug.fullmatch(row["new_path"])) for row in self._redirect_rows())
        return {old[1]: new[1] for old, new in pairs if old and new}

    def _redirect_rows(self) -> list[sqlite3.Row]:
        return self.rows("SELECT * FROM django_redirect")

    def accounts(self) -> dict[str, Fields]:
        """The tables of active accounts, their profiles and bookmarks. Only the database has them."""
        if self.is_old:
            return {}
        query = """SELECT username, first_name, last_name, email, bio, avatar FROM auth_user AS user
            LEFT JOIN users_userprofile ON user_id = user.id WHERE is_active"""
        return {row["username"]: dict(row) for row in self.rows(query)}

    @cached_property
    def entities(self) -> Entities:
        """All records, as an import of all answers and of this database would write them."""
        return Entities(
            {
                "authors": dict(self.people("author")),
                "artists": dict(self.people("artist")),
                "categories": dict(self.categories()),
                "members": dict(self.members()),
                "groups": dict(self.groups()),
                "series": dict(self.series()),
                "chapters": dict(self.chapters()),
                "redirects": {old: {"slug": new} for old, new in self.redirects().items()},
                "accounts": dict(self.accounts()),
            }
        )


@contextmanager
def real_database(setting: str = "usual", version: str = "v0.9.6") -> Iterator[RealDatabase]:
    """Open the recorded database of a setting."""
    name = "after-edit.sqlite3.xz" if setting == AFTER_EDIT else "db.sqlite3.xz"
    with closing(sqlite3.connect(":memory:")) as tables:
        tables.deserialize(recorded_bytes(f"{version}/{name}"))
        yield RealDatabase(tables, version)


def instant(text: str) -> int:
    """Whole seconds since 1970 of a date in the database, which is UTC without a zone."""
    return int(datetime.fromisoformat(text).replace(microsecond=0, tzinfo=UTC).timestamp())


def number(value: float) -> str:
    """The canonical form of a chapter number."""
    text = f"{Decimal(repr(value)):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def readable(text: str) -> str:
    """A text as a catalog can hold it: \\n as line break, without other control characters."""
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def in_one_line(text: str) -> set[str]:
    """What a field of one line may hold instead of a text: spaces or nothing for its tabs and line breaks."""
    return {re.sub(r"[\t\n]", instead, readable(text)) for instead in ("", " ")}


def imported(folder: Path, media: str) -> Entities:
    """The records of a catalog in the form of `RealDatabase.entities`: references are ids, images are paths."""
    sources = load_valid(folder)
    media = media if media.endswith("/") else f"{media}/"
    lists = {name.removesuffix(".yaml"): [entry.record for entry in list] for name, list in sources.lists.items()}
    ids = {kind: {record.name: record.id for record in records} for kind, records in lists.items() if kind in _NAMED}

    def path(file: str | None, below: str) -> str:
        return _media_path(file, below, sources, media)

    def references(kind: str, values: Iterable[str | int]) -> list[int]:
        return sorted(value if isinstance(value, int) else ids[kind][value] for value in values)

    entities = Entities()
    for kind in ("authors", "artists"):
        entities[kind].update({r.id: {"name": r.name, "aliases": sorted(r.aliases)} for r in lists[kind]})
    for record in lists["categories"]:
        entities["categories"][record.id] = {"name": record.name, "description": record.description}
    for record in lists["members"]:
        names = ("name", "twitter", "discord", "irc", "reddit")
        entities["members"][record.id] = {name: getattr(record, name) for name in names}
    for record in lists["groups"]:
        entities["groups"][record.id] = {name: getattr(record, name) for name in ("name", *_CONTACTS)} | {
            "logo": path(record.logo, f"groups/{record.id}/"),
            "members": sorted((*references("members", [role.member]), role.role) for role in record.members),
        }
    for series in sources.series:
        record = series.entry.record
        names = ("title", "description", "status", "licensed", "chapter_title", "modified")
        entities["series"][series.slug] = {name: getattr(record, name) for name in names} | {
            "cover": path(record.cover, f"series/{series.slug}/"),
            "aliases": sorted(record.aliases),
            "categories": sorted(record.categories),
            **{kind: references(kind, getattr(record, kind)) for kind in ("authors", "artists")},
        }
        for old in getattr(record, "formerly", []):
            entities["redirects"][old] = {"slug": series.slug}
        for entry in series.chapters:
            chapter = entry.record
            folder_of_pages = f"series/{series.slug}/{chapter.volume or 0}/{chapter.number}/"
            key = (series.slug, chapter.id) if chapter.id else (series.slug, chapter.volume, chapter.number)
            names = ("id", "volume", "number", "title", "published", "modified", "final", "views")
            entities["chapters"][key] = {name: getattr(chapter, name) for name in names} | {
                "groups": references("groups", chapter.groups),
                "pages": [path(page, folder_of_pages) for page in chapter.pages],
            }
    for record in lists["accounts"]:
        entities["accounts"][record.username] = {}
    return entities


_NUMBERS = ("volume", "number")
_NAMED = ("authors", "artists", "groups", "members")


def _media_path(file: str | None, below: str, sources: Sources, media: str) -> str:
    """The path of an image below the media folder; another URL as it is."""
    if not file:
        return ""
    site = sources.site
    assert site is not None
    root = site.media if "//" in site.media else site.base_url + site.media
    url = file if re.match("https?://", file) else f"{root}{below}{quote(file)}"
    if re.search("[?#]", url):
        # A query or a fragment is no part of a file's name.
        return url
    return unquote(url.removeprefix(media)) if url.startswith(media) else url


def differences(catalog: Path, database: RealDatabase, setting: str, *, media: str) -> list[Difference]:
    """Compare an imported catalog with the database; `media` is the URL of the recorded site's media folder."""
    return compared(imported(catalog, media), database, setting)


def compared(here: Entities, database: RealDatabase, setting: str) -> list[Difference]:
    """Compare records with the database, each difference with its reason."""
    there, reasons = database.entities, Reasons(database, here, setting)
    pairs = [
        pair
        for kind in there.records
        for pair in _differences_of(kind, _matched(kind, here[kind], there[kind]), there[kind])
    ]
    return [replace(difference, reason=reasons.of(difference, key)) for difference, key in pairs]


def _matched(kind: str, here: dict[Any, Fields], there: dict[Any, Fields]) -> dict[Any, Fields]:
    """Give chapters without an id, and those of the old version, the key of the database."""
    if kind != "chapters":
        return here
    by_number: dict[tuple[Any, ...], Any] = {}
    for key, chapter in there.items():
        by_number[key[0], chapter["volume"], chapter["number"]] = key
        by_number.setdefault((key[0], chapter["volume"], number(float(f"{float(chapter['number']):.6g}"))), key)
    return {key if len(key) == 2 else by_number.get(key, key): chapter for key, chapter in here.items()}


def _differences_of(kind: str, here: dict[Any, Fields], there: dict[Any, Fields]) -> Iterator[tuple[Difference, Any]]:
    for key in sorted({*here, *there}, key=str):
        name = f"{kind} {'/'.join(map(str, key)) if isinstance(key, tuple) else key}"
        if key not in here:
            yield Difference("missing", name, "", None, there[key]), key
        elif key not in there:
            yield Difference("extra", name, "", here[key], None), key
        else:
            for field_name, value in there[key].items():
                if here[key].get(field_name) != value:
                    yield Difference("changed", name, field_name, here[key].get(field_name), value), key


# A rule: whether it explains a difference. The second argument is the key of the entity.
Rule = Callable[["Reasons", Difference, Any], bool]


class Reasons:
    """Why a catalog may differ from the database: the first rule that explains a difference."""

    def __init__(self, database: RealDatabase, here: Entities, setting: str) -> None:
        self.database, self.here, self.there = database, here, database.entities
        self.is_old, self.has_v1 = database.is_old, setting != V1_OFF

    def of(self, difference: Difference, key: Any) -> str:
        return next((reason for reason, rule in RULES.items() if rule(self, difference, key)), "")

    def is_kind(self, difference: Difference, *kinds: str) -> bool:
        return difference.entity.partition(" ")[0] in kinds

    def slug(self, key: Any) -> str:
        return str(key[0] if isinstance(key, tuple) else key)

    def is_scheduled(self, key: Any) -> bool:
        return bool(self.there["chapters"].get(key, {}).get("published", 0) > RECORDED_AT)

    def is_licensed(self, key: Any) -> bool:
        return bool(self.there["series"].get(self.slug(key), {}).get("licensed"))

    def is_hidden(self, key: Any) -> bool:
        """Whether a newer chapter has the same number, so that version 1 does not show this one."""
        chapters = self.there["chapters"]
        return key in chapters and any(
            other[0] == key[0] and other[1] > key[1] and all(chapters[other][n] == chapters[key][n] for n in _NUMBERS)
            for other in chapters
        )

    @cached_property
    def visible(self) -> set[str]:
        """Slugs of the series with a published chapter."""
        return {key[0] for key in self.there["chapters"] if not self.is_scheduled(key)}

    @cached_property
    def with_makers(self) -> set[tuple[str, int]]:
        """Authors and artists of any series."""
        return {
            (kind, id)
            for series in self.there["series"].values()
            for kind in ("authors", "artists")
            for id in series[kind]
        }

    def same_names(self, kind: str, ids: Iterable[Any]) -> list[str]:
        """The names of people by id, in order."""
        records = {**self.here[kind], **self.there[kind]}
        return sorted(str(records.get(id, {}).get("name", id)) for id in ids)

    def is_ambiguous(self, difference: Difference) -> bool:
        """Whether both values name the same people, and people share a name."""
        kind = "members" if difference.field == "members" else difference.field
        if kind not in _NAMED or difference.kind != "changed":
            return False
        values = (difference.catalog, difference.database)
        if kind == "members":
            names = [sorted((*self.same_names(kind, [id]), role) for id, role in value) for value in values]
            return names[0] == names[1]
        return self.same_names(kind, values[0]) == self.same_names(kind, values[1])

    def same_titles(self, slug: str, template: str) -> bool:
        """Whether a template makes the same full titles of the published chapters."""
        series = self.there["series"][slug]
        chapters = [row for key, row in self.there["chapters"].items() if key[0] == slug and not self.is_scheduled(key)]
        return all(
            full_title(template, row["volume"], parts) == full_title(series["chapter_title"], row["volume"], parts)
            for row in chapters
            for parts in [_title_parts(series, row)]
        )

    def new_category_ids(self) -> dict[str, str]:
        """Ids that were made from names, by the id of the database."""
        by_name = {record["name"]: id for id, record in self.here["categories"].items()}
        return {id: by_name.get(record["name"], "") for id, record in self.there["categories"].items()}


def _title_parts(series: Fields, chapter: Fields) -> Mapping[str, str]:
    return {
        "volume": str(chapter["volume"] or "?"),
        "number": chapter["number"],
        "title": chapter["title"],
        "date": datetime.fromtimestamp(chapter["published"], UTC).strftime("%Y-%m-%d"),
        "series": series["title"],
    }


def _not_public(reasons: Reasons, difference: Difference, key: Any) -> bool:
    return difference.kind == "missing" and reasons.is_kind(difference, "accounts", "redirects")


def _scheduled(reasons: Reasons, difference: Difference, key: Any) -> bool:
    if not reasons.is_kind(difference, "chapters") or not reasons.is_scheduled(key):
        return False
    return difference.kind == "missing" or difference.field in ("id", "views", "modified", "groups", "pages", "final")


def _licensed(reasons: Reasons, difference: Difference, key: Any) -> bool:
    if not reasons.is_kind(difference, "chapters") or not reasons.is_licensed(key):
        return False
    if difference.kind == "missing":
        return not reasons.has_v1
    return difference.field in ("id", "views")


def _unlisted(reasons: Reasons, difference: Difference, key: Any) -> bool:
    if not reasons.is_kind(difference, "series") or reasons.slug(key) in reasons.visible or reasons.has_v1:
        return False
    return difference.kind == "missing" or difference.field in ("status", "categories", "authors", "artists")


def _undated(reasons: Reasons, difference: Difference, key: Any) -> bool:
    if difference.field != "modified" or difference.kind != "changed":
        return False
    if reasons.is_kind(difference, "series"):
        return not reasons.has_v1 or reasons.slug(key) not in reasons.visible
    # Version 0.4.5 answers 500 for the path of such a chapter.
    return reasons.is_old and _has_more_digits(reasons.there["chapters"].get(key, {}))


def _rounded(reasons: Reasons, difference: Difference, key: Any) -> bool:
    if difference.field != "modified" or not reasons.is_kind(difference, "chapters") or reasons.is_old:
        return False
    return bool(difference.catalog == difference.database + 1)


def _category_ids(reasons: Reasons, difference: Difference, key: Any) -> bool:
    if reasons.has_v1:
        return False
    ids = reasons.new_category_ids()
    if reasons.is_kind(difference, "categories") and not difference.field:
        return bool(ids.get(key)) or key in ids.values()
    return difference.field == "categories" and sorted(ids[id] for id in difference.database) == difference.catalog


def _aliases(reasons: Reasons, difference: Difference, key: Any) -> bool:
    if difference.field != "aliases" or not reasons.is_kind(difference, "authors", "artists") or difference.catalog:
        return False
    kind = difference.entity.partition(" ")[0]
    return not reasons.has_v1 or (kind == "authors" and (kind, key) not in reasons.with_makers)


def _namesakes(reasons: Reasons, difference: Difference, key: Any) -> bool:
    is_in_v1 = reasons.has_v1 and not (reasons.is_kind(difference, "chapters") and reasons.is_hidden(key))
    return not is_in_v1 and reasons.is_ambiguous(difference)


def _title_format(reasons: Reasons, difference: Difference, key: Any) -> bool:
    return difference.field == "chapter_title" and reasons.same_titles(key, difference.catalog)


def _text(reasons: Reasons, difference: Difference, key: Any) -> bool:
    catalog, database = difference.catalog, difference.database
    if isinstance(database, str) and isinstance(catalog, str):
        return catalog in {readable(database), *in_one_line(database)}
    return difference.field == "aliases" and "" in database and catalog == [name for name in database if name]


def _two_folders(reasons: Reasons, difference: Difference, key: Any) -> bool:
    if difference.field != "pages" or len({page.rpartition("/")[0] for page in difference.database}) < 2:
        return False
    return difference.catalog == [] or set(difference.catalog) < set(difference.database)


def _percent(reasons: Reasons, difference: Difference, key: Any) -> bool:
    if difference.field != "pages" or reasons.has_v1:
        return False
    return difference.catalog == [unquote(page) for page in difference.database]


def _before_v2(reasons: Reasons, difference: Difference, key: Any) -> bool:
    if not reasons.is_old:
        return False
    if difference.kind == "missing" and reasons.is_kind(difference, "members"):
        return not any(key == member for roles in reasons.database.roles().values() for member, _ in roles)
    if difference.field == "members":
        return set(difference.catalog) > set(difference.database)
    if difference.field == "pages":
        return sorted(difference.catalog) == sorted(difference.database)
    fields = {"chapters": ("id",), "groups": ("email",)}.get(difference.entity.partition(" ")[0], ())
    return difference.kind == "changed" and difference.field in fields and not difference.catalog


def _six_digits(reasons: Reasons, difference: Difference, key: Any) -> bool:
    if not reasons.is_old or difference.field != "number":
        return False
    return float(difference.catalog) == float(f"{float(difference.database):.6g}")


def _has_more_digits(chapter: Fields) -> bool:
    return len(chapter.get("number", "").replace(".", "")) > 6


RULES: dict[str, Rule] = {
    "accounts, keys, bookmarks and old slugs are not public": _not_public,
    "scheduled: no response has all fields of the chapter": _scheduled,
    "licensed: no response has ids and views of chapters; without version 1, none has the chapters": _licensed,
    "no published chapter and no version 1: only the sitemap lists the series": _unlisted,
    "no response has the exact time of the change": _undated,
    "the Cubari JSON rounds the time of a change to the next second": _rounded,
    "no version 1: ids of categories are made from names": _category_ids,
    "aliases of people are in version 1 only, those of authors in their series only": _aliases,
    "people and groups of one name cannot be told apart in version 2": _namesakes,
    "responses show full titles, not their template": _title_format,
    "a catalog cannot hold control characters, carriage returns and empty texts": _text,
    "a catalog cannot hold pages in two folders": _two_folders,
    "no version 1: a percent sign in a file name is ambiguous": _percent,
    "version 0.4.5: no response has ids of chapters, e-mail addresses, single roles and the order of pages": _before_v2,
    "version 0.4.5: numbers have six digits": _six_digits,
}


def explained(items: Iterable[Difference]) -> list[str]:
    """One line for each reason, with the number of its differences and an example."""
    by_reason: dict[str, list[Difference]] = {}
    for difference in items:
        by_reason.setdefault(difference.reason or "no reason", []).append(difference)
    return [
        f"{len(group)} × {reason}, for example {group[0].entity} {group[0].field}".rstrip()
        for reason, group in sorted(by_reason.items())
    ]


def faults(items: Iterable[Difference]) -> list[str]:
    """The differences that no rule explains."""
    return [str(difference)[:400] for difference in items if not difference.reason]


def counted(items: Iterable[Difference]) -> Counter[str]:
    """The faults by kind, entity kind and field, for a report."""
    return Counter(
        f"{difference.kind} {difference.entity.partition(' ')[0]} {difference.field}".rstrip()
        for difference in items
        if not difference.reason
    )
