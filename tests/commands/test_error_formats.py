"""What is wrong, told to people, to programs, and beside the lines on GitHub."""

import errno
import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from generator.catalog.git import FileTimes
from generator.catalog.problems.locate import MAX_EXCERPTS
from tests.commands.test_cli import counted, misspell, options_of, problems
from tests.conftest import Site, without_help
from tests.support import tree_snapshot

Run = Callable[..., Result]
COMMANDS = pytest.mark.parametrize("command", [["build", "--no-cache"], ["build", "--check"], ["check"]], ids=" ".join)


def unescaped(text: str) -> str:
    """A message or a property as the runner of GitHub reads it."""
    for code, letter in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, letter)
    return text


def annotations(said: str) -> list[tuple[str, dict[str, str], str]]:
    """The level, the properties and the message of every line."""
    found = []
    for line in said.splitlines():
        match = re.fullmatch(r"::(\w+)(?: ([^:]*))?::(.*)", line)
        assert match, line
        properties = dict(one.split("=", 1) for one in (match[2] or "").split(",") if one)
        found.append((match[1], {name: unescaped(one) for name, one in properties.items()}, unescaped(match[3])))
    return found


def test_a_problem_is_a_line_with_an_explanation(site: Site, run: Run) -> None:
    """The line stands below, a caret under the place, and where to read what would be right; then the next problem."""
    misspell(site)
    (first, _, _, _, _), _, (second, _, _, _, _) = problems(site)

    assert run("check", *options_of(["check"], site)).stderr == (
        f"{first}:1:3: [0].name: is missing\n"
        "    1 | - {id: 1, nane: Ada Penn}\n"
        "      |   ^\n"
        "      = docs/catalog.md#authorsyaml-and-artistsyaml\n"
        f"{first}:1:11: [0].nane: unknown field; did you mean name?\n"
        "    1 | - {id: 1, nane: Ada Penn}\n"
        "      |           ^\n"
        "      = docs/catalog.md#authorsyaml-and-artistsyaml\n"
        f"{second}:1:1: cover: is missing\n"
        "    1 | title: Second\n"
        "      | ^\n"
        "      = docs/catalog.md#series-seriesslugyaml\n"
        "3 problems\n"
    )


def test_a_file_in_the_wrong_place_has_no_line(site: Site, run: Run) -> None:
    """What is wrong with a file as a whole is not wrong with its first line."""
    site.write("series/third.yml", "title: Third\n")

    assert run("check", *options_of(["check"], site)).stderr == (
        f"{site.folder}/catalog_src/series/third.yml:1:1: is not a catalog file; did you mean third.yaml?\n"
        "      = docs/catalog.md#how-the-files-are-laid-out\n"
        "1 problem\n"
    )


@COMMANDS
def test_text_is_what_people_get(site: Site, run: Run, command: list[str]) -> None:
    """Without --format, and with the default, the same is said."""
    misspell(site)
    plain, asked = (run(*command, *options_of(command, site), *more) for more in ([], ["--format", "text"]))

    assert (plain.exit_code, plain.stdout, plain.stderr) == (asked.exit_code, asked.stdout, asked.stderr)


@COMMANDS
@pytest.mark.parametrize("wrong", [True, False])
def test_json_is_short_for_a_format(site: Site, run: Run, command: list[str], wrong: bool) -> None:
    """--json and --format json, and both, are the same."""
    site.build()
    if wrong:
        misspell(site)
    said = [
        re.sub(r'"seconds": [\d.]+', '"seconds": 0', run(*command, *options_of(command, site), *more).stdout)
        for more in (["--json"], ["--format", "json"], ["--json", "--format", "json"])
    ]

    assert said[0] == said[1] == said[2]
    assert json.loads(said[0])["ok"] != wrong


@pytest.mark.parametrize("form", ["text", "github"])
def test_two_formats_at_once_are_bad_usage(run: Run, form: str) -> None:
    """Whoever asks for JSON and something else gets neither."""
    result = run("check", "--json", "--format", form)

    assert (result.exit_code, result.stdout) == (2, "")
    assert f"--json means --format json, so it cannot be combined with --format {form}" in result.stderr


@COMMANDS
def test_github_is_told_of_every_problem(site: Site, run: Run, command: list[str]) -> None:
    """One annotation a problem, by its path in the repository, with the place in the message for readers of the log."""
    misspell(site)
    result = run(*command, *options_of(command, site), "--format", "github", GITHUB_WORKSPACE=str(site.folder))
    expected = [
        (
            "error",
            {"file": os.path.relpath(file, site.folder), "line": str(line), "col": str(column), "title": field},
            f"{file}:{line}:{column}: {field}: {message}",
        )
        for file, line, column, field, message in problems(site)
    ]

    assert annotations(result.stdout) == expected
    assert (result.exit_code, result.stderr) == (1, counted(command))


