"""Confined access to the catalog's folder: files are read and written through this module only.

A catalog may be untrusted. A link in it may lead to a place inside the folder, or inside a folder given with
`--follow`. Paths are opened folder by folder without following links, so that a link swapped between the check and the
call leads nowhere else.
"""

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeAlias

from .. import filesystem

# A larger file is a mistake, and its values would not fit into memory.
MAX_SIZE = 16 << 20
_CHUNK = 1 << 16
# The limit of Linux for the links in one path.
_MAX_LINKS = 40

# O_PATH: traversing a folder does not need the permission to list it.
_ROOT = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY
_STEP = _ROOT | os.O_NOFOLLOW
_LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY


@dataclass(frozen=True, slots=True)
class ConfinedFolder:
    """A folder, and the other folders that links in it may lead into. Joined and printed like its path."""

    path: Path
    follow: tuple[Path, ...] = ()

    def __truediv__(self, file: str) -> Path:
        return self.path / file

    def __str__(self) -> str:
        return str(self.path)

    def __fspath__(self) -> str:
        return str(self.path)

    def content(self, file: str, limit: int = MAX_SIZE) -> tuple[bytes, int]:
        """The bytes of a file, at most `limit`, and its mtime."""
        with self._opened(file, _READ) as descriptor:
            return _read_all(descriptor, limit), os.fstat(descriptor).st_mtime_ns // 10**9

    def names(self, folder: str) -> list[str]:
        """The names of a folder's entries."""
        with self._opened(folder, _LIST) as descriptor:
            return os.listdir(descriptor)

    def is_folder(self, file: str) -> bool:
        """Whether the path is a folder, or a permitted link to one."""
        return os.path.isdir(self.real_path(file))

    def write(
        self, file: str, text: bytes | Iterable[bytes], modified: int | None = None, mode: int | None = None
    ) -> bool:
        """Create or replace a file and create its folders; return whether its content changed.

        `mode` is that of a new file; the mode of a replaced file stays. A link stays; its target is replaced.
        A text in parts may be larger than the memory.
        """
        with filesystem.with_filename(self.path / file):
            root, inside = self.resolve(file)
            folder, _, name = inside.rpartition("/")
            parent = _open_below(root, folder, _STEP, make=True)
            try:
                with suppress(FileNotFoundError), _closing(_open_file(parent, name)) as descriptor:
                    status = os.fstat(descriptor)
                    mode = stat.S_IMODE(status.st_mode)
                    is_whole = isinstance(text, bytes) and status.st_size == len(text)
                    if is_whole and _read_all(descriptor, status.st_size) == text:
                        return False
                filesystem.replace(Path(name), text, mode, modified, folder=parent)
                return True
            finally:
                os.close(parent)

    def delete(self, file: str) -> None:
        """Remove a file, and folders below `series` that are empty then; do nothing if there is none."""
        _check_names(file)
        folder, _, name = file.rpartition("/")
        with suppress(FileNotFoundError), self._opened(folder, _LIST) as descriptor:
            os.unlink(name, dir_fd=descriptor)
        while "/" in folder:
            folder, _, name = folder.rpartition("/")
            with suppress(OSError), self._opened(folder, _LIST) as descriptor:
                os.rmdir(name, dir_fd=descriptor)

    def resolve(self, file: str) -> tuple[str, str]:
        """The permitted folder and the path in it that a file really has. Raises if it is elsewhere."""
        _check_names(file)
        own_root = real_path(self.path)
        path = real_path(os.path.join(own_root, file))
        for root in (own_root, *map(real_path, self.follow)):
            beginning = os.path.join(root, "")
            if f"{path}/".startswith(beginning):
                return root, path[len(beginning) :]
        sentence = f"the link leads out of {self.path.name or self.path}; --follow DIR allows links into DIR"
        raise OSError(errno.EPERM, sentence, str(self.path / file))

    def link_fault(self, link: str) -> str | None:
        """What is wrong with a link: it is broken, or leads where it may not lead."""
        try:
            if os.path.lexists(os.path.join(*self.resolve(link))):
                return None
        except PermissionError as error:
            return f"cannot be read: {error.strerror}"
        except OSError:
            pass
        return "is a broken link; remove it or restore its target"

    def read_fault(self, path: str, error: OSError) -> str:
        """Why a file or folder cannot be read."""
        broken = isinstance(error, FileNotFoundError) and self.link_fault(path)
        return broken or f"cannot be read: {error.strerror}"

    @contextmanager
    def _opened(self, file: str, flags: int) -> Iterator[int]:
        with filesystem.with_filename(self.path / file):
            try:
                descriptor = _open_below(str(self.path), file, flags)
            except OSError as error:
                # The errors for a link that is not followed.
                if error.errno not in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
                    raise
                descriptor = _open_below(*self.resolve(file), flags)
            with _closing(descriptor):
                yield descriptor

    def real_path(self, file: str) -> str:
        """The real path of a file; empty if it is outside the permitted folders."""
        try:
            return os.path.join(*self.resolve(file))
        except OSError:
            return ""


