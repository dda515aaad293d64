"""One file of the catalog -> what it says, and how it looks from outside."""

import errno
import gc
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import encode, keys, yaml12

# A catalog is text that people write. Much more is a mistake, and would not fit into memory as values.
MAX_SIZE = 16 << 20


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a file says, or why nobody can tell."""

    value: Any = None
    mtime: int = 0
    digest: str = ""
    error: OSError | yaml12.Malformed | None = None


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Parsing makes millions of objects and no cycles; looking for cycles would be a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def looks(path: str | Path) -> str:
    """How a file or a folder looks from outside: whoever changes it changes that."""
    status = os.stat(path)
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"


def content(path: Path) -> tuple[bytes, int]:
    """What a file holds, and when it was changed."""
    status = path.stat()
    # Merely opening a pipe would wait for whoever writes into it, and a device may never end.
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        raise OSError(errno.EINVAL, "it is neither a file nor a folder")
    if status.st_size > MAX_SIZE:
        raise OSError(errno.EFBIG, f"it has more than {MAX_SIZE >> 20} MiB; divide it")
    with path.open("rb") as opened:
        return opened.read(), os.fstat(opened.fileno()).st_mtime_ns // 10**9


def parse(path: Path) -> Parsed:
    try:
        with without_garbage_collection():
            text, mtime = content(path)
            value = yaml12.load(text)
            if _holds_key(text, value):
                raise yaml12.Malformed
            return Parsed(value, mtime, encode.digest(text))
    except (OSError, yaml12.Malformed) as error:
        return Parsed(error=error)


def _holds_key(text: bytes, value: Any) -> bool:
    """Not even a comment may hold one: whoever reads the catalog could use it. Only a backslash can disguise it."""
    if keys.places(text):
        return True
    shown = repr(value) if b"\\" in text else ""
    return keys.hidden(shown) != shown
