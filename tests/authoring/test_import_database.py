"""Imports of a recorded database: alone, and together with the site; both give the catalog of the site's responses.

`tests/support/real_database.py` has the expected catalog, and reads the same files without the code of the import.
"""

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.support.fake_site import serving, small
from tests.support.import_project import Project, change, project, recorded_database
from tests.support.real_database import compared, explained, faults, imported, real_database
from tests.support.real_service import AFTER_EDIT, RECORDED_AT, USUAL, V1_OFF, RealService, real_service

# The URLs of images where no site is asked: of the table `django_site`, and where there is no such table.
MEDIA = {"v0.9.6": "https://saltshelf.example/media/", "v0.4.5": "http://localhost:8000/media/"}
FILES = {USUAL: "v0.9.6/db.sqlite3", AFTER_EDIT: "v0.9.6/after-edit.sqlite3", "v0.4.5": "v0.4.5/db.sqlite3"}


@pytest.fixture
def edited(tmp_path: Path) -> Path:
    """The database after the edits."""
    return recorded_database(tmp_path, FILES[AFTER_EDIT])


def alone(folder: Path, name: str = FILES[USUAL]) -> Project:
    """A project with an import of a database without a site."""
    made = project(folder / "alone", RealService(USUAL, name.partition("/")[0]))
    assert made.import_database(recorded_database(folder, name)).exit_code == 0
    return made


# Every fact arrives


@pytest.mark.parametrize(("setting", "version"), [(USUAL, "v0.9.6"), (AFTER_EDIT, "v0.9.6"), (USUAL, "v0.4.5")])
def test_catalog_equals_the_database(setting: str, version: str, tmp_path: Path) -> None:
    """Field by field; the few differences are what no catalog can hold."""
    made = alone(tmp_path, FILES[version if version == "v0.4.5" else setting])
    lines = made.explained(setting, version, MEDIA[version])
    print(version, setting, *lines, sep="\n  ")

    assert made.faults(setting, version, MEDIA[version]) == []
    assert len(lines) <= 3
    assert not [line for line in lines if re.search("scheduled|licensed|exact|template|version", line)]
    assert made.run("check").exit_code == 0


def test_scheduled_and_licensed_chapters_arrive(tmp_path: Path) -> None:
    """With ids and views, which no response has."""
    chapters = alone(tmp_path).entities()["chapters"]
    licensed = [chapter for key, chapter in chapters.items() if key[0] == "tin-saint-in-the-orchard"]

    assert chapters["harbor-of-glass-bells", 27]["published"] > RECORDED_AT
    assert len(licensed) == 9 and all(chapter["id"] for chapter in licensed)
    assert any(chapter["views"] for chapter in licensed)


def test_redirects_become_old_slugs(tmp_path: Path) -> None:
    """Both old slugs of a chain are of the series; a redirect that was written by hand is in the report."""
    made = project(tmp_path / "alone", RealService(USUAL, "v0.9.6"))
    result = made.import_database(recorded_database(tmp_path))

    assert "formerly: [eel-diaries, eel-lanterns]" in made.text("series/lantern-eel-diaries.yaml")
    assert re.search("/old-shelf/ -> /reader/.*by hand", result.output)
    assert re.search(r"/gone-shelf/ -> nothing \(410\).*by hand", result.output)


def test_settings_come_from_the_table_of_the_site_or_a_note(tmp_path: Path) -> None:
    """Only the domain of the first setup is in the database; version 0.4.5 has none."""
    new, old = (project(tmp_path / version, RealService(USUAL, version)) for version in ("v0.9.6", "v0.4.5"))
    results = [
        made.import_database(recorded_database(tmp_path, f"{made.folder.name}/db.sqlite3")) for made in (new, old)
    ]

    assert "base_url: https://saltshelf.example\n" in new.text("site.yaml")
    assert re.search("base_url is https://saltshelf.example.*check it", results[0].output)
    assert "base_url: http://localhost:8000\n" in old.text("site.yaml")
    assert re.search("base_url is http://localhost:8000: change it", results[1].output)


def test_settings_of_an_existing_catalog_stay(edited: Path, tmp_path: Path) -> None:
    """The database does not know them."""
    made = alone(tmp_path)
    (made.catalog / "site.yaml").write_text("base_url: https://elsewhere.example\nmedia: /pictures/\npage_size: 7\n")
    assert made.import_database(edited).exit_code == 0

    assert made.text("site.yaml") == "base_url: https://elsewhere.example\nmedia: /pictures/\npage_size: 7\n"
    # Pages elsewhere have the URL of the media folder of these settings.
    assert "https://elsewhere.example/pictures/series/copper-weather/" in made.text("series/copper-weather.yaml")


# The same catalog from both sources