Folder: TypeAlias = Path | ConfinedFolder


def of(folder: Folder) -> ConfinedFolder:
    """The confined folder of a path; links in a plain path may lead inside it only."""
    return folder if isinstance(folder, ConfinedFolder) else ConfinedFolder(folder)


@contextmanager
def reading(folder: ConfinedFolder, file: str) -> Iterator[BinaryIO]:
    """Open a file of any size to read parts of it."""
    with folder._opened(file, _READ) as descriptor, open(descriptor, "rb", closefd=False) as opened:
        yield opened


def real_path(path: str | Path) -> str:
    """The path without its links, of which it may have as many as a system call follows."""
    resolved, links = "/", 0
    pending = str(Path(path).absolute()).split("/")[::-1]
    while pending:
        name = pending.pop()
        if name in ("", "."):
            step = resolved
        else:
            step = os.path.dirname(resolved) if name == ".." else os.path.join(resolved, name)
        if not os.path.islink(step):
            resolved = step
            continue
        links += 1
        if links > _MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        target = os.readlink(step)
        resolved = "/" if target.startswith("/") else resolved
        pending += target.split("/")[::-1]
    return resolved


@contextmanager
def _closing(descriptor: int) -> Iterator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _open_below(root: str, path: str, flags: int, *, make: bool = False) -> int:
    """Open a file or a folder below `root` without following a link; `make` creates missing folders."""
    _check_names(path)
    *folders, last = path.split("/")
    descriptor = os.open(root, _ROOT)
    for name, step_flags in (*((folder, _STEP) for folder in folders), (last or ".", flags)):
        with _closing(descriptor):
            if make:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=descriptor)
            if step_flags == _READ:
                descriptor = _open_file(descriptor, name)
            else:
                descriptor = os.open(name, step_flags, dir_fd=descriptor)
    return descriptor


def _check_names(path: str) -> None:
    """Refuse a path that is not only names below a folder: `..` leads out of it without being a link."""
    *folders, last = path.split("/")
    if not {"", ".", ".."}.isdisjoint(folders) or last in (".", ".."):
        raise OSError(errno.EINVAL, "it has a name that is empty, . or ..")


def _open_file(folder: int, name: str) -> int:
    """Open a regular file to read it. Devices and pipes are refused first: opening one can block or have effects."""
    _refuse_unless_file(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    descriptor = os.open(name, _READ, dir_fd=folder)
    try:
        _refuse_unless_file(os.fstat(descriptor).st_mode)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _refuse_unless_file(mode: int) -> None:
    if stat.S_ISLNK(mode) or stat.S_ISDIR(mode):
        number = errno.ELOOP if stat.S_ISLNK(mode) else errno.EISDIR
        raise OSError(number, os.strerror(number))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is neither a file nor a folder")


def _read_all(descriptor: int, limit: int) -> bytes:
    """All bytes of a file. Its status may give a smaller size, so the limit is checked while reading."""
    chunks, remaining = [], limit
    while chunk := os.read(descriptor, _CHUNK):
        chunks.append(chunk)
        remaining -= len(chunk)
        if remaining < 0:
            raise OSError(errno.EFBIG, f"it has more than {limit >> 20} MiB; split it")
    return b"".join(chunks)
