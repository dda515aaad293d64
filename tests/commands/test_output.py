"""What commands print: nothing in it is obeyed by a terminal, wherever it came from."""

import ast
import json
import os
import socketserver
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread

import click
import pytest
from click.testing import Result

from generator.commands import import_, output
from generator.escaping import escaped
from tests.conftest import Site
from tests.project.test_architecture import MODULES, tree
from tests.support import tree_snapshot
from tests.support.paths import BUILD
from tests.support.terminal import on_a_terminal

Run = Callable[..., Result]

# What a terminal obeys, or takes for another line, or nobody can encode: C0, DEL, C1, directions, separators, halves.
OBEYED = [
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA0)),
    *map(chr, range(0x202A, 0x202F)),
    *map(chr, range(0x2066, 0x206A)),
    *"\u200e\u200f\u061c\u2028\u2029\ud800\udcff\udfff",
]
TITLE = "\x1b]0;owned\x07"

# The one module that prints, and what another would need to print past it.
PRINTER = "commands/output"
OF_CLICK = {"echo", "secho", "style", "progressbar", "prompt", "confirm", "pause", "clear", "echo_via_pager", "launch"}
OF_SYS = {"stdout", "stderr", "__stdout__", "__stderr__"}
OF_OS = {"write", "writev", "system", "popen", "execv", "execvp", "posix_spawn", "spawnv"}
LIBRARIES = {"logging", "warnings", "traceback", "getpass", "curses", "syslog", "readline", "pprint", "pty"}
PAST_IT = {"click": OF_CLICK, "sys": OF_SYS, "os": OF_OS}
# `filesystem` writes into files that it has opened.
WRITES_FILES = ("filesystem", "os.write")


def printing(module: str, code: ast.AST) -> list[str]:
    """Each thing in a module that prints past `output`, or lets a program that it starts print."""
    found: list[str] = []
    for node in ast.walk(code):
        match node:
            case ast.Call(func=ast.Name(id="print" | "breakpoint")):
                found.append("print")
            case ast.Call(func=ast.Attribute(value=ast.Name(id="subprocess")), keywords=given):
                kept = {one.arg for one in given if ast.unparse(one.value) in ("subprocess.PIPE", "subprocess.DEVNULL")}
                if not kept >= {"stdout", "stderr"} and "capture_output" not in {one.arg for one in given}:
                    found.append("subprocess")
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if attribute in PAST_IT.get(name, ()):
                found.append(f"{name}.{attribute}")
            case ast.ImportFrom(module=str(name), names=names, level=0):
                found += [f"{name}.{one.name}" for one in names if one.name in PAST_IT.get(name, ())]
                found += {name.partition(".")[0]} & LIBRARIES
            case ast.Import(names=names):
                found += {one.name.partition(".")[0] for one in names} & LIBRARIES
    return [one for one in found if (module, one) != WRITES_FILES]


@pytest.mark.parametrize("module", [module for module in MODULES if module != PRINTER])
def test_one_module_prints(module: str) -> None:
    """Nothing is printed past the function that escapes, and no program that is started prints by itself."""
    assert printing(module, tree(module)) == []


@pytest.mark.parametrize(
    "code",
    [
        "print(x)",
        "click.echo(x)",
        "click.secho(x, err=True)",
        "functools.partial(click.echo, x)",
        "from click import echo, option",
        "click.progressbar(x, label=y)",
        "sys.stdout.write(x)",
        "say = sys.stderr.buffer.write",
        "from sys import stderr",
        "os.write(1, x)",
        "import logging",
        "from traceback import print_exc",
        "subprocess.run(x)",
        "subprocess.Popen(x, stdout=subprocess.PIPE)",
        "subprocess.Popen(x, stdout=subprocess.PIPE, stderr=None)",
    ],
)
def test_printing_is_seen(code: str) -> None:
    """The test above sees what it forbids."""
    assert len(printing("module", ast.parse(code))) == 1


def test_the_printer_prints() -> None:
    """The module that may print is the one that does."""
    assert {"click.echo", "click.progressbar", "sys.stderr"} <= set(printing(PRINTER, tree(PRINTER)))


