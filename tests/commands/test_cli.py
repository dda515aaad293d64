"""The command line: output, written files and exit codes of each command."""

import json
import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import Result

from generator import __version__
from generator.catalog.git import FileTimes
from generator.commands.cli import COMMANDS, load, main
from generator.commands.help import summary
from generator.release.store import Store
from tests.conftest import Site, without_help
from tests.support import tree_snapshot
from tests.support.tables import each

Run = Callable[..., Result]


def find(words: list[str]) -> click.Command:
    """The command, or the command of a group."""
    command = load(words[0])
    return command.commands[words[1]] if isinstance(command, click.Group) and words[1:] else command


GROUPS = [name for name in COMMANDS if isinstance(load(name), click.Group)]
WORDS = [[name] for name in COMMANDS] + [
    [group, name] for group in GROUPS for name in getattr(load(group), "commands", ())
]
SECONDS = r"\d+\.\d\d s"
DUE = "2026-12-01T12:00:00Z"


def outcome(result: Result) -> tuple[int, str, str]:
    return result.exit_code, result.stdout, result.stderr


def schedule(site: Site) -> None:
    """Add a chapter with a publication time after that of the build."""
    path = site.folder / "catalog_src/series/first.yaml"
    path.write_text(path.read_text() + f"  - {{number: 2, published: {DUE}, pages: [1.png]}}\n")


def misspell(site: Site) -> None:
    """Two mistakes in two files."""
    site.write("authors.yaml", "- {id: 1, nane: Ada Penn}\n")
    site.write("series/second.yaml", "title: Second\n")


def problems(site: Site) -> list[tuple[str, int, int, str, str]]:
    folder = site.folder / "catalog_src"
    return [
        (f"{folder}/authors.yaml", 1, 3, "[0].name", "is missing"),
        (f"{folder}/authors.yaml", 1, 11, "[0].nane", "unknown field; did you mean name?"),
        (f"{folder}/series/second.yaml", 1, 1, "cover", "is missing"),
    ]


def test_the_summary_of_a_build(site: Site, run: Run) -> None:
    """Release, changes, size, time, other written files, next scheduled chapter; with --json one object."""
    schedule(site)
    result = run("build", *tree_snapshot.options(site))
    written = sum(path.stat().st_size for path in (site.folder / "dist/www").rglob("*") if path.is_file())
    out, release = site.folder / "dist", site.store.current()
    expected = (
        f"release {release} in {out}: 54 added, 0 changed, 0 removed, 0 unchanged\n"
        f"54 resources, {written:,} bytes written in 0 s\n"
        f"wrote {site.folder}/nginx.conf\n"
        f"next scheduled chapter: {DUE}\n"
    )

    assert (result.exit_code, re.sub(SECONDS, "0 s", result.stdout), result.stderr) == (0, expected, "")
    elsewhere = ("--out", site.folder / "elsewhere/dist", "--nginx", site.folder / "elsewhere/nginx.conf")
    result = run("build", *tree_snapshot.options(site), *elsewhere, "--json")
    facts = json.loads(result.stdout)
    assert (result.exit_code, result.stderr, type(facts.pop("seconds"))) == (0, "", float)
    # tests/review/test_report.py checks the other fields, which are the data of the report.
    assert facts == facts | {"ok": True, "resources": 54, "next_publication": DUE, "warnings": []}
    assert facts == facts | {"added": 54, "changed": 0, "removed": 0, "unchanged": 0, "bytes_written": written}
    assert facts["release"] == Store(site.folder / "elsewhere/dist").current()


def test_the_summary_of_an_unchanged_build(site: Site, run: Run) -> None:
    """No changes, no written bytes, no other written files."""
    site.build()
    before = tree_snapshot.state(site.folder)
    result = run("build", *tree_snapshot.options(site), "--no-cache")
    expected = (
        f"release {site.store.current()} in {site.folder}/dist: 0 added, 0 changed, 0 removed, 54 unchanged\n"
        "54 resources, 0 bytes written in 0 s\n"
    )

    assert (result.exit_code, re.sub(SECONDS, "0 s", result.stdout), result.stderr) == (0, expected, "")
    assert tree_snapshot.state(site.folder) == before


def test_build_is_the_default_command(site: Site, run: Run) -> None:
    """`build.py --quiet …` is `build.py build --quiet …`, and --quiet prints nothing."""
    assert outcome(run(*tree_snapshot.options(site), "--quiet")) == (0, "", "")
    assert site.store.current()


