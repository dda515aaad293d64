"""Reproducible builds: the same catalog, time and history give the same bytes on every machine."""

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
    """A copy of a catalog, its files created in the order of their names or in reverse."""
    for path in sorted(source.rglob("*.yaml"), reverse=backwards):
        copy = folder / "catalog_src" / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
        os.utime(copy, (WRITTEN, WRITTEN))


def build(folder: Path, *options: str, cwd: Path | None = None, umask: int = 0o022, **environment: str) -> None:
    """One build in a process of its own."""
    where = Path(os.path.relpath(folder, cwd)) if cwd else folder
    places = ["--catalog", where / "catalog_src", "--out", where / "dist", "--nginx", where / "nginx.conf"]
    command = [sys.executable, BUILD, *places, "--as-of", str(AS_OF), "--quiet", *options]
    subprocess.run(command, cwd=cwd, umask=umask, env={**os.environ, **environment}, check=True)


def tree(folder: Path) -> dict[str, object]:
    """Everything that a build wrote: bytes, links, modes and the times of bodies."""
    content = tree_snapshot.content(folder)
    modes = {name: path.lstat().st_mode for name, path in tree_snapshot.walk(folder)}
    bodies = [name for name in content if name.startswith("www/") and name.endswith((".json", ".gz"))]
    times = {name: (folder / name).stat().st_mtime for name in bodies}
    return {name: (text, modes[name], times.get(name)) for name, text in content.items() if name != "."}


@pytest.mark.end_to_end
@pytest.mark.parametrize("source", [EXAMPLE, SITES / "minimal"], ids=["example", "minimal"])
def test_the_machine_does_not_matter(source: Path, tmp_path: Path) -> None:
    """Hash seed, time zone, language, folder, umask, processes and order of files change no byte and no mode."""
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


def test_gzip_headers_have_neither_time_nor_system() -> None:
    """The header is the same for every build on every machine."""
    compressed = encoding.gzip(b"word " * 1000)

    assert compressed is not None
    assert compressed[:10] == bytes.fromhex("1f8b0800000000000003")
