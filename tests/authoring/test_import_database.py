"""Imports of a recorded database: alone, and together with the site; both give the catalog of the site's responses.

`tests/support/real_database.py` has the expected catalog, and reads the same files without the code of the import.
"""

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.support.fake_site import serving, small
from tests.support.import_project import DATABASES, FirstImports, Imported, Project, change, project, recorded_database
from tests.support.real_database import compared, explained, faults, imported, real_database
from tests.support.real_service import AFTER_EDIT, RECORDED_AT, USUAL, V1_OFF, RealService

# The URLs of images where no site is asked: of the table `django_site`, and where there is no such table.
MEDIA = {"v0.9.6": "https://saltshelf.example/media/", "v0.4.5": "http://localhost:8000/media/"}


@pytest.fixture
def edited(tmp_path: Path) -> Path:
    """The database after the edits."""
    return recorded_database(tmp_path, DATABASES[AFTER_EDIT])


@pytest.fixture
def alone(first_import: FirstImports) -> Imported:
    """The import of a database without a site."""
    return first_import(database=DATABASES[USUAL], has_site=False)


@pytest.fixture
def mine(alone: Imported, tmp_path: Path) -> Project:
    return alone.copy(tmp_path / "mine", alone.project.site)


@pytest.fixture
def both(first_import: FirstImports, service: RealService, tmp_path: Path) -> Project:
    """A project with an import of the usual site and its database."""
    return first_import(database=DATABASES[USUAL]).copy(tmp_path / "both", service)


# Every fact arrives


@pytest.mark.end_to_end
@pytest.mark.parametrize(("setting", "version"), [(USUAL, "v0.9.6"), (AFTER_EDIT, "v0.9.6"), (USUAL, "v0.4.5")])
def test_catalog_equals_the_database(setting: str, version: str, first_import: FirstImports) -> None:
    """Field by field; the few differences are what no catalog can hold."""
    name = DATABASES[version if version == "v0.4.5" else setting]
    made = first_import(database=name, has_site=False, version=version).project
    faults, lines = made.compared(setting, version, MEDIA[version])
    print(version, setting, *lines, sep="\n  ")

    assert faults == []
    assert len(lines) <= 3
    assert not [line for line in lines if re.search("scheduled|licensed|exact|template|version", line)]
    assert made.run("check").exit_code == 0


def test_redirects_become_old_slugs(alone: Imported) -> None:
    """Both old slugs of a chain are of the series; a redirect that was written by hand is in the report."""
    output = alone.result.output

    assert "formerly: [eel-diaries, eel-lanterns]" in alone.project.text("series/lantern-eel-diaries.yaml")
    assert re.search("/old-shelf/ -> /reader/.*by hand", output)
    assert re.search(r"/gone-shelf/ -> nothing \(410\).*by hand", output)


def test_settings_come_from_the_table_of_the_site_or_a_note(alone: Imported, first_import: FirstImports) -> None:
    """Only the domain of the first setup is in the database; version 0.4.5 has none."""
    old = first_import(database=DATABASES["v0.4.5"], has_site=False, version="v0.4.5")

    assert "base_url: https://saltshelf.example\n" in alone.project.text("site.yaml")
    assert re.search("base_url is https://saltshelf.example.*check it", alone.result.output)
    assert "base_url: http://localhost:8000\n" in old.project.text("site.yaml")
    assert re.search("base_url is http://localhost:8000: change it", old.result.output)


def test_settings_of_an_existing_catalog_stay(edited: Path, mine: Project) -> None:
    """The database does not know them."""
    (mine.catalog / "site.yaml").write_text("base_url: https://elsewhere.example\nmedia: /pictures/\npage_size: 7\n")
    assert mine.import_database(edited).exit_code == 0

    assert mine.text("site.yaml") == "base_url: https://elsewhere.example\nmedia: /pictures/\npage_size: 7\n"
    # Pages elsewhere have the URL of the media folder of these settings.
    assert "https://elsewhere.example/pictures/series/copper-weather/" in mine.text("series/copper-weather.yaml")


# The same catalog from both sources


