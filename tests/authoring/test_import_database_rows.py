"""Rows that a catalog cannot hold: each is corrected or skipped, with a note that names it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.import_project import Project, change, recorded_database


@pytest.fixture
def report(made: Project, tmp_path: Path) -> Callable[..., str]:
    """The report of an import of a database that SQL has changed."""

    def changed(*statements: str, version: str = "v0.9.6") -> str:
        file = recorded_database(tmp_path, f"{version}/db.sqlite3")
        change(file, "PRAGMA ignore_check_constraints = on", *statements)
        result = made.import_database(file)
        assert result.exit_code == 0, result.output
        return made.report(result)

    return changed


# Each changes another series, chapter or entry.
WRONG_ROWS = {
    "UPDATE reader_series SET slug = '../up' WHERE id = 3": "../up: invalid slug; series skipped",
    "UPDATE reader_series SET slug = 'the-second-LANTERN' WHERE id = 14": (
        "the-second-lantern: differs from the-second-LANTERN only in case; series skipped"
    ),
    "UPDATE reader_series SET title = '' WHERE id = 2": "the-moth-accountant: title ",
    "UPDATE reader_series SET cover = '' WHERE id = 4": "nine-tides-to-marrow: cover ",
    "UPDATE reader_series SET status = 'lost' WHERE id = 5": "tin-saint-in-the-orchard: status ",
    "UPDATE reader_series SET format = '{chapter}' WHERE id = 8": (
        "loud-quiet-loud: chapter_title unknown field {chapter}"
    ),
    "UPDATE reader_series_authors SET author_id = 99 WHERE id = 1": "harbor-of-glass-bells: unknown authors; skipped",
    "UPDATE reader_chapter_groups SET group_id = 99 WHERE id = 1": (
        "harbor-of-glass-bells chapter 1: unknown groups; skipped"
    ),
    "UPDATE reader_chapter SET number = -1 WHERE id = 2": (
        "copper-weather, harbor-of-glass-bells, the-fog-ledger: invalid chapter number"
    ),
    "UPDATE reader_chapter SET number = 1.123456 WHERE id = 92": "copper-weather: invalid chapter number",
    "UPDATE reader_chapter SET number = 'x' WHERE id = 77": "the-fog-ledger: invalid chapter number",
    "UPDATE reader_chapter SET published = '' WHERE id = 1": "harbor-of-glass-bells chapter 1: published ",
    "UPDATE reader_author SET name = '' WHERE id = 8": "authors 8: name ",
    "UPDATE reader_author SET name = char(9) WHERE id = 7": "authors 7 name: control characters are dropped",
    "UPDATE reader_category SET name = 'Drama ' WHERE id = 'adventure'": "category Drama : name ",
    "UPDATE reader_category SET name = 'DRAMA' WHERE id = 'mystery'": (
        "category DRAMA: its id or name is that of category drama, which replaces it"
    ),
    "UPDATE groups_role SET member_id = 99 WHERE id = 1": "groups 1: unknown member; role skipped",
    "UPDATE groups_group SET website = char(10) WHERE id = 1": "groups 1 website: control characters are dropped",
    "UPDATE django_redirect SET old_path = '/reader/copper-weather/' WHERE id = 1": (
        "redirect of a slug that another series has or had; skipped"
    ),
    "UPDATE django_redirect SET old_path = '/reader/a b/' WHERE id = 2": "/reader/a b/ -> /reader/lantern-eel",
}


def test_wrong_rows_are_in_the_report(made: Project, report: Callable[..., str]) -> None:
    """And the rest arrives."""
    text = report(*WRONG_ROWS)
    print(text)

    assert [(statement, note) for statement, note in WRONG_ROWS.items() if note not in text] == []
    assert len(made.entities()["chapters"]) >= 90


def test_odd_rows_arrive(made: Project, report: Callable[..., str]) -> None:
    """With the rest of their record, if a value has no meaning."""
    text = report(
        # A time that is none, and a link to no author.
        "UPDATE reader_series SET modified = 'now' WHERE id = 3",
        "UPDATE reader_series_authors SET author_id = 0 WHERE id = 1",
        # A newer version may have other roles.
        "UPDATE groups_role SET role = 'XX' WHERE id = 8",
        # Pages of one number are in the order of their ids.
        "UPDATE reader_page SET number = 1 WHERE chapter_id = 1",
        # Ids of content types differ from site to site, and only the type of an alias tells whose it is.
        "UPDATE django_content_type SET id = 100 WHERE model = 'series' AND app_label = 'reader'",
        "UPDATE reader_alias SET content_type_id = 100 WHERE id = 12",
        # SQLite stores any bytes as text.
        "UPDATE reader_series SET title = CAST(x'4bff696c6e' AS TEXT) WHERE id = 3",
        # Two braces are one in the titles, there and here.
        "UPDATE reader_series SET format = '{{x}} {number}: {title}' WHERE id = 3",
    )
    entities = made.entities()

    assert entities["series"]["harbor-of-glass-bells"]["authors"] == [2]
    assert entities["series"]["kiln-sisters"]["title"] == "Kiln"
    assert entities["groups"][7]["members"] == [(4, "XX")]
    first_page = entities["chapters"]["harbor-of-glass-bells", 1]["pages"][0]
    assert first_page.endswith("5c4236daddb130d387aec0266ce4eb4b.png")
    assert entities["series"]["harbor-of-glass-bells"]["aliases"] == ["Glass Bells"]
    assert 'chapter_title: "{{x}} {number}: {title}"\n' in made.text("series/kiln-sisters.yaml")
    assert "chapter_title" not in text


def test_chain_of_redirects_is_followed(made: Project, report: Callable[..., str]) -> None:
    """Also one that the service has not shortened; a circle leads nowhere."""
    text = report(
        "UPDATE django_redirect SET new_path = '/reader/eel-lanterns/' WHERE id = 1",
        "UPDATE django_redirect SET old_path = '/reader/a/', new_path = '/reader/b/' WHERE id = 3",
        "UPDATE django_redirect SET old_path = '/reader/b/', new_path = '/reader/a/' WHERE id = 4",
    )

    assert "formerly: [eel-diaries, eel-lanterns]" in made.text("series/lantern-eel-diaries.yaml")
    assert "/reader/a/ -> /reader/b/: redirect written by hand" in text
    assert "/reader/b/ -> /reader/a/: redirect written by hand" in text


def test_duplicate_number_in_a_volume_is_skipped(made: Project, report: Callable[..., str]) -> None:
    """The service refuses one; a database that was edited may have it. Without a volume, both are kept."""
    text = report(
        "DROP INDEX reader_chapter_series_id_volume_number_9cbb9081_uniq",
        "UPDATE reader_chapter SET volume = 1, number = 1 WHERE id = 2",
        "UPDATE reader_chapter SET volume = 0, number = 50 WHERE id IN (3, 4)",
        version="v0.4.5",
    )

    assert "harbor-of-glass-bells: chapter 1 is a duplicate; skipped" in text
    assert [key[1] for key, row in made.entities()["chapters"].items() if row["number"] == "50"] == [3, 4]
