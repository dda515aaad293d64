"""Imports of a recorded database: alone, and together with the site; both give the catalog of the site's responses."""

import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.fake_site import Reply, serving, small
from tests.support.import_project import (
    DATABASES,
    FirstImports,
    Project,
    change,
    differences,
    project,
    recorded_database,
)
from tests.support.real_service import AFTER_EDIT, USUAL, V1_OFF, RealService


@pytest.fixture
def mine(first_import: FirstImports, tmp_path: Path) -> Project:
    """A project with an import of the database alone."""
    alone = first_import(database=DATABASES[USUAL], has_site=False)
    return alone.copy(tmp_path / "mine", alone.project.site)


@pytest.fixture
def both(first_import: FirstImports, service: RealService, tmp_path: Path) -> Project:
    """A project with an import of the usual site and its database."""
    return first_import(database=DATABASES[USUAL]).copy(tmp_path / "both", service)


# Every fact arrives


# Columns as a catalog has them. The first ones are the key of a record.
COLUMNS = {
    "authors": "SELECT id, name FROM reader_author",
    "artists": "SELECT id, name FROM reader_artist",
    "categories": "SELECT id, name FROM reader_category",
    "members": "SELECT id, name, twitter, discord, irc, reddit FROM groups_member",
    "groups": "SELECT id, name, website, email, discord, twitter, reddit, irc FROM groups_group",
    "series": """SELECT slug, title, status, licensed, format AS chapter_title,
        CAST(strftime('%s', modified) AS INTEGER) AS modified FROM reader_series""",
    "chapters": """SELECT slug, chapter.id, replace(chapter.title, char(9), ' ') AS title, volume,
        printf('%.12g', number) AS number, final, views, CAST(strftime('%s', published) AS INTEGER) AS published,
        CAST(strftime('%s', chapter.modified) AS INTEGER) AS modified
        FROM reader_chapter AS chapter JOIN reader_series AS series ON series.id = series_id""",
}


def test_catalog_equals_the_database(edited_database: Path, first_import: FirstImports) -> None:
    """Each row and link; a title with a tab has a blank instead."""
    records = first_import(database=DATABASES[AFTER_EDIT], has_site=False).entities
    with closing(sqlite3.connect(edited_database)) as connection:
        for kind, query in COLUMNS.items():
            rows = connection.execute(query)
            names = [column[0] for column in rows.description]
            written = set()
            for key, record in records[kind].items():
                keys = key if kind == "chapters" else (key,)
                written.add((*keys, *(record[name] for name in names[len(keys) :])))
            assert written == set(rows), kind
        for field, column in (("authors", "author_id"), ("artists", "artist_id"), ("categories", "category_id")):
            query = f"SELECT slug, {column} FROM reader_series_{field} JOIN reader_series AS s ON s.id = series_id"
            links = {(slug, id) for slug, record in records["series"].items() for id in record[field]}
            assert links == set(connection.execute(query)), field
        groups = {(key[1], id) for key, record in records["chapters"].items() for id in record["groups"]}
        assert groups == set(connection.execute("SELECT chapter_id, group_id FROM reader_chapter_groups"))


def test_settings_of_an_existing_catalog_stay(edited_database: Path, mine: Project) -> None:
    """The database does not know them."""
    (mine.catalog / "site.yaml").write_text("base_url: https://elsewhere.example\nmedia: /pictures/\npage_size: 7\n")
    assert mine.import_database(edited_database).exit_code == 0

    assert mine.text("site.yaml") == "base_url: https://elsewhere.example\nmedia: /pictures/\npage_size: 7\n"
    # Pages elsewhere have the URL of the media folder of these settings.
    assert "https://elsewhere.example/pictures/series/copper-weather/" in mine.text("series/copper-weather.yaml")


# The same catalog from both sources


# What no response has: exact times, old slugs, scheduled chapters, and ids of chapters of a licensed series.
UNKNOWN = {
    "series formerly": 1,
    "chapters modified": 61,
    "chapters harbor-of-glass-bells": 2,
    "chapters umbrella-for-a-giant": 2,
    # The date of its last chapter takes the place of the chapters.
    "series updated": 1,
}
# Without version 1, people of one name and aliases are unknown, and so are series without published chapters.
DIFFERENCES = {
    USUAL: {"series modified": 3, "authors aliases": 1, "chapters groups": 1, "chapters tin-saint-in-the-orchard": 17},
    V1_OFF: {
        "series modified": 14,
        "authors aliases": 5,
        "artists aliases": 3,
        "series authors": 2,
        "groups members": 1,
        "chapters groups": 9,
        "series granite-nocturne": 1,
        "series the-unwritten-almanac": 1,
        "series umbrella-for-a-giant": 1,
        "chapters tin-saint-in-the-orchard": 9,
        # Ids of categories are made from names, and a percent sign in the name of a file is ambiguous.
        "categories hauntings": 1,
        "categories ghost stories": 1,
        "series categories": 1,
        "chapters pages": 1,
    },
}


@pytest.mark.end_to_end
@pytest.mark.parametrize("setting", DIFFERENCES)
def test_site_and_database_give_the_same_catalog(setting: str, first_import: FirstImports) -> None:
    """Where both know a fact."""
    by_site = first_import(setting=setting).entities
    by_database = first_import(database=DATABASES[USUAL], has_site=False).entities

    assert differences(by_site, by_database) == UNKNOWN | DIFFERENCES[setting]


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


