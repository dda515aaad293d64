"""Files, links, folders and locks. Each function that writes does so completely or not at all."""

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
    """Replace a file, and create its folders, unless it has this content; return whether it was written."""
    if path.is_file() and path.read_bytes() == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    replace(path, text, mode)
    return True


def is_inside(path: str, folder: str) -> bool:
    """Whether a real path is a folder or is below it."""
    return f"{path}/".startswith(os.path.join(folder, ""))


def begins_with(path: Path, text: bytes) -> bool:
    """Whether a file begins with a text, or is empty: other files are not of this program, and not replaced."""
    with path.open("rb") as opened:
        return opened.read(len(text)) in (b"", text)


@contextmanager
def exclusive(folder: str | os.PathLike[str], waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Lock a folder while the block runs; `waiting` is called if another process has the lock. Leaves no file."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some file systems cannot lock a folder
            lock(descriptor, waiting)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def exclusive_new(folder: Path) -> Iterator[None]:
    """Create and lock a folder while the block runs; a new one is removed if nothing was written into it."""
    make_folder(folder.parent)
    is_new = True
    try:
        folder.mkdir()
    except FileExistsError:
        is_new = False
    with exclusive(folder):
        try:
            yield
        finally:
            if is_new:
                with suppress(OSError):
                    folder.rmdir()


@contextmanager
def scratch_folder(*, shared: bool = False) -> Iterator[Path]:
    """A temporary folder, readable by its owner only; `shared` allows others, such as the nginx workers, to read it."""
    folder = Path(tempfile.mkdtemp(prefix="flatpanel-"))
    try:
        if shared:
            os.chmod(folder, 0o755)
        yield folder
    finally:
        remove_tree(folder)


def unnamed_file() -> BinaryIO:
    """A temporary file that is gone when it is closed."""
    return tempfile.TemporaryFile()


@contextmanager
def with_filename(path: str | Path) -> Iterator[None]:
    """Add the file name to an OSError of a call that has a descriptor only."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise


def create_private(path: Path) -> None:
    """Create an empty file, or change the mode of an existing one, so that only its owner may read it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CREAT, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)


@contextmanager
def _regular(path: str | Path) -> Iterator[BinaryIO | None]:
    """Open a regular file to read it; None for anything else. Links are not followed, and no pipe blocks."""
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
    """The bytes of a regular file; None if there is none."""
    with _regular(path) as opened:
        return opened.read() if opened else None


def has_content(path: str | Path, parts: Iterable[bytes]) -> bool:
    """Whether a regular file consists of exactly these parts."""
    with _regular(path) as opened:
        if not opened:
            return False
        return all(opened.read(len(part)) == part for part in parts) and not opened.read(1)


def write(path: str | Path, data: bytes, modified: int | None = None) -> int:
    # os.open costs half as much as a file object, and there are hundreds of thousands of files.
    _fill(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644), path, (data,), modified)
    return len(data)


def _fill(
    descriptor: int, path: str | Path, parts: Iterable[bytes], modified: int | None, mode: int | None = None
) -> None:
    try:
        for part in parts:
            _write(descriptor, part)
        if modified is not None:
            os.utime(descriptor, (modified, modified))
        if mode is not None:
            os.fchmod(descriptor, mode)
    except OSError as error:
        error.filename = str(path)  # os.write does not set it
        raise
    finally:
        os.close(descriptor)


def _write(descriptor: int, data: bytes) -> None:
    written = os.write(descriptor, data)
    while written < len(data):
        written += os.write(descriptor, memoryview(data)[written:])


def write_parts(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file that may be larger than the memory."""
    with PartialFile(path) as partial:
        for part in parts:
            partial.write(part)
        partial.finish(str(path))


class PartialFile:
    """A file that is written in parts. `finish` gives it its final name; without `finish` it is removed."""

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
        """The content, in chunks."""
        for offset in range(0, self.size, 1 << 20):
            yield os.pread(self.descriptor, 1 << 20, offset)

    def finish(self, name: str, modified: int | None = None) -> int:
        """Give the file its final name and return its size."""
        if modified is not None:
            with with_filename(self.path):
                os.utime(self.descriptor, (modified, modified))
        if name != self.path:
            os.replace(self.path, name)
        self._finished = True
        return self.size


def unfinished(path: Path) -> Path:
    """The file that `replace` writes before it gets its name. A killed process leaves it."""
    return path.with_name(f".{path.name}.new"[-255:])


def replace(
    path: Path,
    data: bytes | Iterable[bytes],
    mode: int | None = None,
    modified: int | None = None,
    *,
    folder: int | None = None,
) -> None:
    """Replace a file atomically. With a mode, the new file never has more permissions than that.

    `path` may be relative to the descriptor of a folder. `data` in parts may be larger than the memory.
    """
    temporary, is_replaced = unfinished(path), False
    try:
        # A killed process may leave this file. A link of this name must not be followed.
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        new = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644 if mode is None else 0o600, dir_fd=folder)
        _fill(new, path, (data,) if isinstance(data, bytes) else data, modified, mode)
        os.replace(temporary, path, src_dir_fd=folder, dst_dir_fd=folder)
        is_replaced = True
    finally:
        if not is_replaced:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=folder)


def lock(descriptor: int, waiting: Callable[[], None]) -> None:
    """Lock a file or folder exclusively; `waiting` is called if another process has the lock."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        waiting()
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def make_folder(folder: str | Path, mode: int = 0o777) -> None:
    """Create a folder and its parents. Tries the folder alone first: its parent usually exists."""
    try:
        os.mkdir(folder, mode)
    except OSError:
        os.makedirs(folder, mode, exist_ok=True)


def delete_file(path: Path) -> None:
    """Remove a file or a link, and what a killed `replace` left of it. Fails for a folder: it has files of others."""
    for name in (path, unfinished(path)):
        name.unlink(missing_ok=True)


def delete(path: Path) -> None:
    """Remove a file, or a folder with its content; do nothing if there is none."""
    if path.is_dir() and not path.is_symlink():
        remove_tree(path)
    else:
        path.unlink(missing_ok=True)


def remove_tree(folder: Path) -> None:
    with with_filename(folder):  # rmtree reports names relative to their folder
        shutil.rmtree(folder)


def remove_empty_folders(folder: Path) -> None:
    """Remove a folder if it is empty, then its parents while they are empty."""
    try:
        while True:
            folder.rmdir()
            folder = folder.parent
    except OSError as error:
        # Another process may have removed it, or it may be a mount point or a link.
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT, errno.EBUSY, errno.ENOTDIR):
            raise


def replace_link(link: Path, target: str, temporary: Path | None = None) -> None:
    """Create or replace a symbolic link atomically, by way of the link `temporary`."""
    if link.is_symlink() and os.readlink(link) == target:
        return
    link.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary or link.with_name(".new")
    temporary.unlink(missing_ok=True)
    with with_filename(temporary):  # symlink_to reports the target instead
        temporary.symlink_to(target)
    os.replace(temporary, link)
    sync(link.parent)


def sync(path: Path) -> None:
    """fsync a file, or the entries of a folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with with_filename(path):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_filesystem(root: Path) -> None:
    """Flush the whole file system of a folder: one call is faster than an fsync of each file of a release."""
    descriptor = os.open(root, os.O_RDONLY)
    try:
        syncfs = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
        if syncfs is None:
            os.sync()
        elif syncfs(descriptor) != 0:
            # Many file systems report a failed write here only.
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(root))
    finally:
        os.close(descriptor)
