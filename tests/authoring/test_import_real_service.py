"""Imports of the recorded service: what must arrive, what a second import changes, and what the report says.

`tests/support/real_service.py` replays the site, `tests/support/real_database.py` has the expected catalog.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from generator.commands import cli
from tests.conftest import Site
from tests.support import nginx_client, runs
from tests.support.import_project import ENVIRONMENT, FirstImports, Imported, Project, project
from tests.support.paths import BUILD
from tests.support.real_database import instant
from tests.support.real_service import (
    AFTER_EDIT,
    BAD_FORMAT,
    BIG_NUMBER,
    CDNS,
    CONTROL_CHARACTER,
    USUAL,
    V1_OFF,
    RealService,
)

# A screen of a terminal.
SCREEN = 40


@pytest.fixture
def mine(first_import: FirstImports, service: RealService, tmp_path: Path) -> Project:
    """A project with a first import of the usual site."""
    return first_import().copy(tmp_path / "project", service)


@pytest.fixture(scope="module")
def import_edits(
    replay: RealService, first_import: FirstImports, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Imported]:
    """Import again after the recorded edits. The replay of the project has the requests of this import only."""

    def again(*options: str) -> Imported:
        replay.reset()
        made = first_import().copy(tmp_path_factory.mktemp("edited"), replay)
        replay.edit()
        result = made.import_(*options)
        assert result.exit_code == 0, result.output
        return Imported(replace(made, site=replace(replay)), result)

    return again


@pytest.fixture(scope="module")
def edited(import_edits: Callable[..., Imported]) -> Imported:
    return import_edits()


@pytest.fixture(scope="module")
def edited_with_removals(import_edits: Callable[..., Imported]) -> Imported:
    return import_edits("--remove")


# Every fact arrives


@pytest.mark.parametrize(
    ("setting", "version"),
    [
        *((setting, "v0.9.6") for setting in (USUAL, V1_OFF, *runs.sample([*CDNS, "HTTPS=off", CONTROL_CHARACTER], 5))),
        (USUAL, "v0.4.5"),
    ],
)
def test_catalog_equals_the_responses(setting: str, version: str, first_import: FirstImports) -> None:
    """Field by field: a difference from the database has a reason, or it is a fault. Fewer than fifteen reasons."""
    ids = ["--allow-missing-ids"] if version == "v0.4.5" else []
    faults, lines = first_import(*ids, setting=setting, version=version).project.compared(setting, version)
    print(f"{version} {setting}:", *lines, sep="\n  ")

    assert faults == []
    assert len(lines) < 15 or version == "v0.4.5"


def test_scheduled_chapters_arrive_or_are_reported(first_import: FirstImports) -> None:
    """The list of releases has the date of the last one; the Cubari JSON has its id and pages."""
    first = first_import()
    chapter = first.entities["chapters"].get(("harbor-of-glass-bells", 27), {})

    assert (
        (chapter.get("number"), chapter.get("title"), chapter.get("published"))
        == ("26", "Even later", instant("2099-01-01 00:00:00"))
    ) or re.search(r"harbor-of-glass-bells.*scheduled|scheduled.*harbor-of-glass-bells", first.report)


# Second imports


@pytest.mark.end_to_end
def test_second_import_brings_exactly_the_edits(edited_with_removals: Imported) -> None:
    """With --remove, the catalog equals the site after its edits."""
    assert edited_with_removals.project.faults(AFTER_EDIT) == []


@pytest.mark.end_to_end
def test_second_import_reports_deletions(edited: Imported) -> None:
    """Without --remove, the deleted series stays, and the report names it and the option."""
    assert edited.project.text("series/the-second-lantern-2.yaml")
    assert "the-second-lantern-2" in edited.report and "--remove" in edited.report
    others = [line for line in edited.project.faults(AFTER_EDIT) if "the-second-lantern-2" not in line]
    assert others == []


# Interruptions


@pytest.mark.end_to_end
@pytest.mark.parametrize("count", [40, 3, 90] if runs.everything else [40])
def test_interrupted_requests_resume_to_the_same_files(count: int, fresh: Project, first_import: FirstImports) -> None:
    """The next import requests only what is left, and writes the files of an uninterrupted one."""
    fresh.site.close_after(count)
    assert fresh.import_().exit_code == 1
    assert fresh.files() == {}
    fresh.site.close_after(None)
    assert fresh.import_().exit_code == 0

    other = first_import().project
    assert addressed(fresh) == addressed(other)


def addressed(made: Project) -> dict[str, bytes]:
    """The files of a catalog without the address of its site."""
    return {file: text.replace(made.site.url.encode(), b"SITE") for file, text in made.files().items()}


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
def test_half_written_import_is_unfinished_and_resumes(
    service: RealService, tmp_path: Path, first_import: FirstImports
) -> None:
    """Killed while it writes: `check` says that an import is unfinished; the next import writes the same files."""
    whole = addressed(first_import().project)
    for count in [27, 35, 43] if runs.everything else [35]:
        made = project(tmp_path / str(count), service)
        assert killed_import(made, count) == 9
        assert 0 < len(made.files()) < len(whole)
        checked = made.run("check")
        assert checked.exit_code == 1
        assert re.search(r"import.*(unfinished|not finished|interrupted)", checked.output)
        assert made.import_().exit_code == 0
        assert addressed(made) == whole
        assert made.run("check").exit_code == 0


@pytest.mark.end_to_end
def test_half_written_second_import_resumes(mine: Project, edited_with_removals: Imported) -> None:
    """Renames change several files: some of them alone are an invalid catalog. The next import writes the rest."""
    mine.site.edit()
    for count in [25, 29] if runs.everything else [25]:
        made = Project(mine.folder.parent / str(count), mine.site)
        shutil.copytree(mine.folder, made.folder)
        assert killed_import(made, count, "--remove") == 9
        assert made.files() != mine.files()
        assert "an import is unfinished" in made.run("check").output
        assert made.import_("--remove").exit_code == 0
        assert made.files() == edited_with_removals.project.files()
        assert made.run("check").exit_code == 0


# The report


def test_report_fits_a_screen(first_import: FirstImports) -> None:
    """Details are in a file that the report names."""
    first = first_import()

    assert len(first.result.output.splitlines()) <= SCREEN
    assert max(map(len, first.result.output.splitlines())) <= 200
    assert first.report != first.result.output, "no file of details is named"


def test_chapters_of_the_sitemap_only_are_counted(first_import: FirstImports) -> None:
    """Their publication time is unknown, so they are never written; the report counts them for each series."""
    first = first_import(setting=V1_OFF)

    assert not [key for key in first.entities["chapters"] if key[0] == "tin-saint-in-the-orchard"]
    assert re.search(r"tin-saint-in-the-orchard\D*\b9\b|\b9\b[^\n]*tin-saint-in-the-orchard", first.report)


def test_round_trip_keeps_a_licensed_series_without_chapters(tmp_path: Path) -> None:
    """A site of ours, imported and built again, has the same bodies."""
    original = Site(tmp_path / "one")
    (original.folder / "catalog_src/series").mkdir(parents=True)
    series = "title: Sold\ncover: cover.png\nlicensed: true\nupdated: 2024-05-01T12:00:00Z\nmodified: 2024-05-02\n"
    original.write("series/sold.yaml", series)
    with nginx_client.listening() as listener:
        port = listener.getsockname()[1]
        original.write("site.yaml", f"base_url: http://127.0.0.1:{port}\nport: {port}\n")
        original.build()
        with nginx_client.running(original.folder, listener):
            made = project(tmp_path / "two", RealService(USUAL, "v0.9.6", port=port))
            assert made.import_().exit_code == 0
    copy = Site(made.folder)
    copy.write("site.yaml", made.text("site.yaml") + f"port: {port}\n")
    copy.build()

    digests = [{url: body.sha256 for url, body in site.manifest.resources.items()} for site in (original, copy)]
    assert digests[0] == digests[1]
    assert "/api/v2/series/sold" in digests[0]


# The spelling of version 1


def test_version_1_is_requested_with_a_slash(first_import: FirstImports) -> None:
    """Versions 0.6 to 0.9 answer 501 without it. The spelling is found out once, then kept."""
    targets = [target for target in first_import().project.site.targets if target.startswith("/api/v1/")]

    assert "/api/v1/series/kiln-sisters/" in targets
    assert len([target for target in targets if not target.endswith("/")]) <= 2


def test_version_1_that_is_switched_off_is_not_requested_further(first_import: FirstImports) -> None:
    """410 means off: one more request is no use, and the report says so."""
    first = first_import(setting=V1_OFF)
    targets = [target for target in first.project.site.targets if target.startswith("/api/v1/")]

    assert any(target.endswith("/") for target in targets)
    assert len(targets) <= 4
    assert re.search(r"version 1|/api/v1", first.report)


# Categories


def test_no_category_is_lost_without_version_1(first_import: FirstImports) -> None:
    """Ids are made from names, each for one name; a series has all categories that the site shows."""
    entities = first_import(setting=V1_OFF).entities

    names = {record["name"]: id for id, record in entities["categories"].items()}
    assert len(names) == 14
    assert entities["series"]["kiln-sisters"]["categories"] == sorted([names["School Life"], names["Slice of Life"]])


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


@pytest.fixture
def started(fresh: Project) -> Project:
    """A project that `init` made."""
    assert fresh.run("init", str(fresh.folder)).exit_code == 0
    return fresh


@pytest.mark.end_to_end
def test_theirs_takes_the_people_of_the_site(started: Project) -> None:
    """No invented person is credited, and the settings are those of the site."""
    assert started.import_("--theirs").exit_code == 0

    entities = started.entities()
    assert entities["authors"][1]["name"] == "Ida Quill"
    assert entities["groups"][1]["name"] == "Gannet Letterers"
    assert "Ada Example" not in [record["name"] for record in entities["authors"].values()]
    assert f"base_url: {started.site.url}\n" in started.text("site.yaml")
    assert entities["series"]["harbor-of-glass-bells"]["authors"] == [1, 2]


# Licensed series


def test_licensed_series_stays_listed_without_version_1(first_import: FirstImports) -> None:
    """The file has `licensed: true` and `updated:`, and no chapter; the report says so."""
    first = first_import(setting=V1_OFF)
    text = first.project.text("series/tin-saint-in-the-orchard.yaml")

    assert "licensed: true\n" in text
    assert "updated: 2020-08-15T10:00:00Z\n" in text
    assert "chapters:" not in text
    assert re.search(r"licensed[^\n]*\n?.*tin-saint-in-the-orchard|tin-saint-in-the-orchard.*licensed", first.report)


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
    first_page = "31101d8d95aba0c80f505d21fb2e2ee3.png"
    assert f"- {first_page}\n" in made.text("series/kiln-sisters.yaml") or f"[{first_page}," in made.text(
        "series/kiln-sisters.yaml"
    )


# Where the versions disagree


def test_version_1_is_never_revalidated_by_date_alone(edited: Imported) -> None:
    """It answers 304 to an old date though chapters, groups or names changed."""
    requests = [request for request in edited.project.site.requests if request.target.startswith("/api/v1/")]
    conditional = [request for request in requests if "if-modified-since" in request.headers]

    assert requests
    assert [request.target for request in conditional if "if-none-match" not in request.headers] == []
    assert edited.entities["groups"][2]["members"] == [(6, "Cleaner"), (8, "Proofreader"), (8, "Translator")]


# Chapters and series that were made again


def test_series_that_was_made_again_is_updated(mine: Project) -> None:
    """All chapters have new ids and other titles."""
    slug = "the-second-lantern"

    def again(value: Any) -> None:
        for chapter in value["results"]:
            chapter |= {"id": chapter["id"] + 1000, "title": f"New {chapter['title']}"}

    def cubari_again(value: Any) -> None:
        value["chapters"] = {
            str(int(id) + 1000): {**chapter, "title": f"New {chapter['title']}"}
            for id, chapter in value["chapters"].items()
        }

    mine.site.change(f"/api/v2/series/{slug}/chapters", again)
    mine.site.change(f"/api/v2/cubari/{slug}", cubari_again)
    assert mine.import_().exit_code == 0

    chapters = {key[1]: chapter for key, chapter in mine.entities()["chapters"].items() if key[0] == slug}
    assert sorted(chapters) == [1105, 1106, 1107, 1108]
    assert chapters[1105]["title"] == "New Unlit"


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


# Characters that a catalog cannot hold


@pytest.mark.parametrize("setting", [USUAL, V1_OFF])
def test_bad_characters_are_dropped_and_the_text_is_kept(setting: str, first_import: FirstImports) -> None:
    """The report says in which field of which series."""
    first = first_import(setting=setting)
    entities = first.entities

    assert entities["series"]["salt-and-sons"]["description"] == (
        "Line one.\nLine two.\n\nA lone return:\nend. A vertical tab: and a unit separator: and a bell:. "
        "A no-break space:\xa0; a line separator:\u2028end.  "
    )
    assert entities["chapters"]["salt-and-sons", 104]["title"] in ("A tab", "Atab")
    assert entities["chapters"]["salt-and-sons", 100]["title"] == "  blanks around  "
    assert re.search(r"salt-and-sons[^\n]*description|description[^\n]*salt-and-sons", first.report)
    assert re.search(r"control character", first.report)


# Slug redirects


def test_build_prints_the_line_for_a_slug_that_disappeared(tmp_path: Path) -> None:
    """Another file has the ids of its chapters."""
    site = Site(tmp_path)
    site.write("site.yaml", "base_url: https://comics.example\n")
    series = "title: One\ncover: c.png\nchapters:\n  - {id: 7, number: 1, published: 2024-01-01, pages: [1.png]}\n"
    (tmp_path / "catalog_src/series").mkdir()
    site.write("series/first-name.yaml", series)
    words = [
        "build",
        "--catalog",
        str(tmp_path / "catalog_src"),
        "--out",
        str(tmp_path / "dist"),
        "--nginx",
        str(tmp_path / "nginx.conf"),
    ]
    assert CliRunner().invoke(cli.main, words, env=ENVIRONMENT).exit_code == 0
    (tmp_path / "catalog_src/series/first-name.yaml").rename(tmp_path / "catalog_src/series/second-name.yaml")
    result = CliRunner().invoke(cli.main, words, env=ENVIRONMENT)

    assert result.exit_code == 0, result.output
    assert "formerly: [first-name]" in result.output
    assert "second-name.yaml" in result.output


# Smaller faults


def test_people_of_one_name_are_reported(first_import: FirstImports) -> None:
    """Without version 1, no response shows which Ida Quill wrote a series."""
    report = first_import(setting=V1_OFF).report

    assert re.search(r"same name|share a name|of one name", report)
    for name in ("Ida Quill", "Gannet Letterers", "Wick"):
        assert name in report


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


def test_broken_series_keeps_its_chapters(first_import: FirstImports) -> None:
    """A number of a million makes the lists of chapters answer 500; single chapters have all fields."""
    chapters = first_import(setting=BIG_NUMBER).entities["chapters"]
    ids = {key[1] for key in chapters if key[0] == "ten-thousand-steps"}

    assert set(range(113, 126)) <= ids


def test_series_with_a_broken_title_format_is_reported(first_import: FirstImports) -> None:
    """No response has the dates of its chapters; the series stays, and the report counts what is missing."""
    first = first_import(setting=BAD_FORMAT)

    assert first.entities["series"]["kiln-sisters"]["title"] == "Kiln Sisters"
    assert re.search(r"kiln-sisters\D*\b10\b|\b10\b[^\n]*kiln-sisters", first.report)


def test_html_of_the_front_page_is_no_note(first_import: FirstImports) -> None:
    """Every site has one."""
    assert not re.search(r"^\s*/: ", first_import().report, re.MULTILINE)


@pytest.mark.parametrize("version", ["v0.9.6", "v0.4.5"])
def test_no_default_value_is_written(version: str, first_import: FirstImports) -> None:
    """`views: 0`, empty texts and empty lists are defaults, except for pages."""
    ids = ["--allow-missing-ids"] if version == "v0.4.5" else []
    texts = b"".join(first_import(*ids, version=version).project.files().values()).decode()

    assert not re.search(r"views: 0\b|(?<!pages): \[\]|final: false|: \"\"", texts)


def test_default_rate_is_below_the_limit_of_the_site() -> None:
    """The service answers 200 requests a minute; 150 leave room for readers."""
    help_text = CliRunner().invoke(cli.main, ["import", "--help"]).output
    rate = re.search(r"--rate.*?\[default:\s*([0-9.]+)", help_text, re.DOTALL)

    assert rate and float(rate[1]) <= 2.5


def test_files_have_a_schema_line(first_import: FirstImports) -> None:
    """And the schemas lie in the catalog, so that editors help at once."""
    made = first_import().project

    assert [
        file for file, text in made.files().items() if not text.startswith(b"# yaml-language-server: $schema=")
    ] == []
    assert (made.catalog / ".schemas/series.json").is_file()


def test_requests_are_polite(first_import: FirstImports) -> None:
    """Nothing is requested twice, and every request names the program."""
    requests = first_import().project.site.requests
    targets = [request.target for request in requests]

    assert len(targets) == len(set(targets))
    assert all(request.headers["user-agent"].startswith("flatpanel/") for request in requests)
    assert len(requests) < 350
