"""`import` on the command line: output, API keys, options and exit codes."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.commands import import_
from generator.imports import run as importing
from tests.commands.test_cli import Run, outcome
from tests.conftest import AS_OF
from tests.support.fake_site import FakeSite, Reply, serving, small, withdraw_series
from tests.support.paths import BUILD
from tests.support.tables import each
from tests.support.terminal import on_a_terminal


@pytest.fixture
def site() -> Iterator[FakeSite]:
    with serving(small()) as site:
        yield site


def test_import_prints_a_summary_and_notes(site: FakeSite, run: Run, tmp_path: Path) -> None:
    """The catalog is valid."""
    result = run("import", site.url, "--catalog", tmp_path / "new", "--rate", 100)
    first, second, third, *notes, last = result.stdout.splitlines()

    assert result.exit_code == 0
    assert first == f"{tmp_path}/new: added 1 series, 2 chapters, 6 other entries; updated 0 fields"
    assert second == "21 requests; wrote 7 files"
    assert third == "notes about the source site:"
    assert "  accounts, bookmarks and API keys are not public; `python build.py keys add` creates new keys" in notes
    assert last.startswith(f"details: {tmp_path}/.flatpanel_import_cache/")
    assert run("check", "--catalog", tmp_path / "new").exit_code == 0


def test_import_prints_what_it_removes(site: FakeSite, run: Run, tmp_path: Path) -> None:
    """After a dry run that says so; the JSON counts it, too."""
    where = ("import", site.url, "--catalog", tmp_path / "new", "--rate", 100)
    assert run(*where).exit_code == 0
    withdraw_series(site)
    dry, report = (
        run(*where, "--remove", "--dry-run"),
        json.loads(run(*where, "--remove", "--dry-run", "--json").stdout),
    )

    assert "would remove 1 entry; would rename 0 series" in dry.stdout
    assert (report["removed"], report["renamed"], "series/one.yaml" in report["files"]) == (1, 0, True)
    assert "removed 1 entry; renamed 0 series" in run(*where, "--remove").stdout
    assert not (tmp_path / "new/series/one.yaml").exists()


def test_a_dry_run_fits_a_screen(site: FakeSite, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The details name the files beyond the limit; their path is relative to the current folder.

    Only the cache is written.
    """
    monkeypatch.setattr(import_, "MAX_FILES", 2)
    monkeypatch.chdir(tmp_path)
    result = run("import", site.url, "--catalog", tmp_path / "new", "--rate", 100, "--dry-run")

    assert "would write 7 files" in result.stdout
    assert f"  {tmp_path}/new/artists.yaml\n  {tmp_path}/new/authors.yaml\n  and 5 more\nnotes" in result.stdout
    assert [path.name for path in tmp_path.iterdir()] == [".flatpanel_import_cache"]
    details = result.stdout.splitlines()[-1].removeprefix("details: ")
    assert details.startswith(".flatpanel_import_cache/")
    assert "  series/one.yaml\n" in (tmp_path / details).read_text()


def test_json_is_the_only_output(site: FakeSite, run: Run, tmp_path: Path) -> None:
    """With the same content."""
    report = json.loads(run("import", site.url, "--catalog", tmp_path / "new", "--rate", 100, "--json").stdout)

    assert (report["ok"], report["new"], report["changed"]) == (True, {"chapters": 2, "others": 6, "series": 1}, 0)
    assert "series/one.yaml" in report["files"]
    assert Path(report["report"]).is_file()
    assert report["requests"] == len(site.asked)


URL = "http://127.0.0.1:1"
# The rate is 0.001 to 100 requests per second. An import without time or memory could never finish.
OUT_OF_BOUNDS = [("--rate", rate) for rate in ("0", "1e-320", "-1", "101", "often", "nan")]
OUT_OF_BOUNDS += [("--timeout", "0"), ("--timeout", "nan"), ("--max-response", "0")]


@each(
    ("words", "message"),
    [
        ((), "pass the URL of a site, --from-database, or both"),
        ((URL, "--mine", "--theirs"), "use --mine or --theirs, not both"),
        *(((url,), "Invalid value") for url in ("h.example", "https://me:secret@h.example", "https://h.example:0x1")),
        *(((URL, *option), f"'{option[0]}'") for option in OUT_OF_BOUNDS),
    ],
)
def test_wrong_usage_sends_no_request(words: tuple[str, ...], message: str, run: Run, tmp_path: Path) -> None:
    result = run("import", *words, "--catalog", tmp_path / "new")

    assert (result.exit_code, message in result.stderr) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_a_site_without_a_known_api_is_an_error(run: Run, tmp_path: Path) -> None:
    """Exit code 1."""
    with serving({}) as site:
        result = run("import", site.url, "--catalog", tmp_path / "new", "--rate", 100)

    assert (result.exit_code, result.stdout) == (1, "")
    assert (
        result.stderr == f"{site.url}: not a known API: /api/v2/series, /api/v1/series and /api/series do not exist\n"
    )


