"""Responses of a site -> the records of an import."""

from collections.abc import Iterator, Sequence

from ... import encoding
from ...errors import FlatpanelError
from ...reading_sites import lenient, sitemap
from ...reading_sites.lenient import entries, text
from ...reading_sites.notes import Notes
from ...reading_sites.responses import OLD, V2, Responses
from ..records import Imported, RecordBuilder
from ..unavailable import usable
from .people_and_groups import ImportedLists
from .series import SeriesReader
from .settings import LOST_PATHS, restricted_routes, settings, site_images

# Bytes that a chapter takes, at least.
CHAPTER = 400
# Bytes that a value takes beside its text, at least.
_VALUE = 64
# Bytes that a character takes, at most.
_CHARACTER = 4


def read(responses: Responses, slugs: Sequence[str], origin: str, now: int, notes: Notes, limit: int) -> Imported:
    """Return the records of a site; `limit` bounds the bytes of memory that they take together."""
    images = site_images(responses, origin)
    builder = RecordBuilder(images.root, now, notes)
    lists = ImportedLists(responses, images, builder)
    lists.read()
    all_locked = "/series/{slug}/chapters" in restricted_routes(responses)
    imported = Imported(lists=builder.lists, usable=usable(responses), is_flatpanel=responses.is_flatpanel)
    bytes_left = limit - _memory([list(records.values()) for records in builder.lists.values()])
    for slug in slugs:
        if series := SeriesReader(lists, slug).read(all_locked=all_locked):
            imported.series[slug], imported.chapters[slug] = series
            record, chapters = series
            # Pages are in a file.
            bytes_left -= _memory([record, *({**chapter, "pages": []} for chapter in chapters)])
        refuse_large(origin, limit - bytes_left, limit)
    imported.new_ids = lists.new_ids
    imported.only_old = {slug for slug in imported.series if not responses[f"{V2}/series/{slug}"].understood}
    imported.usable |= dict.fromkeys((*lists.wrongly_empty(), *_wrongly_without_series(responses, imported)), False)
    imported.site = settings(responses, origin, images.root, notes)
    if not responses.is_original:
        _hide_licensed(responses, imported)
    sitemap.note_missing(responses.sitemap, imported.chapters, notes)
    _note_limits(responses, notes)
    return imported


def _wrongly_without_series(responses: Responses, imported: Imported) -> Iterator[str]:
    """Yield the old lists without series, although some are neither licensed nor restricted: URLs show `base_url`."""
    is_any_public = any(not (series.get("licensed") or series.get("restricted")) for series in imported.series.values())
    for path in (f"{version}/series" for version in OLD):
        if is_any_public and responses[path].understood and not any(entries(responses[path].value)):
            yield path


def refuse_large(origin: str, size: int, limit: int) -> None:
    """Refuse records that take more bytes than an import can hold."""
    if size > limit:
        raise FlatpanelError(f"{origin}: its records take more than {limit >> 20} MiB of memory; raise --max-response")


def _memory(records: object) -> int:
    """Return an upper estimate of the bytes that records take in memory."""
    text = encoding.json(records)
    return len(text) * (1 if text.isascii() else _CHARACTER) + _VALUE * lenient.value_count(text)


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


def _note_limits(responses: Responses, notes: Notes) -> None:
    """Note the data that the API versions of the site do not contain."""
    notes.add("accounts, bookmarks and API keys are not public; `python build.py keys add` creates new keys")
    notes.add("times of changes of people, categories and groups are not read; the time of the file is used")
    notes.add("scheduled chapters may be missing: most sites do not publish them")
    notes.add("slugs that a series had before are not public; add them as `formerly`, so that old URLs redirect")
    if responses.is_flatpanel:
        notes.add(
            "`layout` and `direction` of a series, `theme/` and sizes of pages are not public; "
            "copy them from the project"
        )
    if responses.is_original:
        notes.add("the old site may have these paths; the new one does not", LOST_PATHS)
        notes.add("times of changes are rounded to the next second in the Cubari JSON, which has those of chapters")
    v2 = responses["/api/v2/series"]
    if not v2.good and not v2.locked:
        notes.add("version 2 is not available: chapter ids, views, licenses and most members are unknown")
    elif not any(responses[f"{version}/{name}"].good for version in OLD for name in ("series", "releases")):
        notes.add("no older version is available: aliases, ids of categories and series without chapters are unknown")
