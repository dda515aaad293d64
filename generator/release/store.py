"""The folder `dist`, for reading: the current release, the releases served before it, and their manifests."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ..errors import FlatpanelError
from . import journal, manifest
from .bodies import BUILD_STATE_FILE
from .journal import JournalEntry
from .manifest import EMPTY, Manifest

# The folders of public and of restricted bodies.
TREES = ("www", "private")


class Store:
    """A `dist` folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def current(self) -> str | None:
        """The id of the current release, or None if nothing has been built."""
        name = _link_target(self.root / "current")
        return name if name and self._has_manifest(name) else None

    def release(self) -> str:
        """The id of the current release; an error if nothing has been built."""
        release = self.current()
        if not release:
            raise FlatpanelError(f"{self.root}: nothing has been built yet")
        return release

    def journal(self, exists: Callable[[str], bool] | None = None) -> list[JournalEntry]:
        """Journal entries of the releases that exist, the current release last; empty without a current release."""
        exists = exists or self._has_manifest
        chain: list[str] = []
        link = self.root / "current"
        while (name := _link_target(link)) and name not in chain and exists(name):
            chain.append(name)
            link = self.root / "releases" / name / "previous"
        if not chain:
            return []
        text = b""
        with suppress(FileNotFoundError):
            text = self.journal_path.read_bytes()
        entries = journal.reconciled(journal.parse(text), chain)
        return journal.of_releases(entries, filter(exists, (entry.release for entry in entries)))

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

    def manifest_path(self, release: str | None) -> Path | None:
        return self.root / "releases" / release / "manifest.json" if release else None

    def finished(self) -> bool:
        """Check that no build was interrupted and none is at work."""
        with suppress(OSError):
            return not (self.root / BUILD_STATE_FILE).read_bytes()
        return False

    def _has_manifest(self, release: str) -> bool:
        return (self.root / "releases" / release / "manifest.json").is_file()


def _link_target(link: Path) -> str | None:
    """The name of the release that a link points to."""
    return Path(os.readlink(link)).name if link.is_symlink() else None
