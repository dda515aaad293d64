"""The report of an import: a summary for a screen, and a file with all details."""

from pathlib import Path

import pytest

from generator.reading_sites import notes
from generator.reading_sites.notes import LINES, WIDTH, Notes
from tests.support.fake_site import serving, small


def test_summary_has_one_line_for_each_group() -> None:
    """Many sentences of one group share it; places are counted."""
    report = Notes()
    for number in range(7):
        report.add(f"title: conflict: {number} here, x there", f"series {number}", "conflicts; kept yours")
    report.add("has no date", "one")
    report.add("has no date", "two")
    report.add("accounts are not public")

    assert report.summary() == [
        "series 0, series 1, series 2, series 3, series 4 and 2 more: conflicts; kept yours",
        "one, two: has no date",
        "accounts are not public",
    ]
    assert report.details() == (
        "\nconflicts; kept yours (7)\n"
        + "".join(f"  series {number}: title: conflict: {number} here, x there\n" for number in range(7))
        + "\nhas no date (2)\n  one: has no date\n  two: has no date\n\naccounts are not public (1)\n"
    )


def test_summary_fits_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The details have the rest."""
    monkeypatch.setattr(notes, "_MOST", 4 * LINES)
    report = Notes()
    for number in range(2 * LINES):
        report.add(f"sentence {number}", "a" * 120)
        report.add(f"sentence {number}", "b" * 120)
    report.add("left out")
    summary = report.summary()

    assert len(summary) == LINES + 1
    assert summary[0] == f"{'a' * 120} and 1 more: sentence 0"
    assert summary[LINES - 1 :] == [f"{LINES + 1} more notes are in the details", "1 more note omitted"]
    assert report.details().endswith("\n1 more note omitted\n")
    assert report.details().count("\n  ") == 4 * LINES


def test_few_sentences_of_a_group_are_in_the_summary() -> None:
    """It shows both values of a conflict."""
    report = Notes()
    for number in range(3):
        report.add(f"title: conflict: {number} here, x there", f"series {number}", "conflicts; kept yours")

    assert report.summary() == [f"series {number}: title: conflict: {number} here, x there" for number in range(3)]


@pytest.mark.parametrize("length", [WIDTH - 100, WIDTH - 99, 200])
def test_long_place_loses_its_middle_and_the_sentence_stays(length: int) -> None:
    """The sentence may end with a command to run, and the file of a path is at its end."""
    report = Notes()
    place = "/start/".ljust(length - 9, "p") + "/end.yaml"
    report.add("s" * 98, place)
    (line,) = report.summary()

    assert line.endswith(f"/end.yaml: {'s' * 98}")
    assert len(line) == min(length + 100, WIDTH)
    assert (line == f"{place}: {'s' * 98}") == (length == WIDTH - 100)
    assert line.startswith("/start/ppp")


def test_long_sentence_of_the_summary_is_cut() -> None:
    """Enough of the place is left to recognise it. The details have all of both."""
    report = Notes()
    report.add("s" * 150, "p" * 150)
    (line,) = report.summary()

    assert line == f"{'p' * 20}…{'p' * 37}: {'s' * (WIDTH - 61)}…"
    assert f"{'p' * 150}: {'s' * 150}" in report.details()


def test_report_is_a_private_file_beside_the_responses(tmp_path: Path) -> None:
    """A dry run writes it, too. git ignores its folder."""
    with serving(small()) as site:
        report = site.imported(tmp_path, dry=True).report

    assert (report.parent / ".gitignore").read_text() == "*\n"
    assert report.stat().st_mode & 0o777 == 0o600
    text = report.read_text()
    assert text.startswith(f"import of {site.url}")
    assert "\nfiles (7)\n" in text and "  series/one.yaml\n" in text
