"""Writes bodies, each beside its sidecar and its compressed form; every process that makes some has a writer."""

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from .. import encoding
from ..api.resources import Resource
from ..filesystem import PartialFile, has_content, make_folder, read_regular, replace, write
from . import manifest
from .manifest import Published

# Marks a folder as ours, serialises builds, and holds "unfinished" while one is at work.
MARK = ".flatpanel"


def mark_unfinished(root: Path) -> None:
    """From here until a release is committed, files exist that none names."""
    with suppress(OSError):
        if (root / MARK).read_bytes():
            return  # a disk that is full would take the word away and not give it back
    write(root / MARK, b"unfinished\n")


class WriteTotals(NamedTuple):
    """What became of some bodies."""

    written_bytes: int
    # Those whose date changes, but not before they are served with it.
    redate_after_commit: list[Published]
    # The files that only the release before the one that is served had, and that are used again.
    reused_files: set[str]


class BodyWriter:
    """Bodies below `root`. What `left` names is there, though the release that is served does not name it."""

    def __init__(self, root: Path, retained_files: frozenset[str]) -> None:
        self.root, self.retained_files = root, retained_files
        self.written_bytes = 0
        self.redate_after_commit: list[Published] = []
        self.reused_files: set[str] = set()
        self._folders: set[str] = set()
        self._begun = False

    def put(self, one: Published, body: bytes, packed: bytes | None, served: Published | None) -> None:
        """Write the files of a body that are not there yet, or have other bytes; `served` is the URL's body now."""
        there = self.reuse(one, served)
        if not there:
            self.place(one)
        put = self.replace_different if there else self.write
        put(one.file, body, one.modified)
        if packed is not None:
            put(f"{one.file}.gz", packed, one.modified)
        self.put_sidecar(one, there=there)

    def write(self, file: str, text: bytes, modified: int | None = None) -> None:
        """Write a file that no release names."""
        try:
            self.written_bytes += write(f"{self.root}/{file}", text, modified)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            self.replace(file, text, modified)  # a link, which is not followed

    def replace(self, file: str, text: bytes, modified: int | None) -> None:
        replace(self.root / file, text, modified=modified)
        self.written_bytes += len(text)

    def replace_different(self, file: str, text: bytes, modified: int | None = None) -> None:
        """Replace a file if it has other bytes. An older program may have made no gzip form."""
        if file in self.retained_files:
            self.reused_files.add(file)
        if read_regular(f"{self.root}/{file}") != text:
            self.begin()
            self.replace(file, text, modified)

    def put_sidecar(self, one: Published, *, there: bool) -> None:
        """Write the sidecar, unless its date changes together with the release."""
        if not there:
            self.write(f"{one.file}.headers", manifest.sidecar(one))
        elif not (self.redate_after_commit and self.redate_after_commit[-1] is one):
            self.replace_different(f"{one.file}.headers", manifest.sidecar(one))

    def reuse(self, one: Published, served: Published | None) -> bool:
        """Whether a release has this body already; if so, it will be dated as the next one wants it."""
        same = served is not None and served.file == one.file
        if not (same or one.file in self.retained_files) or not os.path.exists(f"{self.root}/{one.file}"):
            return False
        if not same:
            self.begin()
            set_last_modified(self.root / one.file, one)
            self.reused_files.update(manifest.files(one))
        elif served and served.modified != one.modified:
            self.redate_after_commit.append(one)
        return True

    def take_totals(self) -> WriteTotals:
        """What became of the bodies since this was asked last."""
        found = WriteTotals(self.written_bytes, self.redate_after_commit, self.reused_files)
        self.written_bytes, self.redate_after_commit, self.reused_files = 0, [], set()
        return found

    def begin(self) -> None:
        if not self._begun:
            mark_unfinished(self.root)
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
    def partial_files(self, one: Resource) -> Iterator[tuple[PartialFile, PartialFile]]:
        """Places for a body and its compressed form that get their names when they are known."""
        self.begin()
        # What nobody may read is not where everybody may either, not even while it is being made.
        folder = self.root / manifest.tree(one)
        make_folder(folder)
        path = folder / f".{encoding.digest(one.url.encode())}"
        with PartialFile(path) as body, PartialFile(Path(f"{path}.gz")) as packed:
            yield body, packed

    def finish(self, one: Published, body: PartialFile, packed: PartialFile, served: Published | None) -> None:
        """Give what has grown its names, unless the same is there already."""
        there = self.reuse(one, served)
        path = self.place(one)
        for grown, name in ((body, path), (packed, f"{path}.gz")):
            if not (there and has_content(name, grown.parts())):
                self.written_bytes += grown.finish(name, one.modified)
        self.put_sidecar(one, there=there)


def set_last_modified(path: Path, one: Published) -> None:
    """Give a body that is there already its date: one that comes back after a change and its reversal."""
    sidecar = Path(f"{path}.headers")
    if path.exists() and read_regular(sidecar) != manifest.sidecar(one):
        for form in (path, Path(f"{path}.gz")):
            if form.exists():
                os.utime(form, (one.modified, one.modified))
        replace(sidecar, manifest.sidecar(one))


def rewrite_damaged(folder: Path, files: Mapping[str, Callable[[], Iterable[bytes]]]) -> None:
    """Write the files of a release again that have other bytes than a build gives them."""
    for name, parts in files.items():
        path = folder / name
        if not has_content(path, parts()):
            mark_unfinished(folder.parent.parent)
            make_folder(path.parent)
            with PartialFile(path.with_name(f".{path.name}.new")) as growing:
                for part in parts():
                    growing.write(part)
                growing.finish(str(path))


def restore(root: Path, file: str, text: bytes, modified: int | None) -> bool:
    """Put a damaged file back in one step. False where a folder or another file is in the way."""
    path = root / file
    try:
        make_folder(path.parent)
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        replace(path, text, modified=modified)
    except OSError as error:
        if error.errno not in (errno.EEXIST, errno.ENOTDIR, errno.ENOTEMPTY, errno.ELOOP):
            raise
        return False
    return True


def remove_link(link: Path) -> None:
    """Remove a link, and nothing of what it leads to."""
    os.unlink(link)  # fails for a folder
