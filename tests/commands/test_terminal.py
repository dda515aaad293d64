"""`python build.py` on a terminal, in a pipe, without dependencies, and twice at once."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from click import _termui_impl
from click.testing import Result

from generator.commands import output
from generator.release import transaction
from generator.release.bodies import BUILD_STATE_FILE
from tests.conftest import Site
from tests.support import tree_snapshot
from tests.support.paths import BUILD, ROOT
from tests.support.runs import sample
from tests.support.terminal import on_a_terminal

RED, BAR, BOLD = "\x1b[31m", "building", "\x1b[1m"


def command(site: Site, *arguments: str) -> list[str]:
    return [sys.executable, str(BUILD), *map(str, tree_snapshot.options(site)), *arguments]


def on_screen(site: Site, *arguments: str, **environment: str) -> str:
    """The content of the screen."""
    plain = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    return on_a_terminal(command(site, *arguments), plain | environment)[1]


def test_build_py_without_arguments_uses_the_current_folder(site: Site) -> None:
    """catalog_src, dist and nginx.conf."""
    done = subprocess.run([sys.executable, BUILD], cwd=site.folder, capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"release {site.store.current()} in dist: 54 added, ")
    assert (site.folder / "nginx.conf").exists()


@pytest.mark.checkout
def test_no_colours_and_no_progress_bar_in_a_pipe(site: Site) -> None:
    """Problems are plain text on standard error; exit code 1."""
    site.write("series/second.yaml", "title: Second\n")
    place = f"{site.folder}/catalog_src/series/second.yaml:1:1"

    help = "    1 | title: Second\n      | ^\n      = docs/catalog.md#series-seriesslugyaml\n"
    done = subprocess.run(command(site), capture_output=True, text=True)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"{place}: cover: is missing\n{help}1 problem; nothing was written\n"


@pytest.mark.parametrize(("environment", "is_coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_on_a_terminal(site: Site, environment: dict[str, str], is_coloured: bool) -> None:
    """Problems are red, their count is bold."""
    site.write("series/second.yaml", "title: Second\n")
    shown = on_screen(site, **environment)

    assert "cover: " in shown
    assert (RED in shown, "\x1b[3" in shown, BOLD in shown) == (is_coloured,) * 3


def test_the_progress_bar_counts_series(site: Site) -> None:
    """Its length is the number of series to render."""
    for number in range(30):
        site.write(f"series/more-{number}.yaml", "title: More\ncover: c.png\n")
    shown = on_screen(site)
    done = [int(one) for one in re.findall(r" (\d+)/32\b", shown)]

    assert BAR in shown
    assert done == sorted(done)
    assert {0, 32} <= set(done)
    assert f"release {site.store.current()}" in shown


@pytest.mark.parametrize("host", [[], ["--for", "caddy"]], ids=" ".join)
def test_export_shows_its_progress(site: Site, host: list[str]) -> None:
    """The progress bar counts the files that are written."""
    site.build()
    export = [sys.executable, str(BUILD), "export", "--out", str(site.folder / "dist"), *host, str(site.folder / "to")]
    shown = on_a_terminal(export, os.environ)[1]
    written = sum(path.is_file() for path in (site.folder / "to").rglob("*")) - len(host) // 2

    assert re.search(rf"writing .*\b{written}/{written}\b", shown)


@pytest.mark.end_to_end
def test_verify_shows_its_progress(site: Site) -> None:
    """The progress bar counts the bodies of all releases; with --json there is none."""
    site.build()
    verify = [sys.executable, str(BUILD), "verify", "--out", str(site.folder / "dist")]
    repair = [*verify, "--repair"]
    repair += ["--catalog", str(site.folder / "catalog_src"), "--nginx", str(site.folder / "nginx.conf")]

    assert re.search(r"checking .*\b54/54\b", on_a_terminal(verify, os.environ)[1])
    assert re.search(r"checking .*\b54/54\b", on_a_terminal(repair, os.environ)[1])
    assert "checking" not in on_a_terminal([*repair, "--json"], os.environ)[1]


def test_the_progress_bar_shows_the_remaining_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """At two seconds for each series, five more take ten."""
    clock = SimpleNamespace(now=0.0, time=lambda: clock.now)
    monkeypatch.setattr(_termui_impl, "time", clock)
    with output.progress_bar(range(10), label="building series", length=10, show_pos=True) as shown:
        for _ in range(5):
            clock.now += 2
            shown.update(1)
        progress = shown.format_progress_line()

    assert progress.endswith("5/10  00:00:10")


@pytest.mark.end_to_end
@pytest.mark.parametrize("option", ["--quiet", "--json"])
def test_quiet_and_json_have_no_progress_bar(site: Site, option: str) -> None:
    """On a terminal, too."""
    assert BAR not in on_screen(site, option)
    assert site.store.current()


@pytest.mark.parametrize(("encoding", "shown"), [("latin-1", "Ü\\u2013"), ("utf-8", "Ü–")])
def test_unencodable_characters_are_escaped(site: Site, encoding: str, shown: str) -> None:
    """Titles may have characters that the terminal's encoding lacks."""
    words = ["new", "series", "x", "--title", "Ü–", "--dry-run", "--catalog", str(site.folder / "catalog_src")]
    done = subprocess.run(
        [sys.executable, str(BUILD), *words],
        capture_output=True,
        encoding=encoding,
        env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"},
    )

    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert f"+title: {shown}\n" in done.stdout


