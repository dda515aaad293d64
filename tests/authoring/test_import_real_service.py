"""Imports of the recorded service: what a second import changes, and how fast it is asked."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from generator.commands import cli
from tests.support.import_project import FirstImports, Project, differences
from tests.support.real_service import AFTER_EDIT, RealService


@pytest.fixture
def mine(first_import: FirstImports, service: RealService, tmp_path: Path) -> Project:
    """A project with a first import of the usual site."""
    return first_import().copy(tmp_path / "project", service)


@pytest.mark.end_to_end
def test_second_import_brings_exactly_the_edits(mine: Project, first_import: FirstImports) -> None:
    """With --remove, the catalog equals the site after its edits."""
    mine.site.edit()
    assert mine.import_("--remove").exit_code == 0

    assert differences(mine.entities(), first_import(setting=AFTER_EDIT).entities) == {
        # A series that was licensed since: only the first import has the ids of its chapters.
        "chapters nine-tides-to-marrow": 18
    }


@pytest.mark.end_to_end
def test_people_who_swap_names_keep_their_work(mine: Project, first_import: FirstImports) -> None:
    """Ids say who made a series."""
    before = {slug: series["authors"] for slug, series in first_import().entities["series"].items()}
    mine.site.swap("Tomas Verelde", "Noor O'Fallon & Daughters")
    assert mine.import_().exit_code == 0

    entities = mine.entities()
    assert (entities["authors"][2]["name"], entities["authors"][5]["name"]) == (
        "Noor O'Fallon & Daughters",
        "Tomas Verelde",
    )
    assert {slug: series["authors"] for slug, series in entities["series"].items()} == before


def test_default_rate_is_below_the_limit_of_the_site() -> None:
    """The service answers 200 requests a minute; 150 leave room for readers."""
    help_text = CliRunner().invoke(cli.main, ["import", "--help"]).output
    rate = re.search(r"--rate.*?\[default:\s*([0-9.]+)", help_text, re.DOTALL)

    assert rate and float(rate[1]) <= 2.5
