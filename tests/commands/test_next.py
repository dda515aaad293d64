"""`next`: the next publication time as text, JSON, seconds and crontab schedule."""

import json
import os
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator import encoding
from generator.catalog import reader
from generator.pipeline import run as pipeline
from generator.pipeline.build_options import Options
from generator.pipeline.scan import CatalogScan
from generator.pipeline.schedule import cron
from tests.commands.test_cli import Run
from tests.conftest import AS_OF, Site
from tests.project.test_installation import shell
from tests.support import tree_snapshot
from tests.support.paths import ROOT

FIRST, SECOND, THIRD = "2026-12-01T12:00:00Z", "2026-12-01T12:00:01Z", "2027-02-28T23:59:30Z"
EPOCHS = [1_796_126_400, 1_796_126_401, 1_803_859_170]


@pytest.fixture
def scheduled(site: Site) -> Site:
    """Two series with scheduled chapters, not in the order of their times."""
    chapter = "  - {{number: {}, published: {}, pages: [1.png]{}}}\n"
    first = site.folder / "catalog_src/series/first.yaml"
    first.write_text(
        first.read_text()
        + chapter.format(10, FIRST, ", volume: 3, id: 77, title: Ten & more")
        + chapter.format(9.5, FIRST, ", volume: 3")
        + chapter.format(2, THIRD, "")
    )
    site.write(
        "series/aside.yaml",
        "title: Aside\ncover: c.png\nchapters:\n" + chapter.format(1, SECOND, "") + chapter.format(0, "2026-01-01", ""),
    )
    return site


def asking(site: Site, run: Run, *more: object, as_of: int = AS_OF) -> tuple[int, str, str]:
    places = ["--catalog", site.folder / "catalog_src", "--out", site.folder / "dist", "--as-of", as_of]
    result = run("next", *places, "--jobs", 1, *more)
    return result.exit_code, result.stdout, result.stderr


def test_next_prints_one_time(scheduled: Site, run: Run) -> None:
    """One line in UTC, for use in a shell. Without a build there is no cache, and no folder is created."""
    before = tree_snapshot.state(scheduled.folder)

    assert asking(scheduled, run) == (0, f"{FIRST}\n", "")
    assert tree_snapshot.state(scheduled.folder) == before


@pytest.mark.parametrize(
    ("form", "lines"),
    [
        ("--epoch", EPOCHS),
        ("--cron", ["0 12 1 12 *", "1 12 1 12 *", "0 0 1 3 *"]),
    ],
)
def test_epoch_and_cron_forms(scheduled: Site, run: Run, form: str, lines: list[object]) -> None:
    """Seconds since 1970, and a crontab minute at which the chapter is already due."""
    outputs = [asking(scheduled, run, form, as_of=as_of)[1] for as_of in (AS_OF, *EPOCHS[:2])]

    assert outputs == [f"{line}\n" for line in lines]


def test_all_lists_chapters_by_time(scheduled: Site, run: Run) -> None:
    """With the path of each URL; numbers are sorted as numbers."""
    lines = [
        f"{FIRST} first/3/9.5",
        f"{FIRST} first/3/10",
        f"{SECOND} aside/0/1",
        f"{THIRD} first/0/2",
    ]

    assert asking(scheduled, run, "--all") == (0, "".join(f"{line}\n" for line in lines), "")
    assert asking(scheduled, run, "--all", as_of=EPOCHS[0])[1].splitlines() == lines[2:]
    assert asking(scheduled, run, "--all", "--cron")[1].splitlines()[0] == "0 12 1 12 * first/3/9.5"


def test_next_json_has_every_form(scheduled: Site, run: Run) -> None:
    """With --all every chapter, also without an id or a title."""
    due = {"due": FIRST, "epoch": EPOCHS[0], "cron": "0 12 1 12 *"}
    series = {"slug": "first", "title": "First"}
    plain, listed = (json.loads(asking(scheduled, run, "--json", *more)[1]) for more in ([], ["--all"]))

    assert plain == {"ok": True, **due}
    assert {name: listed[name] for name in plain} == plain
    assert listed["scheduled"][:2] == [
        {**due, "series": series, "volume": 3, "number": "9.5", "title": "", "id": None},
        {**due, "series": series, "volume": 3, "number": "10", "title": "Ten & more", "id": 77},
    ]


@pytest.mark.parametrize("more", [[], ["--all"], ["--epoch"], ["--cron"]], ids=str)
def test_without_scheduled_chapters_stdout_is_empty(site: Site, run: Run, more: list[str]) -> None:
    """A message on standard error, and exit code 0."""
    assert asking(site, run, *more) == (0, "", f"{site.folder}/catalog_src: no chapter is scheduled\n")


def test_without_scheduled_chapters_json_is_null(site: Site, run: Run) -> None:
    """In every form."""
    result = asking(site, run, "--json", "--all")

    assert json.loads(result[1]) == {"ok": True, "due": None, "epoch": None, "cron": None, "scheduled": []}
    assert (result[0], result[2]) == (0, "")


