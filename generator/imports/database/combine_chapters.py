"""The chapters of a series in a database and on its site -> one list."""

from collections.abc import Set
from math import inf
from typing import Any

from ...catalog import field_values
from ...reading_sites.lenient import Fields
from ...reading_sites.notes import Notes

ONLY_ON_SITE = "only on the site: newer than the copy of the database, or deleted and still in the site's cache"
DELETED = "deleted in the database, but still in the site's cache; skipped"
_NOT_SHOWN = "published in the database, but not shown by the site"
_REPLACED = "the site has another chapter with its number; that chapter is used"


def combined(
    slug: str, database: list[Fields], site: list[Fields], deleted: Set[int], now: int, notes: Notes
) -> list[Fields]:
    """Return the chapters of both in reading order. The site has the present numbers, the database has all ids.

    `deleted` are the ids of chapters that were deleted in the database.
    """
    by_id = {chapter["id"]: chapter for chapter in site if "id" in chapter}
    chapters = [_newer(chapter, by_id.get(chapter["id"])) for chapter in database]
    ids, numbers = {chapter["id"] for chapter in database}, {_rounded(chapter) for chapter in database}
    new = [chapter for chapter in site if _is_new(chapter, ids, numbers)]
    for chapter in new:
        notes.add(DELETED if chapter.get("id") in deleted else ONLY_ON_SITE, _place(slug, chapter))
    new = [chapter for chapter in new if chapter.get("id") not in deleted]
    taken = {_number(chapter): chapter["id"] for chapter in site if "id" in chapter and "volume" in chapter}
    replaced = [chapter for chapter in chapters if taken.get(_number(chapter), chapter["id"]) != chapter["id"]]
    for chapter in replaced:
        notes.add(_REPLACED, f"{_place(slug, chapter)}, id {chapter['id']}")
    kept = [chapter for chapter in chapters if chapter not in replaced]
    for chapter in kept:
        if by_id and chapter["id"] not in by_id and field_values.instant(chapter["published"]) <= now:
            notes.add(_NOT_SHOWN, _place(slug, chapter))
    return sorted([*kept, *new], key=_reading_order)


def is_newer(site: Fields, database: Fields) -> bool:
    """Whether a record changed on the site after the database was copied. Responses round up to the next second."""
    if "modified" not in site or "modified" not in database:
        return False
    return field_values.instant(site["modified"]) > field_values.instant(database["modified"]) + 1


def _newer(database: Fields, site: Fields | None) -> Fields:
    if site is None or not is_newer(site, database):
        return database
    return {**site, "pages": site["pages"] or database["pages"]}


def _is_new(chapter: Fields, ids: set[int], numbers: set[tuple[Any, float]]) -> bool:
    return chapter["id"] not in ids if "id" in chapter else _rounded(chapter) not in numbers


def _number(chapter: Fields) -> tuple[int | None, str]:
    return chapter.get("volume"), chapter["number"]


def _rounded(chapter: Fields) -> tuple[int | None, float]:
    """The number as the older versions show it: with six digits."""
    return chapter.get("volume"), float(f"{float(chapter['number']):.6g}")


def _place(slug: str, chapter: Fields) -> str:
    return f"{slug} chapter {chapter['number']}"


def _reading_order(chapter: Fields) -> tuple[float, float, float]:
    return chapter.get("volume", inf), float(chapter["number"]), chapter.get("id", inf)
