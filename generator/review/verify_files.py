"""Compare the files in `dist` with the manifests of its releases, without changing any."""

import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

from .. import filesystem
from ..errors import counted
from ..release import journal, manifest_reader, named_files
from ..release.bodies import BUILD_STATE_FILE
from ..release.manifest import Manifest, Published
from ..release.named_files import BodyFile, NamedFile, SidecarFile
from ..release.store import TREES, Store

Track: TypeAlias = Callable[[Collection[Published]], Iterable[Published]]

LINK = "is a symbolic link, and builds create none here"
MISSING = "is missing"


class FileFault(NamedTuple):
    """A damaged file, or a leftover: a file that belongs to no release."""

    path: Path
    fault: str
    leftover: bool = False
    # The file of a release at this path, if there is one.
    named: NamedFile | None = None

    def __str__(self) -> str:
        return f"{self.path}: {self.fault}"


@dataclass(frozen=True, slots=True)
class RetainedReleases:
    """The releases in `dist`, the current one last, and their intact manifests."""

    root: Path
    releases: list[str]
    manifests: dict[str, Manifest]
    damaged: list[FileFault]

    def files(self, track: Track = iter) -> Iterator[NamedFile]:
        for release, manifest in self.manifests.items():
            yield from named_files.release_files(release, manifest)
        yield from named_files.body_files(track(named_files.bodies_by_file(self.manifests.values()).values()))


def retained_releases(store: Store) -> RetainedReleases:
    """Read the manifests of all retained releases."""
    releases = releases_of(store)
    damaged, manifests = [], {}
    for release in releases:
        if fault := manifest_reader.problem_and_remedy(store.root, release):
            damaged.append(FileFault(store.root / "releases" / release / "manifest.json", fault))
        else:
            manifests[release] = store.manifest(release)
    return RetainedReleases(store.root, releases, manifests, damaged)


def releases_of(store: Store) -> list[str]:
    """The current release and the earlier ones, including those with a lost manifest."""

    def is_release(name: str) -> bool:
        """A killed build may have removed a part of an old release; the next build removes the rest."""
        folder = store.root / "releases" / name
        return (folder / "manifest.json").is_file() or (folder.is_dir() and store.finished())

    return [entry.release for entry in store.journal(is_release)] or [store.release()]


def check_files(store: Store, track: Track = iter) -> Iterator[FileFault]:
    """Every file in `dist` that differs from what its releases name. `track` sees the bodies as they are read."""
    yield from file_faults(retained_releases(store), track)


def file_faults(retained: RetainedReleases, track: Track = iter) -> Iterator[FileFault]:
    yield from retained.damaged
    yield from _wrong_pointers(retained)
    links = set(_links(retained)) - {fault.path for fault in retained.damaged}
    named = set()
    for file in retained.files(track):
        named.add(file.path)
        if links and not links.isdisjoint(((path := retained.root / file.path), *path.parents)):
            if path in links:
                links.discard(path)
                yield FileFault(path, LINK, named=file)
        elif fault := _fault(f"{retained.root}/{file.path}", file):
            yield FileFault(retained.root / file.path, fault, named=file)
    yield from (FileFault(link, LINK) for link in sorted(links))
    yield from _leftovers(retained, named)


def _fault(path: str, file: NamedFile) -> str | None:
    text = filesystem.read_regular(path)
    return MISSING if text is None else file.fault(text)


def size_faults(store: Store) -> Iterator[FileFault]:
    """Files of the current release that are missing or have another size."""
    release = store.release()
    manifest = store.manifest(release)
    bodies = named_files.body_files(manifest.resources.values())
    for file in (*named_files.release_files(release, manifest), *bodies):
        if fault := _size_fault(f"{store.root}/{file.path}", file):
            yield FileFault(store.root / file.path, fault, named=file)


def _size_fault(path: str, file: NamedFile) -> str | None:
    """The fault of a file by its size. The few files without a size in the manifest are read."""
    if not isinstance(file, BodyFile | SidecarFile):
        return _fault(path, file)
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return MISSING
    if not stat.S_ISREG(status.st_mode):
        return MISSING
    size = file.body.size if isinstance(file, BodyFile) else len(file.text)
    return None if status.st_size == size else f"has {counted(status.st_size, 'byte')} instead of {size:,}"


def _wrong_pointers(retained: RetainedReleases) -> Iterator[FileFault]:
    """The links `current` and `previous` with an unexpected target, which nginx would follow."""
    targets = {retained.root / "current": f"releases/{retained.releases[-1]}"}
    for release in reversed(retained.releases):
        link = retained.root / "releases" / release / "previous"
        if link.is_symlink():
            targets[link] = f"../{os.path.basename(os.readlink(link))}"
    for link, target in targets.items():
        if os.readlink(link) != target:
            yield FileFault(link, f"points to {os.readlink(link)} instead of {target}")


def _links(retained: RetainedReleases) -> Iterator[Path]:
    """Symbolic links in place of files and folders, which nginx would follow."""
    root = retained.root
    for top in (*(root / tree for tree in TREES), *(root / "releases" / release for release in retained.releases)):
        for folder, folders, names in os.walk(top):
            for path in (f"{folder}/{name}" for name in (*folders, *names)):
                if os.path.islink(path) and path != f"{top}/previous":
                    yield Path(path)


def _leftovers(retained: RetainedReleases, named: set[str]) -> Iterator[FileFault]:
    root = retained.root
    for release in retained.manifests:
        for path in _files_below(root, f"releases/{release}"):
            if path not in named and path != f"releases/{release}/manifest.json":
                yield FileFault(root / path, "is in no release")
    # With a damaged manifest, the files of its release would look like leftovers.
    for tree in () if retained.damaged else TREES:
        for path in _files_below(root, tree):
            if path not in named:
                yield FileFault(root / path, "is in no release", leftover=True)
    for name in sorted(os.listdir(root / "releases")):
        if name not in {*retained.releases, journal.FILE}:
            yield FileFault(root / "releases" / name, "is not a retained release", leftover=True)
    # Damaged lines of the journal are ignored when it is parsed.
    text = filesystem.read_regular(root / "releases" / journal.FILE)
    if text is not None and journal.dump(journal.parse(text)) != text:
        message = "is damaged; the next build or rollback rewrites it"
        yield FileFault(root / "releases" / journal.FILE, message, leftover=True)
    for name in sorted(os.listdir(root)):
        if name not in {BUILD_STATE_FILE, "current", "releases", "run", *TREES}:
            yield FileFault(root / name, "is not part of a built site", leftover=True)


def _files_below(root: Path, top: str) -> Iterator[str]:
    """The path below `root` of everything below a folder except folders and links.

    As text, like those of named files: there may be hundreds of thousands.
    """
    walked = str(root / top)
    start = len(walked) - len(top)
    for folder, _, names in sorted(os.walk(walked)):
        for path in (f"{folder}/{name}" for name in sorted(names)):
            if not os.path.islink(path):
                yield path[start:]
