"""The bodies of a release, by the path and ETag in their file names."""

import os
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .program import remove

NAME = re.compile(r"(.+)\.([0-9a-f]{32})\.json")
# Lists of the whole catalog are left out: one takes longer than thousands of other responses.
LARGEST = 256 * 1024


@dataclass(frozen=True, slots=True)
class Body:
    path: str
    etag: str
    file: str

    @property
    def plain(self) -> str:
        """The file name for a server that uses the URL as it is."""
        return f"plain{self.path}.json"

    @property
    def nginx_etag(self) -> str:
        """The ETag that nginx itself gives to the file."""
        status = os.stat(self.file)
        return f'"{int(status.st_mtime):x}-{status.st_size:x}"'


def every(dist: Path) -> Iterator[Body]:
    """Every body, with those that parameters select."""
    www = dist / "www"
    for folder, folders, names in os.walk(www):
        folders.sort()
        for name in sorted(names):
            if match := NAME.fullmatch(name):
                path = "/" + os.path.join(os.path.relpath(folder, www), match[1])
                yield Body(path, match[2], os.path.join(folder, name))


def mixed(dist: Path) -> list[Body]:
    """Every requestable path once, in a random order that is always the same."""
    bodies = [body for body in every(dist) if body.path.startswith("/api/") and os.path.getsize(body.file) <= LARGEST]
    random.Random(0).shuffle(bodies)
    return bodies


def link_plainly(bodies: list[Body], folder: Path) -> None:
    """Link the files under the names of their URLs, in place of those that were linked before."""
    remove(folder / "plain")
    folders = set()
    for body in bodies:
        path = folder / body.plain
        if path.parent not in folders:
            path.parent.mkdir(parents=True, exist_ok=True)
            folders.add(path.parent)
        os.link(body.file, path)
        if os.path.exists(f"{body.file}.gz"):
            os.link(f"{body.file}.gz", f"{path}.gz")