@pytest.mark.parametrize(
    ("workspace", "inside", "file"),
    [("", ".", "catalog_src/a,b.yml"), ("", "catalog_src", "a,b.yml"), (".", "catalog_src", "catalog_src/a,b.yml")],
)
def test_paths_are_those_of_the_repository(
    site: Site, run: Run, monkeypatch: pytest.MonkeyPatch, workspace: str, inside: str, file: str
) -> None:
    """GitHub says where the repository is; elsewhere the working folder counts. What ends a property is escaped."""
    site.write("a,b.yml", "")
    monkeypatch.chdir(site.folder / inside)
    root = str(site.folder) if workspace else ""
    result = run("check", "--catalog", site.folder / "catalog_src", "--format", "github", GITHUB_WORKSPACE=root)

    assert [one["file"] for _, one, _ in annotations(result.stdout)] == [file]
    assert f"::error file={file.replace(',', '%2C')},line=1,col=1,title=catalog::" in result.stdout


def test_a_catalog_outside_of_the_repository_keeps_its_path(site: Site, run: Run, tmp_path: Path) -> None:
    """A path with dots would be nobody's."""
    misspell(site)
    result = run("check", *options_of(["check"], site), "--format", "github", GITHUB_WORKSPACE=str(tmp_path / "else"))

    assert [one["file"] for _, one, _ in annotations(result.stdout)] == [file for file, *_ in problems(site)]


def test_github_reads_what_was_meant(site: Site, run: Run) -> None:
    """Nothing in a catalog ends a message, a property, or begins a command."""
    site.write("series/first.yaml", 'title: First\ncover: "100%25\\n::error::x/y"\n')
    ((level, properties, message),) = annotations(
        run("check", *options_of(["check"], site), "--format", "github").stdout
    )

    assert (level, properties["title"]) == ("error", "cover")
    assert message.endswith("'100%25\\n::error::x/y'")


def test_what_has_no_place_is_an_annotation_without_one(site: Site, run: Run) -> None:
    """A folder that is not there, and a site that is not current."""
    site.build()
    site.write("authors.yaml", "- {id: 1, name: Ada Penn}\n- {id: 9, name: New}\n")
    command = ["build", "--check", *tree_snapshot.options(site), "--format", "github"]
    missing = run("check", "--catalog", site.folder / "nowhere", "--format", "github")

    assert annotations(run(*command).stdout)[0][:2] == ("error", {})
    assert annotations(missing.stdout) == [
        (
            "error",
            {},
            f"{site.folder}/nowhere: no such folder; a catalog is a folder with site.yaml and series/",
        )
    ]
    assert (missing.exit_code, missing.stderr) == (1, "")


def test_github_is_warned(site: Site, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A warning of a build is one on GitHub; its summary stays."""
    monkeypatch.setattr("generator.catalog.git.file_times", lambda *_: FileTimes({}, [], is_shallow=True))
    said = run("build", *tree_snapshot.options(site), "--format", "github").stdout.splitlines()

    assert annotations(said[0])[0][0] == "warning"
    assert "is a shallow git clone" in said[0]
    assert said[1].startswith("release ")


def test_of_very_many_problems_the_first_are_explained(site: Site, run: Run) -> None:
    """The others are one line each, and that is said before the count."""
    chapters = "".join(f"  - {{number: {one}, pages: []}}\n" for one in range(MAX_EXCERPTS + 1))
    site.write("series/first.yaml", f"title: First\ncover: cover.jpg\nchapters:\n{chapters}")
    said = run("check", *options_of(["check"], site)).stderr

    assert said.count("      = docs/") == MAX_EXCERPTS
    assert without_help(said).splitlines()[-2:] == [
        f"source lines are shown for the first {MAX_EXCERPTS} of {MAX_EXCERPTS + 1} problems",
        f"{MAX_EXCERPTS + 1} problems",
    ]


def test_a_folder_that_is_nearly_right_is_named(site: Site, run: Run) -> None:
    """A mistyped --catalog comes with the folder that is there."""
    result = run("check", "--catalog", site.folder / "catalog_scr")

    assert result.stderr == f"{site.folder}/catalog_scr: no such folder; did you mean catalog_src?\n"


def test_an_error_of_the_system_without_a_file_is_a_sentence(
    site: Site, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some calls are about no file, and their error names none."""

    def fail(*_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("generator.pipeline.run.check", fail)
    result = run("check", "--catalog", site.folder / "catalog_src")

    assert (result.exit_code, result.stderr) == (1, "Too many open files\n")


def test_a_folder_in_a_folder_that_is_not_there_is_a_sentence(tmp_path: Path, run: Run) -> None:
    """Where there is nothing at all, nothing is near."""
    result = run("check", "--catalog", tmp_path / "no/where")

    assert result.stderr.startswith(f"{tmp_path}/no/where: no such folder; a catalog is")
