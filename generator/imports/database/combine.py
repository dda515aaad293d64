"""The records of a database and of its site -> one import with each fact from the better source.

Settings come from the site, all else from the database. If the copy of the database is older than the site, the
site also has newer entries, and newer values of chapters and series that changed since.
"""

from collections import Counter
from collections.abc import Mapping, Set

from ...reading_sites.lenient import Fields
from ...reading_sites.notes import Notes
from .. import unavailable
from ..categories import UniqueCategories
from ..imported import Imported
from . import combine_chapters
from .combine_chapters import DELETED, ONLY_ON_SITE, is_newer
from .site_notes import unanswered

# Fields that responses show less exactly than the database.
_INEXACT = ("chapter_title", "formerly", "updated")


def combined(site: Imported, database: Imported, now: int, site_notes: Notes, notes: Notes) -> Imported:
    """Return the records of both, and add the notes about the site that the database does not answer."""
    result = Imported(site=site.site, accounts=database.accounts)
    for kind, records in database.lists.items():
        result.lists[kind] = {**records, **{id: site.lists[kind][id] for id in site.lists[kind] if id not in records}}
    series = _with_categories(site.series, _replaced_categories(result.lists["categories"]))
    _note_new(result, database, notes)
    renamed = _renamed(site, database)
    places = {chapter["id"]: slug for slug, several in site.chapters.items() for chapter in several if "id" in chapter}
    ids = {chapter["id"] for several in database.chapters.values() for chapter in several}
    # Ids grow: a chapter that is newer than the copy of the database has a higher one.
    deleted = {id for id in places if id < max(ids, default=0)} - ids
    for old, record in database.series.items():
        slug = renamed.get(old, old)
        result.series[slug] = _newer(record, series.get(slug, {}))
        if old != slug:
            result.series[slug]["formerly"] = [*record.get("formerly", []), old]
        here = [chapter for chapter in database.chapters[old] if places.get(chapter["id"], slug) == slug]
        on_site = site.chapters.get(slug, [])
        result.chapters[slug] = combine_chapters.combined(slug, here, on_site, deleted, now, notes)
    in_database = set(result.series)
    for slug in _new_slugs(site, result, deleted, notes):
        result.series[slug], result.chapters[slug] = series[slug], site.chapters[slug]
    _free_old_slugs(result)
    for account in result.accounts.records.values() if result.accounts else ():
        account["bookmarks"] = [renamed.get(slug, slug) for slug in account.get("bookmarks", ())]
    result.usable = {
        path: usable for path, usable in site.usable.items() if not unavailable.series([path]) & in_database
    }
    for note in unanswered(site_notes, result, database):
        notes.add(*note)
    return result


def _note_new(result: Imported, database: Imported, notes: Notes) -> None:
    """Note the people, groups and categories that only the site has."""
    for kind, records in result.lists.items():
        for id in records:
            if id not in database.lists[kind]:
                notes.add(ONLY_ON_SITE, f"{kind} {id}")


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

    def categories(record: Fields) -> Fields:
        ids = record.get("categories")
        return {"categories": sorted({replaced.get(id, id) for id in ids})} if ids else {}

    return {slug: {**record, **categories(record)} for slug, record in series.items()}


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


def _free_old_slugs(result: Imported) -> None:
    """Drop the old slugs that another series has now."""
    used = {slug.lower() for slug in result.series}
    for record in result.series.values():
        if "formerly" in record:
            record["formerly"] = [old for old in record["formerly"] if old.lower() not in used]


def _newer(database: Fields, site: Fields) -> Fields:
    """Return a series with the values of the site if it changed there after the copy of the database was made."""
    if not is_newer(site, database):
        return dict(database)
    return {**database, **{name: value for name, value in site.items() if name not in _INEXACT}}
