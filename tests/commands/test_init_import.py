"""`init --import`: a project from a running site, what an interruption leaves, and how the same command goes on."""

import json
import re
import shlex
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result

from generator.authoring import scaffold
from generator.authoring.scaffold import project_folder
from generator.catalog.problems.load import load_valid
from generator.catalog.yaml import reader
from tests.commands.test_init import FILES
from tests.nginx.test_config import nginx_check
from tests.support import tree_snapshot
from tests.support.author_catalogs import Run
from tests.support.fake_site import serving, small
from tests.support.import_project import FakeClock, change, recorded_database
from tests.support.real_service import RECORDED_AT, RealService, real_service
from tests.support.runs import everything
from tests.support.tables import each

# The files of a new project besides those of the example, and what its first build writes.
AROUND = {name for name in FILES if not re.match("catalog_src/[^.]", name)} | {"nginx.conf"}
Start = Callable[..., Result]


@pytest.fixture
def site() -> Iterator[RealService]:
    """A small site with all versions of the API."""
    with real_service(version="v0.8.5") as site:
        yield site


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "new shelf"


@pytest.fixture(autouse=True)
def moving_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that moves while an import sleeps, and does not wait."""
    clock = FakeClock()
    monkeypatch.setattr(time, "sleep", clock.slept.append)
    monkeypatch.setattr(time, "monotonic", clock)


@pytest.fixture
def start(run: Run, site: RealService, folder: Path) -> Start:
    """`init --import` into the folder."""

    def start(*arguments: object, url: str = "") -> Result:
        words = ("init", folder, "--import", url or site.url, "--rate", 100, *arguments)
        return run(*words, SOURCE_DATE_EPOCH=str(RECORDED_AT), FLATPANEL_IMPORT_KEY="")

    return start


def in_project(run: Run, folder: Path, command: str, *arguments: object) -> Result:
    """Run a command with the paths of a project, at the instant of the recording."""
    paths: list[object] = ["--catalog", folder / "catalog_src"]
    if command == "build":
        paths += ["--out", folder / "dist", "--nginx", folder / "nginx.conf"]
    return run(command, *arguments, *paths, SOURCE_DATE_EPOCH=str(RECORDED_AT), FLATPANEL_IMPORT_KEY="")


def files(folder: Path) -> set[str]:
    """The files of a project besides caches and the built site."""
    names = tree_snapshot.files(folder)
    return {name for name in names if not name.startswith((".flatpanel_cache/", ".flatpanel_import_cache/", "dist/"))}


@pytest.mark.end_to_end
@pytest.mark.parametrize(("version", "series", "chapters"), [("v0.9.6", 17, 125), ("v0.4.5", 7, 37)][not everything :])
def test_a_project_begins_with_the_catalog_of_a_site(
    version: str, series: int, chapters: int, tmp_path: Path, run: Run
) -> None:
    """Nothing of the example is in it; it is valid and built, and a second import and build change nothing."""
    with real_service(version=version) as site:
        folder = tmp_path / "shelf"
        # Version 0.4.5 has no ids.
        words = ("init", folder, "--import", site.url, "--rate", 100, "--allow-missing-ids")
        result = run(*words, SOURCE_DATE_EPOCH=str(RECORDED_AT))
        catalog = load_valid(folder / "catalog_src")
        first = tree_snapshot.content(folder / "catalog_src")
        again = in_project(run, folder, "import", site.url, "--rate", 100)

        assert (result.exit_code, len(catalog.series)) == (0, series)
        assert {name for name in files(folder) if not re.search(r"catalog_src/[^.]", name)} == AROUND
        assert "Ada Example" not in "".join(str(text) for text in first.values())
        assert f"base_url: {site.url}\n" in (folder / "catalog_src/site.yaml").read_text()
        assert nginx_check(folder) == "0: "
        assert "added 0 series, 0 chapters, 0 other entries; updated 0 fields" in again.stdout
        assert f"{series} series, {chapters} published chapters" in in_project(run, folder, "check").stdout
        assert tree_snapshot.content(folder / "catalog_src") == first
        assert in_project(run, folder, "build", "--check").stdout == "up to date\n"


def test_one_chapter_is_counted_as_one(start: Start, tmp_path: Path, run: Run, folder: Path) -> None:
    """Also where chapters without ids are refused: only version 2 has ids. The option may be added then."""
    answers = small()
    del answers["/api/v2/series/one/chapters"]["results"][0], answers["/api/v1/series/one"]["volumes"]["1"]["2"]
    with serving(answers) as site:
        result = start(url=site.url)
    with serving({path: answer for path, answer in answers.items() if path.startswith("/api/v1/")}) as site:
        words = ("init", tmp_path / "other", "--import", site.url, "--rate", 100)
        refused, allowed = run(*words), run(*words, "--allow-missing-ids")
        unchanged = in_project(run, tmp_path / "other", "import", site.url, "--rate", 100)

    assert f"{folder}: imported 1 series, 1 chapter and 6 other entries; built " in result.stdout
    assert (refused.exit_code, allowed.exit_code, unchanged.exit_code) == (1, 0, 0)
    assert "\n  one: 1 chapter\n" in refused.stderr
    assert allowed.stdout.endswith(f" import {site.url} --allow-missing-ids\n")


def test_the_screen_has_counts_the_report_and_the_next_steps(start: Start, folder: Path, site: RealService) -> None:
    """On a few lines; the notes are in the report."""
    result = start()
    first, second, third, *steps = result.stdout.splitlines()
    catalog = load_valid(folder / "catalog_src")
    chapters = sum(len(series.chapters) for series in catalog.series)
    count, _, report = second.partition(" notes about the source site: ")

    start_of_line = f"{folder}: imported {len(catalog.series)} series, {chapters} chapters and "
    assert re.fullmatch(r"\d+ other entries; built \d+ resources", first.removeprefix(start_of_line))
    assert int(count) > 10
    assert Path(report).read_text().startswith(f"import of {site.url} into {folder}/catalog_src\n")
    assert third == "Next steps:"
    assert shlex.split(steps[0]) == ["cd", str(folder.resolve())]
    assert shlex.split(steps[1])[-1] == "serve"
    assert shlex.split(steps[2])[-3:] == ["compare", site.url, "http://localhost:8000"]
    assert len(steps) == 4
    assert shlex.split(steps[-1])[-2:] == ["import", site.url]


@pytest.mark.end_to_end
def test_json_is_the_only_output(run: Run, folder: Path, database: Path, tmp_path: Path) -> None:
    """With and without an import; files of the catalog are those of the import."""
    imported = json.loads(run("init", folder, "--import", database, "--json").stdout)
    plain = json.loads(run("init", tmp_path / "plain", "--json").stdout)

    assert (imported["ok"], imported["folder"], plain["folder"]) == (True, str(folder), f"{tmp_path}/plain")
    assert "nginx/comics.conf" in imported["files"] and "catalog_src/site.yaml" in plain["files"]
    assert imported["import"]["new"] == {"series": 17, "chapters": 49, "others": 44}
    assert Path(imported["import"]["report"]).is_file()
    assert imported["resources"] > 400


def test_the_settings_of_the_site_arrive(tmp_path: Path, run: Run, site: RealService) -> None:
    """Other settings are comments with their defaults, and the name of the server is that of the site."""
    site.renamed = {"/media/": "/files/"}
    folder = tmp_path / "shelf"
    assert run("init", folder, "--import", site.url, "--rate", 100, "--name", "A shelf").exit_code == 0
    text = (folder / "catalog_src/site.yaml").read_text()

    settings = {"base_url": site.url, "pages": True, "media": "/files/", "media_folder": "media", "title": "A shelf"}
    assert reader.load(text.encode()) == settings
    assert re.findall("(?m)^# ([a-z_]+): ", text) == ["reader", "port", "server_folder"]
    assert "server_name 127.0.0.1;" in (folder / "nginx/comics.conf").read_text()
    assert f"    include {folder}/dist/current/server.conf;\n" in (folder / "nginx/comics.conf").read_text()
    assert "/srv/comics" not in (folder / "nginx/comics.conf").read_text()
    assert (folder / "README.md").read_text().startswith("# A shelf\n")
    assert f"\nflatpanel import {site.url}\n" in (folder / "README.md").read_text()


@pytest.mark.parametrize(
    ("media", "line"),
    [
        ("", "media_folder: media"),
        ("media: https://a.example/img/\n", "media_folder: media"),
        ("media: https://images.example/\n", "# media_folder: media"),
        ("media_folder: files\n", "media_folder: files"),
    ],
)
def test_folder_of_images_is_a_comment_if_another_host_has_them(tmp_path: Path, media: str, line: str) -> None:
    """The build would warn that the folder has no effect."""
    settings = tmp_path / "catalog_src/site.yaml"
    settings.parent.mkdir()
    settings.write_text(f"base_url: https://a.example\n{media}")
    scaffold.complete_project(tmp_path, "A shelf", None, None, "flatpanel import https://a.example")

    assert [text for text in settings.read_text().splitlines() if "media_folder: " in text] == [line]


def test_base_url_replaces_that_of_the_site(start: Start, run: Run, folder: Path, site: RealService) -> None:
    """A later import keeps it."""
    assert start("--base-url", "https://new.example").exit_code == 0
    again = in_project(run, folder, "import", site.url, "--rate", 100)

    assert "updated 0 fields" in again.stdout
    assert "base_url: https://new.example\n" in (folder / "catalog_src/site.yaml").read_text()
    assert "server_name new.example;" in (folder / "nginx/comics.conf").read_text()


def test_an_interrupted_project_resumes(start: Start, run: Run, folder: Path, site: RealService) -> None:
    """No response is requested twice, and other commands of `init` are refused; afterwards this one as well.

    The mark has the command as JSON, in which no text can be an option or a command of a shell.
    """
    site.close_after(20)
    first = start()
    mark = json.loads((folder / project_folder.MARK).read_text())
    site.close_after(None)
    answered = site.targets[:20]
    before = len(site.requests)
    plain = run("init", folder)
    second, third = start(), start()

    assert (first.exit_code, plain.exit_code, second.exit_code, third.exit_code) == (1, 1, 0, 1)
    assert mark == ["--import", site.url]
    assert "contains '.flatpanel_cache' and " in third.stderr
    advice = "run the same `init` again to finish it, or remove the folder"
    assert plain.stderr == f"{folder}: its import is unfinished; {advice}\n"
    assert set(answered) & set(site.targets[before:]) == set()
    assert not (folder / project_folder.MARK).exists()


def test_a_failed_build_is_finished_by_the_same_command(
    start: Start, folder: Path, site: RealService, tmp_path: Path
) -> None:
    """What was edited in between stays; another site is refused, since the catalog is there."""
    site.close_after(20)
    assert start().exit_code == 1
    site.close_after(None)
    (folder / "dist").mkdir()
    (folder / "dist/mine.txt").touch()
    failed = start()
    (folder / "dist/mine.txt").unlink()
    (folder / "README.md").write_text("Mine.\n")
    with real_service(version="v0.4.5") as other:
        refused = start(url=other.url)
        requests = other.requests

    assert (failed.exit_code, refused.exit_code, requests) == (1, 1, [])
    assert "dist" in failed.stderr
    assert "its import is unfinished; run the same `init` again" in refused.stderr
    assert start().exit_code == 0
    assert (folder / "README.md").read_text() == "Mine.\n"
    assert (folder / "nginx/comics.conf").is_file()
    assert (folder / "catalog_src/site.yaml").read_text().count("# port: ") == 1


@pytest.mark.parametrize("mark", ["{", '"--import"', '["--key-file","../secret","--import","https://evil.example"]'])
def test_a_mark_of_another_import_is_refused(mark: str, start: Start, folder: Path, site: RealService) -> None:
    """The message has none of its text: the mark may come with a repository of another person."""
    (folder / "catalog_src").mkdir(parents=True)
    (folder / project_folder.MARK).write_text(mark)
    result = start()

    assert ("run the same `init` again" in result.stderr) == (mark != "{")
    assert "its import is unfinished; " in result.stderr
    assert "secret" not in result.stderr
    assert (result.exit_code, site.requests) == (1, [])


def test_a_link_in_an_unfinished_project_does_not_lead_out(start: Start, folder: Path, tmp_path: Path) -> None:
    """A repository may have the mark of an unfinished project, and folders that are links."""
    folder.mkdir()
    (folder / project_folder.MARK).write_text("[]")
    (tmp_path / "outside").mkdir()
    (folder / "nginx").symlink_to(tmp_path / "outside")
    result = start()

    assert result.exit_code == 1
    assert "the link leads out of new shelf" in result.stderr
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_folder_with_other_files_is_refused(start: Start, folder: Path, site: RealService) -> None:
    """Before a request is sent; nothing is written."""
    folder.mkdir()
    (folder / "mine.txt").touch()
    result = start()

    assert (result.exit_code, site.requests) == (1, [])
    assert result.stderr.startswith(f"{folder}: contains 'mine.txt'; pass a folder that is empty")
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]


@each(
    ("arguments", "message"),
    [
        (("--name", "a\nb"), "--name: should be one line without control characters, not 'a\\nb'"),
        (("--base-url", "shelf.example"), "--base-url: should be "),
        (("--key-file", "/dev/null"), "/dev/null: contains no API key"),
    ],
)
def test_wrong_options_are_refused_before_a_request(
    arguments: tuple[str, ...], message: str, start: Start, folder: Path, site: RealService
) -> None:
    """The folder is not created."""
    result = start(*arguments)

    assert (result.exit_code, site.requests) == (1, [])
    assert result.stderr.startswith(message)
    assert not folder.exists()


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """The database of version 0.9.6 with the chapters of three series."""
    file = recorded_database(tmp_path)
    change(file, "DELETE FROM reader_chapter WHERE series_id > 3")
    return file


@pytest.mark.end_to_end
def test_a_site_and_its_database_are_imported_together(start: Start, run: Run, folder: Path, tmp_path: Path) -> None:
    """The printed command imports them again; the README has the name of the file without its folder."""
    database = recorded_database(tmp_path)
    with real_service() as site:
        result = start("--from-database", database, url=site.url)
        *_, again = result.stdout.splitlines()
        words = shlex.split(again)[-4:]

        assert result.stdout.startswith(f"{folder}: imported 17 series, 130 chapters and 44 other entries; built ")
        assert words == ["import", site.url, "--from-database", str(database.absolute())]
        printed = f"\nflatpanel import {site.url} --from-database v0.9.6-db.sqlite3\n"
        assert printed in (folder / "README.md").read_text()
        assert "wrote 0 files\n" in in_project(run, folder, *words, "--rate", 100).stdout


@pytest.mark.end_to_end
def test_a_database_alone_is_imported(run: Run, folder: Path, database: Path) -> None:
    """--base-url sets what no table has; a later import keeps it."""
    words = ("init", folder, "--import", database, "--base-url", "https://new.example")
    result = run(*words, SOURCE_DATE_EPOCH=str(RECORDED_AT))
    first = tree_snapshot.content(folder / "catalog_src")
    again = in_project(run, folder, "import", "--from-database", database)

    assert (result.exit_code, result.stderr) == (0, "")
    assert "imported 17 series, 49 chapters and 44 other entries" in result.stdout
    assert " compare " not in result.stdout
    assert "base_url: https://new.example\n" in (folder / "catalog_src/site.yaml").read_text()
    assert "saltshelf" not in "".join(str(text) for text in first.values())
    assert "updated 0 fields" in again.stdout
    assert tree_snapshot.content(folder / "catalog_src") == first


@pytest.mark.end_to_end
@pytest.mark.parametrize("flags", [["--accounts"], ["--accounts", "--personal-data"]])
def test_accounts_are_imported_on_request(flags: list[str], run: Run, folder: Path, database: Path) -> None:
    """The next step has the same options; git ignores personal data and the output of the build."""
    result = run("init", folder, "--import", database, *flags, SOURCE_DATE_EPOCH=str(RECORDED_AT))
    text = (folder / "catalog_src/accounts.yaml").read_text()
    ignored = (folder / ".gitignore").read_text().splitlines()

    assert result.exit_code == 0
    assert shlex.split(result.stdout.splitlines()[-1])[-len(flags) - 2 :] == ["--from-database", str(database), *flags]
    assert f"--from-database v0.9.6-db.sqlite3 {' '.join(flags)}\n" in (folder / "README.md").read_text()
    assert ("sha256: " in text, "email: " in text) == (True, len(flags) > 1)
    assert "/dist/" in ignored
    assert ("/catalog_src/accounts.yaml" in ignored) is (len(flags) > 1)


@pytest.mark.end_to_end
def test_a_resumed_project_ignores_files_once(run: Run, folder: Path, database: Path) -> None:
    """`.gitignore` is complete after the first run already."""
    words = ("init", folder, "--import", database, "--accounts", "--personal-data")
    assert run(*words).exit_code == 0
    before = (folder / ".gitignore").read_text()
    mark = ["--import", str(database), "--accounts", "--personal-data"]
    (folder / project_folder.MARK).write_text(json.dumps(mark))

    assert run(*words).exit_code == 0
    assert (folder / ".gitignore").read_text() == before


# They would have no effect without a site.
ABOUT_REQUESTS = ("--rate=5", "--key-file=key.txt", "--ask-key", "--timeout=5", "--max-response=1")


@each(
    ("arguments", "message"),
    [
        (("--import", "nowhere"), "should be a file, or a URL like https://comics.example, not nowhere"),
        (("--import", "ftp://shelf.example"), "should be a URL like https://comics.example"),
        (("--import", "{database}", "--from-database", "{database}"), "--from-database needs --import URL"),
        (("--from-database", "{database}"), "--from-database needs --import"),
        (("--accounts",), "--accounts needs --import"),
        (("--import", "http://127.0.0.1:1", "--accounts"), "--accounts needs --from-database"),
        (("--import", "{database}", "--personal-data"), "--personal-data needs --accounts"),
        *(((option,), f"{option.partition('=')[0]} needs --import") for option in ABOUT_REQUESTS),
    ],
)
def test_a_wrong_source_is_wrong_usage(
    arguments: tuple[str, ...], message: str, run: Run, folder: Path, database: Path
) -> None:
    """Nothing is written."""
    result = run("init", folder, *(argument.format(database=database) for argument in arguments))

    assert (result.exit_code, folder.exists()) == (2, False)
    assert message in result.stderr
