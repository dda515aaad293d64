"""The only writer: bodies, releases, the `current` pointer, and the collection of what no release names.

Nothing that a release names is ever overwritten. A release becomes visible in one step, the replacement of
`current`; before it, whatever was written is unknown to everybody, and after a crash the next build removes it.
"""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from . import manifest
from .artifact import File, Published
from .disk import flush, point, replace, sync, write, write_account
from .errors import FlatpanelError
from .manifest import EMPTY, Manifest

# Marks the folder as ours, serialises builds, and holds "unfinished" while one is at work.
MARK = ".flatpanel"
TREES = ("www", "private")
# A link before it gets its name.
UNNAMED_LINK = ".new"


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
        """What a release says of itself; nothing where there is none."""
        path = self.root / "releases" / str(release) / "manifest.json"
        return manifest.load(path.read_bytes(), str(path)) if release else EMPTY

    def _pointed(self, link: Path) -> str | None:
        try:
            name = Path(os.readlink(link)).name
        except OSError:
            return None
        return name if (self.root / "releases" / name / "manifest.json").is_file() else None

    def refuse_foreign(self) -> None:
        """A folder that holds anything and was not made here is somebody's work."""
        if os.path.lexists(self.root) and not self.root.is_dir():
            raise FlatpanelError(f"{self.root}: is not a folder; choose another with --out")
        found = os.listdir(self.root) if self.root.is_dir() else []
        if found and MARK not in found and not self.current():
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

    def export(self, target: Path) -> int:
        """The current release as a plain tree: path.json and its sidecar."""
        release = self.current()
        if not release:
            raise FlatpanelError(f"{self.root}: nothing has been built yet")
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise FlatpanelError(f"{target}: is not an empty folder; an export writes into a new one")
        plain = [one for one in self.manifest(release).resources.values() if manifest.is_plain(one)]
        for one in plain:
            path = target / manifest.plain_file(one)
            path.parent.mkdir(parents=True, exist_ok=True)
            write(path, (self.root / one.file).read_bytes(), one.modified)
            write(Path(f"{path}.headers"), manifest.sidecar(one))
        return len(plain)


