"""The folder of the next release while its id, a digest of its files, is not known."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from ..filesystem import PartialFile, delete, sync, sync_filesystem, write_parts

# The name of a release folder before it is renamed to its id, and of a link before it is moved to its place.
TEMPORARY_NAME = ".new"

# The files of a release by name, each as a function that yields its content in parts.
ReleaseFiles: TypeAlias = Mapping[str, Callable[[], Iterable[bytes]]]


class NewFolder:
    """`releases/.new` below `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = root / "releases" / TEMPORARY_NAME
        self._written: set[str] = set()

    def clear(self) -> None:
        """Remove what an interrupted build left."""
        delete(self.path)

    def write_through(self, name: str, parts: Iterator[bytes]) -> Iterator[bytes]:
        """Pass on the parts of a file, and write them on the way."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with PartialFile(path) as partial:
            for part in parts:
                yield part
                partial.write(part)
            partial.finish(str(path))
        self._written.add(name)

    def finish(self, release: str, files: ReleaseFiles) -> None:
        """Write the files that are still missing, put everything in `dist` on the disk, and rename the folder."""
        folder = self.path.with_name(release)
        delete(folder)
        if not self._written:
            self.clear()
        for name, parts in files.items():
            if name not in self._written:
                path = self.path / name
                path.parent.mkdir(parents=True, exist_ok=True)
                write_parts(path, parts())
        for name in ("run", "www"):  # nginx.conf refers to both, even if the catalog is empty
            (self.root / name).mkdir(exist_ok=True)
        sync_filesystem(self.root)
        self.path.rename(folder)
        sync(folder.parent)
