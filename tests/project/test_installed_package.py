"""The installed program: the same commands and bytes, and its own name in messages."""

import ast
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from generator import __version__, filesystem
from generator.commands import cli
from generator.commands.command import PROGRAM
from tests.conftest import Site
from tests.project.test_installation import copy_project
from tests.support import tree_snapshot
from tests.support.archives import (
    ROOT,
    copy_example,
    needs_hatchling,
    unmeasured,
)
from tests.support.documents import AS_OF

# Tests of commands that read each kind of file in the package, or start its program or nginx.
COMMANDS = ("cli", "error_formats", "init", "media", "next", "serve")
WITHOUT_ID = "  - {number: 7, published: 2026-02-02, pages: []}\n"
MISSING = "1 chapter has no id and is missing from /api/v2; `{} ids` changes that"
Program = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def flatpanel(commands: Path) -> Program:
    """The installed command."""

    def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
        return called([commands / "flatpanel", *arguments], folder)

    return run


def from_sources(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return called([sys.executable, ROOT / "build.py", *arguments], folder)


def called(command: list[str | Path], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**unmeasured(), "SOURCE_DATE_EPOCH": str(AS_OF)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def example(folder: Path) -> Path:
    """A folder with the example catalog only."""
    copy_example(folder)
    return folder


@pytest.mark.packages
@needs_hatchling
def test_the_installed_command_builds_the_same_site(flatpanel: Program, tmp_path: Path) -> None:
    """Its files, including nginx.conf, are those of `python build.py build`."""
    ours, theirs = example(tmp_path / "sources"), example(tmp_path / "installed")
    for program, folder in ((from_sources, ours), (flatpanel, theirs)):
        done = program("build", "--quiet", folder=folder)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

    assert tree_snapshot.content(theirs / "dist") == tree_snapshot.content(ours / "dist")
    assert (theirs / "nginx.conf").read_bytes() == (ours / "nginx.conf").read_bytes()
    assert len(tree_snapshot.files(ours / "dist/www")) > 400


@pytest.mark.packages
@needs_hatchling
def test_the_installed_command_and_module_are_those_of_the_sources(
    flatpanel: Program, commands: Path, tmp_path: Path
) -> None:
    """The help has the name that was typed; `generator` is not installed."""
    here, there = (program("--help", folder=tmp_path).stdout for program in (from_sources, flatpanel))
    module, missing = (
        called([commands / "python", "-m", name, "--version"], tmp_path) for name in ("flatpanel", "generator")
    )

    assert there == here.replace("python build.py", "flatpanel")
    assert module.stdout == flatpanel("--version", folder=tmp_path).stdout == f"flatpanel, version {__version__}\n"
    assert "No module named generator" in missing.stderr


def test_the_folder_runs_as_a_module() -> None:
    """`python -m generator` works in a checkout."""
    command = [sys.executable, "-m", "generator", "--version"]
    assert subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.startswith("flatpanel")


@pytest.mark.packages
@needs_hatchling
def test_a_hint_names_an_installed_command(flatpanel: Program, tmp_path: Path) -> None:
    """The package has no documents, so a problem names the command that explains the field."""
    site = example(tmp_path) / "catalog_src/site.yaml"
    site.write_text(site.read_text().replace("port: 8000", "port: none"))
    hint = re.search(r" = flatpanel (explain \S+)\n", flatpanel("check", folder=tmp_path).stderr)
    assert hint

    assert flatpanel(*hint[1].split(), folder=tmp_path).stdout.startswith("site.yaml\n  port\n")


@pytest.mark.packages
@needs_hatchling
def test_cached_warning_names_the_current_program(flatpanel: Program, tmp_path: Path) -> None:
    """A build with nothing to do repeats a warning of the other program with its own name."""
    with (example(tmp_path) / "catalog_src/series/paper-moons.yaml").open("a") as series:
        series.write(WITHOUT_ID)
    said = [program("build", folder=tmp_path) for program in (flatpanel, from_sources)]

    assert [one.stderr for one in said] == [
        f"warning: catalog_src: {MISSING.format('flatpanel')}\n",
        f"warning: catalog_src: {MISSING.format('python build.py')}\n",
    ]
    assert re.match(r"\d+ resources, 0 bytes written", said[1].stdout.splitlines()[1])


@pytest.mark.packages
@needs_hatchling
def test_the_installed_package_passes_the_tests_of_the_command_line(commands: Path, tmp_path: Path) -> None:
    """Outside the checkout, without `generator/`; pytest runs in the environment into which pip installed the wheel."""
    copy_project(tmp_path, "generator/")
    program = (tmp_path / "build.py").read_text(encoding="utf-8")
    (tmp_path / "build.py").write_text(program.replace("generator.commands", "flatpanel.commands"), encoding="utf-8")
    plugins = ["-p", "tests.support.installed_package", "-p", "no:xdist", "-p", "no:cacheprovider"]
    files = [f"tests/commands/test_{name}.py" for name in COMMANDS]
    command = [commands / "python", "-m", "pytest", "-q", *plugins, "-m", "not checkout", *files]
    # A folder of its own, since pytest removes the temporary folders of other runs; open, as some tests need it.
    with filesystem.scratch_folder(shared=True) as temporary:
        temporary.chmod(0o1777)
        environment = {**unmeasured(), "TMPDIR": str(temporary)}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout


def as_called(name: str, *arguments: object) -> Result:
    return CliRunner().invoke(cli.main, [str(one) for one in arguments], prog_name=name)


@pytest.mark.parametrize("name", ["flatpanel", "python build.py"])
@pytest.mark.parametrize("json", [False, True], ids=["for people", "for programs"])
def test_hints_name_the_program_as_it_was_called(site: Site, name: str, json: bool) -> None:
    """Problems and warnings have the called name, in text, in JSON and in the report."""
    flag = ["--json"] * json
    with (site.folder / "catalog_src/series/first.yaml").open("a") as series:
        series.write(WITHOUT_ID)
    page = site.folder / "report.html"
    warned = as_called(name, "build", *tree_snapshot.options(site), *flag, "--report", page)
    site.write(
        "series/second.yaml",
        "title: A\ncover: c.png\nchapters: [{id: , number: 1, published: 2026-01-01, pages: []}]\n",
    )
    refused = as_called(name, "check", "--catalog", site.folder / "catalog_src", *flag)
    hint = f"remove the line, then `{name} ids` adds an id"

    assert (warned.exit_code, refused.exit_code) == (0, 1)
    assert MISSING.format(name) in warned.output
    assert MISSING.format(name) in page.read_text(encoding="utf-8")
    # Once for people; the message and the problem for programs.
    assert refused.output.count(hint) == 1 + json
    assert as_called(name, "nonsense").output.startswith(f"Usage: {name} ")


def test_commands_name_the_program_as_it_was_called() -> None:
    """Messages of commands are printed by the same function as others."""
    offenders = []
    for module in sorted((ROOT / "generator/commands").rglob("*.py")):
        tree = ast.parse(module.read_text(encoding="utf-8"))
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        replaced = [call for call in calls if ast.unparse(call.func) == "with_program_name"]
        right = {id(inside) for call in replaced for inside in ast.walk(call)}
        right |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
        texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        hints = [text for text in texts if PROGRAM in text.value and text.value != PROGRAM]
        offenders += [f"{module}:{hint.lineno}" for hint in hints if id(hint) not in right]

    assert offenders == []


def test_messages_below_the_command_line_use_one_program_name() -> None:
    """Messages with a command are written as `python build.py`, so that the command line can replace it."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "generator").rglob("*.py"))}
    other_spelling = [path for path, text in texts.items() if text.count("build.py ") != text.count(PROGRAM)]
    installed_name = [path for path, text in texts.items() if "`flatpanel " in text and path.parent.name != "commands"]

    assert other_spelling + installed_name == []
