"""Snapshots of folders that can be compared."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conftest import Site


def walk(folder: Path) -> Iterator[tuple[str, Path]]:
    """Everything in a folder, itself included, by path. Links are not followed."""
    return ((name, folder / name) for name in _names(folder))


def _names(folder: Path) -> Iterator[str]:
    """As text: to make a `Path` takes longer than to read the status of a file."""
    yield "."
    for inside, folders, names in os.walk(folder):
        start = f"{inside}/".removeprefix(f"{folder}/")
        yield from (start + name for name in (*folders, *names))


def content(folder: Path) -> dict[str, object]:
    """What a reader of the folder sees: links, folders, and the bytes of files."""
    return {name: _read(f"{folder}/{name}") for name in _names(folder)}


def _read(path: str) -> object:
    if os.path.islink(path):
        return f"-> {os.readlink(path)}"
    if os.path.isdir(path):
        return "a folder"
    with open(path, "rb", buffering=0) as file:
        return file.read()


def state(folder: Path) -> dict[str, tuple[int, ...]]:
    """Everything that a write would change: inodes, sizes, times of content and inode."""
    statuses = {name: os.lstat(f"{folder}/{name}") for name in _names(folder)}
    return {
        name: (status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        for name, status in statuses.items()
    }


@contextmanager
def unchanged(*folders: Path) -> Iterator[None]:
    """Fail if the block changes a file: tests that only read share these folders.

    A server writes into `dist/run`, and commands into caches. Modes of files protect nothing from root.
    """
    before = [state(folder) for folder in folders]
    yield
    changed = [
        f"{folder}/{name}"
        for folder, names in zip(folders, before, strict=True)
        for name in sorted(dict(names.items() ^ state(folder).items()))
        if not f"{name}/".startswith(("./", "dist/run/", ".flatpanel_cache/"))
    ]
    assert not changed, f"a test has changed files that others read: {changed}"


def files(folder: Path) -> set[str]:
    """The paths of everything except folders."""
    paths = {name: f"{folder}/{name}" for name in _names(folder)}
    return {name for name, path in paths.items() if os.path.islink(path) or not os.path.isdir(path)}


def options(site: Site) -> list[object]:
    """The command-line options to build a test site."""
    catalog, out, nginx = site.paths
    return ["--catalog", catalog, "--out", out, "--nginx", nginx, "--as-of", site.options.as_of, "--jobs", 1]


def first_version(site: Site) -> None:
    """Two series; one has chapters in three volumes and a compressible body."""
    write_series(site, "First", volumes=3, others=["second"])


def second_version(site: Site) -> None:
    """A changed title, a volume less, a series more."""
    write_series(site, "First again", volumes=2, others=["second", "third"])


def third_version(site: Site) -> None:
    """Another changed title, another volume less, two series less."""
    write_series(site, "First at last", volumes=1, others=[])


def write_series(site: Site, title: str, *, volumes: int, others: list[str]) -> None:
    for path in (site.folder / "catalog_src/series").iterdir():
        path.unlink()
    for slug in others:
        site.write(f"series/{slug}.yaml", f"title: {slug}\ncover: c.png\nmodified: 2026-03-01T00:00:00Z\n")
    site.write(
        "series/first.yaml",
        f"title: {title}\ncover: c.png\nmodified: 2026-02-01T00:00:00Z\ndescription: {'word ' * 400}\n"
        + "chapters:\n"
        + "".join(
            f"  - {{id: {one}, volume: {one}, number: {one}, published: 2026-02-02T10:00:00Z,"
            " modified: 2026-02-02T10:00:00Z, pages: [1.png]}\n"
            for one in range(1, volumes + 1)
        ),
    )