def test_two_forms_are_refused(site: Site, run: Run) -> None:
    """Exit code 2."""
    code, out, errors = asking(site, run, "--epoch", "--cron")

    assert (code, out) == (2, "")
    assert "--epoch, --cron and --json cannot be combined; choose one" in errors


def test_next_prints_the_problems_of_a_catalog(scheduled: Site, run: Run) -> None:
    """As every other command does."""
    scheduled.write("authors.yaml", "- {id: 1}\n")
    code, out, errors = asking(scheduled, run)

    assert (code, out) == (1, "")
    assert errors.startswith(f"{scheduled.folder}/catalog_src/authors.yaml:1:3: [0].name: is missing\n")


def test_next_agrees_with_the_build(scheduled: Site, run: Run) -> None:
    """The summary, --json and `next` have the same time."""
    for as_of in (AS_OF, *EPOCHS):
        report = pipeline.build(Options(*scheduled.paths, as_of))
        seconds = asking(scheduled, run, "--epoch", as_of=as_of)[1]
        assert seconds == ("" if report.next_publication is None else f"{report.next_publication}\n")


def test_next_does_not_change_the_cache(scheduled: Site, run: Run) -> None:
    """The next build still finds all changes."""
    remembering = Options(*scheduled.paths, AS_OF, cache=scheduled.folder / ".flatpanel_cache")
    pipeline.build(remembering)
    scheduled.write("authors.yaml", "- {id: 1, name: Ada Penn, aliases: [A. P.]}\n")
    before = tree_snapshot.content(scheduled.folder)

    assert asking(scheduled, run, "--all")[0] == 0
    assert tree_snapshot.content(scheduled.folder) == before
    assert pipeline.build(remembering).changes["changed"] > 0


def test_next_uses_the_cache(scheduled: Site, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a build no file is parsed, and only series with scheduled chapters are loaded."""
    scheduled.write("series/quiet.yaml", "title: Quiet\ncover: c.png\n")
    pipeline.build(Options(*scheduled.paths, AS_OF, cache=scheduled.folder / ".flatpanel_cache"))
    looked_into = []
    series_of = CatalogScan.series_of
    monkeypatch.setattr(
        CatalogScan,
        "series_of",
        lambda scan, place, cache: (looked_into.append(place.slug), series_of(scan, place, cache))[1],
    )
    monkeypatch.setattr(reader, "parse_file", None)

    assert len(asking(scheduled, run, "--all")[1].splitlines()) == 4
    assert looked_into == ["aside", "first"]


@given(st.integers(0, encoding.LAST_INSTANT))
def test_a_crontab_minute_is_the_first_after_publication(due: int) -> None:
    """For all times up to the last supported one."""
    # The calendar repeats after 400 years.
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=due % (146_097 * 86_400))
    named = at if at.second == 0 else at.replace(second=0) + timedelta(minutes=1)

    assert cron(due) == f"{named.minute} {named.hour} {named.day} {named.month} *"


WORKFLOW = (ROOT / ".github/workflows/publish.yml").read_text()


def step(name: str) -> str:
    """The script of a step of the publishing workflow."""
    match = re.search(rf"- name: {re.escape(name)}\n(?:        .*\n)*?        run: \|\n((?:          .*\n)+)", WORKFLOW)
    assert match
    return re.sub(r"(?m)^ {10}", "", match[1])


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
@pytest.mark.parametrize(
    ("stored", "due"),
    [
        (None, "yes"),
        ("", "no"),
        ("2035-06-01T16:00:00Z\n", "no"),
        ("2001-06-01T16:00:00Z\n", "yes"),
    ],
    ids=["never built", "nothing scheduled", "not yet", "due"],
)
def test_the_workflow_reads_its_stored_time(tmp_path: Path, stored: str | None, due: str) -> None:
    """Hourly runs decide from a file, without the catalog."""
    if stored is not None:
        (tmp_path / "previous").mkdir()
        (tmp_path / "previous/next_publication").write_text(stored)
        (tmp_path / "previous/commit").write_text("abc\n")
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "GITHUB_EVENT_NAME": "schedule",
        "GITHUB_SHA": "abc",
        "GITHUB_OUTPUT": str(tmp_path / "output"),
    }
    shell(f"set -o pipefail\n{step('Check whether a build is due')}", tmp_path, environment)

    assert (tmp_path / "output").read_text() == f"due={due}\n"


def test_the_workflow_uses_the_time_of_its_build() -> None:
    """Otherwise a chapter that is published during a build would be missed."""
    script = step("Build")

    assert script.index("export SOURCE_DATE_EPOCH") < script.index("build.py build") < script.index("build.py next")
    assert "cp next_publication ~/previous/next_publication" in step("Record the publication")
