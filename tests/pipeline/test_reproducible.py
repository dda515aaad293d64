"""The same catalog, instant and past give the same bytes, whoever builds and wherever."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from generator import encoding
from tests.conftest import AS_OF, SITES, WRITTEN
from tests.support import tree_snapshot
from tests.support.paths import BUILD

EXAMPLE = BUILD.parent / "catalog_src"


def catalog(source: Path, folder: Path, *, backwards: bool = False) -> None:
    """A copy of a catalog, its files made in the order of their names or the other way round."""
    for path in sorted(source.rglob("*.yaml"), reverse=backwards):
        copy = folder / "catalog_src" / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
        os.utime(copy, (WRITTEN, WRITTEN))


def build(folder: Path, *options: str, cwd: Path | None = None, umask: int = 0o022, **environment: str) -> None:
    """One build by a process of its own."""
    where = Path(os.path.relpath(folder, cwd)) if cwd else folder
    places = ["--catalog", where / "catalog_src", "--out", where / "dist", "--nginx", where / "nginx.conf"]
    command = [sys.executable, BUILD, *places, "--as-of", str(AS_OF), "--quiet", *options]
    subprocess.run(command, cwd=cwd, umask=umask, env={**os.environ, **environment}, check=True)


def tree(folder: Path) -> dict[str, object]:
    """Everything that was built: bytes, links, modes and the times of bodies."""
    content = tree_snapshot.content(folder)
    modes = {name: path.lstat().st_mode for name, path in tree_snapshot.walk(folder)}
    bodies = [name for name in content if name.startswith("www/") and name.endswith((".json", ".gz"))]
    times = {name: (folder / name).stat().st_mtime for name in bodies}
    return {name: (text, modes[name], times.get(name)) for name, text in content.items() if name != "."}


@pytest.mark.parametrize("source", [EXAMPLE, SITES / "minimal"], ids=["example", "minimal"])
def test_nothing_about_the_machine_shows(source: Path, tmp_path: Path) -> None:
    """Hash seed, time zone, language, folder, umask, number of processes and order of files change no byte, no mode."""
    here, there = tmp_path / "here", tmp_path / "a longer way/there"
    catalog(source, here)
    catalog(source, there, backwards=True)
    build(here, "--jobs", "1", PYTHONHASHSEED="1", TZ="UTC", LC_ALL="C")
    build(
        there,
        "--jobs",
        "3",
        cwd=there.parent,
        umask=0o077,
        PYTHONHASHSEED="2",
        TZ="Pacific/Chatham",
        LC_ALL="tr_TR.UTF-8",
    )

    assert tree(there / "dist") == tree(here / "dist")
    assert (there / "nginx.conf").read_bytes() == (here / "nginx.conf").read_bytes()


def test_what_happened_in_between_does_not_show(tmp_path: Path) -> None:
    """A build over an old release and one that continues its manifest elsewhere serve the same release."""
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        catalog(SITES / "minimal", folder)
    build(here)
    old = here / "manifest.json"
    old.write_bytes((here / "dist/current/manifest.json").read_bytes())
    for folder in (here, there):
        series = folder / "catalog_src/series/first.yaml"
        series.write_text(series.read_text().replace("First", "Fjrst"))
        new = series.with_name("before-all-others.yaml")
        new.write_text("title: New\ncover: c.png\n")
        for path in (series, new):
            os.utime(path, (WRITTEN, WRITTEN))
    build(here)
    build(there, "--previous", str(old))
    served = [tree_snapshot.content((folder / "dist/current").resolve()) for folder in (here, there)]
    del served[0]["previous"]

    assert served[0] == served[1]


def test_a_compressed_form_tells_neither_time_nor_system() -> None:
    """The head of a gzip file has room for both; it is the same wherever and whenever the build runs."""
    packed = encoding.gzip(b"word " * 1000)

    assert packed is not None
    assert packed[:10] == bytes.fromhex("1f8b0800000000000003")
