"""`import` on the command line: what it says, where a key may come from, and how it ends."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result

from generator.authoring.site_import import run as importing
from tests.catalog.test_git import git
from tests.commands.test_cli import outcome
from tests.conftest import AS_OF
from tests.support.fake_site import Elsewhere, Said, elsewhere, small
from tests.support.paths import BUILD
from tests.support.terminal import on_a_terminal

Run = Callable[..., Result]


@pytest.fixture
def site() -> Iterator[Elsewhere]:
    with elsewhere(small()) as found:
        yield found


def test_an_import_says_what_it_did(site: Elsewhere, run: Run, tmp_path: Path) -> None:
    """How much is new, and everything that the site does not tell."""
    result = run("import", site.url, "--catalog", tmp_path / "new", "--rate", 100)
    first, second, third, *notes = result.stdout.splitlines()

    assert result.exit_code == 0
    assert first == f"{tmp_path}/new: added 1 series, 2 chapters, 6 other entries; updated 0 fields"
    assert second == "29 requests; wrote 7 files"
    assert third == "notes about the source site:"
    assert "  accounts, bookmarks and API keys are not public; `python build.py keys add` creates new keys" in notes
    assert (tmp_path / ".flatpanel_import_cache").is_dir()
    assert run("check", "--catalog", tmp_path / "new").exit_code == 0


def test_a_dry_run_says_what_it_would_do(site: Elsewhere, run: Run, tmp_path: Path) -> None:
    """Each file has a line."""
    where = ("--catalog", tmp_path / "new", "--cache", tmp_path / "elsewhere", "--rate", 100)
    result = run("import", site.url, *where, "--dry-run")

    assert "would write 7 files" in result.stdout
    assert f"  {tmp_path}/new/series/one.yaml\n" in result.stdout
    assert sorted(one.name for one in tmp_path.iterdir()) == ["elsewhere"]


def test_programs_get_json(site: Elsewhere, run: Run, tmp_path: Path) -> None:
    """The same report, and nothing beside it."""
    told = json.loads(run("import", site.url, "--catalog", tmp_path / "new", "--rate", 100, "--json").stdout)

    assert (told["ok"], told["new"], told["changed"]) == (True, {"chapters": 2, "others": 6, "series": 1}, 0)
    assert "series/one.yaml" in told["files"]
    assert told["requests"] == len(site.asked)


@pytest.mark.parametrize("url", ["comics.example", "https://me:secret@comics.example", "https://x.example:0x1"])
def test_what_is_no_address_is_wrong_usage(url: str, run: Run, tmp_path: Path) -> None:
    """Exit code 2, and nothing is asked."""
    assert run("import", url, "--catalog", tmp_path / "new").exit_code == 2


@pytest.mark.parametrize("rate", ["0", "1e-320", "-1", "101", "often", "nan"])
def test_a_rate_has_bounds(rate: str, run: Run, tmp_path: Path) -> None:
    """Nobody asks for ever, and nobody asks a thousand times a second."""
    assert run("import", "https://x.example", "--rate", rate, "--catalog", tmp_path / "new").exit_code == 2


def test_a_site_that_is_none_is_a_sentence(run: Run, tmp_path: Path) -> None:
    """Exit code 1."""
    with elsewhere({}) as site:
        result = run("import", site.url, "--catalog", tmp_path / "new", "--rate", 100)

    assert (result.exit_code, result.stdout) == (1, "")
    assert (
        result.stderr == f"{site.url}: not a known API: /api/v2/series, /api/v1/series and /api/series do not exist\n"
    )


def test_a_catalog_that_is_no_folder_is_a_sentence(site: Elsewhere, run: Run, tmp_path: Path) -> None:
    """Before anything is asked."""
    (tmp_path / "file").write_text("")
    result = run("import", site.url, "--catalog", tmp_path / "file")

    assert (result.exit_code, result.stderr, site.asked) == (1, f"{tmp_path}/file: not a folder\n", [])


def test_what_is_remembered_is_in_no_repository(site: Elsewhere, run: Run, tmp_path: Path) -> None:
    """What a key opened is not committed with the catalog beside which it lies."""
    git(tmp_path, "init", "--quiet")
    run("import", site.url, "--catalog", tmp_path / "new", "--rate", 100)

    shown = subprocess.run(["git", "status", "--porcelain"], cwd=tmp_path, check=True, capture_output=True)
    assert shown.stdout == b"?? new/\n"


def test_a_cache_that_is_no_folder_is_a_sentence(site: Elsewhere, run: Run, tmp_path: Path) -> None:
    """What a disk refuses is told with its place."""
    (tmp_path / "file").write_text("")
    result = run("import", site.url, "--catalog", tmp_path / "new", "--cache", tmp_path / "file")

    assert (result.exit_code, result.stderr.splitlines()[0].partition(": ")[2]) == (1, "Not a directory")


KEY = "a key of mine"


def keys(site: Elsewhere) -> list[str]:
    return [headers["X-API-Key"] for _, headers in site.asked if "X-API-Key" in headers]


def test_a_key_comes_from_a_file(site: Elsewhere, run: Run, tmp_path: Path) -> None:
    """Or from a variable, or from somebody who types it; it is never shown."""
    site.answers["/api/v2/members"] = Said(401)
    (tmp_path / "key.txt").write_text(f"{KEY}\n")
    where = ("import", site.url, "--rate", 100, "--dry-run", "--catalog")
    results = [
        run(*where, tmp_path / "1/new", "--key-file", tmp_path / "key.txt"),
        run(*where, tmp_path / "2/new", FLATPANEL_IMPORT_KEY=KEY),
        run(*where, tmp_path / "3/new", "--ask-key", input=KEY),
        run(*where, tmp_path / "4/new", FLATPANEL_IMPORT_KEY=""),
    ]

    assert [one.exit_code for one in results] == [0, 0, 0, 0]
    assert keys(site) == [KEY] * 3
    assert not any(KEY in one.output for one in results)


def test_a_key_comes_from_one_place_and_is_there(run: Run, tmp_path: Path) -> None:
    """An empty file, as a command leaves it that failed, is not the wish to have no key."""
    (tmp_path / "key.txt").write_text("\n")
    command = ("import", "http://127.0.0.1:1", "--catalog", tmp_path / "new", "--key-file", tmp_path / "key.txt")

    assert outcome(run(*command)) == (1, "", f"{tmp_path}/key.txt: contains no API key\n")
    assert run(*command, "--ask-key").exit_code == 2


@pytest.mark.parametrize("key", ["one\ntwo", "schlüssel", "a\x00b", "a\r\nX-Evil: 1"])
def test_a_key_is_one_line(key: str, run: Run, tmp_path: Path) -> None:
    """It becomes part of a request, and may not become two."""
    (tmp_path / "key.txt").write_text(key)
    result = run("import", "http://127.0.0.1:1", "--key-file", tmp_path / "key.txt", "--catalog", tmp_path / "new")

    assert (result.exit_code, result.stderr) == (1, "the API key should be one line of printable ASCII characters\n")


def test_progress_never_runs_backwards(run: Run, tmp_path: Path) -> None:
    """Whatever turns out to be left to ask for: people, chapters one by one, and chapters that tell of groups."""
    answers = small()
    series = answers["/api/v2/series"]
    series["results"] += [{**series["results"][0], "slug": f"more-{number}"} for number in range(20)]
    for number in range(100, 200):
        answers["/api/v2/authors"]["results"].append({"id": number, "name": f"Author {number}"})
    chapters = {"results": [{"id": number, "groups": [f"Group {number}"]} for number in range(1000, 1050)]}
    for number in range(20):
        answers[f"/api/v2/series/more-{number}/chapters"] = chapters
    shares: list[float] = []
    with elsewhere(answers) as found:
        importing.run(found.wanted(tmp_path), shares.append)

    assert shares == sorted(shares)
    assert shares[0] < 0.1
    assert shares[-1] == 1 > shares[-2]
    assert len({round(share, 1) for share in shares}) > 5


def test_a_terminal_shows_how_far_it_is(site: Elsewhere, tmp_path: Path) -> None:
    """There is a bar on a terminal, and it ends full."""
    command = [sys.executable, str(BUILD), "import", site.url, "--catalog", str(tmp_path / "new"), "--rate", "100"]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(AS_OF)}
    code, shown = on_a_terminal(command, environment, stdout=subprocess.DEVNULL)

    assert code == 0
    assert "requesting" in shown
    assert "100%" in shown
