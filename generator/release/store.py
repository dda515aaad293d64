"""The only writer: bodies, releases, the `current` pointer, and the collection of what no release names.

Nothing that a release names is ever overwritten. A release becomes visible in one step, the replacement of
`current`; before it, whatever was written is unknown to everybody, and after a crash the next build removes it.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from .. import filesystem
from ..api.resources import Published
from ..errors import FlatpanelError
from ..filesystem import (
    PartialFile,
    clear,
    flush,
    lock,
    point,
    prune,
    remove_tree,
    sync,
    write,
    write_account,
    write_parts,
)
from . import journal, manifest
from .bodies import MARK, BodyWriter, begin, set_date
from .journal import Entry
from .manifest import EMPTY, Manifest
from .manifest_reader import ManifestReader

TREES = ("www", "private")
# A link or a release before it gets its name.
UNNAMED = ".new"

# By release, paths that no later one has.
Left: TypeAlias = Mapping[str, Iterable[str]]


class Store:
    """A `dist` folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def current(self) -> str | None:
        """The id of the release that is served."""
        name = _target(self.root / "current")
        return name if name and self._is_there(name) else None

    def release(self) -> str:
        """The id of the current release; an error where nothing has been built."""
        release = self.current()
        if not release:
            raise FlatpanelError(f"{self.root}: nothing has been built yet")
        return release

    def journal(self, is_there: Callable[[str], bool] | None = None) -> list[Entry]:
        """The releases that were served and are still there, the current one at the end; nothing without one."""
        is_there = is_there or self._is_there
        chain: list[str] = []
        link = self.root / "current"
        while (name := _target(link)) and name not in chain and is_there(name):
            chain.append(name)
            link = self.root / "releases" / name / "previous"
        if not chain:
            return []
        text = b""
        with suppress(FileNotFoundError):
            text = self.journal_path.read_bytes()
        found = journal.agreed(journal.parse(text), chain)
        return journal.present(found, filter(is_there, (one.release for one in found)))

    @property
    def journal_path(self) -> Path:
        return self.root / "releases" / journal.FILE

    def older(self) -> list[str]:
        """The ids of the releases that were served before the current one and are still there, the latest first."""
        return [one.release for one in self.journal()][-2::-1]

    def previous(self) -> str | None:
        """The id of the release that was served before it, if it is still there."""
        return next(iter(self.older()), None)

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

    def _is_there(self, release: str) -> bool:
        return (self.root / "releases" / release / "manifest.json").is_file()

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
    def locked(self, waiting: Callable[[], None]) -> Iterator["Transaction"]:
        """A session with the right to change this folder."""
        with self.held(waiting), Transaction(self) as session:
            yield session

    @contextmanager
    def held(self, waiting: Callable[[], None]) -> Iterator[None]:
        """The right to change this folder; `waiting` is called if another build has it now."""
        self.refuse_foreign()
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / MARK).open("a+") as mark:
            lock(mark.fileno(), waiting)
            yield

    def export(self, target: Path) -> int:
        """The current release as a plain tree: path.json and its sidecar."""
        release = self.release()
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise FlatpanelError(f"{target}: is not an empty folder; an export writes into a new one")
        plain = [one for one in self.manifest(release).resources.values() if manifest.is_plain(one)]
        for one in plain:
            path = target / manifest.plain_file(one)
            path.parent.mkdir(parents=True, exist_ok=True)
            write(path, (self.root / one.file).read_bytes(), one.modified)
            write(Path(f"{path}.headers"), manifest.sidecar(one))
        return len(plain)


