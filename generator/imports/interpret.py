"""Responses of a site -> records of a catalog, each with its last modification."""

from collections.abc import Hashable, Sequence

from .. import encoding
from ..catalog import field_values
from ..errors import FlatpanelError
from ..reading_sites import bounded_json, sitemap
from ..reading_sites.lenient import Fields, entries, fields, number, text, volume
from ..reading_sites.notes import Notes
from ..reading_sites.responses import OLD, Responses
from .imported import ChapterKey, Imported, chapter_keys
from .last_modified import ModifiedDates
from .people_and_groups import ImportedLists
from .series import SeriesReader
from .settings import LOST_PATHS, restricted_routes, settings, site_images
from .unavailable import usable

# Bytes that a chapter takes, at least.
CHAPTER = 400
# Bytes that a value takes beside its text, at least.
_VALUE = 64
# Bytes that a character takes, at most.
_CHARACTER = 4


def read(responses: Responses, slugs: Sequence[str], origin: str, now: int, notes: Notes, limit: int) -> Imported:
    """Return the records of a site; `limit` bounds the bytes of memory that they take together."""
    images = site_images(responses, origin)
    lists = ImportedLists(responses, notes, ModifiedDates(), images)
    lists.read()
    reader = SeriesReader(lists, now, all_locked="/series/{slug}/chapters" in restricted_routes(responses))
    imported = Imported(lists=lists.records, usable=usable(responses), is_flatpanel=responses.is_flatpanel)
    bytes_left = limit - _memory([list(records.values()) for records in lists.records.values()])
    for slug in slugs:
        if series := reader.series(slug):
            imported.series[slug], imported.chapters[slug] = series
            record, chapters = series
            # Pages are in a file.
            bytes_left -= _memory([record, *({**chapter, "pages": []} for chapter in chapters)])
        refuse_large(origin, limit - bytes_left, limit)
    imported.site = settings(responses, origin, images.root, notes)
    if not responses.is_original:
        _hide_licensed(responses, imported)
        _date_lists(responses, imported, lists.dates)
    _set_modified(imported, lists.dates, notes)
    sitemap.note_missing(responses.sitemap, imported.chapters, notes)
    _note_limits(responses, notes)
    return imported


def refuse_large(origin: str, size: int, limit: int) -> None:
    """Refuse records that take more bytes than an import can hold."""
    if size > limit:
        raise FlatpanelError(f"{origin}: its records take more than {limit >> 20} MiB of memory; raise --max-response")


def _memory(records: object) -> int:
    """Return an upper estimate of the bytes that records take in memory."""
    text = encoding.json(records)
    return len(text) * (1 if text.isascii() else _CHARACTER) + _VALUE * bounded_json.value_count(text)


def _hide_licensed(responses: Responses, imported: Imported) -> None:
    """The older versions show all licensed series or none, except those that need a key as well."""
    licensed = {slug for slug, series in imported.series.items() if series.get("licensed")}
    lists = [response.value for version in OLD if (response := responses[f"{version}/series"]).good]
    visible = licensed.intersection(text(series.get("slug")) for series in entries(lists[0])) if lists else licensed
    if visible:
        for slug in licensed - visible:
            imported.series[slug]["restricted"] = True
    elif licensed:
        imported.site["hide_licensed"] = True


def _date_lists(responses: Responses, imported: Imported, dates: ModifiedDates) -> None:
    """Add the dates of lists, which show many series and categories at once."""
    series, categories = imported.series, imported.lists["categories"]
    for path, response in responses.items():
        if path.partition("?")[0] == "/api/v2/series":
            slugs = (text(entry.get("slug")) for entry in entries(fields(response.value).get("results")))
            dates.add(response.modified, [("series", slug) for slug in slugs if slug in series])
        elif path.endswith("/categories") and path.startswith(OLD):
            ids = (text(entry.get("id")) for entry in entries(response.value))
            dates.add(response.modified, [("categories", id) for id in ids if id in categories])
        elif path in [f"{version}/releases" for version in OLD]:
            for entry in entries(response.value):
                slug, latest = text(entry.get("slug")), fields(entry.get("latest_chapter"))
                if slug in series:
                    dates.add(response.modified, [("series", slug), *_chapter(slug, latest)])


def _chapter(slug: str, latest: Fields) -> list[ChapterKey]:
    try:
        return [ChapterKey(slug, volume(latest.get("volume")), number(latest.get("number")))]
    except ValueError:
        return []


def _set_modified(imported: Imported, dates: ModifiedDates, notes: Notes) -> None:
    def set_in(record: Fields, key: Hashable, place: str) -> None:
        modified = dates.of(key)
        if modified is None:
            notes.add("last modification unknown; the time of the file is used", place)
        else:
            record["modified"] = field_values.iso(modified)

    for kind, records in imported.lists.items():
        for id, record in records.items():
            set_in(record, (kind, id), f"{kind} {id}")
    for slug, series in imported.series.items():
        set_in(series, ("series", slug), f"series {slug}")
    for slug, chapters in imported.chapters.items():
        for key, chapter in zip(chapter_keys(slug, chapters), chapters, strict=True):
            set_in(chapter, key, f"chapter {slug}")
        imported.chapters[slug] = chapters


def _note_limits(responses: Responses, notes: Notes) -> None:
    """Note the data that the API versions of the site do not contain."""
    notes.add("accounts, bookmarks and API keys are not public; `python build.py keys add` creates new keys")
    notes.add("scheduled chapters may be missing: most sites do not publish them")
    notes.add("slugs that a series had before are not public; add them as `formerly`, so that old URLs redirect")
    if responses.is_flatpanel:
        notes.add("the `direction` of a series, `theme/` and sizes of pages are not public; copy them from the project")
    if responses.is_original:
        notes.add("the old site may have these paths; the new one does not", LOST_PATHS)
        notes.add("times of changes are rounded to the next second in the Cubari JSON, which has those of chapters")
    v2 = responses["/api/v2/series"]
    if not v2.good and not v2.locked:
        notes.add("version 2 is not available: chapter ids, views, licenses and most members are unknown")
    elif not any(responses[f"{version}/{name}"].good for version in OLD for name in ("series", "releases")):
        notes.add("no older version is available: aliases, ids of categories and series without chapters are unknown")
