"""Compare `dist` with the manifests of its releases. Looks, and repairs nothing."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from .. import filesystem
from ..release import journal, manifest_reader, named_files
from ..release.bodies import MARK
from ..release.manifest import Manifest
from ..release.named_files import BodyFile, NamedFile, SidecarFile
from ..release.store import TREES, Store

LINK = "is a link, and no build makes one here"
MISSING = "is missing"


class FileFault(NamedTuple):
    """A file that is not as the releases say. A leftover is a file that no release names; any other is damaged."""

    path: Path
    fault: str
    leftover: bool = False
    # The file that a release names at this path, if one does.
    named: NamedFile | None = None

    def __str__(self) -> str:
        return f"{self.path}: {self.fault}"


@dataclass(frozen=True, slots=True)
class RetainedReleases:
    """The releases in `dist`, the current one last, and the manifests of those whose manifest is intact."""

    root: Path
    releases: list[str]
    manifests: dict[str, Manifest]
    damaged: list[FileFault]

    def files(self) -> Iterator[NamedFile]:
        for release, found in self.manifests.items():
            yield from named_files.release_files(release, found)
        yield from named_files.body_files(named_files.bodies_by_file(self.manifests.values()).values())


def retained_releases(store: Store) -> RetainedReleases:
    """Read the manifests of all releases that are kept."""
    releases = releases_of(store)
    damaged, manifests = [], {}
    for release in releases:
        path = store.root / "releases" / release / "manifest.json"
        if fault := manifest_reader.problem(path, release):
            damaged.append(FileFault(path, fault))
        else:
            manifests[release] = store.manifest(release)
    return RetainedReleases(store.root, releases, manifests, damaged)


def releases_of(store: Store) -> list[str]:
    """The current release and those served before it; one that lost its manifest counts."""
    return [one.release for one in store.journal(partial(_is_release, store))] or [store.release()]


def _is_release(store: Store, name: str) -> bool:
    """A build that was killed may have removed a part of an old release; the next one removes the rest."""
    folder = store.root / "releases" / name
    return (folder / "manifest.json").is_file() or (folder.is_dir() and store.finished())


def check_files(store: Store) -> Iterator[FileFault]:
    """Everything in `dist` that is not as the releases in it say."""
    yield from file_faults(retained_releases(store))


def file_faults(known: RetainedReleases) -> Iterator[FileFault]:
    yield from known.damaged
    yield from _pointers(known)
    links = set(_links(known)) - {one.path for one in known.damaged}
    named = set()
    for one in known.files():
        named.add(one.path)
        if links and not links.isdisjoint(((path := known.root / one.path), *path.parents)):
            if path in links:
                links.discard(path)
                yield FileFault(path, LINK, named=one)
        elif fault := _fault(f"{known.root}/{one.path}", one):
            yield FileFault(known.root / one.path, fault, named=one)
    yield from (FileFault(link, LINK) for link in sorted(links))
    yield from _extra(known, named)


def _fault(path: str, one: NamedFile) -> str | None:
    text = filesystem.read_regular(path)
    return MISSING if text is None else one.fault(text)


def size_faults(store: Store) -> Iterator[FileFault]:
    """Files of the current release that are missing or have another size."""
    release = store.release()
    found = store.manifest(release)
    for one in (*named_files.release_files(release, found), *named_files.body_files(found.resources.values())):
        if fault := _size_fault(f"{store.root}/{one.path}", one):
            yield FileFault(store.root / one.path, fault, named=one)


def _size_fault(path: str, one: NamedFile) -> str | None:
    """What is wrong with a file by its size. Files whose size no manifest holds are few, and are read."""
    if not isinstance(one, BodyFile | SidecarFile):
        return _fault(path, one)
    try:
        look = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return MISSING
    if not stat.S_ISREG(look.st_mode):
        return MISSING
    size = one.body.size if isinstance(one, BodyFile) else len(one.text)
    return None if look.st_size == size else f"has {look.st_size} bytes instead of {size}"


def _pointers(known: RetainedReleases) -> Iterator[FileFault]:
    """A link that leads elsewhere would be followed by nginx, and not by us."""
    wanted = {known.root / "current": f"releases/{known.releases[-1]}"}
    for release in reversed(known.releases):
        link = known.root / "releases" / release / "previous"
        if link.is_symlink():
            wanted[link] = f"../{os.path.basename(os.readlink(link))}"
    for link, target in wanted.items():
        if os.readlink(link) != target:
            yield FileFault(link, f"leads to {os.readlink(link)} instead of {target}")


def _links(known: RetainedReleases) -> Iterator[Path]:
    """Links where only files and folders belong. nginx would follow them."""
    root = known.root
    for top in (*(root / tree for tree in TREES), *(root / "releases" / one for one in known.releases)):
        for folder, folders, names in os.walk(top):
            for path in (Path(folder, name) for name in (*folders, *names)):
                if path.is_symlink() and path != top / "previous":
                    yield path


def _journal(path: Path) -> Iterator[FileFault]:
    """Older programs wrote none. A damaged line counts as missing, so the text is not as it was written."""
    text = filesystem.read_regular(path)
    if text is not None and journal.dump(journal.parse(text)) != text:
        yield FileFault(path, "was damaged; the next build or rollback writes it again", leftover=True)


def _extra(known: RetainedReleases, named: set[str]) -> Iterator[FileFault]:
    root = known.root
    for release in known.manifests:
        folder = root / "releases" / release
        for path in (path for path in _plain(folder) if path != folder / "manifest.json"):
            if path.relative_to(root).as_posix() not in named:
                yield FileFault(path, "is in no release")
    # The files of a release whose manifest is damaged are not known.
    for tree in () if known.damaged else TREES:
        for path in _plain(root / tree):
            if path.relative_to(root).as_posix() not in named:
                yield FileFault(path, "is in no release", leftover=True)
    for path in sorted((root / "releases").iterdir()):
        if path.name not in {*known.releases, journal.FILE}:
            yield FileFault(path, "is neither the current release nor the one before it", leftover=True)
    yield from _journal(root / "releases" / journal.FILE)
    for path in sorted(root.iterdir()):
        if path.name not in {MARK, "current", "releases", "run", *TREES}:
            yield FileFault(path, "does not belong to a built site", leftover=True)


def _plain(top: Path) -> Iterator[Path]:
    """Everything below a folder but folders and links."""
    for folder, _, names in sorted(os.walk(top)):
        for path in (Path(folder, name) for name in sorted(names)):
            if not path.is_symlink():
                yield path
