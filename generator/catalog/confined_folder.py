"""A folder that no link leads out of: the only way to the files of a catalog, for reading and for writing.

A catalog may come from a stranger. A link in it may lead inside the folder itself, and inside those folders that the
person at the command line names with `--follow`. What is opened is opened folder by folder without following a link,
so no link that is swapped between the check and the call leads anywhere else.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from .. import filesystem

# A catalog is text that people write. Much more is a mistake, and would not fit into memory as values.
MAX_SIZE = 16 << 20
# So many bytes are read at once.
_PART = 1 << 16
# As many links as Linux follows in one path.
_MAX_LINKS = 40

# Right to list a folder is not needed to go through it.
_ROOT = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY
_STEP = _ROOT | os.O_NOFOLLOW
_LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY


@dataclass(frozen=True, slots=True)
class ConfinedFolder:
    """A folder, and the folders elsewhere that links in it may lead into. It is joined and printed like its path."""

    path: Path
    follow: tuple[Path, ...] = ()

    def __truediv__(self, file: str) -> Path:
        return self.path / file

    def __str__(self) -> str:
        return str(self.path)

    def __fspath__(self) -> str:
        return str(self.path)

    def content(self, file: str, limit: int = MAX_SIZE) -> tuple[bytes, int]:
        """The bytes of a file, of which there are at most `limit`, and when it was changed."""
        with self._opened(file, _READ) as descriptor:
            return _content(descriptor, limit), os.fstat(descriptor).st_mtime_ns // 10**9

    def names(self, folder: str) -> list[str]:
        """The names in a folder."""
        with self._opened(folder, _LIST) as descriptor:
            return os.listdir(descriptor)

    def is_folder(self, file: str) -> bool:
        """Whether there is a folder, or a link that leads to one and may."""
        return os.path.isdir(self.real_path(file))

    def write(self, file: str, text: bytes) -> bool:
        """Make a file, with the folders around it, or replace it, with the permissions it has; False if it is the same.

        A link stays; the file that it names is replaced.
        """
        with filesystem.with_filename(self.path / file):
            root, inside = self.place(file)
            folder, _, name = inside.rpartition("/")
            around = _below(root, folder, _STEP, make=True)
            try:
                mode = None
                with suppress(FileNotFoundError), _closing(_file(around, name)) as descriptor:
                    status = os.fstat(descriptor)
                    mode = stat.S_IMODE(status.st_mode)
                    if status.st_size == len(text) and _content(descriptor, len(text)) == text:
                        return False
                filesystem.replace(Path(name), text, mode, folder=around)
                return True
            finally:
                os.close(around)

    def place(self, file: str) -> tuple[str, str]:
        """Where a file really is, or would be: a folder that links may lead into, and the path below it."""
        home = real_path(self.path)
        found = real_path(os.path.join(home, file))
        for root in (home, *map(real_path, self.follow)):
            beginning = os.path.join(root, "")
            if f"{found}/".startswith(beginning):
                return root, found[len(beginning) :]
        sentence = f"the link leads out of {self.path.name or self.path}; --follow DIR allows links into DIR"
        raise OSError(errno.EPERM, sentence, str(self.path / file))

    def fault(self, link: str) -> str | None:
        """What is wrong with a link: it leads nowhere, or where it may not lead."""
        try:
            if os.path.lexists(os.path.join(*self.place(link))):
                return None
        except PermissionError as error:
            return f"cannot be read: {error.strerror}"
        except OSError:
            pass
        return "is a broken link; remove it or restore its target"

    @contextmanager
    def _opened(self, file: str, flags: int) -> Iterator[int]:
        with filesystem.with_filename(self.path / file):
            try:
                descriptor = _below(str(self.path), file, flags)
            except OSError as error:
                # As systems call a link that is not followed.
                if error.errno not in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
                    raise
                descriptor = _below(*self.place(file), flags)
            with _closing(descriptor):
                yield descriptor

    def real_path(self, file: str) -> str:
        """The real path of a file; empty if it lies elsewhere."""
        try:
            return os.path.join(*self.place(file))
        except OSError:
            return ""


Folder: TypeAlias = Path | ConfinedFolder


def of(folder: Folder) -> ConfinedFolder:
    """The links of a plain path lead nowhere but inside."""
    return folder if isinstance(folder, ConfinedFolder) else ConfinedFolder(folder)


def real_path(path: str | Path) -> str:
    """The path without its links, of which it may have as many as a system call follows."""
    found, links = "/", 0
    waiting = str(Path(path).absolute()).split("/")[::-1]
    while waiting:
        name = waiting.pop()
        step = os.path.dirname(found) if name == ".." else os.path.join(found, name) if name not in ("", ".") else found
        if not os.path.islink(step):
            found = step
            continue
        links += 1
        if links > _MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        target = os.readlink(step)
        found = "/" if target.startswith("/") else found
        waiting += target.split("/")[::-1]
    return found


@contextmanager
def _closing(descriptor: int) -> Iterator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _below(root: str, inside: str, flags: int, *, make: bool = False) -> int:
    """Open a file or a folder below another without following a link; `make` makes the folders that are missing."""
    *folders, last = inside.split("/")
    descriptor = os.open(root, _ROOT)
    for name, how in (*((one, _STEP) for one in folders), (last or ".", flags)):
        with _closing(descriptor):
            if make:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=descriptor)
            descriptor = _file(descriptor, name) if how == _READ else os.open(name, how, dir_fd=descriptor)
    return descriptor


def _file(folder: int, name: str) -> int:
    """Open a file to read it; devices and pipes are not opened, since that alone can wait, or do something."""
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


def _content(descriptor: int, limit: int) -> bytes:
    """All bytes of a file, if they are not too many; the size that it announces need not be true."""
    parts, room = [], limit
    while part := os.read(descriptor, _PART):
        parts.append(part)
        room -= len(part)
        if room < 0:
            raise OSError(errno.EFBIG, f"it has more than {limit >> 20} MiB; split it")
    return b"".join(parts)
