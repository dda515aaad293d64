"""The only writer: bodies, releases, the `current` pointer, and the collection of what no release names.

Nothing that a release names is ever overwritten. A release becomes visible in one step, the replacement of
`current`; before it, whatever was written is unknown to everybody, and after a crash the next build removes it.
"""

import ctypes
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from . import manifest
from .artifact import File, Published
from .errors import FlatpanelError
from .manifest import EMPTY, Manifest

# Marks the folder as ours, serialises builds, and holds "unfinished" while one is at work.
MARK = ".flatpanel"
TREES = ("www", "private")


class Store:
    """A `dist` folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def current(self) -> str | None:
        """The id of the release that is served."""
        return self._pointed(self.root / "current")

    def previous(self) -> str | None:
        """The id of the release that was served before it, if it is still there."""
        current = self.current()
        return self._pointed(self.root / "releases" / current / "previous") if current else None

    def manifest(self, release: str | None) -> Manifest:
        return read_manifest(self.root / "releases" / release / "manifest.json") if release else EMPTY

    def _pointed(self, link: Path) -> str | None:
        try:
            name = Path(os.readlink(link)).name
        except OSError:
            return None
        return name if (self.root / "releases" / name / "manifest.json").is_file() else None

    def refuse_foreign(self) -> None:
        """A folder that holds anything and was not made here is somebody's work."""
        if self.root.exists() and not self.root.is_dir():
            raise FlatpanelError(f"{self.root}: is not a folder; choose another with --out")
        ours = (self.root / MARK).is_file() or self.current()
        if self.root.is_dir() and not ours and any(self.root.iterdir()):
            raise FlatpanelError(
                f"{self.root}: holds files that were not built here; empty it yourself or choose another with --out"
            )

    @contextmanager
    def locked(self, waiting: Callable[[], None]) -> Iterator["Session"]:
        """The right to change this folder; `waiting` is called if another build has it now."""
        self.refuse_foreign()
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / MARK).open("a+") as mark:
            try:
                fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waiting()
                fcntl.flock(mark, fcntl.LOCK_EX)
            yield Session(self)

    def roll_back(self) -> str:
        """Serve the release before this one again."""
        with self.locked(lambda: None):
            release, current = self.previous(), self.current()
            if not release or not current:
                raise FlatpanelError(f"{self.root}: there is no release before this one")
            point(self.root / "releases" / release / "previous", f"../{current}")
            point(self.root / "current", f"releases/{release}")
            return release

    def export(self, target: Path) -> int:
        """The current release as a plain tree: path.json and its sidecar."""
        release = self.current()
        if not release:
            raise FlatpanelError(f"{self.root}: nothing has been built yet")
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise FlatpanelError(f"{target}: is not an empty folder; an export writes into a new one")
        known = self.manifest(release)
        for one in known.resources.values():
            body = (self.root / one.file).read_bytes()
            path = target / manifest.plain_file(one)
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, body)
            os.utime(path, (one.modified, one.modified))
            _write(path.with_name(path.name + ".headers"), manifest.sidecar(one))
        return len(known.resources)