@pytest.mark.parametrize("command", [["build", "--no-cache"], ["build", "--check"], ["check"]], ids=" ".join)
def test_all_problems_of_a_catalog_are_printed(site: Site, run: Run, command: list[str]) -> None:
    """With positions, on standard error; exit code 1, and no file is written. As objects with --json."""
    misspell(site)
    before = tree_snapshot.state(site.folder)
    result = run(*command, *options_of(command, site))
    lines = [f"{file}:{line}:{column}: {field}: {text}\n" for file, line, column, field, text in problems(site)]

    assert (result.exit_code, result.stdout) == (1, "")
    assert without_help(result.stderr) == "".join(lines) + counted(command)
    result = run(*command, *options_of(command, site), "--json")
    facts = json.loads(result.stdout)
    assert (result.exit_code, result.stderr, facts["ok"]) == (1, "", False)
    names = ("file", "line", "column", "field", "message")
    assert facts["problems"] == [dict(zip(names, one, strict=True)) for one in problems(site)]
    assert facts["message"] == "".join(lines).rstrip("\n")
    assert tree_snapshot.state(site.folder) == before


def counted(command: list[str]) -> str:
    """The last line for three problems; only commands that write files promise that nothing was written."""
    return "3 problems\n" if "check" in " ".join(command) else "3 problems; nothing was written\n"


def options_of(command: list[str], site: Site) -> list[object]:
    options = tree_snapshot.options(site)
    return options if command[0] == "build" else options[:2] + options[6:]


def test_a_build_continues_the_site_in_a_folder(site: Site, run: Run) -> None:
    """As if its manifest was given: a changed body gets a later date."""
    site.build()
    before = site.manifest.resources
    series = site.folder / "catalog_src/series/first.yaml"
    series.write_text(series.read_text().replace("title: First", "title: Changed"))
    built = Site(site.folder / "elsewhere")
    places = ("--out", built.folder / "dist", "--nginx", built.folder / "conf", "--previous", site.folder / "dist")
    result = run("build", *tree_snapshot.options(site), *places)

    assert result.exit_code == 0
    url = "/api/v2/series/first"
    assert built.manifest.resources[url].modified == before[url].modified + 1


def test_check_writes_nothing(site: Site, run: Run) -> None:
    """It counts series and published chapters."""
    schedule(site)
    before = tree_snapshot.state(site.folder)
    plain, listed = (run("check", *options_of(["check"], site), *more) for more in ([], ["--json"]))

    assert outcome(plain) == (0, f"{site.folder}/catalog_src: 2 series, 1 published chapter, no problems\n", "")
    assert json.loads(listed.stdout) == {"ok": True, "series": 2, "chapters": 1, "warnings": []}
    assert tree_snapshot.state(site.folder) == before


@pytest.mark.parametrize(
    "instant", ["2026-12-01T12:00:00Z", "2026-12-01 13:00 +01:00", "1796126400"], ids=["utc", "zone", "seconds"]
)
def test_as_of_accepts_all_forms_of_a_time(site: Site, run: Run, instant: str) -> None:
    """The forms of the catalog, and seconds since 1970."""
    schedule(site)
    result = run("build", *tree_snapshot.options(site), "--as-of", instant)

    assert result.exit_code == 0
    assert "/api/series/first/0/2" in site.manifest.resources
    assert "scheduled" not in result.stdout


@each(
    ("instant", "sentence"),
    [
        ("yesterday", "should be a time like 2026-05-01T12:00:00Z, not yesterday"),
        ("2026-02-30", "the day 2026-02-30 does not exist"),
        ("-5", "should be a time like 2026-05-01T12:00:00Z, not -5"),
        ("253402300800", "should be a time like 2026-05-01T12:00:00Z, not 253402300800"),
        ("²", "should be a time like 2026-05-01T12:00:00Z, not ²"),
    ],
)
def test_an_invalid_as_of_is_refused(site: Site, run: Run, instant: str, sentence: str) -> None:
    """Exit code 2, with a valid example."""
    result = run("build", *tree_snapshot.options(site), "--as-of", instant)

    assert (result.exit_code, result.stdout) == (2, "")
    assert f"Error: Invalid value for '--as-of': {sentence}" in result.stderr
    assert not (site.folder / "dist").exists()


@each("epoch", ["today", "-1", "1e9", "253402300800", "9" * 30])
def test_an_invalid_source_date_epoch_is_refused(site: Site, run: Run, epoch: str) -> None:
    """Exit code 2, with a valid example."""
    result = run("check", "--catalog", site.folder / "catalog_src", SOURCE_DATE_EPOCH=epoch)

    assert (result.exit_code, result.stdout) == (2, "")
    assert f"SOURCE_DATE_EPOCH should be seconds since 1970, not {epoch}" in result.stderr