@pytest.mark.end_to_end
@pytest.mark.parametrize(
    ("setting", "version"), [(USUAL, "v0.9.6"), (V1_OFF, "v0.9.6"), (AFTER_EDIT, "v0.9.6"), (USUAL, "v0.4.5")]
)
def test_site_and_database_give_the_same_catalog(setting: str, version: str, first_import: FirstImports) -> None:
    """Where both know a fact. The differences are printed: at most ten lines, each with its reason."""
    name = DATABASES["v0.4.5" if version == "v0.4.5" else USUAL if setting == V1_OFF else setting]
    by_database = first_import(database=name, has_site=False, version=version)
    ids = ["--allow-missing-ids"] if version == "v0.4.5" else []
    by_site = first_import(*ids, setting=setting, version=version)
    with real_database(setting, version) as database:
        database.entities = imported(by_database.project.catalog, MEDIA[version])
        result = compared(by_site.entities, database, setting)
    print(f"{version} {setting}:", *explained(result), sep="\n  ")

    assert faults(result) == []
    assert 0 < len(explained(result)) <= 10


@pytest.mark.end_to_end
@pytest.mark.parametrize(("setting", "version"), [(USUAL, "v0.9.6"), (V1_OFF, "v0.9.6"), (USUAL, "v0.4.5")])
def test_site_with_its_database_equals_the_database(
    setting: str, version: str, first_import: FirstImports, tmp_path: Path
) -> None:
    """Only the settings come from the site."""
    name = DATABASES["v0.4.5" if version == "v0.4.5" else USUAL]
    both = first_import(database=name, setting=setting, version=version).project
    other = project(tmp_path / "database", both.site)
    other.catalog.mkdir()
    shutil.copy(both.catalog / "site.yaml", other.catalog)
    assert other.import_database(recorded_database(tmp_path, name)).exit_code == 0

    assert both.files() == other.files()
    assert f"base_url: {both.site.url}\n" in both.text("site.yaml")


def test_notes_about_the_site_that_the_database_answers_are_left_out(first_import: FirstImports) -> None:
    """What remains is about settings; nothing is unknown any more."""
    report = first_import(database=DATABASES[USUAL]).report

    assert not re.search(
        "unknown|only in the sitemap|several have the same name|not public.*formerly|None or null|rounded", report
    )
    assert "/contribute.json, /reader/series-sitemap.xml" in report
    assert "page_size" not in report.split("site.yaml:")[1].split("\n")[0]


def test_only_what_the_database_lacks_is_requested(database: Path, both: Project, first_import: FirstImports) -> None:
    """Pages of chapters that are new or changed on the site."""

    def single(targets: list[str]) -> set[str]:
        return {path.rstrip("/") for path in targets if re.fullmatch("/api/v[12]/(?!series|cubari).*/.+", path)}

    assert single(first_import(database=DATABASES[USUAL]).project.site.targets) == set()
    both.site.edit()
    assert both.import_("--from-database", str(database)).exit_code == 0
    new, changed = (131, 132), (21, 46, 68, 97)
    assert single(both.site.targets) == {f"/api/v2/chapters/{id}/pages" for id in (*new, *changed)}


def test_imported_database_builds(mine: Project, tmp_path: Path) -> None:
    """The API of the new site has the published chapters, except the licensed ones."""
    out, conf = tmp_path / "dist", tmp_path / "nginx.conf"

    assert mine.run("build", "--out", str(out), "--nginx", str(conf)).exit_code == 0
    resources = json.loads((out / "current/manifest.json").read_bytes())["resources"]
    chapters = mine.entities()["chapters"]
    published = [row["id"] for key, row in chapters.items() if row["published"] <= RECORDED_AT]
    # The value of a gate is a list.
    bodies = (url for url, entry in resources.items() if isinstance(entry, dict))
    in_api = {url for url in bodies if re.fullmatch("/api/v2/chapters/[0-9]+", url)}
    licensed = [row["id"] for key, row in chapters.items() if key[0] == "tin-saint-in-the-orchard"]
    assert in_api == {f"/api/v2/chapters/{id}" for id in published if id not in licensed}


# Second imports


def test_second_import_brings_exactly_the_edits(edited: Path, mine: Project) -> None:
    """A newer copy of the database may have another name."""
    result = mine.import_database(edited, "--remove")

    assert result.exit_code == 0
    assert mine.compared(AFTER_EDIT, media=MEDIA["v0.9.6"])[0] == []
    assert not (mine.catalog / "series/the-second-lantern-2.yaml").exists()
    assert "formerly: [eel-diaries, eel-lanterns]" in mine.text("series/lantern-eel-diaries.yaml")
    before = mine.files()
    assert mine.import_database(edited).exit_code == 0
    assert mine.files() == before


