"""The formats of errors: text, JSON and GitHub annotations."""

import errno
import json
import os
import re
from pathlib import Path

import pytest

from generator.catalog.git import FileTimes
from generator.errors import MAX_EXCERPTS
from tests.commands.test_cli import Run, counted, misspell, options_of, problems
from tests.conftest import Site, without_help
from tests.support import tree_snapshot
from tests.support.tables import each

COMMANDS = each("command", [["build", "--no-cache"], ["build", "--check"], ["check"]])


def unescaped(text: str) -> str:
    """A message or a property as GitHub decodes it."""
    for code, letter in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, letter)
    return text


def annotations(output: str) -> list[tuple[str, dict[str, str], str]]:
    """The level, the properties and the message of every line."""
    annotations = []
    for line in output.splitlines():
        match = re.fullmatch(r"::(\w+)(?: ([^:]*))?::(.*)", line)
        assert match, line
        properties = dict(one.split("=", 1) for one in (match[2] or "").split(",") if one)
        annotations.append((match[1], {name: unescaped(one) for name, one in properties.items()}, unescaped(match[3])))
    return annotations


@pytest.mark.checkout
def test_a_problem_is_shown_with_its_source_line(site: Site, run: Run) -> None:
    """The source line, a caret below the position, and a link to the documentation."""
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


@pytest.mark.checkout
def test_a_misplaced_file_is_shown_without_a_source_line(site: Site, run: Run) -> None:
    """The problem is not about its first line."""
    site.write("series/third.yml", "title: Third\n")

    assert run("check", *options_of(["check"], site)).stderr == (
        f"{site.folder}/catalog_src/series/third.yml:1:1: is not a catalog file; did you mean third.yaml?\n"
        "      = docs/catalog.md#how-the-files-are-laid-out\n"
        "1 problem\n"
    )


def test_problems_of_a_diff_in_markdown_are_text(site: Site, run: Run) -> None:
    """On standard error: standard output may be the summary of a workflow."""
    misspell(site)
    catalog = site.folder / "catalog_src"
    result = run("diff", catalog, catalog, "--catalog", catalog, "--format", "markdown")

    assert (result.exit_code, result.stdout) == (1, "")
    assert f"{problems(site)[0][0]}:1:3: [0].name: is missing\n" in result.stderr


@pytest.mark.parametrize("wrong", [True, False])
@COMMANDS
def test_text_is_the_default_and_json_is_the_short_form_of_format_json(
    site: Site, run: Run, command: list[str], wrong: bool
) -> None:
    """Both together are allowed, too."""
    misspell(site) if wrong else site.build()
    forms = ([], ["--format", "text"], ["--json"], ["--format", "json"], ["--json", "--format", "json"])
    results = [run(*command, *options_of(command, site), *form) for form in forms]
    plain, text, *as_json = (re.sub(r'[\d.]+ s\n|"seconds": [\d.]+', "time", one.output) for one in results)

    assert plain == text
    assert as_json[0] == as_json[1] == as_json[2]
    assert json.loads(results[-1].stdout)["ok"] != wrong


@pytest.mark.parametrize("form", ["text", "github"])
def test_json_with_another_format_is_refused(run: Run, form: str) -> None:
    """Exit code 2."""
    result = run("check", "--json", "--format", form)

    assert (result.exit_code, result.stdout) == (2, "")
    assert f"--json means --format json, so it cannot be combined with --format {form}" in result.stderr


@COMMANDS
def test_every_problem_is_a_github_annotation(site: Site, run: Run, command: list[str]) -> None:
    """With the path in the repository; the message repeats file and position for readers of the log."""
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
def test_annotation_paths_are_relative_to_the_repository(
    site: Site, run: Run, monkeypatch: pytest.MonkeyPatch, workspace: str, inside: str, file: str
) -> None:
    """GitHub sets its path; elsewhere it is the working folder. Separators in paths are escaped."""
    site.write("a,b.yml", "")
    monkeypatch.chdir(site.folder / inside)
    root = str(site.folder) if workspace else ""
    result = run("check", "--catalog", site.folder / "catalog_src", "--format", "github", GITHUB_WORKSPACE=root)

    assert [one["file"] for _, one, _ in annotations(result.stdout)] == [file]
    assert f"::error file={file.replace(',', '%2C')},line=1,col=1,title=catalog::" in result.stdout


def test_an_annotation_outside_the_repository_has_the_given_path(site: Site, run: Run, tmp_path: Path) -> None:
    """A path with `..` would belong to no file of the repository."""
    misspell(site)
    result = run("check", *options_of(["check"], site), "--format", "github", GITHUB_WORKSPACE=str(tmp_path / "else"))

    assert [one["file"] for _, one, _ in annotations(result.stdout)] == [file for file, *_ in problems(site)]