@each(
    "arguments",
    [
        ["--jobs", "many"],
        ["--nonsense"],
        ["build", "surplus"],
        ["nonsense"],
        ["export"],
        ["serve", "--port", "0"],
        ["serve", "--port", "65536"],
    ],
)
def test_invalid_arguments_are_refused(run: Run, arguments: list[str]) -> None:
    """Unknown commands, options and values: exit code 2 and a hint on standard error."""
    result = run(*arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Usage: ")


def test_help_lists_every_command_with_its_whole_summary(run: Run) -> None:
    """--help and -h name every command in sections, with its first sentence, which fits on the line."""
    listed, short = run("--help"), run("-h")

    assert (listed.exit_code, short.stdout) == (0, listed.stdout)
    assert re.findall(r"^(\w+):$", listed.stdout, re.MULTILINE) == [
        *("Options", "Build", "Inspect", "Author", "Serve", "Examples")
    ]
    for name in COMMANDS:
        assert re.search(rf"^  {name} +{re.escape(summary(load(name)))}$", listed.stdout, re.MULTILINE)
    assert "…" not in listed.stdout
    assert "..." not in listed.stdout.replace("[ARGS]...", "")


@each("words", WORDS)
def test_the_help_of_a_command_has_options_and_examples(run: Run, words: list[str]) -> None:
    """-h explains every option and argument, and ends with command lines that this command accepts.

    It names no page of this repository: a project of its own has no `docs/`.
    """
    helped = run(*words, "-h")
    command = find(words)

    assert helped.exit_code == 0
    assert not re.search(r"docs/\w+\.md", helped.stdout)
    assert helped.stdout.startswith(f"Usage: python build.py {' '.join(words)} [OPTIONS]")
    assert len(summary(command)) <= 45
    for option in command.params:
        name = option.human_readable_name if isinstance(option, click.Argument) else option.opts[0]
        assert name in helped.stdout
    if isinstance(command, click.Group):
        assert all(f"  {name} " in helped.stdout for name in command.commands)
        return
    examples = helped.stdout.partition("\nExamples:\n")[2].splitlines()
    assert examples
    for example in examples:
        assert example.startswith(f"  python build.py {' '.join(words)}")
        command.make_parser(click.Context(command)).parse_args(shlex.split(example)[2 + len(words) :])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["chek"], "unknown command chek; did you mean check?"),
        (["nonsense"], "unknown command nonsense; --help lists the commands"),
        (["--catalog", "check", "check"], "the command check comes first, before its options"),
    ],
    ids=" ".join,
)
def test_a_wrong_command_gets_a_suggestion(run: Run, words: list[str], message: str) -> None:
    result = run(*words)

    assert result.exit_code == 2
    assert result.stderr.endswith(f"Error: {message}\n")


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (["bu"], ["build"]),
        (["keys", "a"], ["add"]),
        (["import", "--from-d"], ["--from-database"]),
        (["nonsense", "bu"], ["build"]),
    ],
    ids=" ".join,
)
def test_shells_complete_commands_and_options(words: list[str], completed: list[str]) -> None:
    """The completion that docs/serving.md installs; without a complete command, it is not that of build."""
    completion = ShellComplete(main, {}, "flatpanel", "_FLATPANEL_COMPLETE")

    assert [item.value for item in completion.get_completions(words[:-1], words[-1])] == completed


def test_defaults_are_shown(run: Run) -> None:
    """The help of an option ends with its default, also where the machine decides it."""
    helped = " ".join(run("build", "-h").stdout.split())

    assert "Number of processes. [default: (number of CPUs); x>=1]" in helped
    assert "Folder of the releases. [default: dist]" in helped


def test_version_option(run: Run) -> None:
    """It prints the version of the package."""
    assert outcome(run("--version")) == (0, f"flatpanel, version {__version__}\n", "")


def test_a_shallow_clone_is_a_warning(site: Site, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git has lost the commit times; the build continues."""
    monkeypatch.setattr("generator.catalog.git.file_times", lambda *_: FileTimes({}, [], is_shallow=True))
    result = run("build", *tree_snapshot.options(site), "--quiet")
    sentence = "is a shallow git clone, so dates of older files are wrong; fetch the whole history"

    assert outcome(result) == (0, "", f"warning: {site.folder}/catalog_src: {sentence}\n")


def test_check_and_build_warn_of_published_chapters_without_an_id(site: Site, run: Run) -> None:
    """A scheduled one is warned of when it is published. The second build takes the count from the cache."""
    chapters = "".join(
        f"  - {{number: {number}, published: {year}-01-01, pages: []}}\n"
        for number, year in enumerate((2020, 9000, 2021))
    )
    site.write("series/third.yaml", f"title: Third\ncover: c.png\nchapters:\n{chapters}")
    warning = "2 chapters have no id and are missing from /api/v2; `python build.py ids` changes that"

    for command in (
        ["check", "--catalog", site.folder / "catalog_src"],
        *[["build", *tree_snapshot.options(site)]] * 2,
    ):
        site.write("series/first.yaml", (site.folder / "catalog_src/series/first.yaml").read_text() + "# edited\n")
        assert run(*command).stderr == f"warning: {site.folder}/catalog_src: {warning}\n"


def test_the_configuration_has_the_absolute_path_of_a_dist_elsewhere(site: Site, run: Run, tmp_path: Path) -> None:
    """If dist is not below the folder of nginx.conf."""
    conf = tmp_path / "etc/nginx.conf"
    assert run("build", *tree_snapshot.options(site), "--nginx", conf).exit_code == 0

    assert f"include {os.path.realpath(site.folder)}/dist/current/http.conf;" in conf.read_text()
