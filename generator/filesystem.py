"""Single files, links and folders on the disk: each call does one thing wholly or not at all.

Only `store.py` and this write; what is written, and where, is decided elsewhere.
"""

import ctypes
import errno
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


def write_if_changed(path: Path, text: bytes, mode: int | None = None) -> bool:
    """For the main configuration file, which is in people's own folder, and for scratch folders."""
    if path.is_file() and path.read_bytes() == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    replace(path, text, mode)
    return True


@contextmanager
def exclusive(folder: str | os.PathLike[str], waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """One change at a time to files that people share; the lock is on the folder, and leaves nothing behind."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # of a file system that cannot lock a folder
            lock(descriptor, waiting)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def scratch_folder(*, shared: bool = False) -> Iterator[Path]:
    """A folder that is gone afterwards; nobody else may look into it, unless nginx's workers have to."""
    folder = Path(tempfile.mkdtemp(prefix="flatpanel-"))
    try:
        if shared:
            os.chmod(folder, 0o755)
        yield folder
    finally:
        remove_tree(folder)


@contextmanager
def with_filename(path: str | Path) -> Iterator[None]:
    """Calls on what is open already do not know its name, and people must."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise


def create_private(path: Path) -> None:
    """A file that only its owner may read, before anything is written to it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CREAT, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)


@contextmanager
def _regular(path: str | Path) -> Iterator[BinaryIO | None]:
    """A regular file to read. Links are not followed, and no pipe or device is waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO):
            raise
        yield None
        return
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        yield None
        return
    with os.fdopen(descriptor, "rb") as opened:
        yield opened


def read_regular(path: str | Path) -> bytes | None:
    """The bytes of a regular file, or None where there is none."""
    with _regular(path) as opened:
        return opened.read() if opened else None


def has_content(path: str | Path, parts: Iterable[bytes]) -> bool:
    """Whether a regular file consists of exactly these parts."""
    with _regular(path) as opened:
        if not opened:
            return False
        return all(opened.read(len(part)) == part for part in parts) and not opened.read(1)


def write(path: str | Path, data: bytes, modified: int | None = None) -> int:
    # The bare calls are half as dear as a file object, and there are hundreds of thousands of files.
    return _fill(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644), path, data, modified)


def _fill(descriptor: int, path: str | Path, data: bytes, modified: int | None, mode: int | None = None) -> int:
    try:
        _write(descriptor, data)
        if modified is not None:
            os.utime(descriptor, (modified, modified))
        if mode is not None:
            os.fchmod(descriptor, mode)
    except OSError as error:
        error.filename = str(path)  # `write` does not know it, and people must
        raise
    finally:
        os.close(descriptor)
    return len(data)


def _write(descriptor: int, data: bytes) -> None:
    done = os.write(descriptor, data)
    while done < len(data):
        done += os.write(descriptor, memoryview(data)[done:])


def write_parts(path: Path, parts: Iterable[bytes]) -> None:
    """A file of which there may be more than fits into memory."""
    with PartialFile(path) as growing:
        for part in parts:
            growing.write(part)
        growing.finish(str(path))


class PartialFile:
    """A file that is written part by part and gets its name at the end; without one it is gone."""

    def __init__(self, path: Path) -> None:
        self.path, self.size = str(path), 0
        self.descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644)
        self._finished = False

    def __enter__(self) -> "PartialFile":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.descriptor)
        if not self._finished:
            os.unlink(self.path)

    def write(self, part: bytes) -> None:
        with with_filename(self.path):
            _write(self.descriptor, part)
        self.size += len(part)

    def parts(self) -> Iterator[bytes]:
        """What was written."""
        for offset in range(0, self.size, 1 << 20):
            yield os.pread(self.descriptor, 1 << 20, offset)

    def finish(self, name: str, modified: int | None = None) -> int:
        """The last call; answers with the size."""
        if modified is not None:
            with with_filename(self.path):
                os.utime(self.descriptor, (modified, modified))
        if name != self.path:
            os.replace(self.path, name)
        self._finished = True
        return self.size


def replace(
    path: Path, data: bytes, mode: int | None = None, modified: int | None = None, *, folder: int | None = None
) -> None:
    """In one step. With a mode, the new file is at no moment open to more people than it will be.

    `path` may be relative to a folder that is open.
    """
    unnamed = path.with_name(f".{path.name}.new"[-255:])
    try:
        # What a killed call left. A link of this name may lead anywhere, and must not be written through.
        with suppress(FileNotFoundError):
            os.unlink(unnamed, dir_fd=folder)
        new = os.open(unnamed, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644 if mode is None else 0o600, dir_fd=folder)
        _fill(new, path, data, modified, mode)
        os.replace(unnamed, path, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with suppress(OSError):
            os.unlink(unnamed, dir_fd=folder)
        raise


def lock(descriptor: int, waiting: Callable[[], None]) -> None:
    """Have a file or folder for ourselves; `waiting` is called if another process has it now."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        waiting()
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def make_folder(folder: str | Path, mode: int = 0o777) -> None:
    """Most folders that are wanted are not there, but the one around them is."""
    try:
        os.mkdir(folder, mode)
    except OSError:
        os.makedirs(folder, mode, exist_ok=True)


def delete(path: Path) -> None:
    """A file, or a folder in the place of one, if there is any."""
    if path.is_dir() and not path.is_symlink():
        remove_tree(path)
    else:
        path.unlink(missing_ok=True)


def remove_tree(folder: Path) -> None:
    with with_filename(folder):  # it is told of names inside of it without their folder
        shutil.rmtree(folder)


def remove_empty_folders(folder: Path) -> None:
    """Remove a folder if it is empty, and those around it that are then."""
    try:
        while True:
            folder.rmdir()
            folder = folder.parent
    except OSError as error:
        # Somebody may have removed it, or mounted something there.
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT, errno.EBUSY):
            raise


def replace_link(link: Path, target: str, unnamed: Path | None = None) -> None:
    """A link that is replaced in one step; until then it is called `unnamed`."""
    if link.is_symlink() and os.readlink(link) == target:
        return
    link.parent.mkdir(parents=True, exist_ok=True)
    unnamed = unnamed or link.with_name(".new")
    unnamed.unlink(missing_ok=True)
    with with_filename(unnamed):  # the target is no place where anything is written
        unnamed.symlink_to(target)
    os.replace(unnamed, link)
    sync(link.parent)


def sync(path: Path) -> None:
    """Put the content of a file, or the names in a folder, on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with with_filename(path):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_filesystem(root: Path) -> None:
    """What `current` is about to name must be on the disk before it does; one call for all files is the cheapest."""
    descriptor = os.open(root, os.O_RDONLY)
    try:
        syncfs = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
        if syncfs is None:
            os.sync()
        elif syncfs(descriptor) != 0:
            # What could not be written is often known here only.
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(root))
    finally:
        os.close(descriptor)
