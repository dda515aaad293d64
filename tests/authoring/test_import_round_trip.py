"""A site that is built, served, imported and built again has the same responses."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from generator import encoding
from generator.api.payloads.resources import HTML, JSON
from generator.catalog.field_values import iso
from generator.catalog.problems.load import load_valid
from generator.catalog.yaml import reader, writer
from generator.encoding import http_date
from generator.imports import run
from generator.imports.run import ImportOptions, ImportResult
from generator.server_url import ServerUrl
from tests.conftest import AS_OF, SITES, Site, date, serving
from tests.support import fake_site
from tests.support.fake_site import Reply
from tests.support.paths import ROOT
from tests.support.runs import sample

pytestmark = pytest.mark.comparisons

KEY = "opens everything that is locked"
# Fields of a series that no response has.
NOT_PUBLIC = ("direction", "layout")
PUBLIC = ("kind", "rating", "links")
CATALOGS = {one.name: one for one in (*sorted(SITES.iterdir()), ROOT / "catalog_src")}


def served(name: str, folder: Path) -> Site:
    """A catalog with an API key that the test has, on a free port."""
    shutil.copytree(CATALOGS[name], folder / "catalog_src")
    made = Site(folder)
    change(made, "keys.yaml", lambda keys: [*(keys or []), {"name": "import", "sha256": encoding.sha256(KEY.encode())}])
    return made


def change(site: Site, file: str, how: Callable[[Any], Any]) -> None:
    path = site.folder / "catalog_src" / file
    value = reader.load(path.read_bytes()) if path.exists() else None
    path.write_bytes(writer.file(how(value)))


def imported_copy(made: Site, folder: Path) -> tuple[Site, ImportResult]:
    """Import the site that nginx serves; a second import must change nothing."""
    with serving(made) as web:
        server = ServerUrl.of(f"http://127.0.0.1:{web.port}")
        wanted = ImportOptions(server, folder / "catalog_src", folder / "cache", AS_OF, float, lambda _: None, KEY)
        done, again = run.run(wanted), run.run(wanted)
    assert (again.files, again.counts["changes"]) == ([], 0)
    return Site(folder), done


def lost_fields(original: Path, copy: Path) -> Iterator[str]:
    """Yield the names of the settings and of the fields of series that an import has not brought."""
    there, here = load_valid(original), load_valid(copy)
    assert there.site
    # The order of restricted routes is another one.
    names = vars(there.site).keys() - {"restricted"}
    yield from (name for name in names if getattr(there.site, name) != getattr(here.site, name))
    series = {entry.slug: entry.entry.record for entry in here.series}
    for entry in there.series:
        record, copied = entry.entry.record, series.get(entry.slug)
        names = (*NOT_PUBLIC, *PUBLIC, "formerly") if copied else ()
        yield from (f"`{name}`" for name in names if getattr(record, name) != getattr(copied, name))
        # The responses do not tell whether a language is that of the site.
        if copied and copied.language not in (record.language or there.site.language, record.language):
            yield "`language`"


def complete_by_hand(site: Site, original: Path, notes: list[str]) -> None:
    """Write the data that the API does not have: accounts, archives, old slugs, ids of licensed series, settings."""
    settings = reader.load((original / "site.yaml").read_bytes())
    names = ("title", "language", "pages", "apps", "direction", "layout", "page_ratio")
    of_pages = {name: settings[name] for name in names if name in settings}
    change(site, "site.yaml", lambda imported: {**imported, **of_pages})
    for file in ("accounts.yaml", "keys.yaml", "archives.yaml"):
        if (original / file).exists():
            shutil.copy(original / file, site.folder / "catalog_src" / file)
    for path in sorted((site.folder / "catalog_src/series").glob("*.yaml")):
        source = original / "series" / path.name
        first = reader.load(source.read_bytes()) if source.is_file() else {}
        unknown = ("ids of some chapters", "licensed; its chapters")
        lacks_ids = any(path.stem in note and sentence in note for note in notes for sentence in unknown)
        names = (*NOT_PUBLIC, "formerly", *["chapters"] * lacks_ids)
        if lost := {name: first[name] for name in names if name in first}:
            change(site, f"series/{path.name}", lambda series, fields=lost: {**series, **fields})


def differences(made: Site, copy: Site) -> Iterator[str]:
    before, after = made.manifest.resources, copy.manifest.resources
    yield from (f"{url} is in one only" for url in before.keys() ^ after.keys())
    for url in before.keys() & after.keys():
        # Feeds and sitemaps state times of changes, some of which an import does not have.
        if before[url].sha256 != after[url].sha256 and before[url].type in (JSON, HTML):
            yield f"{url} has another body"


@pytest.mark.parametrize("name", sample(sorted(CATALOGS), 2))
def test_an_imported_site_has_the_same_responses(name: str, tmp_path: Path) -> None:
    """The same bodies, once the missing data is added by hand. A second import changes nothing."""
    made = served(name, tmp_path / "one")

    copy, done = imported_copy(made, tmp_path / "two")
    lost = set(lost_fields(made.folder / "catalog_src", copy.folder / "catalog_src"))
    complete_by_hand(copy, made.folder / "catalog_src", done.notes)
    date(copy.folder)
    copy.build()

    assert sorted(differences(made, copy)) == []
    assert {name for name in lost if not any(re.search(rf"(?<!\w){name}(?!\w)", note) for note in done.notes)} == set()


def responses_of(made: Site, *paths: str) -> dict[str, Any]:
    """The responses of a site in some API versions."""
    return {
        url: Reply(
            body=(made.folder / "dist" / resource.file).read_bytes(),
            headers={"Last-Modified": http_date(resource.modified)} if resource.modified is not None else {},
        )
        for url, resource in made.manifest.resources.items()
        if url.startswith(paths) and not url.startswith("/api/v2/docs")
    }


@pytest.mark.end_to_end
@pytest.mark.parametrize("name", sample([*CATALOGS], 3))
def test_older_versions_alone_can_be_imported(name: str, tmp_path: Path) -> None:
    """Without version 2 there are no chapter ids; the responses of the older versions are the same."""
    made = served(name, tmp_path / "one")
    date(made.folder)
    made.build()
    paths = ("/api/v1", *(f"/api/{name}" for name in ("authors", "artists", "series", "releases")))
    with fake_site.serving(responses_of(made, *paths)) as site:
        site.imported(tmp_path / "two")
    copy = Site(tmp_path / "two")
    date(copy.folder)
    copy.build()

    assert [one for one in sorted(differences(made, copy)) if one.startswith(paths)] == []


def test_a_long_series_becomes_a_folder(tmp_path: Path) -> None:
    """More than 100 chapters; each file name has the number and the title."""
    made = served("minimal", tmp_path / "one")
    chapters = [
        {"id": 10 + number, "number": number / 2, "title": "Été, again!", "published": iso(number), "pages": []}
        for number in range(102)
    ]
    volume = [{**chapters[2], "id": 9, "volume": 1}, {**chapters[2], "id": 8, "volume": 2}]
    volume.append({**chapters[2], "id": 7, "volume": 3})
    change(made, "series/first.yaml", lambda series: {**series, "chapters": chapters + volume})

    copy, _ = imported_copy(made, tmp_path / "two")
    copy.build()
    names = sorted(one.name for one in (copy.folder / "catalog_src/series/first/chapters").iterdir())

    assert len(names) == 105
    assert names[:3] == ["000-t-again.yaml", "000.5-t-again.yaml", "001-t-again.yaml"]
    assert {"v2-001-t-again.yaml", "v3-001-t-again.yaml", "v0-001-t-again.yaml"} < set(names)
