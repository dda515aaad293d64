"""A site together with a copy of its database that is older: what is new on the site arrives."""

import re
from itertools import product
from pathlib import Path

import pytest

from tests.support.import_project import DATABASES, Entities, FirstImports, Project, change, differences, project
from tests.support.real_service import AFTER_EDIT, USUAL, V1_OFF, real_service


def report(made: Project, file: Path) -> str:
    """The report of an import from both."""
    result = made.import_("--from-database", str(file))

    assert result.exit_code == 0, result.output
    return made.report(result)


@pytest.mark.end_to_end
def test_chapters_and_series_that_changed_since_have_the_values_of_the_site(
    database: Path, fresh: Project, first_import: FirstImports
) -> None:
    """A chapter or series is newer on the site if its time is; people and categories have none."""
    fresh.site.edit()
    text = report(fresh, database)

    expected = first_import(database=DATABASES[AFTER_EDIT], setting=AFTER_EDIT).entities
    assert differences(fresh.entities(), expected) == {
        "authors name": 1,
        "authors aliases": 1,
        "categories name": 1,
        "groups name": 1,
        "groups website": 1,
        "groups members": 1,
        "members name": 1,
        "series the-second-lantern-2": 1,
        "chapters the-second-lantern-2": 4,
        # Counting a view is no change.
        "chapters views": 2,
    }
    assert "lantern-eel-diaries chapter 7: only on the site" in text
    assert "the-moth-accountant chapter 4, id 32: the site has another chapter with its number" in text
    assert "formerly: [eel-diaries, eel-lanterns]" in fresh.text("series/lantern-eel-diaries.yaml")


@pytest.mark.end_to_end
def test_entries_that_only_the_site_has_arrive(database: Path, fresh: Project, first_import: FirstImports) -> None:
    """A series with its people and chapters. Notes about it are in the report, unlike those that are answered."""
    change(
        database,
        "DELETE FROM reader_series WHERE slug = 'salt-and-sons'",
        "DELETE FROM reader_chapter WHERE id >= 99",
        "DELETE FROM reader_author WHERE id = 8",
    )
    text = report(fresh, database)

    assert differences(fresh.entities(), first_import(database=DATABASES[USUAL]).entities) == {
        "authors aliases": 1,
        "chapters modified": 19,
    }
    name = fresh.entities()["authors"][8]["name"]
    assert f"authors {name}: only on the site: newer than the copy of the database, or deleted and still in" in text
    assert re.search("salt-and-sons.*: only on the site", text)
    assert "salt-and-sons description: control characters are dropped" in text


def test_chapters_that_only_one_side_has(database: Path, fresh: Project) -> None:
    """Responses stay in the cache of the site for minutes, so deleted entries stay deleted.

    A chapter with a higher id would be new there. One that the site does not show may have been deleted since.
    """
    change(
        database,
        "INSERT INTO reader_chapter SELECT 900, title, 99, NULL, '', 0, modified, series_id, published, 0 "
        "FROM reader_chapter WHERE id = 1",
        "DELETE FROM reader_chapter WHERE id IN (41, 42) OR series_id = 12",
        "DELETE FROM reader_series WHERE id = 12",
    )
    text = report(fresh, database)

    chapters = fresh.entities()["chapters"].keys()
    assert {("kiln-sisters", 43), ("harbor-of-glass-bells", 900)} <= chapters
    assert not {("kiln-sisters", 41), ("kiln-sisters", 42)} & chapters
    assert not (fresh.catalog / "series/salt-and-sons.yaml").exists()
    assert "harbor-of-glass-bells chapter 99: published in the database, but not shown" in text
    deleted = [
        line for line in text.splitlines() if "deleted in the database, but still in the site's cache; skipped" in line
    ]
    for place in ("kiln-sisters chapter 2", "kiln-sisters chapter 3", "salt-and-sons"):
        assert any(place in line for line in deleted)


@pytest.mark.end_to_end
def test_series_with_a_new_slug_keeps_its_chapters(database: Path, fresh: Project, first_import: FirstImports) -> None:
    """The ids of the chapters show that it is the same series. One that moved to another series is there only."""
    change(
        database,
        "UPDATE reader_series SET slug = 'sisters-of-the-kiln' WHERE slug = 'kiln-sisters'",
        "UPDATE reader_chapter SET series_id = 2, number = 77 WHERE id = 1",
    )
    report(fresh, database)

    assert "formerly: [sisters-of-the-kiln]" in fresh.text("series/kiln-sisters.yaml")
    assert differences(fresh.entities(), first_import(database=DATABASES[USUAL]).entities) == {
        "series formerly": 1,
        # Its images are in the folder of the other slug.
        "series cover": 1,
        "chapters pages": 10,
    }
    assert not (fresh.catalog / "series/sisters-of-the-kiln.yaml").exists()


