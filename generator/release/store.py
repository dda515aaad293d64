"""The folder `dist`, for reading: the current release, the releases served before it, and their manifests."""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path

from .. import encoding
from ..errors import FlatpanelError
from ..filesystem import is_inside, unfinished
from . import journal, manifest
from .bodies import BUILD_STATE_FILE
from .journal import JournalEntry
from .manifest import EMPTY, Manifest
from .manifest_reader import ManifestReader, refuse_damaged

# A file of this name marks a folder of previews, which contain scheduled chapters.
PREVIEW_FILE = "PREVIEW"
# The folders of public and of restricted bodies.
TREES = ("www", "private")


class Store:
    """A `dist` folder. It has either releases or previews, never both."""

    def __init__(self, root: Path, *, preview: bool = False) -> None:
        self.root, self.preview = root, preview

    def refuse_other_kind(self) -> None:
        """An error if the folder has previews and this store is for releases, or the other way round."""
        is_preview = (self.root / PREVIEW_FILE).exists()
        if is_preview and not self.preview:
            raise FlatpanelError(f"{self.root}: is a preview with unpublished chapters; choose another with --out")
        if self.preview and not is_preview and self.root.is_dir() and os.listdir(self.root):
            raise FlatpanelError(f"{self.root}: is not a preview; remove the folder, or choose another with --out")

    def current(self) -> str | None:
        """The id of the current release, or None if nothing has been built."""
        name = _link_target(self.root / "current")
        return name if name and _has_manifest(self.root, name) else None

    def release(self) -> str:
        """The id of the current release; an error if there is none, only previews, or no manifest of it."""
        self.refuse_other_kind()
        release = self.current()
        if not release:
            refuse_damaged(self.root)
            raise FlatpanelError(f"{self.root}: nothing has been built yet; run the command `build` first")
        return release

    def journal(self, exists: Callable[[str], bool] | None = None) -> list[JournalEntry]:
        """Journal entries of the releases that exist, the current release last; empty without a current release."""
        exists = exists or partial(_has_manifest, self.root)
        chain: list[str] = []
        link = self.root / "current"
        while (name := _link_target(link)) and name not in chain and exists(name):
            chain.append(name)
            link = self.root / "releases" / name / "previous"
        if not chain:
            return []
        entries = journal.reconciled(self._recorded(), chain)
        return journal.of_releases(entries, filter(exists, (entry.release for entry in entries)))

    def lacks_releases(self) -> bool:
        """Check whether a release was removed by hand: `dist` may still have its bodies."""
        return not all(_has_manifest(self.root, entry.release) for entry in self._recorded())

    def _recorded(self) -> list[JournalEntry]:
        """The entries of the journal, also of releases that do not exist."""
        with suppress(FileNotFoundError):
            return journal.parse(self.journal_path.read_bytes())
        return []

    @property
    def journal_path(self) -> Path:
        return self.root / "releases" / journal.FILE

    def older(self) -> list[str]:
        """The ids of the releases served before the current one, the latest first."""
        return [entry.release for entry in self.journal()][-2::-1]

    def previous(self) -> str | None:
        """The id of the release served before the current one, or None."""
        return next(iter(self.older()), None)

    def manifest(self, release: str | None) -> Manifest:
        """The manifest of a release; an empty one for None."""
        path = self.manifest_path(release)
        return manifest.load(path.read_bytes(), str(path)) if path else EMPTY

    def table(self) -> ManifestReader:
        """The manifest of the current release; an error if nothing has been built."""
        return ManifestReader(self.manifest_path(self.release()))

    def manifest_path(self, release: str | None) -> Path | None:
        return self.root / "releases" / release / "manifest.json" if release else None

    def finished(self) -> bool:
        """Check that no build was interrupted and none has begun to write."""
        with suppress(OSError):
            return not (self.root / BUILD_STATE_FILE).read_bytes()
        return False


def refuse_inside(out: Path, path: Path, advice: str) -> None:
    """An error if a path is in `out`, where every file is one of a release."""
    if is_inside(os.path.realpath(path), os.path.realpath(out)):
        raise FlatpanelError(f"{path}: is in {out}, which holds the releases; {advice}")


def read_body(root: Path, file: str, etag: str) -> bytes:
    """The bytes of a body below `root`; an error unless they have its ETag."""
    data = (root / file).read_bytes()
    if encoding.etag(data) != etag:
        raise FlatpanelError(f"{file}: is damaged; `python build.py verify --repair` restores it")
    return data


def is_unused(folder: Path, mark: str) -> bool:
    """Whether a folder is missing or empty, also if a process was killed while it wrote the mark."""
    leftovers = {unfinished(folder / mark).name}
    return set(os.listdir(folder)) <= leftovers if folder.is_dir() else not os.path.lexists(folder)


def refuse_links(folder: Path, files: Iterable[str]) -> None:
    """Raise if a link below `folder` leads to one of these files: behind it, files of others would be changed."""
    checked = {""}
    for name in files:
        while (name := name.rpartition("/")[0]) not in checked:
            checked.add(name)
            if (folder / name).is_symlink():
                raise FlatpanelError(f"{folder / name}: is a link, which is not followed; replace it by a real folder")


def find_manifest(path: Path) -> Path | None:
    """The manifest at a path: the file, a release's manifest, or that of a built site's current release."""
    if path.is_file():
        return path
    for manifest_path in (path / "manifest.json", Store(path).manifest_path(Store(path).current())):
        if manifest_path and manifest_path.is_file():
            return manifest_path
    return None


def _has_manifest(root: Path, release: str) -> bool:
    return (root / "releases" / release / "manifest.json").is_file()


def _link_target(link: Path) -> str | None:
    """The name of the release that a link points to."""
    return Path(os.readlink(link)).name if link.is_symlink() else None


def highest_id(out: Path, previous: Path | None) -> int:
    """Return the highest chapter id in the releases below `out` and in the manifest `previous`; 0 without any.

    Raises if the current release is missing: its ids would be assigned again.
    """
    store = Store(out)
    if not store.current():
        refuse_damaged(out)
    manifests = [store.manifest_path(release) for release in (store.current(), *store.older())]
    highest = 0
    for path in (*manifests, previous):
        with ManifestReader(path) as reader:
            highest = max(highest, reader.highest_id)
    return highest