def test_only_what_the_database_lacks_is_requested(database: Path, both: Project, first_import: FirstImports) -> None:
    """Pages of chapters that are new or changed on the site."""

    def single(targets: list[str]) -> set[str]:
        return {path.rstrip("/") for path in targets if re.fullmatch("/api/v[12]/(?!series|cubari).*/.+", path)}

    assert single(first_import(database=DATABASES[USUAL]).project.site.targets) == set()
    both.site.edit()
    assert both.import_("--from-database", str(database)).exit_code == 0
    new, changed = (131, 132), (21, 46, 68, 97)
    assert single(both.site.targets) == {f"/api/v2/chapters/{id}/pages" for id in (*new, *changed)}


# Second imports


def test_second_import_brings_exactly_the_edits(
    edited_database: Path, mine: Project, first_import: FirstImports
) -> None:
    """A newer copy of the database may have another name."""
    result = mine.import_database(edited_database, "--remove")

    assert result.exit_code == 0
    assert mine.entities() == first_import(database=DATABASES[AFTER_EDIT], has_site=False).entities
    before = mine.files()
    assert mine.import_database(edited_database).exit_code == 0
    assert mine.files() == before


def test_database_adds_its_facts_to_an_import_of_the_site(
    edited_database: Path, first_import: FirstImports, service: RealService, tmp_path: Path
) -> None:
    """The last import was one of the site; the database replaces what people did not edit."""
    fresh = first_import().copy(tmp_path / "site", service)
    fresh.edit("series/kiln-sisters.yaml", "title: Kiln Sisters", "title: The Kiln Sisters")
    assert fresh.import_database(edited_database, "--remove").exit_code == 0

    assert "title: The Kiln Sisters\n" in fresh.text("series/kiln-sisters.yaml")
    fresh.edit("series/kiln-sisters.yaml", "title: The Kiln Sisters", "title: Kiln Sisters")
    assert fresh.entities() == first_import(database=DATABASES[AFTER_EDIT], has_site=False).entities


@pytest.mark.end_to_end
def test_site_alone_keeps_the_facts_of_the_database(both: Project, first_import: FirstImports) -> None:
    """Also if it changed: scheduled chapters, old slugs and exact times stay, and nothing is a conflict."""
    before = both.files()
    assert both.import_().exit_code == 0
    assert both.files() == before
    both.site.edit()
    result = both.import_("--remove")

    assert "conflict" not in result.output
    expected = first_import(database=DATABASES[AFTER_EDIT], setting=AFTER_EDIT).entities
    assert differences(both.entities(), expected) == {"series updated": 1}


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


COPPER = "UPDATE reader_series SET slug = 'copper-weather-1' WHERE slug = 'copper-weather'"


def test_slug_that_a_rename_freed_is_that_of_a_new_series(mine: Project, database: Path) -> None:
    """It is not one that people removed from the catalog, and it is no old slug any more."""
    change(database, COPPER)
    assert mine.import_database(database).exit_code == 0
    assert "formerly: [copper-weather]" in mine.text("series/copper-weather-1.yaml")
    of_new = "99, 'New', description, cover, 'copper-weather', modified, created, format, manager_id, licensed, status"
    change(database, f"INSERT INTO reader_series SELECT {of_new} FROM reader_series WHERE slug = 'kiln-sisters'")
    result = mine.import_database(database)

    assert "added 1 series" in result.output
    note = "the site has another series with its old slug copper-weather; removed from formerly"
    assert f"copper-weather-1: {note}" in result.output
    assert "title: New\n" in mine.text("series/copper-weather.yaml")
    assert "formerly" not in mine.text("series/copper-weather-1.yaml")
    assert "wrote 0 files" in mine.import_database(database).output


@pytest.mark.end_to_end
def test_slug_that_a_rename_freed_is_that_of_a_new_series_of_the_site_alone(both: Project, database: Path) -> None:
    """After an import of both. A series whose first slug was removed from the catalog is a new one."""
    change(database, COPPER)
    both.site.renamed["copper-weather"] = "copper-weather-1"
    assert "renamed 1 series" in both.import_("--from-database", str(database)).output
    (both.catalog / "series/kiln-sisters.yaml").unlink()
    both.site.renamed["kiln-sisters"] = "copper-weather"
    assert "added 1 series" in both.import_().output

    assert "title: Kiln Sisters\n" in both.text("series/copper-weather.yaml")


def test_failed_list_of_a_site_with_its_database_writes_nothing(database: Path, both: Project) -> None:
    """Entries that only the site has would seem deleted."""
    both.site.fail("/api/v2/series", 500, 10)
    result = both.import_("--from-database", str(database))

    assert result.exit_code == 1
    assert "/api/v2/series: usable at the last import, but unavailable or empty now" in result.output


def test_another_site_does_not_continue_the_import_of_a_database(mine: Project) -> None:
    """Its series are others, so its ids mean other people.

    It credits no person that was renamed here: its list of people is unavailable, and the names that the database had
    are those of another site.
    """
    mine.edit("authors.yaml", "name: Nobody Yet", "name: Sam Ochre")
    answers = small() | dict.fromkeys(("/api/v2/authors", "/api/v1/authors"), Reply(404))
    answers["/api/v2/series/one"]["authors"] = ["Nobody Yet"]
    with serving(answers) as other:
        refused = mine.import_(url=other.url)
        assert "its last import from this site is unknown, and ids name other people" in refused.output
        result = mine.import_("--mine", url=other.url)

    assert result.exit_code == 0, result.output
    assert "authors: [Nobody Yet]\n" in mine.text("series/one.yaml")
    names = {id: author["name"] for id, author in mine.entities()["authors"].items()}
    assert (names[8], names[6]) == ("Sam Ochre", "Nobody Yet")