def test_a_catalog_that_is_a_file_is_an_error(site: FakeSite, run: Run, tmp_path: Path) -> None:
    """Before any request."""
    (tmp_path / "file").write_text("")
    result = run("import", site.url, "--catalog", tmp_path / "file")

    assert (result.exit_code, result.stderr, site.asked) == (1, f"{tmp_path}/file: not a folder\n", [])


def test_no_catalog_is_written_into_another_one(
    site: FakeSite, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the wrong folder, it would be new, and its files would be problems of the other one."""
    (tmp_path / "comics/series").mkdir(parents=True)
    (tmp_path / "comics/site.yaml").write_text("base_url: https://comics.example\n")
    monkeypatch.chdir(tmp_path / "comics")
    result = run("import", site.url)

    sentence = f"catalog_src: no such folder; {tmp_path}/comics is a catalog: pass it with --catalog\n"
    assert (result.exit_code, result.stderr) == (1, sentence)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["comics", "series", "site.yaml"]
    result = run("import", site.url, "--catalog", "../other/catalog_src")
    assert result.exit_code == 0, result.output


def test_a_cache_that_is_a_file_is_an_error(site: FakeSite, run: Run, tmp_path: Path) -> None:
    """The message has the path."""
    (tmp_path / "file").write_text("")
    result = run("import", site.url, "--catalog", tmp_path / "new", "--cache", tmp_path / "file")

    assert (result.exit_code, result.stderr.splitlines()[0].partition(": ")[2]) == (1, "Not a directory")


KEY = "a key of mine"


def keys(site: FakeSite) -> list[str]:
    return [headers["X-API-Key"] for _, headers in site.asked if "X-API-Key" in headers]


def test_a_key_comes_from_file_variable_or_prompt(site: FakeSite, run: Run, tmp_path: Path) -> None:
    """It is never printed."""
    site.answers["/api/v2/members"] = Reply(401)
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


def test_an_empty_key_file_is_an_error(run: Run, tmp_path: Path) -> None:
    """It may come from a failed command. Two sources are wrong usage."""
    (tmp_path / "key.txt").write_text("\n")
    command = ("import", "http://127.0.0.1:1", "--catalog", tmp_path / "new", "--key-file", tmp_path / "key.txt")

    assert outcome(run(*command)) == (1, "", f"{tmp_path}/key.txt: contains no API key\n")
    assert run(*command, "--ask-key").exit_code == 2


@pytest.mark.parametrize("key", ["one\ntwo", "schlüssel", "a\x00b", "a\r\nX-Evil: 1"])
def test_a_key_is_one_line_of_ascii(key: str, run: Run, tmp_path: Path) -> None:
    """It becomes a header, and must not become two."""
    (tmp_path / "key.txt").write_text(key)
    result = run("import", "http://127.0.0.1:1", "--key-file", tmp_path / "key.txt", "--catalog", tmp_path / "new")

    assert (result.exit_code, result.stderr) == (1, "the API key should be one line of printable ASCII characters\n")


def test_progress_never_decreases(run: Run, tmp_path: Path) -> None:
    """Although the number of requests is an estimate."""
    answers = small()
    series = answers["/api/v2/series"]
    series["results"] += [{**series["results"][0], "slug": f"more-{number}"} for number in range(20)]
    for number in range(100, 200):
        answers["/api/v2/authors"]["results"].append({"id": number, "name": f"Author {number}"})
    chapters = {"results": [{"id": number, "groups": [f"Group {number}"]} for number in range(1000, 1050)]}
    for number in range(20):
        answers[f"/api/v2/series/more-{number}/chapters"] = chapters
    shares: list[float] = []
    with serving(answers) as site:
        importing.run(site.import_options(tmp_path), shares.append)

    assert shares == sorted(shares)
    assert shares[0] < 0.1
    assert shares[-1] == 1 > shares[-2]
    assert len({round(share, 1) for share in shares}) > 5


def test_a_terminal_shows_a_progress_bar(site: FakeSite, tmp_path: Path) -> None:
    """It ends at 100%."""
    command = [sys.executable, str(BUILD), "import", site.url, "--catalog", str(tmp_path / "new"), "--rate", "100"]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(AS_OF)}
    code, shown = on_a_terminal(command, environment, stdout=subprocess.DEVNULL)

    assert code == 0
    assert "requesting" in shown
    assert "100%" in shown
