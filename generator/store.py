"""The only writer: bodies, releases, the `current` pointer, and the collection of what no release names.

Nothing that a release names is ever overwritten. A release becomes visible in one step, the replacement of
`current`; before it, whatever was written is unknown to everybody, and after a crash the next build removes it.
"""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from . import manifest
from .artifact import Published
from .disk import flush, lock, point, sync, write, write_account, write_parts
from .errors import FlatpanelError
from .ledger import Ledger
from .manifest import EMPTY, Manifest
from .shelving import MARK, Bodies, begin, set_date

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
        path = self.manifest_path(release)
        return manifest.load(path.read_bytes(), str(path)) if path else EMPTY

    def manifest_path(self, release: str | None) -> Path | None:
        return self.root / "releases" / release / "manifest.json" if release else None

    def finished(self) -> bool:
        """Whether the last build came to its end."""
        with suppress(OSError):
            return not (self.root / MARK).read_bytes()
        return False

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
            lock(mark.fileno(), waiting)
            with Session(self) as session:
                yield session

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
        self.before, self.previous = store.current(), store.previous()
        # After a build that did not finish, and where the release got lost, nobody knows what lies here.
        self.uncertain = not store.finished() or (not self.before and any((self.root / one).exists() for one in TREES))
        self.served = Ledger(store.manifest_path(self.before))
        self.older = Ledger(store.manifest_path(self.previous))

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.served.close()
        self.older.close()

    def left(self, remembered: Iterable[str] | None) -> frozenset[str]:
        """The files that only the release before the current one has, and that nobody may overwrite."""
        if self.uncertain:
            self._sweep()
        if remembered is not None and not self.uncertain:
            return frozenset(remembered)
        return frozenset(self.older.files()) - frozenset(self.served.files()) if self.previous else frozenset()

    def bodies(self, left: frozenset[str]) -> Bodies:
        return Bodies(self.root, left)

    def commit(
        self,
        release: str,
        files: Mapping[str, Callable[[], Iterable[bytes]]],
        late: Iterable[Published],
        gone: Iterable[str],
    ) -> None:
        """Make a release the one that is served, then date what has waited for that, and remove what is gone."""
        write_account(self.root, self.root / "run/user.conf")
        if release == self.before and self.store.finished():
            return
        begin(self.root)
        if release not in (self.before, self.previous):
            self._write_release(self.root / "releases" / release, files)
        if self.before and self.before != release:
            point(self.root / "releases" / release / "previous", f"../{self.before}", self.root / UNNAMED_LINK)
        point(self.root / "current", f"releases/{release}", self.root / UNNAMED_LINK)
        for one in late:
            set_date(self.root / one.file, one)
        for file in gone:
            self._remove(self.root / file)
            if not file.endswith(".gz"):
                self._remove(self.root / f"{file}.headers")
        self._collect_releases()
        write(self.root / MARK, b"")

    def roll_back(self) -> str:
        """Make the release before this one the current one again."""
        release = self.previous
        if not release:
            raise FlatpanelError(f"{self.root}: there is no release before this one")
        if self.uncertain:
            self._sweep()
        late = []
        for slug in self.older.runs:
            served = self.served.of(slug)
            for url, one in self.older.of(slug).items():
                path = self.root / one.file
                if not path.exists():
                    raise FlatpanelError(f"{path}: is missing, so release {release} cannot be served again")
                if url not in served or served[url].modified != one.modified:
                    late.append(one)
        self.commit(release, {}, late, ())
        return release

    def _write_release(self, folder: Path, files: Mapping[str, Callable[[], Iterable[bytes]]]) -> None:
        unnamed = folder.with_name(f".{folder.name}")
        for leftover in (folder, unnamed):
            shutil.rmtree(leftover, ignore_errors=True)
        for name, parts in files.items():
            path = unnamed / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_parts(path, parts())
        for name in ("run", "www"):  # nginx.conf names them, whatever a catalog holds
            (self.root / name).mkdir(exist_ok=True)
        flush(self.root)
        unnamed.rename(folder)
        sync(folder.parent)

    def _collect_releases(self) -> None:
        kept = (self.store.current(), self.store.previous())
        for folder in (self.root / "releases").iterdir():
            if folder.name not in kept and folder.is_dir() and not folder.is_symlink():
                shutil.rmtree(folder)

    def _remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        with suppress(OSError):  # the first folder that is not empty
            os.removedirs(path.parent)

    def _sweep(self) -> None:
        """Nobody knows what an unfinished build wrote: look at everything, before anything else is written."""
        begin(self.root)
        (self.root / UNNAMED_LINK).unlink(missing_ok=True)
        known: set[str] = set()
        # Of a body that both releases have, the current one knows the date.
        for ledger in (self.served, self.older):
            for slug in ledger.runs:
                for one in ledger.of(slug).values():
                    if one.file not in known:
                        set_date(self.root / one.file, one)
                    known.update(manifest.paths(one))
        for tree in TREES:
            for folder, _, names in os.walk(self.root / tree, topdown=False):
                for name in names:
                    path = os.path.join(folder, name)
                    if os.path.relpath(path, self.root) not in known:
                        os.unlink(path)
                if Path(folder) != self.root / tree and not os.listdir(folder):
                    os.rmdir(folder)
