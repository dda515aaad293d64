"""Wait for changes in folders: with inotify on Linux, elsewhere for a time.

An event only ends the wait early. It misses changes in some file systems, and behind links to files; so the caller
compares the files after each wait.
"""

import ctypes
import os
import select
from collections.abc import Iterable

# A file was closed after writing, moved out or in, or deleted. IN_CREATE is left out: a new file is still empty then.
_EVENTS = 0x8 | 0x40 | 0x80 | 0x200
_ONLY_FOLDERS = 0x01000000
# Seconds from the first event to the end of the wait: programs often write several files.
_MORE = 0.01


class FolderEvents:
    """The folders to watch. A folder that cannot be watched has no events."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None)
        start = getattr(self._library, "inotify_init1", None)
        # -1 without inotify, and if the user has too many of them.
        self._descriptor: int = start(os.O_CLOEXEC) if start else -1

    def watch(self, folders: Iterable[str | os.PathLike[str]]) -> None:
        """Watch these folders too; watching one twice has no effect."""
        for folder in folders if self._descriptor >= 0 else ():
            self._library.inotify_add_watch(self._descriptor, os.fsencode(folder), _EVENTS | _ONLY_FOLDERS)

    def wait(self, seconds: float) -> None:
        """Return after a change in a watched folder, and at the latest after this time."""
        watched = [self._descriptor] if self._descriptor >= 0 else []
        if select.select(watched, [], [], seconds)[0]:
            select.select([], [], [], _MORE)
            os.read(self._descriptor, 1 << 20)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