@pytest.mark.end_to_end
def test_old_slug_that_another_series_has_now_is_dropped(database: Path, fresh: Project) -> None:
    """The site uses the slug again."""
    change(
        database,
        "DELETE FROM reader_series WHERE slug = 'kiln-sisters'",
        "DELETE FROM reader_chapter WHERE id >= 40",
        "UPDATE django_redirect SET old_path = '/reader/kiln-sisters/' WHERE id = 2",
    )
    report(fresh, database)

    assert "formerly: [eel-diaries]" in fresh.text("series/lantern-eel-diaries.yaml")


def test_names_that_the_site_spells_otherwise(database: Path, fresh: Project) -> None:
    """A catalog can hold one of two slugs that differ in case only.

    The category got another id since; series of the site refer to the one of the database.
    """
    change(
        database,
        "UPDATE reader_series SET slug = 'Kiln-Sisters' WHERE slug = 'kiln-sisters'",
        "DELETE FROM reader_chapter WHERE series_id = 3 OR id >= 99",
        "UPDATE reader_category SET id = 'theatre' WHERE id = 'drama'",
        "UPDATE reader_series_categories SET category_id = 'theatre' WHERE category_id = 'drama'",
        "DELETE FROM reader_series WHERE slug = 'salt-and-sons'",
    )

    assert "kiln-sisters: differs from Kiln-Sisters only in case; series skipped" in report(fresh, database)
    assert "theatre" in fresh.text("series/salt-and-sons.yaml")
    assert "drama" not in fresh.entities()["categories"]


def test_version_1_alone_denies_no_status(database: Path, fresh: Project) -> None:
    """It has two statuses only: that of the database stays, or that of the last import."""
    change(
        database,
        "UPDATE reader_series SET modified = '2020-01-01' WHERE slug = 'kiln-sisters'",
        "DELETE FROM reader_series WHERE slug = 'salt-and-sons'",
        "DELETE FROM reader_chapter WHERE id >= 99",
    )
    fresh.site.change("/api/v2/series/salt-and-sons", lambda series: series.update(status="hiatus"))
    report(fresh, database)
    for slug, path in product(("kiln-sisters", "salt-and-sons"), ("series/{}", "series/{}/chapters", "cubari/{}")):
        fresh.site.fail(f"/api/v2/{path.format(slug)}", 404)
    fresh.site.change("/api/v1/series/kiln-sisters/", lambda series: series.update(description="Newer."))
    report(fresh, database)

    series = fresh.entities()["series"]
    assert (series["kiln-sisters"]["description"], series["kiln-sisters"]["status"]) == ("Newer.", "hiatus")
    assert series["salt-and-sons"]["status"] == "hiatus"


def test_people_without_a_list_have_the_ids_of_the_database(database: Path, fresh: Project) -> None:
    """Also those who share a name. Others get ids that no other person has."""
    change(
        database,
        "UPDATE reader_series SET modified = '2020-01-01' WHERE slug = 'kiln-sisters'",
        "UPDATE reader_author SET id = 70 WHERE id = 5",
        "UPDATE reader_series_authors SET author_id = 70 WHERE author_id = 5",
    )
    fresh.site.change("/api/v2/series/kiln-sisters", lambda series: series["authors"].append("Cy"))

    def series_after(*arguments: str) -> Entities:
        for path in ("/api/v2/authors", "/api/v1/authors/"):
            fresh.site.fail(path, 404)
        result = fresh.import_(*arguments)
        assert result.exit_code == 0, result.output
        return fresh.entities()["series"]

    for _ in range(2):
        assert series_after("--from-database", str(database))["kiln-sisters"]["authors"] == [5, 70]
        authors = {id: author["name"] for id, author in fresh.entities()["authors"].items()}
        assert sorted(authors) == [1, 2, 3, 4, 5, 7, 8, 9, 70]
        assert (authors[1], authors[3], authors[5]) == ("Ida Quill", "Ida Quill", "Cy")
    # Later, the database gives this id to another person.
    change(database, "INSERT INTO reader_author (id, name) VALUES (5, 'Dee'), (71, 'Cy')")
    series_after("--from-database", str(database))
    fresh.site.change("/api/v2/series/salt-and-sons", lambda series: series.update(authors=["Cy", "Dee"]))
    series = series_after()
    assert (series["kiln-sisters"]["authors"], series["salt-and-sons"]["authors"]) == ([70, 71], [5, 71])


@pytest.mark.end_to_end
def test_failed_responses_matter_only_for_what_the_database_lacks(database: Path, tmp_path: Path) -> None:
    """A series of the database is up to date without them."""
    with real_service(V1_OFF) as site:
        made = project(tmp_path / "project", site)
        report(made, database)
        before = made.files()
        for path in ("/api/v2/series/kiln-sisters", "/api/v2/openapi.json"):
            site.fail(path, 500, 10)
        text = report(made, database)

    assert made.files() == before
    assert "/api/v2/series/kiln-sisters" not in text
    assert "/api/v2/openapi.json: server error after 3 attempts; skipped" in text
