"""What a release answers with: its bodies by path and tag, as their files are named."""

import os
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

NAME = re.compile(r"(.+)\.([0-9a-f]{32})\.json")
# A few lists grow with the whole catalog, and one of them takes longer than thousands of other answers.
LARGEST = 256 * 1024


@dataclass(frozen=True, slots=True)
class Body:
    path: str
    tag: str
    file: str

    @property
    def plain(self) -> str:
        """Where a server looks for it that knows no tags."""
        return f"plain{self.path}.json"

    @property
    def tag_of_nginx(self) -> str:
        """What nginx makes of a file by itself."""
        status = os.stat(self.file)
        return f'"{int(status.st_mtime):x}-{status.st_size:x}"'


def every(dist: Path) -> Iterator[Body]:
    """All that has a body, what is chosen by parameters included."""
    www = dist / "www"
    for folder, folders, names in os.walk(www):
        folders.sort()
        for name in sorted(names):
            if found := NAME.fullmatch(name):
                path = "/" + os.path.join(os.path.relpath(folder, www), found[1])
                yield Body(path, found[2], os.path.join(folder, name))


def mixed(dist: Path) -> list[Body]:
    """Every path that a client can ask for as it is, once, in an order that is random and always the same."""
    found = [one for one in every(dist) if one.path.startswith("/api/") and os.path.getsize(one.file) <= LARGEST]
    random.Random(0).shuffle(found)
    return found


def link_plainly(bodies: list[Body], folder: Path) -> None:
    """The same files once more, under the names that URLs have."""
    made = set()
    for one in bodies:
        path = folder / one.plain
        if path.parent not in made:
            path.parent.mkdir(parents=True, exist_ok=True)
            made.add(path.parent)
        os.link(one.file, path)
        if os.path.exists(f"{one.file}.gz"):
            os.link(f"{one.file}.gz", f"{path}.gz")