@pytest.mark.parametrize(
    ("setting", "version"), [(USUAL, "v0.9.6"), (V1_OFF, "v0.9.6"), (AFTER_EDIT, "v0.9.6"), (USUAL, "v0.4.5")]
)
def test_site_and_database_give_the_same_catalog(setting: str, version: str, tmp_path: Path) -> None:
    """Where both know a fact. The differences are printed: at most ten lines, each with its reason."""
    name = FILES["v0.4.5" if version == "v0.4.5" else USUAL if setting == V1_OFF else setting]
    by_database = alone(tmp_path, name)
    with real_service(setting, version) as site, real_database(setting, version) as database:
        by_site = project(tmp_path / "site", site)
        assert by_site.import_("--allow-missing-ids").exit_code == 0
        database.entities = imported(by_database.catalog, MEDIA[version])
        result = compared(by_site.entities(), database, setting)
    print(f"{version} {setting}:", *explained(result), sep="\n  ")

    assert faults(result) == []
    assert 0 < len(explained(result)) <= 10


@pytest.mark.parametrize(("setting", "version"), [(USUAL, "v0.9.6"), (V1_OFF, "v0.9.6"), (USUAL, "v0.4.5")])
def test_site_with_its_database_equals_the_database(setting: str, version: str, tmp_path: Path) -> None:
    """Only the settings come from the site."""
    file = recorded_database(tmp_path, FILES["v0.4.5" if version == "v0.4.5" else USUAL])
    with real_service(setting, version) as site:
        made = project(tmp_path / "both", site)
        result = made.import_("--from-database", str(file))
        other = project(tmp_path / "database", site)
        (other.catalog).mkdir(parents=True)
        shutil.copy(made.catalog / "site.yaml", other.catalog)
        assert other.import_database(file).exit_code == 0

    assert result.exit_code == 0
    assert made.files() == other.files()
    assert f"base_url: {site.url}\n" in made.text("site.yaml")


def test_notes_about_the_site_that_the_database_answers_are_left_out(database: Path, fresh: Project) -> None:
    """What remains is about settings; nothing is unknown any more."""
    report = fresh.report(fresh.import_("--from-database", str(database)))

    assert not re.search(
        "unknown|only in the sitemap|several have the same name|not public.*formerly|None or null|rounded", report
    )
    assert "/contribute.json, /reader/series-sitemap.xml" in report
    assert "page_size" not in report.split("site.yaml:")[1].split("\n")[0]


def test_only_what_the_database_lacks_is_requested(database: Path, fresh: Project) -> None:
    """Pages of chapters that are new or changed on the site, and no single people, groups and categories."""

    def requested() -> set[str]:
        assert fresh.import_("--from-database", str(database)).exit_code == 0
        paths = {request.target.rstrip("/") for request in fresh.site.requests}
        fresh.site.requests.clear()
        return {path for path in paths if re.fullmatch("/api/v[12]/(?!series|cubari).*/.*", path)}

    # The list of authors in version 1 has the artists, and no author has this id.
    assert requested() == {"/api/v1/authors/6"}
    fresh.site.edit()
    new, changed = (131, 132), (21, 46, 68, 97)
    pages = {f"/api/v2/chapters/{id}/pages" for id in (*new, *changed)}
    assert requested() == pages | {"/api/v1/authors/6", "/api/v2/categories/Mysteries"}


def test_imported_database_builds(tmp_path: Path) -> None:
    """The API of the new site has the published chapters, except the licensed ones."""
    made = alone(tmp_path)
    out, conf = tmp_path / "dist", tmp_path / "nginx.conf"

    assert made.run("build", "--out", str(out), "--nginx", str(conf)).exit_code == 0
    resources = json.loads((out / "current/manifest.json").read_bytes())["resources"]
    chapters = made.entities()["chapters"]
    published = [row["id"] for key, row in chapters.items() if row["published"] <= RECORDED_AT]
    # The value of a gate is a list.
    bodies = (url for url, entry in resources.items() if isinstance(entry, dict))
    in_api = {url for url in bodies if re.fullmatch("/api/v2/chapters/[0-9]+", url)}
    licensed = [row["id"] for key, row in chapters.items() if key[0] == "tin-saint-in-the-orchard"]
    assert in_api == {f"/api/v2/chapters/{id}" for id in published if id not in licensed}


# Second imports


def test_second_import_brings_exactly_the_edits(edited: Path, tmp_path: Path) -> None:
    """A newer copy of the database may have another name."""
    made = alone(tmp_path)
    result = made.import_database(edited, "--remove")

    assert result.exit_code == 0
    assert made.faults(AFTER_EDIT, media=MEDIA["v0.9.6"]) == []
    assert not (made.catalog / "series/the-second-lantern-2.yaml").exists()
    assert "formerly: [eel-diaries, eel-lanterns]" in made.text("series/lantern-eel-diaries.yaml")
    before = made.files()
    assert made.import_database(edited).exit_code == 0
    assert made.files() == before