class Session:
    """One build's work on a store: bodies first, then a release, then what is left over goes."""

    def __init__(self, store: Store) -> None:
        self.store, self.root = store, store.root
        self.before = store.current()
        # The releases that somebody may be reading, the current one last.
        self.manifests = {one: store.manifest(one) for one in (store.previous(), self.before)}
        self.served = self.manifests[self.before]
        self.known = _bodies(self.manifests.values())
        self.begun = bool((self.root / MARK).read_bytes())
        # After a build that did not finish, and where the release got lost, nobody knows what lies here.
        self.uncertain = self.begun or (not self.before and (self.root / TREES[0]).exists())
        self.late: list[Published] = []
        self.folders: set[Path] = set()

    def begin(self) -> None:
        """From here until `commit` is done, files exist that no release names."""
        if not self.begun:
            write(self.root / MARK, b"unfinished\n")
            self.begun = True

    def put(self, one: Published, body: bytes, packed: bytes | None) -> int:
        """Write what is not there yet of a body, and answer how many bytes that took."""
        kept, written, path = self.keep(one), 0, self.root / one.file
        if not kept:
            self.begin()
            self._folder(path.parent)
            written += write(path, body, one.modified) + write(Path(f"{path}.headers"), manifest.sidecar(one))
        if packed is not None and not (kept and self.known[one.file].gzip):
            self.begin()
            written += write(Path(f"{path}.gz"), packed, one.modified)
        return written

    def keep(self, one: Published) -> bool:
        """Whether a release has this body already; if so, it is dated as the next one wants it."""
        old = self.known.get(one.file)
        if not old or not (self.root / one.file).exists():
            return False
        if old.modified != one.modified:
            # What is served keeps its date until it is served with the other.
            self.late.append(one) if old is self.served.resources.get(one.url) else self._date(one)
        return True

    def _date(self, one: Published) -> None:
        """Give a body that is there already its date: one that comes back after a change and its reversal."""
        path = self.root / one.file
        sidecar = Path(f"{path}.headers")
        if path.exists() and not (sidecar.exists() and sidecar.read_bytes() == manifest.sidecar(one)):
            self.begin()
            os.utime(path, (one.modified, one.modified))
            replace(sidecar, manifest.sidecar(one))

    def _folder(self, path: Path) -> None:
        if path not in self.folders:
            path.mkdir(parents=True, exist_ok=True)
            self.folders.add(path)

    def commit(self, release: str, files: Iterable[File]) -> None:
        """Make a release the one that is served, then remove what neither it nor the one before it names."""
        write_account(self.root, self.root / "run/user.conf")
        if release == self.before and not self.begun:
            return
        self.begin()
        if release not in self.manifests:
            self._write_release(self.root / "releases" / release, files)
        if self.before and self.before != release:
            point(self.root / "releases" / release / "previous", f"../{self.before}", self.root / UNNAMED_LINK)
        point(self.root / "current", f"releases/{release}", self.root / UNNAMED_LINK)
        for one in self.late:
            self._date(one)
        self._collect(release)
        write(self.root / MARK, b"")

    def roll_back(self) -> str:
        """Make the release before this one the current one again."""
        release = self.store.previous()
        if not release:
            raise FlatpanelError(f"{self.root}: there is no release before this one")
        for one in self.manifests[release].resources.values():
            if not self.keep(one):
                raise FlatpanelError(f"{self.root / one.file}: is missing, so release {release} cannot be served again")
        self.commit(release, ())
        return release

    def _write_release(self, folder: Path, files: Iterable[File]) -> None:
        unnamed = folder.with_name(f".{folder.name}")
        for leftover in (folder, unnamed):
            shutil.rmtree(leftover, ignore_errors=True)
        for one in files:
            path = unnamed / one.path
            self._folder(path.parent)
            write(path, one.text)
        for name in ("run", "www"):  # nginx.conf names them, whatever a catalog holds
            self._folder(self.root / name)
        flush(self.root)
        unnamed.rename(folder)
        sync(folder.parent)

    def _collect(self, release: str) -> None:
        names = (self.store.previous(), release)
        kept = [self.manifests.get(one) or self.store.manifest(one) for one in names]
        if self.uncertain:
            self._sweep(kept)
        else:
            for path in sorted(_paths(self.manifests.values()) - _paths(kept)):
                self._remove(self.root / path)
        for folder in (self.root / "releases").iterdir():
            if folder.name not in names and folder.is_dir() and not folder.is_symlink():
                shutil.rmtree(folder)

    def _remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        with suppress(OSError):  # the first folder that is not empty
            os.removedirs(path.parent)

    def _sweep(self, kept: Sequence[Manifest]) -> None:
        """Nobody knows what an unfinished build wrote; look at everything."""
        (self.root / UNNAMED_LINK).unlink(missing_ok=True)
        for one in _bodies(kept).values():
            self._date(one)
        known = _paths(kept)
        for tree in TREES:
            for folder, _, names in os.walk(self.root / tree, topdown=False):
                for name in names:
                    path = os.path.join(folder, name)
                    if os.path.relpath(path, self.root) not in known:
                        os.unlink(path)
                if Path(folder) != self.root / tree and not os.listdir(folder):
                    os.rmdir(folder)


def _bodies(manifests: Iterable[Manifest]) -> dict[str, Published]:
    """By their files; of a body that several releases have, the last one knows the date."""
    return {one.file: one for found in manifests for one in found.resources.values()}


def _paths(manifests: Iterable[Manifest]) -> set[str]:
    return {path for found in manifests for one in found.resources.values() for path in manifest.paths(one)}
