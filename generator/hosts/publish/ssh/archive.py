"""A tar archive on a stream, in the order of its files."""

import os
import stat
import tarfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

from ....errors import FlatpanelError

_BLOCK = 1 << 18
# An archive ends with two empty records, and fills the last block.
_RECORD, _END_BLOCK = 512, 10240


class ArchiveFile(NamedTuple):
    """A file of the archive: its name, and its path here, or its content and mode."""

    name: str
    path: Path | None = None
    content: bytes = b""
    mode: int = 0o600
    # A symbolic link with this target.
    link: str = ""

    def size(self) -> int:
        return self.path.stat().st_size if self.path else len(self.content)


def write(stream: IO[bytes], files: Iterable[ArchiveFile], written: Callable[[int], None]) -> None:
    """Write the files one after the other; `written` is called after each with 1."""
    size = 0
    for file in files:
        for part in _parts(file):
            size += stream.write(part)
        written(1)
    stream.write(bytes(2 * _RECORD + -(size + 2 * _RECORD) % _END_BLOCK))


def _parts(file: ArchiveFile) -> Iterator[bytes]:
    if file.path is None:
        yield _header(file, len(file.content), 0, file.mode)
        yield file.content
        yield bytes(-len(file.content) % _RECORD)
        return
    with file.path.open("rb") as opened:
        status = os.fstat(opened.fileno())
        yield _header(file, status.st_size, int(status.st_mtime), stat.S_IMODE(status.st_mode))
        remaining = status.st_size
        while remaining:
            part = opened.read(min(remaining, _BLOCK))
            if not part:
                raise FlatpanelError(f"{file.path}: became shorter while it was sent; publish again")
            remaining -= len(part)
            yield part
        yield bytes(-status.st_size % _RECORD)


def _header(file: ArchiveFile, size: int, modified: int, mode: int) -> bytes:
    entry = tarfile.TarInfo(file.name)
    entry.size, entry.mtime, entry.mode = size, modified, mode
    if file.link:
        entry.type, entry.linkname = tarfile.SYMTYPE, file.link
    # tar of busybox and of BSD know this format, too.
    return entry.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape")