def test_catalog_texts_cannot_forge_annotations(site: Site, run: Run) -> None:
    """They cannot end a message or a property, or begin a command."""
    site.write("series/first.yaml", 'title: First\ncover: "100%25\\n::error::x/y"\n')
    ((level, properties, message),) = annotations(
        run("check", *options_of(["check"], site), "--format", "github").stdout
    )

    assert (level, properties["title"]) == ("error", "cover")
    assert message.endswith("'100%25\\n::error::x/y'")


def test_an_error_without_a_position_is_an_annotation(site: Site, run: Run) -> None:
    """A missing folder, and a site that is out of date."""
    site.build()
    site.write("authors.yaml", "- {id: 1, name: Ada Penn}\n- {id: 9, name: New}\n")
    command = ["build", "--check", *tree_snapshot.options(site), "--format", "github"]
    missing = run("check", "--catalog", site.folder / "nowhere", "--format", "github")

    message = f"{site.folder}/nowhere: no such folder; a catalog is a folder with site.yaml and series/"
    assert annotations(run(*command).stdout)[0][:2] == ("error", {})
    assert annotations(missing.stdout) == [("error", {}, message)]
    assert (missing.exit_code, missing.stderr) == (1, "")


def test_warnings_are_github_annotations(site: Site, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The summary of the build is printed, too."""
    monkeypatch.setattr("generator.catalog.git.file_times", lambda *_: FileTimes({}, [], is_shallow=True))
    output_lines = run("build", *tree_snapshot.options(site), "--format", "github").stdout.splitlines()

    assert annotations(output_lines[0])[0][0] == "warning"
    assert "is a shallow git clone" in output_lines[0]
    assert output_lines[1].startswith("release ")


def test_names_are_no_workflow_commands(site: Site, run: Run) -> None:
    """GitHub takes `##[error]` for a command anywhere in a line of the summary of a build."""
    for name in ("##[error]Jun", "Ada Penn"):
        site.write("authors.yaml", f"- {{id: {len(name)}, name: '{name}'}}\n")
        site.write("series/first.yaml", "title: First\ncover: cover.jpg\n")
        result = run("build", *tree_snapshot.options(site), "--format", "github")

    assert result.stdout.splitlines()[-1] == "  author # #[error]Jun, id 12"


@pytest.mark.checkout
def test_source_lines_are_shown_for_the_first_problems_only(site: Site, run: Run) -> None:
    """A line before the count states it."""
    chapters = "".join(f"  - {{number: {one}, pages: []}}\n" for one in range(MAX_EXCERPTS + 1))
    site.write("series/first.yaml", f"title: First\ncover: cover.jpg\nchapters:\n{chapters}")
    errors = run("check", *options_of(["check"], site)).stderr

    assert errors.count("      = docs/") == MAX_EXCERPTS
    assert without_help(errors).splitlines()[-2:] == [
        f"source lines are shown for the first {MAX_EXCERPTS} of {MAX_EXCERPTS + 1} problems",
        f"{MAX_EXCERPTS + 1} problems",
    ]


def test_a_mistyped_catalog_folder_has_a_suggestion(site: Site, run: Run) -> None:
    """The message names the existing folder with a similar name."""
    result = run("check", "--catalog", site.folder / "catalog_scr")

    assert result.stderr == f"{site.folder}/catalog_scr: no such folder; did you mean catalog_src?\n"


@pytest.mark.parametrize("place", [".", "series"])
def test_in_a_catalog_the_folder_above_is_named(
    site: Site, run: Run, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    catalog = site.folder / "catalog_src"
    monkeypatch.chdir(catalog / place)

    assert run("check").stderr == (
        f"catalog_src: no such folder; {catalog} is a catalog: run the command in {catalog.parent}\n"
    )
    # In a project whose catalog is its root.
    catalog.rename(site.folder / "root")
    assert (
        run("check").stderr == f"catalog_src: no such folder; {site.folder}/root is a catalog: pass it with --catalog\n"
    )


def test_the_project_is_not_taken_for_the_catalog(site: Site, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file of the catalog would be a stray, with the advice to remove it."""
    monkeypatch.chdir(site.folder)

    assert run("check", "--catalog", ".").stderr == ".: has no site.yaml; did you mean catalog_src?\n"


def test_a_system_error_without_a_path_is_printed(site: Site, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some system calls name no file."""

    def fail(*_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("generator.pipeline.run.check", fail)
    result = run("check", "--catalog", site.folder / "catalog_src")

    assert (result.exit_code, result.stderr) == (1, "Too many open files\n")


def test_a_missing_parent_folder_has_no_suggestion(tmp_path: Path, run: Run) -> None:
    """There is no folder with a similar name."""
    result = run("check", "--catalog", tmp_path / "no/where")

    assert result.stderr.startswith(f"{tmp_path}/no/where: no such folder; a catalog is")


def test_a_build_in_a_wrong_folder_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    """Not even the cache, whose default is a folder there."""
    monkeypatch.chdir(tmp_path)
    result = run("build")

    assert result.stderr.startswith("catalog_src: no such folder;")
    assert list(tmp_path.iterdir()) == []
