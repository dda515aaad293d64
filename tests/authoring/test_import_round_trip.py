"""The whole circle: a site is built and served, imported, built again, and is the same to the last byte."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from generator import encoding
from generator.authoring.site_import import run
from generator.authoring.site_import.run import ImportOptions, ImportResult
from generator.catalog.field_values import iso
from generator.catalog.yaml import reader, writer
from generator.encoding import http_date
from generator.server_url import ServerUrl
from tests.conftest import AS_OF, SITES, Site, copy_of, date
from tests.support import nginx_client
from tests.support.fake_site import Said, elsewhere
from tests.support.paths import ROOT

KEY = "opens everything that is locked"
CATALOGS = {one.name: one for one in (*sorted(SITES.iterdir()), ROOT / "catalog_src")}
# Their dates are those of site.yaml itself, which no answer tells.
UNDATED = ("/", "/api/v2/docs", "/api/v2/openapi.json")


def served(name: str, folder: Path) -> Site:
    """A catalog that takes a key which we have, on whatever port."""
    shutil.copytree(CATALOGS[name], folder / "catalog_src")
    made = Site(folder)
    change(made, "keys.yaml", lambda keys: [*(keys or []), {"name": "import", "sha256": encoding.sha256(KEY.encode())}])
    return made


def change(site: Site, file: str, how: Callable[[Any], Any]) -> None:
    path = site.folder / "catalog_src" / file
    value = reader.load(path.read_bytes()) if path.exists() else None
    path.write_bytes(writer.file(how(value)))


def gone_round(made: Site, folder: Path, key: str | None = KEY) -> tuple[Site, ImportResult]:
    """What is imported from a site that nginx serves."""
    with nginx_client.listening() as listener:
        port = listener.getsockname()[1]
        change(made, "site.yaml", lambda site: {**site, "port": port})
        date(made.folder)
        made.build()
        with nginx_client.running(made.folder, listener):
            server = ServerUrl.of(f"http://127.0.0.1:{port}")
            wanted = ImportOptions(server, folder / "catalog_src", folder / "cache", AS_OF, float, lambda _: None, key)
            return Site(folder), run.run(wanted)


def complete_by_hand(site: Site, original: Path, notes: list[str]) -> None:
    """Write what the report names as untold: accounts, and ids or chapters of what is licensed."""
    for file in ("accounts.yaml", "keys.yaml"):
        if (original / file).exists():
            shutil.copy(original / file, site.folder / "catalog_src" / file)
    for path in sorted((site.folder / "catalog_src/series").glob("*.yaml")):
        if any(
            path.stem in note for note in notes if "ids of some chapters" in note or "licensed; its chapters" in note
        ):
            first = reader.load((original / "series" / path.name).read_bytes())
            chapters = first["chapters"]
            change(site, f"series/{path.name}", lambda series, theirs=chapters: {**series, "chapters": theirs})


def differences(made: Site, copy: Site) -> Iterator[str]:
    before, after = made.manifest.resources, copy.manifest.resources
    yield from (f"{url} is in one only" for url in before.keys() ^ after.keys())
    for url in before.keys() & after.keys():
        if before[url].sha256 != after[url].sha256:
            yield f"{url} has another body"
        elif before[url].modified != after[url].modified and not url.startswith((*UNDATED[1:], "/api/v2/pages?")):
            yield from [f"{url} has another date"] if url != "/" else []


@pytest.mark.parametrize("name", CATALOGS)
def test_an_imported_site_is_the_same_site(name: str, tmp_path: Path) -> None:
    """Every body is the same byte for byte and as old as it was, once what the report names is written by hand."""
    made = served(name, tmp_path / "one")

    copy, done = gone_round(made, tmp_path / "two")
    complete_by_hand(copy, made.folder / "catalog_src", done.notes)
    date(copy.folder)
    copy.build()

    assert sorted(differences(made, copy)) == []


@pytest.mark.parametrize("name", CATALOGS)
def test_an_imported_catalog_can_be_imported_again(name: str, tmp_path: Path) -> None:
    """The second time, nothing is new."""
    made = served(name, tmp_path / "one")

    gone_round(made, tmp_path / "two")
    _, again = gone_round(made, tmp_path / "two")

    assert (again.files, again.counts["changes"]) == ([], 0)


def partly(made: Site, *families: str) -> dict[str, Any]:
    """What a site answers in some of its families."""
    return {
        url: Said(
            body=(made.folder / "dist" / one.file).read_bytes(),
            headers={"Last-Modified": http_date(one.modified)} if one.modified is not None else {},
        )
        for url, one in made.manifest.resources.items()
        if url.startswith(families) and not url.startswith("/api/v2/docs")
    }


@pytest.mark.parametrize("name", CATALOGS)
def test_older_families_come_round_alone(name: str, tmp_path: Path) -> None:
    """A site without the second version has no ids of chapters, and is the same site in what it has."""
    made = served(name, tmp_path / "one")
    date(made.folder)
    made.build()
    families = ("/api/v1", *(f"/api/{name}" for name in ("authors", "artists", "series", "releases")))
    with elsewhere(partly(made, *families)) as site:
        site.imported(tmp_path / "two")
    copy = Site(tmp_path / "two")
    date(copy.folder)
    copy.build()

    assert [one for one in sorted(differences(made, copy)) if one.startswith(families)] == []


def test_what_takes_a_key_is_named_without_one(tmp_path: Path) -> None:
    """Nobody believes to have a whole site who has not."""
    made = copy_of("everything", tmp_path / "one")

    copy, done = gone_round(made, tmp_path / "two", key=None)
    copy.build()

    paths = "/api/v2/members, /api/v2/series/members-only/chapters, /api/v2/cubari/members-only"
    assert f"{paths}: needs an API key; skipped (use --key-file)" in done.notes
    assert reader.load((copy.folder / "catalog_src/series/members-only.yaml").read_bytes())["restricted"] is True
    assert "chapters" not in reader.load((copy.folder / "catalog_src/series/members-only.yaml").read_bytes())


def test_licensed_series_may_be_hidden(tmp_path: Path) -> None:
    """A site that keeps them out of the old families does so after an import as well."""
    made = served("minimal", tmp_path / "one")
    change(made, "site.yaml", lambda site: {**site, "hide_licensed": True})
    change(made, "series/first.yaml", lambda series: {**series, "licensed": True})

    copy, done = gone_round(made, tmp_path / "two")

    assert reader.load((copy.folder / "catalog_src/site.yaml").read_bytes())["hide_licensed"] is True
    assert "first: licensed; its chapters are not available" in done.notes


def test_a_long_series_becomes_a_folder(tmp_path: Path) -> None:
    """Nobody wants to edit a file of a hundred chapters; each gets a name that tells what it is."""
    made = served("minimal", tmp_path / "one")
    chapters = [
        {"id": 10 + number, "number": number / 2, "title": "Été, again!", "published": iso(number), "pages": []}
        for number in range(102)
    ]
    volume = [{**chapters[2], "id": 9, "volume": 1}, {**chapters[2], "id": 8, "volume": 2}]
    volume.append({**chapters[2], "id": 7, "volume": 3})
    change(made, "series/first.yaml", lambda series: {**series, "chapters": chapters + volume})

    copy, _ = gone_round(made, tmp_path / "two")
    copy.build()
    names = sorted(one.name for one in (copy.folder / "catalog_src/series/first/chapters").iterdir())

    assert len(names) == 105
    assert names[:3] == ["000-t-again.yaml", "000.5-t-again.yaml", "001-t-again.yaml"]
    assert {"v2-001-t-again.yaml", "v3-001-t-again.yaml", "v0-001-t-again.yaml"} < set(names)