@pytest.mark.end_to_end
@pytest.mark.parametrize("closed", sample([">&-", "2>&-", ">&- 2>&-"], 2))
def test_a_closed_stdout_is_no_error(site: Site, closed: str) -> None:
    """The build completes."""
    code, printed = with_streams(site, *map(str, tree_snapshot.options(site)), streams=closed)

    assert (code, "Traceback" in printed) == (0, False)
    assert site.store.current()


def test_a_list_without_stdout_is_no_error(site: Site) -> None:
    """Lists for other programs are printed in another way than messages."""
    done = with_streams(site, "media", "list", streams=">&-")

    assert done == (0, "")


def with_streams(site: Site, *arguments: str, streams: str = ">/dev/full") -> tuple[int, str]:
    """The exit code and standard error of a command, by default one whose output cannot be written."""
    # Python keeps buffered output that could not be written, and writes it again at the end.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    shell = ["sh", "-c", f'exec "$@" {streams}', "sh", sys.executable, str(BUILD), *arguments]
    done = subprocess.run(shell, cwd=site.folder, env=environment, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "arguments", sample(["--help", "build --help", "--version", "check", "check --json", "media list"], 3)
)
def test_a_full_stdout_is_an_error_in_one_line(site: Site, arguments: str) -> None:
    """Also if the error itself would be printed there."""
    assert with_streams(site, *arguments.split()) == (1, "standard output: No space left on device\n")


@pytest.mark.parametrize(
    ("form", "streams"), sample([("json", ">/dev/full"), ("github", ">/dev/full"), ("json", ">&-")], 2)
)
def test_problems_are_printed_on_stderr_if_stdout_fails(site: Site, form: str, streams: str) -> None:
    """As text, and above the error of the stream."""
    site.write("series/second.yaml", "title: Second\n")
    code, complaints = with_streams(site, "check", "--format", form, streams=streams)

    assert code == 1
    assert complaints.startswith("catalog_src/series/second.yaml:1:1: cover: is missing\n")
    end = "standard output: No space left on device\n" if "full" in streams else ""
    assert complaints.endswith(f"\n1 problem\n{end}")


@pytest.mark.parametrize(
    ("options", "is_wrong"), [([], False), (["--format", "json"], True), (["--format", "github"], True)]
)
def test_a_closed_pipe_is_no_error(site: Site, options: list[str], is_wrong: bool) -> None:
    """`build.py | head -0` prints no traceback. Problems are not printed elsewhere."""
    if is_wrong:
        site.write("series/second.yaml", "title: Second\n")
    here, there = os.pipe()
    os.close(here)
    done = subprocess.run(command(site, *options), stdout=there, stderr=subprocess.PIPE, text=True)
    os.close(there)

    assert (done.returncode, done.stderr) == (1, "")
    assert bool(site.store.current()) != is_wrong


@pytest.mark.parametrize(
    "arguments", sample([["build"], ["build", "--check"], ["next"], ["check"], ["init", "x"]], 2), ids=" ".join
)
def test_a_removed_working_folder_is_named(site: Site, arguments: list[str]) -> None:
    """Some commands need it for their default options, others later."""
    (site.folder / "removed").mkdir()
    shell = ["sh", "-c", 'cd removed && rmdir ../removed && exec "$@"', "sh", sys.executable, str(BUILD), *arguments]
    done = subprocess.run(shell, cwd=site.folder, capture_output=True, text=True)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "working folder: has been removed; change to another folder\n"


def test_a_removed_working_folder_is_named_in_json(
    site: Site, run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On standard output."""
    (site.folder / "removed").mkdir()
    monkeypatch.chdir(site.folder / "removed")
    (site.folder / "removed").rmdir()
    result = run("build", "--json")

    message = "working folder: has been removed; change to another folder"
    assert (result.exit_code, result.stderr) == (1, "")
    assert json.loads(result.stdout) == {"ok": False, "message": message, "problems": []}


def test_a_full_stderr_ends_with_exit_code_1(site: Site) -> None:
    """The error cannot be printed."""
    assert with_streams(site, "check", "--catalog", "nowhere", streams="2>/dev/full >&2") == (1, "")


@pytest.mark.checkout
def test_missing_dependencies_are_an_error(site: Site) -> None:
    """A message and exit code 2."""
    done = subprocess.run([sys.executable, "-S", *command(site)[1:]], capture_output=True, text=True)
    tool, python = (shlex.quote(f"{ROOT}/{path}") for path in ("tools/setup", ".venv/bin/python"))
    sentence = f"build.py: click is not installed; run `{tool} run`, then use {python}\n"

    assert (done.returncode, done.stdout, done.stderr) == (2, "", sentence)


def test_a_second_build_waits_for_the_first(site: Site) -> None:
    """It prints a notice and continues after the first one."""
    with transaction.begin(site.store, pytest.fail):
        process = subprocess.Popen(command(site), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stderr
        notice = process.stderr.readline()
        assert not site.store.current()
    out, rest = process.communicate()

    assert notice == f"{site.folder}/dist: another build or publish is running; waiting for it\n"
    assert (process.returncode, rest) == (0, "")
    assert out.startswith(f"release {site.store.current()} ")
    assert (site.folder / "dist" / BUILD_STATE_FILE).read_bytes() == b""
