"""Imports of the original service before release 0.9, whose responses lack what later releases have.

Release 0.8 has no list of the chapters of a series, its Cubari JSON has one chapter of each number, and the pages of a
chapter are found by its number. Before release 0.7.4, only `/api/v1` exists, which has no ids.
"""

from pathlib import Path
from typing import Any

import pytest

from generator.catalog.problems.load import load_valid
from generator.catalog.yaml import reader
from tests.support.import_project import Project, project
from tests.support.real_service import USUAL, V1_OFF, real_service

# By slug: id, volume, number, views and number of pages of each chapter.
LEDGER = [(21, 1, "1", 410, 3), (20, 1, "1.5", 33, 3), (24, 2, "1", 12, 4), (15, None, "3", 7, 3)]
COMET = [(10, None, "1", 90, 3), (14, None, "2", 83, 3), (11, None, "10.5", 70, 3)]
# Three chapters share a number; only one of them is in a response with pages.
SHARED = [COMET[0], (12, None, "2", 81, 0), (13, None, "2", 82, 0), *COMET[1:]]
QUARRY = [(40, 1, "7", 1, 2), (41, None, "0", 2, 0)]


def chapters(made: Project) -> dict[str, list[tuple[Any, ...]]]:
    def values(chapter: Any) -> tuple[Any, ...]:
        return chapter.id, chapter.volume, chapter.number, chapter.views, len(chapter.pages)

    catalog = load_valid(made.catalog)
    return {series.slug: [values(entry.record) for entry in series.chapters] for series in catalog.series}


@pytest.mark.parametrize("setting", [USUAL, V1_OFF])
def test_release_0_8_5_keeps_ids_views_and_pages(setting: str, tmp_path: Path) -> None:
    """Also of chapters that share a number, with `/api/v1` and without, which is the default of that release."""
    with real_service(setting, "v0.8.5") as site:
        made = project(tmp_path, site)
        result = made.import_()
        again = made.import_()

    report = made.report(result)
    imported = chapters(made)
    assert (result.exit_code, again.exit_code) == (0, 0), result.output
    assert (imported["tide-ledger"], imported["paper-comet"], imported["quiet-quarry"]) == (LEDGER, SHARED, QUARRY)
    assert "updated 0 fields" in again.output
    # Of the chapters of a licensed series, only version 1 has anything.
    assert len(imported["glass-orchard"]) == (2 if setting == USUAL else 0)
    assert "paper-comet: pages: unknown for some chapters" in report
    assert "paper-comet" not in "".join(line for line in report.splitlines() if "scheduled or licensed" in line)
    assert "tide-ledger: 1 chapter only in the sitemap (scheduled or licensed)" in report
    assert "no chapter_title fits" not in report and "chapter_title" not in made.text("series/paper-comet.yaml")


@pytest.mark.parametrize("setting", [USUAL, V1_OFF])
def test_release_0_8_0_keeps_ids_and_pages(setting: str, tmp_path: Path) -> None:
    """It counts no views, and its Cubari JSON needs the key of an administrator. No volume is 0, also in titles."""
    with real_service(setting, "v0.8.0") as site:
        made = project(tmp_path, site)
        result = made.import_()

    imported = chapters(made)
    assert result.exit_code == 0, result.output
    assert imported["glass-orchard"] == [(30, 1, "1", 0, 3), (31, 1, "2", 0, 3)]
    with_views = {"tide-ledger": LEDGER, "paper-comet": COMET, "quiet-quarry": QUARRY}
    expected = {slug: [(*values[:3], 0, values[4]) for values in listed] for slug, listed in with_views.items()}
    assert imported == {**imported, **expected}
    assert "chapter_title" not in made.report(result) + made.text("series/paper-comet.yaml")
    # Only version 1 has the ids of members.
    groups = {group["name"]: group.get("members") for group in reader.load(made.text("groups.yaml").encode())}
    assert groups["Lamp Room"] == ([{"member": "Wick", "role": "Translator"}] if setting == USUAL else None)


def test_failed_chapters_of_release_0_8_are_no_deletions(tmp_path: Path) -> None:
    """The series stays as it is, as where later releases fail."""
    with real_service(USUAL, "v0.8.5") as site:
        made = project(tmp_path, site)
        made.import_()
        before = made.files()
        site.fail("/api/v2/chapters?series=paper-comet", 500, times=3)
        result = made.import_("--remove")

    assert (result.exit_code, made.files()) == (0, before)
    assert "paper-comet: a response of the last import is not available now; kept as it is" in result.output
