"""The records of a database and of its site -> one import with each fact from the better source.

Settings come from the site, all else from the database. If the copy of the database is older than the site, the
site also has newer entries, and newer values of chapters and series that changed since.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Set

from ..catalog import field_values
from ..reading_sites.lenient import Fields
from ..reading_sites.notes import Note, Notes
from ..reading_sites.responses import OPENAPI, V2
from . import unavailable
from .records import Imported, UniqueCategories, only_in_v2, reading_order
from .site.settings import LOST_PATHS

# Fields that responses show less exactly than the database.
_INEXACT = ("chapter_title", "formerly", "updated")


def combined(site: Imported, database: Imported, now: int, site_notes: Notes, notes: Notes) -> Imported:
    """Return the records of both, and add the notes about the site that the database does not answer."""
    for kind in site.new_ids:
        site.use_ids(kind, ((id, person["name"]) for id, person in database.lists[kind].items()))
    result = Imported(site=site.site, accounts=database.accounts, new_ids=dict(site.new_ids))
    for kind, records in database.lists.items():
        # Those of the database first.
        result.lists[kind] = records | site.lists[kind] | records
    series = _with_categories(site.series, _replaced_categories(result.lists["categories"]))
    for kind, records in result.lists.items():
        for id, record in records.items():
            if id not in database.lists[kind]:
                # The merge may give a person with a new id another one.
                notes.add(ONLY_ON_SITE, f"{kind} {record['name']}"[:60])
    renamed = _renamed(site, database)
    places = {chapter["id"]: slug for slug, several in site.chapters.items() for chapter in several if "id" in chapter}
    ids = {chapter["id"] for several in database.chapters.values() for chapter in several}
    # Ids grow: a chapter that is newer than the copy of the database has a higher one.
    deleted = {id for id in places if id < max(ids, default=0)} - ids
    for old, record in database.series.items():
        slug = renamed.get(old, old)
        result.series[slug] = dict(record)
        if is_newer(series.get(slug, {}), record):
            newer = {name: value for name, value in series[slug].items() if name not in _INEXACT}
            result.series[slug] |= newer | (only_in_v2(record, newer) if slug in site.only_old else {})
        if old != slug:
            result.series[slug]["formerly"] = [*record.get("formerly", []), old]
        here = [chapter for chapter in database.chapters[old] if places.get(chapter["id"], slug) == slug]
        on_site = site.chapters.get(slug, [])
        result.chapters[slug] = combined_chapters(slug, here, on_site, deleted, now, notes)
    in_database = set(result.series)
    result.only_old = site.only_old - in_database
    for slug in _new_slugs(site, result, deleted, notes):
        result.series[slug], result.chapters[slug] = series[slug], site.chapters[slug]
    used = {slug.lower() for slug in result.series}
    for record in result.series.values():
        if "formerly" in record:
            # Without the old slugs that another series has now.
            record["formerly"] = [old for old in record["formerly"] if old.lower() not in used]
    for account in result.accounts.records.values() if result.accounts else ():
        account["bookmarks"] = [renamed.get(slug, slug) for slug in account.get("bookmarks", ())]
    result.usable = {
        path: usable for path, usable in site.usable.items() if not unavailable.series([path]) & in_database
    }
    for note in unanswered(site_notes, result, database):
        notes.add(*note)
    return result


def _replaced_categories(categories: dict[str, Fields]) -> dict[str, str]:
    """Remove the categories that an earlier one replaces; return their ids with the ids that replace them."""
    # Only names of the site have other ids, where its version 1 is off.
    unique = UniqueCategories(Notes())
    replaced = {id: other for id, record in categories.items() if (other := unique.add(record)) is not None}
    for id in replaced:
        del categories[id]
    return replaced


def _with_categories(series: Mapping[str, Fields], replaced: Mapping[str, str]) -> dict[str, Fields]:
    """Return the series with other ids of categories."""
    result = {slug: dict(record) for slug, record in series.items()}
    for record in result.values():
        if "categories" in record:
            record["categories"] = sorted({replaced.get(id, id) for id in record["categories"]})
    return result


def _renamed(site: Imported, database: Imported) -> dict[str, str]:
    """Return the new slug of each series whose chapter ids the site has under a slug that the database lacks."""
    owners = {chapter["id"]: slug for slug, chapters in database.chapters.items() for chapter in chapters}
    renamed: dict[str, str] = {}
    for slug, chapters in site.chapters.items():
        if slug not in database.series:
            old_slugs = Counter(owners[id] for chapter in chapters if (id := chapter.get("id")) in owners)
            free = (old for old, _ in old_slugs.most_common() if old not in site.series and old not in renamed)
            renamed |= dict.fromkeys(list(free)[:1], slug)
    return renamed


def _new_slugs(site: Imported, result: Imported, deleted: Set[int], notes: Notes) -> list[str]:
    """Return the slugs of the series that only the site has, without those that were deleted in the database."""
    used = {slug.lower(): slug for slug in result.series}
    new = []
    for slug in site.series:
        other, chapters = used.get(slug.lower()), site.chapters[slug]
        if other is None and chapters and all(chapter.get("id") in deleted for chapter in chapters):
            notes.add(DELETED, slug)
        elif other is None:
            notes.add(ONLY_ON_SITE, slug)
            new.append(slug)
        elif other != slug:
            notes.add(f"differs from {other} only in case; series skipped", slug)
    return new


# The chapters of a series

ONLY_ON_SITE = "only on the site: newer than the copy of the database, or deleted and still in the site's cache"
DELETED = "deleted in the database, but still in the site's cache; skipped"
_NOT_SHOWN = "published in the database, but not shown by the site"
_REPLACED = "the site has another chapter with its number; that chapter is used"


def combined_chapters(
    slug: str, database: list[Fields], site: list[Fields], deleted: Set[int], now: int, notes: Notes
) -> list[Fields]:
    """Return the chapters of both in reading order. The site has the present numbers, the database has all ids.

    `deleted` are the ids of chapters that were deleted in the database.
    """
    by_id = {chapter["id"]: chapter for chapter in site if "id" in chapter}
    taken = {_number(chapter): id for id, chapter in by_id.items() if "volume" in chapter}
    result = []
    for chapter in database:
        id, on_site = chapter["id"], by_id.get(chapter["id"], {})
        if is_newer(on_site, chapter):
            chapter = {**on_site, "pages": on_site["pages"] or chapter["pages"]}
        if taken.get(_number(chapter), id) != id:
            notes.add(_REPLACED, f"{_place(slug, chapter)}, id {id}")
            continue
        if by_id and not on_site and field_values.instant(chapter["published"]) <= now:
            notes.add(_NOT_SHOWN, _place(slug, chapter))
        result.append(chapter)
    ids, numbers = {chapter["id"] for chapter in database}, {_rounded(chapter) for chapter in database}
    for chapter in site:
        if chapter.get("id") in deleted:
            notes.add(DELETED, _place(slug, chapter))
        elif chapter["id"] not in ids if "id" in chapter else _rounded(chapter) not in numbers:
            notes.add(ONLY_ON_SITE, _place(slug, chapter))
            result.append(chapter)
    return sorted(result, key=reading_order)


def is_newer(site: Fields, database: Fields) -> bool:
    """Whether a record changed on the site after the database was copied. Responses round up to the next second."""
    if "modified" not in site or "modified" not in database:
        return False
    return field_values.instant(site["modified"]) > field_values.instant(database["modified"]) + 1


def _number(chapter: Fields) -> tuple[int | None, str]:
    return chapter.get("volume"), chapter["number"]


def _rounded(chapter: Fields) -> tuple[int | None, float]:
    """The number as the older versions show it: with six digits."""
    return chapter.get("volume"), float(f"{float(chapter['number']):.6g}")


def _place(slug: str, chapter: Fields) -> str:
    return f"{slug} chapter {chapter['number']}"


# Notes about the site that its database does not answer

# Responses that have settings, or the series that only the site has; and those that the new site does not have.
_PATHS = (f"{V2}/series", OPENAPI, LOST_PATHS)


def unanswered(notes: Notes, combined: Imported, database: Imported) -> Iterator[Note]:
    """Yield the notes about settings, and about entries that the database does not have."""
    new_slugs = combined.series.keys() - database.series.keys()
    new_entries = {
        f"{kind} {id}" for kind, of in combined.lists.items() for id in of.keys() - database.lists[kind].keys()
    }
    for note in notes.each():
        words = note.place.removeprefix("series ").removeprefix("chapter ").split(" ")
        if note.place.startswith("/"):
            slugs = unavailable.series([note.place])
            is_open = bool(slugs & new_slugs) or note.place.partition("?")[0] in _PATHS
        else:
            is_open = words[0] in new_slugs or " ".join(words[:2]) in new_entries or words[0] == "site.yaml"
        if is_open:
            yield note
