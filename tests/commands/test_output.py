"""Printed texts contain no terminal control characters."""

import ast
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from generator import filesystem
from generator.commands import importing, output
from generator.commands.command import Command
from generator.commands.command import Result as CommandResult
from generator.errors import escaped
from tests.commands.test_cli import Run
from tests.conftest import Site
from tests.project.test_architecture import MODULES, tree
from tests.support import servers
from tests.support.import_project import FakeClock
from tests.support.paths import BUILD
from tests.support.terminal import on_a_terminal

# C0, DEL and C1 control characters, bidirectional marks, line separators, surrogates.
OBEYED = [
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA0)),
    *map(chr, range(0x202A, 0x202F)),
    *map(chr, range(0x2066, 0x206A)),
    *"\u200e\u200f\u061c\u2028\u2029\ud800\udcff\udfff",
]
TITLE = "\x1b]0;owned\x07"

# The module that prints, and the calls that other modules would need to print.
PRINTER = "commands/output"
OF_CLICK = {"echo", "secho", "style", "progressbar", "prompt", "confirm", "pause", "clear", "echo_via_pager", "launch"}
OF_SYS = {"stdout", "stderr", "__stdout__", "__stderr__"}
OF_OS = {"write", "writev", "system", "popen", "execv", "execvp", "posix_spawn", "spawnv"}
LIBRARIES = {"logging", "warnings", "traceback", "getpass", "curses", "syslog", "readline", "pprint", "pty"}
PAST_IT = {"click": OF_CLICK, "sys": OF_SYS, "os": OF_OS}
# `filesystem` writes into files that it has opened; `media.variants` silences the warnings of a library.
EXCEPTIONS = {("filesystem", "os.write"), ("media/variants", "warnings")}


def is_kept(stream: ast.expr) -> bool:
    """Whether a subprocess writes into a pipe, into nothing, or into a file, which a variable holds."""
    return isinstance(stream, ast.Name) or ast.unparse(stream) in ("subprocess.PIPE", "subprocess.DEVNULL")


def printing(module: str, code: ast.AST) -> list[str]:
    """Everything in a module that prints without `output`, or lets a subprocess print."""
    calls: list[str] = []
    for node in ast.walk(code):
        match node:
            case ast.Call(func=ast.Name(id="print" | "breakpoint")):
                calls.append("print")
            case ast.Call(func=ast.Attribute(value=ast.Name(id="subprocess")), keywords=given):
                kept = {one.arg for one in given if is_kept(one.value)}
                if not kept >= {"stdout", "stderr"} and "capture_output" not in {one.arg for one in given}:
                    calls.append("subprocess")
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if attribute in PAST_IT.get(name, ()):
                calls.append(f"{name}.{attribute}")
            case ast.ImportFrom(module=str(name), names=names, level=0):
                calls += [f"{name}.{one.name}" for one in names if one.name in PAST_IT.get(name, ())]
                calls += {name.partition(".")[0]} & LIBRARIES
            case ast.Import(names=names):
                calls += {one.name.partition(".")[0] for one in names} & LIBRARIES
    return [one for one in calls if (module, one) not in EXCEPTIONS]


@pytest.mark.checkout
def test_one_module_prints() -> None:
    """Only `output` prints, and no subprocess prints directly."""
    found = {module: printing(module, tree(module)) for module in MODULES if module != PRINTER}

    assert {module: calls for module, calls in found.items() if calls} == {}


PRINTS = [
    "print(x)",
    "functools.partial(click.echo, x)",
    "from click import echo, option",
    "say = sys.stderr.buffer.write",
    "import logging",
    "from traceback import print_exc",
    "subprocess.run(x)",
    "subprocess.Popen(x, stdout=subprocess.PIPE)",
    "subprocess.Popen(x, stdout=subprocess.PIPE, stderr=None)",
]


def test_the_check_detects_printing() -> None:
    """It reports each forbidden form."""
    assert [code for code in PRINTS if len(printing("module", ast.parse(code))) != 1] == []