class Transaction:
    """One build's work on a store: bodies first, then a release, then what is left over goes."""

    def __init__(self, store: Store) -> None:
        self.store, self.root = store, store.root
        self.before, self.journal, self.kept = store.current(), store.journal(), store.older()
        self.previous = next(iter(self.kept), None)
        # After a build that did not finish, and where the release got lost, nobody knows what lies here.
        self.uncertain = not store.finished() or (not self.before and any((self.root / one).exists() for one in TREES))
        with ExitStack() as opened:
            self.served = opened.enter_context(ManifestReader(store.manifest_path(self.before)))
            # Of the releases that are kept, the latest first; what there is of the one before is asked for always.
            self.ledgers = [opened.enter_context(ManifestReader(store.manifest_path(one))) for one in self.kept]
            self._opened = opened.pop_all()
        self.older = self.ledgers[0] if self.ledgers else ManifestReader(None)
        # Files of the next release that are written already.
        self._ahead: set[str] = set()

    def __enter__(self) -> "Transaction":
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def left(self, remembered: Left | None) -> Left:
        """The files that nobody may overwrite, though the current release has them not, by the last one that has."""
        if self.uncertain:
            self._sweep()
        if remembered is not None and not self.uncertain and list(remembered) == self.kept:
            return remembered
        known = set(self.served.files()) if self.kept else set()
        found = {}
        for release, ledger in zip(self.kept, self.ledgers, strict=True):
            found[release] = sorted(set(ledger.files()) - known)
            known.update(found[release])
        return found

    def passing(self) -> Callable[[str, Iterator[bytes]], Iterator[bytes]]:
        """How the parts of a file of the next release are passed on: where there will surely be one, they are written.

        They need not be read a second time then, once they are known to the last byte.
        """
        clear(self._unnamed)
        return (lambda _, parts: parts) if self.store.finished() else self._write_ahead

    def _write_ahead(self, name: str, parts: Iterator[bytes]) -> Iterator[bytes]:
        path = self._unnamed / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with PartialFile(path) as growing:
            for part in parts:
                yield part
                growing.write(part)
            growing.finish(str(path))
        self._ahead.add(name)

    @property
    def _unnamed(self) -> Path:
        """A release before it gets its name."""
        return self.root / "releases" / UNNAMED

    def bodies(self, left: frozenset[str]) -> BodyWriter:
        return BodyWriter(self.root, left)

    def commit(
        self,
        release: str,
        files: Mapping[str, Callable[[], Iterable[bytes]]],
        late: Iterable[Published],
        left: Left,
        entry: Entry,
        keep: int | None = None,
    ) -> None:
        """Make a release the one that is served, then date what has waited for that, and collect older ones.

        Of `left` goes what no release needs any more; `keep` says how many there may be, all if nothing does.
        """
        write_account(self.root, self.root / "run/user.conf")
        if release == self.before and self.store.finished():
            return
        begin(self.root)
        # A release before these may have been half collected when a build died.
        is_new = bool(files) and release not in (self.before, self.previous, *(() if self.uncertain else self.kept))
        if is_new:
            self._write_release(self.root / "releases" / release, files)
        if release != self.before:
            self._write_journal([*self.journal, entry])
            # A rollback leaves the links of a release that is there already as they are.
            if entry.before and (is_new or entry.reason == journal.BUILD):
                point(self.root / "releases" / release / "previous", f"../{entry.before[0]}", self.root / UNNAMED)
        point(self.root / "current", f"releases/{release}", self.root / UNNAMED)
        for one in late:
            set_date(self.root / one.file, one)
        kept = self.store.older()[: keep and keep - 1]
        for file in chain.from_iterable(files for one, files in left.items() if one not in kept):
            self._remove(self.root / file)
            if not file.endswith(".gz"):
                self._remove(self.root / f"{file}.headers")
        if keep or self.uncertain:
            self._collect_releases((release, *kept))
        self._write_journal(self.store.journal())
        write(self.root / MARK, b"")

    def _write_journal(self, entries: Iterable[Entry]) -> None:
        filesystem.replace(self.store.journal_path, journal.dump(entries))
        for path in (self.store.journal_path, self.root / "releases"):
            sync(path)

    def _write_release(self, folder: Path, files: Mapping[str, Callable[[], Iterable[bytes]]]) -> None:
        clear(folder)
        if not self._ahead:
            clear(self._unnamed)
        for name, parts in files.items():
            if name not in self._ahead:
                path = self._unnamed / name
                path.parent.mkdir(parents=True, exist_ok=True)
                write_parts(path, parts())
        for name in ("run", "www"):  # nginx.conf names them, whatever a catalog holds
            (self.root / name).mkdir(exist_ok=True)
        flush(self.root)
        self._unnamed.rename(folder)
        sync(folder.parent)

    def _collect_releases(self, kept: Collection[str]) -> None:
        for folder in (self.root / "releases").iterdir():
            if folder.name not in kept and folder.is_dir() and not folder.is_symlink():
                remove_tree(folder)

    def _remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        prune(path.parent)

    def _sweep(self) -> None:
        """Nobody knows what an unfinished build wrote: look at everything, before anything else is written."""
        begin(self.root)
        (self.root / UNNAMED).unlink(missing_ok=True)
        known: set[str] = set()
        # Of a body that several releases have, the latest one knows the date.
        for ledger in (self.served, *self.ledgers):
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


def _target(link: Path) -> str | None:
    """The name of the release to which a link leads."""
    return Path(os.readlink(link)).name if link.is_symlink() else None