def test_database_adds_its_facts_to_an_import_of_the_site(
    edited: Path, first_import: FirstImports, service: RealService, tmp_path: Path
) -> None:
    """The last import was one of the site; the database replaces what people did not edit."""
    fresh = first_import().copy(tmp_path / "site", service)
    fresh.edit("series/kiln-sisters.yaml", "title: Kiln Sisters", "title: The Kiln Sisters")
    assert fresh.import_database(edited, "--remove").exit_code == 0

    assert "title: The Kiln Sisters\n" in fresh.text("series/kiln-sisters.yaml")
    fresh.edit("series/kiln-sisters.yaml", "title: The Kiln Sisters", "title: Kiln Sisters")
    assert fresh.faults(AFTER_EDIT) == []
    assert all(chapter["id"] for chapter in fresh.entities()["chapters"].values())


@pytest.mark.end_to_end
def test_site_alone_keeps_the_facts_of_the_database(both: Project) -> None:
    """Also if it changed: scheduled chapters, old slugs and exact times stay, and nothing is a conflict."""
    before = both.files()
    assert both.import_().exit_code == 0
    assert both.files() == before
    both.site.edit()
    result = both.import_("--remove")

    assert "conflict" not in result.output
    assert [line for line in both.faults(AFTER_EDIT) if "the-second-lantern-2" not in line] == []
    assert "formerly: [eel-diaries, eel-lanterns]" in both.text("series/lantern-eel-diaries.yaml")


@pytest.mark.end_to_end
def test_sources_take_turns_without_conflicts(
    alone: Imported, service: RealService, database: Path, edited: Path, tmp_path: Path
) -> None:
    """The database, the site, both: none takes the values of the other for an edit."""
    mine = alone.copy(tmp_path / "mine", service)
    assert mine.import_().exit_code == 0
    service.edit()
    results = [mine.import_("--from-database", str(database)), mine.import_database(edited, "--remove"), mine.import_()]

    assert [result.exit_code for result in results] == [0] * 3
    assert not any("conflict" in result.output for result in results)
    assert mine.faults(AFTER_EDIT) == []


@pytest.mark.end_to_end
def test_series_that_was_renamed_twice_keeps_both_old_slugs(mine: Project, tmp_path: Path) -> None:
    """The catalog has the first slug; the database has the present one, and redirects of both others."""
    newer = recorded_database(tmp_path)
    change(
        newer,
        "UPDATE reader_series SET slug = 'three-sisters' WHERE slug = 'kiln-sisters'",
        "UPDATE django_redirect SET new_path = '/reader/three-sisters/'",
        "UPDATE django_redirect SET old_path = '/reader/kiln-sisters/' WHERE id = 3",
        "UPDATE django_redirect SET old_path = '/reader/two-sisters/' WHERE id = 4",
    )
    assert mine.import_database(newer).exit_code == 0
    before = mine.files()
    assert mine.import_database(newer).exit_code == 0

    assert "formerly: [kiln-sisters, eel-diaries, eel-lanterns, two-sisters]" in mine.text("series/three-sisters.yaml")
    assert mine.files() == before


def test_failed_list_of_a_site_with_its_database_writes_nothing(database: Path, both: Project) -> None:
    """Entries that only the site has would seem deleted."""
    both.site.fail("/api/v2/series", 500, 10)
    result = both.import_("--from-database", str(database))

    assert result.exit_code == 1
    assert "/api/v2/series: available at the last import, but not now" in result.output


def test_another_site_does_not_continue_the_import_of_a_database(mine: Project) -> None:
    """Its series are others, so its ids mean other people."""
    with serving(small()) as other:
        result = mine.import_(url=other.url)

    assert result.exit_code == 1
    assert "its last import from this site is unknown, and ids name other people" in result.output


def test_interrupted_import_of_a_database_names_its_command(database: Path, fresh: Project) -> None:
    """The message of `check` has the file, and no URL."""
    fresh.catalog.mkdir(parents=True)
    journal = {"arguments": ["--from-database", "my copy.sqlite3"], "files": {}}
    (fresh.catalog / ".unfinished-import").write_text(json.dumps(journal))

    assert "import --from-database 'my copy.sqlite3' --catalog" in fresh.run("check").output