@pytest.mark.checkout
def test_the_printing_module_prints() -> None:
    """The exception of the check is the right module."""
    assert {"click.echo", "click.progressbar", "sys.stderr"} <= set(printing(PRINTER, tree(PRINTER)))


def test_control_characters_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    """In text, in an annotation and in JSON, whose value is unchanged."""
    assert [ascii(character) for character in OBEYED if not is_escaped(character, capsys)] == []


def is_escaped(character: str, capsys: pytest.CaptureFixture[str]) -> bool:
    output.print_lines(f"a{character}b")
    line = capsys.readouterr().out
    output.print_json({"name": f"a{character}b"})
    text = capsys.readouterr().out

    shown = f"a{escaped(character)}b"
    name = shown if "\ud800" <= character <= "\udfff" else f"a{character}b"
    is_plain = all(one.isascii() and one.replace("\n", "").isprintable() for one in (line, text))
    return line == f"{shown}\n" and line.count("\n") == 1 and is_plain and json.loads(text)["name"] == name


def test_each_argument_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Letters of all scripts, wide spaces and symbols are printed. Without arguments nothing is."""
    output.print_lines("紙の月\u3000Ärger 🌙 कॉमिक", "b\nc", "")
    output.print_lines()

    assert capsys.readouterr().out == "紙の月\u3000Ärger 🌙 कॉमिक\nb\\nc\n\n"


def test_unpaired_surrogates_are_escaped_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    """In names, lists and values; UTF-8 cannot represent them."""
    output.print_json({"\udcff": [("\udcfe", 1, None)]})

    assert json.loads(capsys.readouterr().out) == {"\\udcff": [["\\udcfe", 1, None]]}


WITH_TITLE = [
    ["build", f"--{TITLE}"],
    ["build", TITLE],
    [f"new{TITLE}"],
    ["build", "--jobs", TITLE],
    ["build", "--as-of", TITLE],
    ["diff", "--purge", "--base-url", TITLE],
    ["import", f"http://x/{TITLE}"],
    ["keys", f"a{TITLE}"],
    ["check", "--catalog", f"nowhere{TITLE}"],
    ["verify", "--url", f"http://localhost:1/{TITLE}"],
    ["new", "series", TITLE, "--title", "x"],
    ["views", f"nowhere{TITLE}"],
    ["diff", TITLE, f"a{TITLE}"],
]


def test_a_long_result_is_printed_while_it_is_made(capsys: pytest.CaptureFixture[str]) -> None:
    """Not collected first: the lines before a fault are on the screen."""
    printed: list[str] = []

    def lines() -> Iterator[str]:
        for number in range(1000):
            yield f"line {number}"
            printed.append(capsys.readouterr().out)

    with Command("any", callback=lambda: CommandResult(lines)).make_context("any", []) as context:
        context.command.invoke(context)

    assert any(printed)
    assert "".join(printed) + capsys.readouterr().out == "".join(f"line {number}\n" for number in range(1000))


def test_usage_errors_escape_arguments(site: Site, run: Run) -> None:
    """In messages of click and of the commands, in text and in JSON."""
    results = [(*words, *form) for words in WITH_TITLE for form in ([], ["--json"])]
    done = {words: run(*words) for words in results}

    assert [words for words, result in done.items() if result.exit_code not in (1, 2)] == []
    assert [words for words, result in done.items() if not result.output.replace("\n", "").isprintable()] == []


def test_the_layout_of_a_usage_error(run: Run) -> None:
    """Usage, hint and message; exit code 2."""
    result = run("check", "--jobs", "0")

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "Usage: python build.py check [OPTIONS]\n"
        "Try 'python build.py check --help' for help.\n\n"
        "Error: Invalid value for '--jobs': 0 is not in the range x>=1.\n"
    )


def test_a_usage_error_without_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    """It has no usage line."""
    with pytest.raises(click.ClickException) as caught, output.escape_usage_errors():
        raise click.UsageError("a\x1b")
    caught.value.show()

    assert capsys.readouterr().err == "Error: a\\x1b\n"


def test_a_group_without_a_command_shows_its_help(run: Run) -> None:
    """`keys` alone prints its help."""
    result = run("keys")

    assert "Usage: python build.py keys" in result.output
    assert "\n  revoke " in result.output


def test_file_names_are_escaped(site: Site) -> None:
    """In a problem, in JSON and in an annotation, between the colours of the program."""
    (site.folder / "catalog_src/series" / os.fsdecode(b"\x1b]0;owned\x07\xff.yaml")).touch()
    command = [sys.executable, str(BUILD), "check", "--catalog", str(site.folder / "catalog_src")]
    plain = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    shown = [on_a_terminal([*command, *form], plain)[1] for form in ([], ["--json"], ["--format", "github"])]

    assert all("owned" in one and "\x07" not in one and "\x1b]" not in one for one in shown)
    assert "\x1b[31m" in shown[0]
    assert json.loads(shown[1])["problems"][0]["file"].endswith("\x1b]0;owned\x07\\udcff.yaml")


def test_diff_escapes_folder_names(site: Site, run: Run) -> None:
    """In text, and in Markdown, where a line break would end the paragraph."""
    site.build()
    folder = site.folder / f"{TITLE}\n# Heading\n"
    (site.folder / "dist").rename(folder)
    for form in ("text", "markdown"):
        output_text = run(
            "diff", folder, site.folder / "catalog_src", "--format", form, "--as-of", site.options.as_of
        ).stdout

        assert "# Heading" in output_text and "\n# Heading" not in output_text
        assert output_text.replace("\n", "").isprintable()


def test_a_dry_run_escapes_values(site: Site, run: Run) -> None:
    """In each line of the file."""
    site.write("series/first.yaml", "title: First # \u202e\ncover: c.png\n")
    chapter = ["new", "chapter", "first", "--title", "x\u2066y", "--dry-run", "--catalog", site.folder / "catalog_src"]
    result = run(*chapter, "--out", site.folder / "dist")

    assert result.exit_code == 0
    assert "+++ " in result.stdout and "\\U00002066" in result.stdout
    assert result.output.replace("\n", "").isprintable()


class Hostile(servers.Handler):
    """Sends the same bytes for each request, and closes the connection."""

    def do_GET(self) -> None:
        self.wfile.write(b"HTTP/1.1 \x1b]0;owned\x07 \x9b31m\r\nX: \x1b[2J\r\n\r\n")
        self.close_connection = True


def test_status_lines_of_servers_are_escaped(site: Site, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the output of `import` and `verify --url`."""
    clock = FakeClock()
    monkeypatch.setattr(importing, "time", SimpleNamespace(monotonic=clock, sleep=clock.slept.append))
    site.build()
    with servers.answering(Hostile) as port:
        verified = run("verify", "--url", f"http://127.0.0.1:{port}", "--out", site.folder / "dist")
        imported = run("import", f"http://127.0.0.1:{port}", "--catalog", site.folder / "other")

    assert "\\x1b]0;owned" in verified.output
    for result in (verified, imported):
        assert (result.exit_code, result.output.replace("\n", "").isprintable()) == (1, True)


@pytest.mark.parametrize("replace", [filesystem.replace_link, filesystem.replace])
def test_a_file_of_another_process_is_no_wrong_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replace: Callable[[Path, Any], None]
) -> None:
    """Two processes may replace the same file at once. The message named the temporary file as no folder."""
    temporary = ".new" if replace is filesystem.replace_link else ".current.new"
    (tmp_path / temporary).touch()
    # Like another process that makes the file again after each removal.
    monkeypatch.setattr(os, "unlink", lambda *_, **__: None)

    with pytest.raises(FileExistsError) as raised:
        replace(tmp_path / "current", "new" if replace is filesystem.replace_link else b"new")
    sentence = f"{tmp_path / temporary}: another process made this file at the same moment; try again"
    assert output.failure(raised.value) == sentence
