"""Remove files of `dist` that no release references, and releases that are no longer kept."""

import os
import re
from collections.abc import Collection, Iterable
from pathlib import Path

from ..filesystem import remove_empty_folders, remove_tree
from . import manifest
from .bodies import set_last_modified
from .journal import RELEASE_ID
from .manifest_reader import ManifestReader
from .new_folder import TEMPORARY_NAME
from .store import TREES

# The name of a file that a build writes below a tree: a body, its other forms, and what a killed build leaves of them.
_OWN_FILE = re.compile(r".*\.[0-9a-f]{32}(?:\.[a-z0-9]+)?(?:\.gz|\.headers)?(?:\.new)?", re.DOTALL)


def sweep(root: Path, manifests: Iterable[ManifestReader]) -> None:
    """Remove every body that no manifest references, and date the others as the first manifest with them says.

    Files with other names are not of this program.
    """
    referenced: set[str] = set()
    for reader in manifests:
        for slug in reader.segments:
            for body in reader.bodies(slug).values():
                if body.file not in referenced:
                    set_last_modified(root / body.file, body)
                referenced.update(manifest.files_with_sidecar(body))
    for tree in TREES:
        for folder, _, names in os.walk(root / tree, topdown=False):
            for name in names:
                path = os.path.join(folder, name)
                if _OWN_FILE.fullmatch(name) and os.path.relpath(path, root) not in referenced:
                    os.unlink(path)
            if Path(folder) != root / tree and not os.listdir(folder):
                os.rmdir(folder)


def remove_bodies(root: Path, files: Iterable[str]) -> None:
    """Remove bodies and compressed forms, with the sidecars of the bodies and the folders that become empty."""
    for file in files:
        _remove(root / file)
        if not file.endswith(".gz"):
            _remove(root / f"{file}.headers")


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    remove_empty_folders(path.parent)


def remove_releases(root: Path, kept: Collection[str]) -> None:
    """Remove the folders of all other releases. Folders with other names are not of this program."""
    for folder in (root / "releases").iterdir():
        is_own = folder.name == TEMPORARY_NAME or RELEASE_ID.fullmatch(folder.name)
        if is_own and folder.name not in kept and folder.is_dir() and not folder.is_symlink():
            remove_tree(folder)
