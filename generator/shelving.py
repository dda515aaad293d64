"""Writes bodies, each beside its sidecar and its compressed form; every process that makes some has a writer."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from . import encode, manifest
from .artifact import Published, Resource
from .disk import Growing, make_folder, replace, write

# Marks a folder as ours, serialises builds, and holds "unfinished" while one is at work.
MARK = ".flatpanel"


def begin(root: Path) -> None:
    """From here until a release is committed, files exist that none names."""
    with suppress(OSError):
        if (root / MARK).read_bytes():
            return  # a disk that is full would take the word away and not give it back
    write(root / MARK, b"unfinished\n")


class Output(NamedTuple):
    """What became of some bodies."""

    written: int
    # Those whose date changes, but not before they are served with it.
    late: list[Published]
    # The files that only the release before the one that is served had, and that are used again.
    returned: set[str]


class Bodies:
    """Bodies below `root`. What `left` names is there, though the release that is served does not name it."""

    def __init__(self, root: Path, left: frozenset[str]) -> None:
        self.root, self.left = root, left
        self.written = 0
        self.late: list[Published] = []
        self.returned: set[str] = set()
        self._folders: set[str] = set()
        self._begun = False

    def put(self, one: Published, body: bytes, packed: bytes | None, served: Published | None) -> None:
        """Write what is not there yet of a body; `served` is what the URL answers now."""
        if self.is_there(one, served):
            if packed is not None:
                self.put_packed(one, packed)
            return
        path = self.place(one)
        self.written += write(path, body, one.modified) + write(f"{path}.headers", manifest.sidecar(one))
        if packed is not None:
            self.written += write(f"{path}.gz", packed, one.modified)

    def put_packed(self, one: Published, packed: bytes) -> None:
        """The compressed form of a body that is there: an older program may have found it not worth having."""
        path = f"{one.file}.gz"
        if path in self.left:
            self.returned.add(path)
        if not os.path.exists(f"{self.root}/{path}"):
            self.begin()
            self.written += write(f"{self.root}/{path}", packed, one.modified)

    def is_there(self, one: Published, served: Published | None) -> bool:
        """Whether a release has this body already; if so, it will be dated as the next one wants it."""
        same = served is not None and served.file == one.file
        if not (same or one.file in self.left) or not os.path.exists(f"{self.root}/{one.file}"):
            return False
        if not same:
            self.begin()
            set_date(self.root / one.file, one)
            self.returned.update(manifest.files(one))
        elif served and served.modified != one.modified:
            self.late.append(one)
        return True

    def output(self) -> Output:
        """What became of the bodies since this was asked last."""
        found = Output(self.written, self.late, self.returned)
        self.written, self.late, self.returned = 0, [], set()
        return found

    def begin(self) -> None:
        if not self._begun:
            begin(self.root)
            self._begun = True

    def place(self, one: Published) -> str:
        """The path of a body, in a folder that is there."""
        self.begin()
        path = f"{self.root}/{one.file}"
        folder = path[: path.rindex("/")]
        if folder not in self._folders:
            make_folder(folder)
            self._folders.add(folder)
        return path

    @contextmanager
    def growing(self, one: Resource) -> Iterator[tuple[Growing, Growing]]:
        """Places for a body and its compressed form that get their names when they are known."""
        self.begin()
        # What nobody may read is not where everybody may either, not even while it is being made.
        folder = self.root / manifest.tree(one)
        make_folder(folder)
        path = folder / f".{encode.digest(one.url.encode())}"
        with Growing(path) as body, Growing(Path(f"{path}.gz")) as packed:
            yield body, packed

    def adopt(self, one: Published, body: Growing, packed: Growing, served: Published | None) -> None:
        """Give what has grown its names, unless it is there already."""
        if self.is_there(one, served):
            return
        path = self.place(one)
        self.written += body.finish(path, one.modified) + packed.finish(f"{path}.gz", one.modified)
        self.written += write(f"{path}.headers", manifest.sidecar(one))


def set_date(path: Path, one: Published) -> None:
    """Give a body that is there already its date: one that comes back after a change and its reversal."""
    sidecar = Path(f"{path}.headers")
    if path.exists() and not (sidecar.exists() and sidecar.read_bytes() == manifest.sidecar(one)):
        for form in (path, Path(f"{path}.gz")):
            if form.exists():
                os.utime(form, (one.modified, one.modified))
        replace(sidecar, manifest.sidecar(one))
