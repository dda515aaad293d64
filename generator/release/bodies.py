"""Write bodies, each with its sidecar and its gzip form. Every process that renders has a writer of its own."""

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from .. import encoding
from ..api.payloads.resources import Resource
from ..errors import FlatpanelError
from ..filesystem import PartialFile, has_content, make_folder, read_regular, replace, write
from . import manifest
from .manifest import Published

# A file in `dist` that marks the folder as built here, is locked by a build, and holds "unfinished" from the first
# write of a build to its commit.
BUILD_STATE_FILE = ".flatpanel"


def mark_unfinished(root: Path) -> None:
    """Record that files without a release may exist from now on, until a release is committed."""
    with suppress(OSError):
        if (root / BUILD_STATE_FILE).read_bytes():
            return  # on a full disk, writing again would remove the mark
    write(root / BUILD_STATE_FILE, b"unfinished\n")


@dataclass(slots=True)
class WriteTotals:
    """Counts of writers."""

    # Of bodies, sidecars and compressed forms.
    written_bytes: int = 0
    # Unchanged bodies whose Last-Modified changes. Their files get it when the new release is visible.
    redate_after_commit: list[Published] = field(default_factory=list)
    # Files of older releases only that the new release uses again.
    returned_files: set[str] = field(default_factory=set)

    def add(self, other: "WriteTotals") -> None:
        self.written_bytes += other.written_bytes
        self.redate_after_commit += other.redate_after_commit
        self.returned_files |= other.returned_files


class BodyWriter:
    """Writes bodies below `root`, and overwrites no file that a release references.

    These files are those of the continued release, if that is the current one, and those in `protected`: each with the
    date that the current release gives it until the commit, or with None if only older releases have the file.
    """

    def __init__(self, root: Path, protected: Mapping[str, int | None], continues_current: bool) -> None:
        self.root, self.protected, self.continues_current = root, protected, continues_current
        # Paths of files are joined as text: a `Path` would be converted for each file.
        self._start = f"{root}/"
        self.totals = WriteTotals()
        self._folders: set[str] = set()
        self._begun = False

    def put(self, body: Published, content: bytes, packed: bytes | None, continued: Published | None) -> None:
        """Write the missing and the damaged files of a body; `continued` is the one of the same URL before."""
        exists = self.reuse(body, continued)
        put = self.replace_different if exists else self.write
        put(body.file, content, body.file_time)
        if packed is not None:
            put(f"{body.file}.gz", packed, body.file_time)
        self.put_sidecar(body, exists=exists)

    def write(self, file: str, content: bytes, modified: int | None = None) -> None:
        """Write a file that no release references."""
        self._enter(os.path.dirname(self._start + file))
        try:
            self.totals.written_bytes += write(self._start + file, content, modified)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            self.replace(file, content, modified)  # a link, which is not followed

    def replace(self, file: str, content: bytes, modified: int | None) -> None:
        self._enter(os.path.dirname(self._start + file))
        replace(self.root / file, content, modified=modified)
        self.totals.written_bytes += len(content)

    def replace_different(self, file: str, content: bytes, modified: int | None = None) -> None:
        """Replace a file that is missing or has other bytes. Another version may have written no gzip form."""
        if self.protected.get(file, 0) is None:
            self.totals.returned_files.add(file)
        if read_regular(self._start + file) != content:
            self.replace(file, content, modified)

    def put_sidecar(self, body: Published, *, exists: bool) -> None:
        """Write the sidecar, unless its date changes after the commit."""
        if not exists:
            self.write(f"{body.file}.headers", manifest.sidecar(body))
        elif not (self.totals.redate_after_commit and self.totals.redate_after_commit[-1] is body):
            self.replace_different(f"{body.file}.headers", manifest.sidecar(body))

    def reuse(self, body: Published, continued: Published | None) -> bool:
        """Use the file that a release has of this body, and set its date now or after the commit; False without one."""
        is_current = self.continues_current and continued is not None and continued.file == body.file
        if not (is_current or body.file in self.protected) or not os.path.exists(self._start + body.file):
            return False
        date = continued.modified if is_current and continued else self.protected[body.file]
        if date is None:
            self.begin()
            set_last_modified(self.root / body.file, body)
            self.totals.returned_files.update(manifest.files(body))
        elif date != body.modified:
            self.totals.redate_after_commit.append(body)
        return True

    def take_totals(self) -> WriteTotals:
        """Return the counts since the last call."""
        totals, self.totals = self.totals, WriteTotals()
        return totals

    def begin(self) -> None:
        if not self._begun:
            mark_unfinished(self.root)
            self._begun = True

    def _enter(self, folder: str) -> None:
        """Make a folder of bodies to write there. A link in its place is refused: behind it are files of others."""
        self.begin()
        if folder in self._folders:
            return
        parent = folder
        while len(parent) > len(self._start) and parent not in self._folders:
            if os.path.islink(parent):
                raise FlatpanelError(f"{parent}: is a link, which is not followed; replace it by a real folder")
            parent = os.path.dirname(parent)
        make_folder(folder)
        self._folders.add(folder)

    @contextmanager
    def partial_files(self, resource: Resource) -> Iterator[tuple[PartialFile, PartialFile]]:
        """Files for a body and its gzip form while the body, and with it the name, is incomplete."""
        self.begin()
        # A restricted body is never in a public folder, not even while it is written.
        folder = self.root / manifest.tree(resource)
        make_folder(folder)
        path = folder / f".{encoding.digest(resource.url.encode())}"
        with PartialFile(path) as body, PartialFile(Path(f"{path}.gz")) as packed:
            yield body, packed

    def finish(self, body: Published, content: PartialFile, packed: PartialFile, continued: Published | None) -> None:
        """Give partial files their names, unless the same files exist already."""
        exists = self.reuse(body, continued)
        path = self._start + body.file
        self._enter(os.path.dirname(path))
        for partial, name in ((content, path), (packed, f"{path}.gz")):
            if not (exists and has_content(name, partial.parts())):
                self.totals.written_bytes += partial.finish(name, body.file_time)
        self.put_sidecar(body, exists=exists)


def set_last_modified(path: Path, body: Published) -> None:
    """Give an existing body its date, which differs if the body returns after a change was reverted."""
    if not path.exists():
        return
    # The sidecar has no date that lies after the build: the files tell whether it is another one.
    if path.stat().st_mtime != body.file_time:
        for form in (path, Path(f"{path}.gz")):
            if form.exists():
                os.utime(form, (body.file_time, body.file_time))
    sidecar = Path(f"{path}.headers")
    if read_regular(sidecar) != manifest.sidecar(body):
        replace(sidecar, manifest.sidecar(body))


def rewrite_damaged(folder: Path, files: Mapping[str, Callable[[], Iterable[bytes]]]) -> None:
    """Write the files of a release whose bytes differ from those of a build."""
    for name, parts in files.items():
        path = folder / name
        if not has_content(path, parts()):
            mark_unfinished(folder.parent.parent)
            make_folder(path.parent)
            replace(path, parts())


def restore(root: Path, file: str, content: bytes, modified: int | None) -> bool:
    """Replace a damaged file in one step. False if a folder or another file is in the way."""
    path = root / file
    try:
        make_folder(path.parent)
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        replace(path, content, modified=modified)
    except OSError as error:
        if error.errno not in (errno.EEXIST, errno.ENOTDIR, errno.ENOTEMPTY, errno.ELOOP):
            raise
        return False
    return True


def remove_link(link: Path) -> None:
    """Remove a link but not its target."""
    os.unlink(link)  # fails for a folder
