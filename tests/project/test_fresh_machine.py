"""A fresh copy of the project: `make` lists its targets, and the program works in any folder."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from generator.release.store import Store
from generator.review import verify_files
from tests.support import tree_snapshot
from tests.support.archives import copy_example
from tests.support.paths import BUILD

PROJECT = BUILD.parent
MAKEFILE = (PROJECT / "Makefile").read_text()


def make(*arguments: str) -> str:
    done = subprocess.run(["make", "-C", PROJECT, "--no-print-directory", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_help_lists_every_target() -> None:
    """`make help` has a line with a description for each target."""
    (phony,) = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    targets = re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE)
    listed = re.findall(r"^  make ([a-z-]+) +\S.*$", make("help"), re.MULTILINE)

    assert listed == targets
    assert set(listed) == set(phony.split())


def test_make_alone_is_help() -> None:
    """`make` prints the targets and changes nothing."""
    assert make() == make("help")


def test_make_serve_accepts_a_port() -> None:
    """`make serve PORT=8001` passes the port on; the default is the port of the site."""
    assert ".venv/bin/python build.py serve --port 8001 --watch" in make("-n", "serve", "PORT=8001").splitlines()
    assert ".venv/bin/python build.py serve  --watch" in make("-n", "serve").splitlines()


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    """The files of an archive of the project, in a folder whose name needs quoting."""
    folder = tmp_path / "flat panel (copy)"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PROJECT / "generator", folder / "generator", ignore=ignored)
    copy_example(folder)
    shutil.copy(BUILD, folder)
    return folder


def test_a_copy_works_in_any_place(unpacked: Path) -> None:
    """build.py, the package and the catalog need no other files."""
    done = subprocess.run([sys.executable, "-B", "build.py"], cwd=unpacked, capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")
    assert list(verify_files.check_files(Store(unpacked / "dist"))) == []
    assert {name.partition("/")[0] for name in tree_snapshot.files(unpacked)} == {
        *(".flatpanel_cache", "build.py", "catalog_src", "dist", "generator", "nginx.conf")
    }


def test_a_copy_works_from_any_current_folder(unpacked: Path, tmp_path: Path) -> None:
    """build.py finds its package from any folder, and builds in the current one."""
    shutil.copytree(unpacked / "catalog_src", tmp_path / "site/catalog_src")
    done = subprocess.run(
        [sys.executable, "-B", unpacked / "build.py", "--quiet"], cwd=tmp_path / "site", capture_output=True, text=True
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert Store(tmp_path / "site/dist").current()
    assert not (unpacked / "dist").exists()


def test_missing_module_of_the_package_is_a_traceback(unpacked: Path) -> None:
    """A broken copy is not reported as a missing library."""
    (unpacked / "generator/errors.py").unlink()
    done = subprocess.run([sys.executable, "-B", "build.py"], cwd=unpacked, capture_output=True, text=True)

    assert done.returncode == 1
    assert "ModuleNotFoundError: No module named 'generator.errors'" in done.stderr
    assert "is not installed" not in done.stderr
