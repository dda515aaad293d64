"""All answers -> the records of a catalog, each with the date of its last change."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ... import encoding
from ...catalog import field_values
from ...errors import FlatpanelError
from . import bounded_json
from .answers import Responses
from .last_modified import Dates
from .lenient import entries, fields, number, text, volume
from .notes import Notes
from .people_and_groups import OLD, Lists
from .series import Reader
from .settings import media_root, restricted_routes, settings
from .unavailable import told

Fields = dict[str, Any]


@dataclass(slots=True)
class Imported:
    """What a site holds, as far as it tells: fields as YAML would have them, people and groups named by their ids."""

    site: Fields = field(default_factory=dict)
    # By kind, then by id.
    lists: dict[str, dict[Any, Fields]] = field(default_factory=dict)
    series: dict[str, Fields] = field(default_factory=dict)
    chapters: dict[str, list[Fields]] = field(default_factory=dict)
    # Paths, and whether anything is known of their answers.
    told: dict[str, bool] = field(default_factory=dict)


# Bytes that a value takes beside its text, at least.
_VALUE = 64
# How many bytes one letter takes at most.
_WIDE = 4


def read(answers: Responses, slugs: Sequence[str], origin: str, now: int, notes: Notes, limit: int) -> Imported:
    """`limit` bounds the memory that everything together takes, in bytes."""
    root = media_root(answers)
    lists = Lists(answers, notes, Dates(), root)
    lists.read()
    reader = Reader(lists, now, all_locked="/series/{slug}/chapters" in restricted_routes(answers))
    found = Imported(lists=lists.found, told=told(answers))
    left = limit - _memory([list(one.values()) for one in lists.found.values()])
    for slug in slugs:
        if one := reader.series(slug):
            found.series[slug], found.chapters[slug] = one
            left -= _memory(one)
        if left < 0:
            raise FlatpanelError(f"{origin}: tells more than fits into {limit >> 20} MiB; --max-response allows more")
    found.site = settings(answers, origin, root, notes)
    _hide_licensed(answers, found)
    _date_lists(answers, found, lists.dates)
    _date(found, lists.dates, notes)
    _say_what_nobody_tells(answers, notes)
    return found


def _memory(records: object) -> int:
    """About as many bytes as records take, at most."""
    text = encoding.json(records)
    return len(text) * (1 if text.isascii() else _WIDE) + _VALUE * bounded_json.values(text)


def _hide_licensed(answers: Responses, found: Imported) -> None:
    """The old families have all licensed series or none, but for those that take a key as well."""
    licensed = {slug for slug, one in found.series.items() if one.get("licensed")}
    old = [got.value for family in OLD if (got := answers[f"{family}/series"]).good]
    shown = licensed.intersection(text(one.get("slug")) for one in entries(old[0])) if old else licensed
    if shown:
        for slug in licensed - shown:
            found.series[slug]["restricted"] = True
    elif licensed:
        found.site["hide_licensed"] = True


def _date_lists(answers: Responses, found: Imported, dates: Dates) -> None:
    """Lists show many series at once."""
    series, categories = found.series, found.lists["categories"]
    for path, got in answers.items():
        if path.partition("?")[0] == "/api/v2/series":
            told = (text(one.get("slug")) for one in entries(fields(got.value).get("results")))
            dates.saw(got.modified, [("series", slug) for slug in told if slug in series])
        elif path.endswith("/categories") and path.startswith(OLD):
            told = (text(one.get("id")) for one in entries(got.value))
            dates.saw(got.modified, [("categories", one) for one in told if one in categories])
        elif path in [f"{family}/releases" for family in OLD]:
            for one in entries(got.value):
                slug, latest = text(one.get("slug")), fields(one.get("latest_chapter"))
                if slug in series:
                    dates.saw(got.modified, [("series", slug), *_chapter(slug, latest)])


def _chapter(slug: str, latest: Fields) -> list[tuple[str, str, int | None, str]]:
    try:
        return [("chapter", slug, volume(latest.get("volume")), number(latest.get("number")))]
    except ValueError:
        return []


def _date(found: Imported, dates: Dates, notes: Notes) -> None:
    things: list[tuple[tuple[Any, ...], Fields]] = [
        ((kind, one), record) for kind, records in found.lists.items() for one, record in records.items()
    ]
    things += [(("series", slug), record) for slug, record in found.series.items()]
    things += [
        (("chapter", slug, one.get("volume"), one["number"]), one)
        for slug, chapters in found.chapters.items()
        for one in chapters
    ]
    for thing, record in things:
        moment = dates.of(thing)
        if moment is None:
            notes.add("no answer tells when it last changed; the time of the file counts", f"{thing[0]} {thing[1]}")
        else:
            record["modified"] = field_values.iso(moment)


def _say_what_nobody_tells(answers: Responses, notes: Notes) -> None:
    notes.add("accounts, their bookmarks and keys are in no answer; `python build.py keys add` makes new keys")
    notes.add("chapters that are only planned are in no answer of a site that keeps them to itself")
    new = answers["/api/v2/series"]
    if not new.good and not new.locked:
        notes.add(
            "version 2 does not answer: nobody tells the ids of chapters, views, licences, and most of the members"
        )
    elif not any(answers[f"{family}/{name}"].good for family in OLD for name in ("series", "releases")):
        notes.add(
            "no older version answers: nobody tells other names of people, ids of categories, series without chapters"
        )
