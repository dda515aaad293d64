"""Imports of the recorded service: what must arrive, what a second import changes, and what the report says."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from generator.commands import cli
from tests.support import runs, tree_snapshot
from tests.support.import_project import ENVIRONMENT, FirstImports, Project, differences
from tests.support.paths import BUILD
from tests.support.real_service import AFTER_EDIT, CDNS, V1_OFF, RealService

# A screen of a terminal.
SCREEN = 40


@pytest.fixture
def mine(first_import: FirstImports, service: RealService, tmp_path: Path) -> Project:
    """A project with a first import of the usual site."""
    return first_import().copy(tmp_path / "project", service)


# Second imports


@pytest.fixture(scope="module")
def edited(
    replay: RealService, first_import: FirstImports, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Project]:
    """A project after the recorded edits and an import with --remove."""
    replay.reset()
    made = first_import().copy(tmp_path_factory.mktemp("edited"), replay)
    replay.edit()
    result = made.import_("--remove")
    assert result.exit_code == 0, result.output
    with tree_snapshot.unchanged(made.folder):
        yield made


@pytest.mark.end_to_end
def test_second_import_brings_exactly_the_edits(edited: Project, first_import: FirstImports) -> None:
    """With --remove, the catalog equals the site after its edits."""
    assert differences(edited.entities(), first_import(setting=AFTER_EDIT).entities) == {
        # A series that was licensed since: only the first import has the ids of its chapters.
        "chapters nine-tides-to-marrow": 18
    }


# Interruptions


KILLED = """
import os, sys, time
left = int(sys.argv.pop(1))
time.sleep = lambda seconds: None
def hook(event, arguments):
    global left
    if event == "os.rename" and str(arguments[1]).endswith(".yaml"):
        left -= 1
        if left < 0:
            os._exit(9)
sys.addaudithook(hook)
sys.path.insert(0, sys.argv.pop(1))
from generator.commands import cli
cli.main()
"""


def killed_import(made: Project, count: int, *arguments: str) -> int:
    """Run `import` in another process, which dies before it renames one more YAML file; return its exit code."""
    words = ["import", made.site.url, "--catalog", str(made.catalog), "--rate", "100", *arguments]
    command = [sys.executable, "-c", KILLED, str(count), str(BUILD.parent), *words]
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, timeout=1200).returncode


@pytest.mark.end_to_end
def test_half_written_second_import_resumes(mine: Project, edited: Project) -> None:
    """Renames change several files: some of them alone are an invalid catalog. The next import writes the rest."""
    mine.site.edit()
    for count in [25, 29] if runs.everything else [25]:
        made = Project(mine.folder.parent / str(count), mine.site)
        shutil.copytree(mine.folder, made.folder)
        assert killed_import(made, count, "--remove") == 9
        assert made.files() != mine.files()
        assert "an import is unfinished" in made.run("check").output
        assert made.import_("--remove").exit_code == 0
        assert made.files() == edited.files()
        assert made.run("check").exit_code == 0


# The report


def test_report_fits_a_screen(first_import: FirstImports) -> None:
    """Details are in a file that the report names."""
    first = first_import()

    assert len(first.result.output.splitlines()) <= SCREEN
    assert max(map(len, first.result.output.splitlines())) <= 200
    assert first.report != first.result.output, "no file of details is named"


# The spelling of version 1


def test_version_1_that_is_switched_off_is_not_requested_further(first_import: FirstImports) -> None:
    """410 means off: one more request is no use, and the report says so."""
    first = first_import(setting=V1_OFF)
    targets = [target for target in first.project.site.targets if target.startswith("/api/v1/")]

    assert any(target.endswith("/") for target in targets)
    assert len(targets) <= 4
    assert re.search(r"version 1|/api/v1", first.report)


# Renames


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


# A catalog of other people


@pytest.mark.end_to_end
def test_theirs_takes_the_people_of_the_site(fresh: Project) -> None:
    """In a project that `init` made, no invented person is credited, and the settings are those of the site."""
    assert fresh.run("init", str(fresh.folder)).exit_code == 0
    assert fresh.import_("--theirs").exit_code == 0

    entities = fresh.entities()
    assert entities["authors"][1]["name"] == "Ida Quill"
    assert entities["groups"][1]["name"] == "Gannet Letterers"
    assert "Ada Example" not in [record["name"] for record in entities["authors"].values()]
    assert f"base_url: {fresh.site.url}\n" in fresh.text("site.yaml")
    assert entities["series"]["harbor-of-glass-bells"]["authors"] == [1, 2]


# CDN settings


@pytest.mark.end_to_end
@pytest.mark.parametrize("setting", runs.sample(CDNS, 2))
def test_cdn_urls_with_the_recorded_host_are_unwrapped(setting: str, first_import: FirstImports) -> None:
    """Pages, covers and logos are files of the site. Some CDNs name its host only, without the port."""
    made = first_import(setting=setting, replaces_cdn_host=False).project
    texts = b"".join(made.files().values()).decode()

    assert not re.search(r"weserv|wp\.com|statically", texts)
    assert "cover: cover.png\n" in made.text("series/kiln-sisters.yaml")
    assert "logo: logo.jpg\n" in made.text("groups.yaml")
    # Chapter 40: eight pages in the folder of the chapter.
    assert re.search(r"(- |\[)31101d8d95aba0c80f505d21fb2e2ee3\.png\b", made.text("series/kiln-sisters.yaml"))


# The memory of the last import


@pytest.mark.end_to_end
def test_moved_project_is_merged_as_before(mine: Project) -> None:
    """Edits of the site come, and a series that people removed does not come back."""
    (mine.catalog / "series/copper-weather.yaml").unlink()
    elsewhere = Project(mine.folder.parent / "elsewhere", mine.site)
    shutil.move(mine.folder, elsewhere.folder)
    elsewhere.site.edit()
    assert elsewhere.import_().exit_code == 0

    assert not (elsewhere.catalog / "series/copper-weather.yaml").exists()
    series = elsewhere.entities()["series"]["kiln-sisters"]
    assert (series["status"], series["description"]) == ("ongoing", "Two kilns, three sisters, four cats.")


# Smaller faults


@pytest.mark.end_to_end
def test_failed_list_of_chapters_does_not_count_views_twice(fresh: Project) -> None:
    """Version 1 has the chapters meanwhile; the next import has their ids and their own views."""
    fresh.site.fail("/api/v2/series/kiln-sisters/chapters", 500, times=9)
    assert fresh.import_().exit_code == 0
    fresh.site._failures.clear()
    assert fresh.import_().exit_code == 0

    views = {
        key[1]: chapter["views"] for key, chapter in fresh.entities()["chapters"].items() if key[0] == "kiln-sisters"
    }
    assert views == {40: 0, 41: 0, 42: 0, 43: 98, 44: 653, 45: 188, 46: 291, 47: 893, 48: 244, 49: 765}


def test_default_rate_is_below_the_limit_of_the_site() -> None:
    """The service answers 200 requests a minute; 150 leave room for readers."""
    help_text = CliRunner().invoke(cli.main, ["import", "--help"]).output
    rate = re.search(r"--rate.*?\[default:\s*([0-9.]+)", help_text, re.DOTALL)

    assert rate and float(rate[1]) <= 2.5


def test_requests_are_polite(first_import: FirstImports) -> None:
    """Nothing is requested twice, and every request names the program."""
    requests = first_import().project.site.requests
    targets = [request.target for request in requests]

    assert len(targets) == len(set(targets))
    assert all(request.headers["user-agent"].startswith("flatpanel/") for request in requests)
    assert len(requests) < 350