class Session:
    """One build's work on a store: bodies first, then a release, then what is left over goes."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.root = store.root
        self.before = store.current()
        self.unfinished = bool((self.root / MARK).read_bytes())
        self.dates = {
            one.file: one.modified
            for release in (store.previous(), self.before)
            for one in store.manifest(release).resources.values()
        }
        self.folders: set[Path] = set()
        self.touched = False

    def begin(self) -> None:
        """From here until `commit` is done, files exist that no release names."""
        if not self.touched:
            _write(self.root / MARK, b"unfinished\n")
            self.touched = True

    def put(self, one: Published, body: bytes, packed: bytes | None) -> int:
        """Write a body that is not there yet, and answer how many bytes that took."""
        path = self.root / one.file
        if one.file in self.dates and path.exists():
            if self.dates[one.file] != one.modified:
                self._date(one)
            return 0
        self.begin()
        self._folder(path.parent)
        written = _write(path, body)
        os.utime(path, (one.modified, one.modified))
        if packed is not None:
            written += _write(Path(f"{path}.gz"), packed)
            os.utime(f"{path}.gz", (one.modified, one.modified))
        return written + _write(Path(f"{path}.headers"), manifest.sidecar(one))

    def _date(self, one: Published) -> None:
        """Give a body that is already there its new date: one that comes back after a change and its reversal."""
        path = self.root / one.file
        self.begin()
        os.utime(path, (one.modified, one.modified))
        _replace(Path(f"{path}.headers"), manifest.sidecar(one))

    def _folder(self, path: Path) -> None:
        if path not in self.folders:
            path.mkdir(parents=True, exist_ok=True)
            self.folders.add(path)

    def commit(self, release: str, files: Iterable[File]) -> None:
        """Make a release the one that is served, then remove what neither it nor the one before it names."""
        if release == self.before and not self.unfinished:
            return
        self.begin()
        self._write_release(release, files)
        self._point_at(release)
        self._collect(release)
        _write(self.root / MARK, b"")

    def _write_release(self, release: str, files: Iterable[File]) -> None:
        folder, unnamed = self.root / "releases" / release, self.root / "releases" / f".{release}"
        for name in ("run", "www", "releases"):
            (self.root / name).mkdir(exist_ok=True)
        if not folder.exists():
            shutil.rmtree(unnamed, ignore_errors=True)
            for one in files:
                path = unnamed / one.path
                path.parent.mkdir(parents=True, exist_ok=True)
                _write(path, one.text)
        _flush(self.root)
        if not folder.exists():
            unnamed.rename(folder)

    def _point_at(self, release: str) -> None:
        if self.before and self.before != release:
            point(self.root / "releases" / release / "previous", f"../{self.before}")
        point(self.root / "current", f"releases/{release}")

    def _collect(self, release: str) -> None:
        kept = {release, self.store.previous()}
        keep = set().union(*(self.store.manifest(one).bodies for one in kept))
        if self.unfinished:
            self._sweep(keep)
        else:
            for file in self.dates.keys() - keep:
                self._remove(self.root / file)
        for folder in (self.root / "releases").iterdir():
            if folder.name not in kept:
                shutil.rmtree(folder)

    def _remove(self, body: Path) -> None:
        for path in (body, Path(f"{body}.gz"), Path(f"{body}.headers")):
            path.unlink(missing_ok=True)
        folder = body.parent
        while folder != self.root and not any(folder.iterdir()):
            folder.rmdir()
            folder = folder.parent

    def _sweep(self, keep: set[str]) -> None:
        """After a build that did not finish, nobody knows what it wrote; look at everything."""
        for tree in TREES:
            for folder, _, names in os.walk(self.root / tree, topdown=False):
                for name in names:
                    path = Path(folder, name)
                    if path.relative_to(self.root).as_posix().removesuffix(".gz").removesuffix(".headers") not in keep:
                        path.unlink()
                if Path(folder) != self.root / tree and not os.listdir(folder):
                    os.rmdir(folder)


def read_manifest(path: Path) -> Manifest:
    try:
        return manifest.load(path.read_bytes(), str(path))
    except OSError as error:
        raise FlatpanelError(f"{path}: cannot be read: {error.strerror}") from None


def write_if_changed(path: Path, text: bytes) -> bool:
    """For the main configuration file, which is in people's own folder, and for scratch folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_file() and path.read_bytes() == text:
        return False
    _replace(path, text)
    return True


def rewrite(path: Path, text: bytes) -> bool:
    """For a file of the catalog: with the permissions that it has, and where it is a link, what that names."""
    path = path.resolve()
    mode = path.stat().st_mode if path.exists() else None
    written = write_if_changed(path, text)
    if mode is not None:
        path.chmod(mode)
    return written


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """One change at a time to files that people share; the lock is on the folder, and leaves nothing behind."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # of a file system that cannot lock a folder
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder that is gone afterwards, and that nginx's workers may enter."""
    with tempfile.TemporaryDirectory(prefix="flatpanel-") as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


def _write(path: Path, data: bytes) -> int:
    # The bare calls are half as dear as a file object, and there are hundreds of thousands of files.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    finally:
        os.close(descriptor)
    return len(data)


def _replace(path: Path, data: bytes) -> None:
    unnamed = path.with_name(f".{path.name}.new"[-255:])
    _write(unnamed, data)
    os.replace(unnamed, path)


def point(link: Path, target: str) -> None:
    link.parent.mkdir(parents=True, exist_ok=True)
    if link.is_symlink() and os.readlink(link) == target:
        return
    unnamed = link.with_name(f".{link.name}.new")
    unnamed.unlink(missing_ok=True)
    unnamed.symlink_to(target)
    os.replace(unnamed, link)
    descriptor = os.open(link.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _flush(root: Path) -> None:
    """What `current` is about to name must be on the disk before it does; one call for all files is the cheapest."""
    descriptor = os.open(root, os.O_RDONLY)
    try:
        syncfs = getattr(ctypes.CDLL(None), "syncfs", None)
        if syncfs is None or syncfs(descriptor) != 0:
            os.sync()
    finally:
        os.close(descriptor)
