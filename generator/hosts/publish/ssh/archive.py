"""A tar archive on a stream, in the order of its files."""

import os
import stat
import tarfile
from collections.abc import Callable, Iterable
from io import BytesIO
from pathlib import Path
from typing import IO, NamedTuple

_BLOCK = 1 << 18


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
    # tar of busybox and of BSD know this format, too.
    format, encoding = tarfile.GNU_FORMAT, "utf-8"
    with tarfile.open(fileobj=stream, mode="w|", bufsize=_BLOCK, format=format, encoding=encoding) as archive:
        for file in files:
            entry = tarfile.TarInfo(file.name)
            if file.path:
                with file.path.open("rb") as opened:
                    status = os.fstat(opened.fileno())
                    entry.size, entry.mtime = status.st_size, int(status.st_mtime)
                    entry.mode = stat.S_IMODE(status.st_mode)
                    archive.addfile(entry, opened)
            else:
                entry.size, entry.mode = len(file.content), file.mode
                if file.link:
                    entry.type, entry.linkname = tarfile.SYMTYPE, file.link
                archive.addfile(entry, BytesIO(file.content))
            # It would keep the entries of all files in memory.
            archive.getmembers().clear()
            written(1)