def test_second_import_keeps_edits_of_people(edited: Path, tmp_path: Path) -> None:
    """A field that both changed is a conflict."""
    made = alone(tmp_path)
    made.edit("series/kiln-sisters.yaml", "title: Kiln Sisters", "title: The Kiln Sisters  # ours")
    made.edit("series/kiln-sisters.yaml", "Two kilns, three sisters.", "One kiln.")
    result = made.import_database(edited)

    assert "title: The Kiln Sisters  # ours\n" in made.text("series/kiln-sisters.yaml")
    assert "description: One kiln.\n" in made.text("series/kiln-sisters.yaml")
    assert "kiln-sisters: description: conflict: 'One kiln.' here" in result.output
    assert "status: ongoing\n" in made.text("series/kiln-sisters.yaml")
    again = made.import_database(edited)
    assert "kiln-sisters: description: conflict: 'One kiln.' here" in again.output


def test_database_adds_its_facts_to_an_import_of_the_site(edited: Path, fresh: Project) -> None:
    """The last import was one of the site; the database replaces what people did not edit."""
    assert fresh.import_().exit_code == 0
    fresh.edit("series/kiln-sisters.yaml", "title: Kiln Sisters", "title: The Kiln Sisters")
    assert fresh.import_database(edited, "--remove").exit_code == 0

    assert "title: The Kiln Sisters\n" in fresh.text("series/kiln-sisters.yaml")
    fresh.edit("series/kiln-sisters.yaml", "title: The Kiln Sisters", "title: Kiln Sisters")
    assert fresh.faults(AFTER_EDIT) == []
    assert all(chapter["id"] for chapter in fresh.entities()["chapters"].values())


def test_site_alone_keeps_the_facts_of_the_database(database: Path, fresh: Project) -> None:
    """Also if it changed: scheduled chapters, old slugs and exact times stay, and nothing is a conflict."""
    assert fresh.import_("--from-database", str(database)).exit_code == 0
    before = fresh.files()
    assert fresh.import_().exit_code == 0
    assert fresh.files() == before
    fresh.site.edit()
    result = fresh.import_("--remove")

    assert "conflict" not in result.output
    assert [line for line in fresh.faults(AFTER_EDIT) if "the-second-lantern-2" not in line] == []
    assert "formerly: [eel-diaries, eel-lanterns]" in fresh.text("series/lantern-eel-diaries.yaml")


def test_sources_take_turns_without_conflicts(database: Path, edited: Path, fresh: Project) -> None:
    """The database, the site, both: none takes the values of the other for an edit."""
    assert fresh.import_database(database).exit_code == 0
    assert fresh.import_().exit_code == 0
    fresh.site.edit()
    results = [fresh.import_("--from-database", str(database)), fresh.import_database(edited, "--remove")]
    results += [fresh.import_("--from-database", str(edited)), fresh.import_()]

    assert [result.exit_code for result in results] == [0] * 4
    assert not any("conflict" in result.output for result in results)
    assert fresh.faults(AFTER_EDIT) == []


def test_series_that_was_renamed_twice_keeps_both_old_slugs(tmp_path: Path) -> None:
    """The catalog has the first slug; the database has the present one, and redirects of both others."""
    made = alone(tmp_path)
    newer = recorded_database(tmp_path)
    change(
        newer,
        "UPDATE reader_series SET slug = 'three-sisters' WHERE slug = 'kiln-sisters'",
        "UPDATE django_redirect SET new_path = '/reader/three-sisters/'",
        "UPDATE django_redirect SET old_path = '/reader/kiln-sisters/' WHERE id = 3",
        "UPDATE django_redirect SET old_path = '/reader/two-sisters/' WHERE id = 4",
    )
    assert made.import_database(newer).exit_code == 0
    before = made.files()
    assert made.import_database(newer).exit_code == 0

    assert "formerly: [kiln-sisters, eel-diaries, eel-lanterns, two-sisters]" in made.text("series/three-sisters.yaml")
    assert made.files() == before


def test_failed_list_of_a_site_with_its_database_writes_nothing(database: Path, fresh: Project) -> None:
    """Entries that only the site has would seem deleted."""
    assert fresh.import_("--from-database", str(database)).exit_code == 0
    fresh.site.fail("/api/v2/series", 500, 10)
    result = fresh.import_("--from-database", str(database))

    assert result.exit_code == 1
    assert "/api/v2/series: available at the last import, but not now" in result.output


def test_another_site_does_not_continue_the_import_of_a_database(database: Path, fresh: Project) -> None:
    """Its series are others, so its ids mean other people."""
    assert fresh.import_database(database).exit_code == 0
    with serving(small()) as other:
        result = fresh.import_(url=other.url)

    assert result.exit_code == 1
    assert "its last import from this site is unknown, and ids name other people" in result.output


def test_interrupted_import_of_a_database_names_its_command(database: Path, fresh: Project) -> None:
    """The message of `check` has the file, and no URL."""
    fresh.catalog.mkdir(parents=True)
    journal = {"arguments": ["--from-database", "my copy.sqlite3"], "files": {}}
    (fresh.catalog / ".unfinished-import").write_text(json.dumps(journal))

    assert "import --from-database 'my copy.sqlite3' --catalog" in fresh.run("check").output
