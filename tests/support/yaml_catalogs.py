"""Catalogs written in a test: YAML text -> records -> linked catalog, without a folder or a clock."""

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from generator import encoding
from generator.api.payloads import v2
from generator.api.payloads.resources import AllChapters, Body, JoinedBodies, Resource
from generator.api.payloads.v2 import convert_dates
from generator.api.route_items import InSeries
from generator.api.routes import ROUTES, Route
from generator.catalog import cross_checks
from generator.catalog import entities as linked
from generator.catalog.entities import Catalog
from generator.catalog.layout import SITE
from generator.catalog.reader import LISTS, Entry, SeriesEntry, Sources
from generator.catalog.records import Series
from generator.catalog.site_settings import Site
from generator.catalog.yaml import reader
from generator.errors import UnlocatedProblem
from tests.support.linked_catalog import link

# When every file was written, unless a record says `modified`.
WRITTEN = 1_000
AS_OF = 1_790_000_000
BASE_URL = "https://comics.example"


def sources(text: str, *, numbered: bool = True) -> Sources:
    """Records as `source.read` gives them; the keys of `text` are the names of files, those of `series` slugs.

    Chapters without an id get one if they are `numbered`.
    """
    value: dict[str, Any] = reader.load(text.encode()) or {}
    found = Sources(site=Site.model_validate({"base_url": BASE_URL, **value.pop("site", {})}))
    found.mtimes[SITE] = WRITTEN
    ids = count(1)
    for slug, fields in value.pop("series", {}).items():
        if "chapters" in fields and numbered:
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


def complaints(text: str, unreadable: set[str] | None = None) -> list[UnlocatedProblem]:
    found = sources(text)
    found.unreadable |= unreadable or set()
    return list(cross_checks.problems(found))


def catalog(text: str, as_of: int = AS_OF, *, numbered: bool = True) -> Catalog:
    """A catalog without problems, as of an instant."""
    found = sources(text, numbered=numbered)
    assert list(cross_checks.problems(found)) == []
    return link(found, found.mtimes, as_of)


def resources(catalog: Catalog) -> Iterator[tuple[Route, Resource]]:
    """Everything that a catalog answers, with its route; long lists are put together here, in the plainest way."""
    found = [(route, one) for route in ROUTES for one in _of_route(route, catalog)]
    parts = {one.url: one.body for _, one in found}
    for route, one in found:
        yield route, one._replace(body=_whole(one.body, parts, catalog))


def _of_route(route: Route, catalog: Catalog) -> Iterator[Resource]:
    if not isinstance(route.for_each, InSeries):
        yield from route.resources(route.for_each(catalog), catalog.site)
        return
    for one in catalog.series:
        assert isinstance(one, linked.Series)
        yield from route.resources(route.for_each.items_of(one), catalog.site)


def _whole(shown: Body, parts: Mapping[str, Body], catalog: Catalog) -> Body:
    match shown.value:
        case JoinedBodies(urls):
            bodies = [encoding.body(parts[url].value) for url in urls]
            modified = max((parts[url].last_modified for url in urls), default=catalog.site_modified)
            return Body(b"[" + b",".join(bodies) + b"]", modified)
        case AllChapters(dates):
            chapters = [
                chapter
                for series in catalog.series
                if isinstance(series, linked.Series) and not series.licensed and not series.restricted
                for chapter in series.identified_chapters
            ]
            bodies = [v2.chapter(one) for one in sorted(chapters, key=lambda one: one.newest_first)]
            body = encoding.json({"results": [one.value for one in bodies]})
            modified = max((one.last_modified for one in bodies), default=catalog.site_modified)
            return Body(convert_dates(body, dates), modified)
    return shown