@pytest.mark.parametrize("character", OBEYED, ids=ascii)
def test_no_character_is_obeyed(character: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each is shown as an escape in one line, as text, in an annotation's place and in JSON, which reads as before."""
    output.print_lines(f"a{character}b")
    line = capsys.readouterr().out
    output.print_json({"name": f"a{character}b"})
    text = capsys.readouterr().out

    assert line == f"a{escaped(character)}b\n"
    assert line.isascii() and line[:-1].isprintable()
    assert text.isascii() and text.replace("\n", "").isprintable()
    said = json.loads(text)["name"]
    assert said == (f"a{escaped(character)}b" if "\ud800" <= character <= "\udfff" else f"a{character}b")


def test_a_line_break_is_what_the_caller_means(capsys: pytest.CaptureFixture[str]) -> None:
    """Each argument is one line; nothing is printed where there is none."""
    output.print_lines("a", "b\nc", "")
    output.print_lines()

    assert capsys.readouterr().out == "a\nb\\nc\n\n"


def test_half_a_character_is_escaped_wherever_it_stands_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    """As a name, in a list, beside what is no text; UTF-8 has no bytes for it."""
    output.print_json({"\udcff": [("\udcfe", 1, None)]})

    assert json.loads(capsys.readouterr().out) == {"\\udcff": [["\\udcfe", 1, None]]}


def test_other_scripts_are_text(capsys: pytest.CaptureFixture[str]) -> None:
    """Letters of every script, wide blanks and symbols are shown as they are."""
    output.print_lines("紙の月\u3000Ärger 🌙 कॉमिक")

    assert capsys.readouterr().out == "紙の月\u3000Ärger 🌙 कॉमिक\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["build", f"--{TITLE}"],
        ["build", TITLE],
        [f"new{TITLE}"],
        ["build", "--jobs", TITLE],
        ["build", "--as-of", TITLE],
        ["check", "--format", TITLE],
        ["diff", "--purge", "--base-url", TITLE],
        ["import", f"http://x/{TITLE}"],
        ["import", "--rate", TITLE, "http://localhost"],
        ["keys", f"a{TITLE}"],
        ["check", "--catalog", f"nowhere{TITLE}"],
        ["verify", "--out", f"nowhere{TITLE}"],
        ["verify", "--url", f"http://localhost:1/{TITLE}"],
        ["new", "series", TITLE, "--title", "x"],
        ["views", f"nowhere{TITLE}"],
        ["diff", TITLE, f"a{TITLE}"],
        ["export", f"nowhere{TITLE}", "--out", f"a{TITLE}"],
    ],
    ids=lambda arguments: arguments[0],
)
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_arguments_are_repeated_harmlessly(site: Site, run: Run, arguments: list[str], form: list[str]) -> None:
    """Complaints about arguments, click's and ours, repeat them in letters that no terminal obeys."""
    result = run(*arguments, *form)

    assert result.exit_code in (1, 2)
    assert result.output.replace("\n", "").isprintable()


def test_a_complaint_about_arguments_is_laid_out_as_ever(run: Run) -> None:
    """How the command is used, where help is, and what is wrong, with exit code 2."""
    result = run("check", "--jobs", "0")

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "Usage: python build.py check [OPTIONS]\n"
        "Try 'python build.py check --help' for help.\n\n"
        "Error: Invalid value for '--jobs': 0 is not in the range x>=1.\n"
    )


def test_a_complaint_of_no_command_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a command there is no usage to show."""
    with pytest.raises(click.ClickException) as caught, output.escape_usage_errors():
        raise click.UsageError("a\x1b")
    caught.value.show()

    assert capsys.readouterr().err == "Error: a\\x1b\n"


def test_a_group_without_a_command_shows_its_help(run: Run) -> None:
    """`keys` alone says what there is, line by line."""
    result = run("keys")

    assert "Usage: python build.py keys" in result.output
    assert "\n  revoke " in result.output


def test_the_name_of_a_file_is_harmless_on_a_terminal(site: Site) -> None:
    """In a problem, in JSON and in an annotation; colours are the program's own."""
    (site.folder / "catalog_src/series" / os.fsdecode(b"\x1b]0;owned\x07\xff.yaml")).touch()
    command = [sys.executable, str(BUILD), "check", "--catalog", str(site.folder / "catalog_src")]
    plain = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    shown = [on_a_terminal([*command, *form], plain)[1] for form in ([], ["--json"], ["--format", "github"])]

    assert all("owned" in one and "\x07" not in one and "\x1b]" not in one for one in shown)
    assert "\x1b[31m" in shown[0]
    assert json.loads(shown[1])["problems"][0]["file"].endswith("\x1b]0;owned\x07\\udcff.yaml")


def test_a_comparison_names_folders_harmlessly(site: Site, run: Run) -> None:
    """As text and as Markdown, where a line break would end the paragraph."""
    site.build()
    folder = site.folder / f"{TITLE}\n# Heading\n"
    (site.folder / "dist").rename(folder)
    for form in ("text", "markdown"):
        said = run("diff", folder, site.folder / "catalog_src", "--format", form, "--as-of", tree_snapshot.AS_OF).stdout

        assert "# Heading" in said and "\n# Heading" not in said
        assert said.replace("\n", "").isprintable()


def test_a_dry_run_shows_values_harmlessly(site: Site, run: Run) -> None:
    """The lines of a file that would be written, one by one."""
    site.write("series/first.yaml", "title: First # \u202e\ncover: c.png\n")
    chapter = ["new", "chapter", "first", "--title", "x\u2066y", "--dry-run", "--catalog", site.folder / "catalog_src"]
    result = run(*chapter, "--out", site.folder / "dist")

    assert result.exit_code == 0
    assert "+++ " in result.stdout and "\\U00002066" in result.stdout
    assert result.output.replace("\n", "").isprintable()


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_a_server_that_answers_nonsense_is_quoted_harmlessly(
    site: Site, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a status line holds reaches no terminal as it came, neither from `import` nor from `verify --url`."""
    monkeypatch.setattr(import_, "time", Clock())
    site.build()
    with hostile_server(b"HTTP/1.1 \x1b]0;owned\x07 \x9b31m\r\nX: \x1b[2J\r\n\r\n") as url:
        verified = run("verify", "--url", url, "--out", site.folder / "dist")
        imported = run("import", url, "--catalog", site.folder / "other")

    assert "\\x1b]0;owned" in verified.output
    for result in (verified, imported):
        assert (result.exit_code, result.output.replace("\n", "").isprintable()) == (1, True)


@contextmanager
def hostile_server(answer: bytes) -> Iterator[str]:
    """A server that gives the same bytes to each request, and closes the connection."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(65536)
            self.request.sendall(answer)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
