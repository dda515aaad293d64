"""A fresh copy of the project: `make` lists its targets, and the program works in any folder."""

import re
import shutil
import subprocess
import sys
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Event, Thread

import pytest

from generator.release.store import Store
from generator.review import verify_files
from tests.conftest import copy_of
from tests.support import tree_snapshot
from tests.support.paths import BUILD

PROJECT = BUILD.parent
MAKEFILE = (PROJECT / "Makefile").read_text()


def make(*arguments: str) -> str:
    done = subprocess.run(["make", "-C", PROJECT, "--no-print-directory", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_help_lists_every_target() -> None:
    """`make` alone and `make help` have a line with a description for each target, and change nothing."""
    variables = dict(re.findall(r"^(\w+) := (.*)$", MAKEFILE, re.MULTILINE))
    (phony,) = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    phony = re.sub(r"\$\((\w+)\)", lambda match: variables[match[1]], phony)
    targets = re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE)
    listed = re.findall(r"^  make ([a-z-]+) +\S.*$", make("help"), re.MULTILINE)

    assert listed == targets
    assert set(listed) == set(phony.split())
    assert make() == make("help")


def test_make_serve_accepts_a_port_and_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """`make serve PORT=8001 HOST=::` passes both on. Some shells have a HOST of their own, which opens nothing."""
    monkeypatch.setenv("HOST", "0.0.0.0")
    given = make("-n", "serve", "PORT=8001", "HOST=::").splitlines()

    assert ".venv/bin/python build.py serve --port 8001 --host :: --watch" in given
    assert ".venv/bin/python build.py serve   --watch" in make("-n", "serve").splitlines()


def test_clean_works_while_a_build_writes(tmp_path: Path) -> None:
    """As beside `make serve`. Only generated files are removed."""
    left = ("dist/www", ".flatpanel_serve/8000/dist", "my pages/__pycache__", "my pages/dist", ".venv/__pycache__")
    for folder in left:
        (tmp_path / folder).mkdir(parents=True)
        for number in range(300):
            (tmp_path / folder / str(number)).touch()
    (tmp_path / "dist/link").symlink_to(tmp_path / "my pages")
    is_done = Event()

    def build() -> None:
        for number in count():
            for folder in left[:3]:
                with suppress(FileNotFoundError):
                    (tmp_path / folder / f"new {number}").touch()
            if is_done.is_set():
                return

    writer = Thread(target=build)
    writer.start()
    try:
        command = ["make", "-f", PROJECT / "Makefile", "clean"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    finally:
        is_done.set()
        writer.join()

    assert (done.returncode, done.stderr) == (0, "")
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_dir()} == {
        *(".venv", ".venv/__pycache__", "my pages", "my pages/dist")
    }


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    """The files of an archive of the project, in a folder whose name needs quoting."""
    folder = tmp_path / "flat panel (copy)"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PROJECT / "generator", folder / "generator", ignore=ignored)
    copy_of("minimal", folder)
    shutil.copy(BUILD, folder)
    return folder


def test_a_copy_works_in_any_place_from_any_folder(unpacked: Path, tmp_path: Path) -> None:
    """build.py, the package and the catalog need no other files. It builds in the current folder."""
    site, sources = tmp_path / "site", tree_snapshot.files(unpacked)
    shutil.copytree(unpacked / "catalog_src", site / "catalog_src")
    command = [sys.executable, "-B", unpacked / "build.py", "--quiet"]
    done = subprocess.run(command, cwd=site, capture_output=True, text=True)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(verify_files.check_files(Store(site / "dist"))) == []
    assert {path.name for path in site.iterdir()} == {".flatpanel_cache", "catalog_src", "dist", "nginx.conf"}
    assert tree_snapshot.files(unpacked) == sources


def test_missing_module_of_the_package_is_a_traceback(unpacked: Path) -> None:
    """A broken copy is not reported as a missing library."""
    (unpacked / "generator/errors.py").unlink()
    done = subprocess.run([sys.executable, "-B", "build.py"], cwd=unpacked, capture_output=True, text=True)

    assert done.returncode == 1
    assert "ModuleNotFoundError: No module named 'generator.errors'" in done.stderr
    assert "is not installed" not in done.stderr
