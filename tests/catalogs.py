"""Catalogs written in a test: YAML text -> records -> linked catalog, without a folder or a clock."""

from itertools import count
from typing import Any

from generator import checks, yaml12
from generator.catalog import Catalog
from generator.link import link
from generator.model import Series, Site
from generator.places import Complaint
from generator.source import LISTS, SITE, Entry, SeriesEntry, Sources

# When every file was written, unless a record says `modified`.
WRITTEN = 1_000
AS_OF = 1_790_000_000
BASE_URL = "https://comics.example"


def sources(text: str) -> Sources:
    """Records as `source.read` gives them; the keys of `text` are the names of files, those of `series` slugs."""
    value: dict[str, Any] = yaml12.load(text.encode()) or {}
    found = Sources(site=Site.model_validate({"base_url": BASE_URL, **value.pop("site", {})}))
    found.mtimes[SITE] = WRITTEN
    ids = count(1)
    for slug, fields in value.pop("series", {}).items():
        if "chapters" in fields:
            fields = {**fields, "chapters": [{"id": next(ids), **chapter} for chapter in fields["chapters"]]}
        file = f"series/{slug}.yaml"
        record = Series.model_validate({"title": slug, "cover": "cover.jpg", **fields})
        chapters = [Entry(one, file, ("chapters", index)) for index, one in enumerate(record.chapters)]
        found.series.append(SeriesEntry(slug, Entry(record, file, ()), tuple(chapters)))
        found.mtimes[file] = WRITTEN
    for name, records in value.items():
        file = f"{name}.yaml"
        found.lists[file] = [Entry(LISTS[file].model_validate(one), file, (i,)) for i, one in enumerate(records)]
        found.mtimes[file] = WRITTEN
    return found


def complaints(text: str, unreadable: set[str] | None = None) -> list[Complaint]:
    found = sources(text)
    found.unreadable |= unreadable or set()
    return checks.complaints(found)


def catalog(text: str, as_of: int = AS_OF) -> Catalog:
    """A catalog without problems, as of an instant."""
    found = sources(text)
    assert checks.complaints(found) == []
    return link(found, found.mtimes, as_of)
