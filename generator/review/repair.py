"""Restore damaged files of the releases that are kept: from an intact twin, else from the catalog."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from .. import encoding, filesystem
from ..catalog.site_settings import Site
from ..errors import FlatpanelError
from ..pipeline.build_options import Options
from ..pipeline.long_lists import LONG
from ..pipeline.open_cache import Waiting
from ..release import bodies as shelving
from ..release import manifest, transaction
from ..release.named_files import BodyFile, GzipFile, NamedFile, ReleaseFile, SidecarFile
from ..release.store import Store
from . import verify_files
from .trial_build import TrialRelease, build_trial
from .verify_files import FileFault, RetainedReleases


class RestoredFile(NamedTuple):
    """A file that was restored."""

    path: Path
    source: str

    def __str__(self) -> str:
        return f"{self.path}: restored from {self.source}"


@dataclass(slots=True)
class RepairResult:
    """What was restored, and what is not as the releases say afterwards."""

    faults: list[FileFault]
    repaired: list[RestoredFile] = field(default_factory=list)
    # Why nothing could be taken from the catalog.
    problem: str | None = None


def repair(options: Options, waiting: Waiting) -> RepairResult:
    """Restore what can be restored in `out`. No manifest is written, and no file that no release names."""
    store = Store(options.out)
    verify_files.releases_of(store)
    with transaction.locked(store, waiting):
        known = verify_files.retained_releases(store)
        found = list(verify_files.file_faults(known))
        instants = {one.release: one.as_of for one in store.journal() if one.as_of is not None}
        work = _Repair(known, *_missing(known, found), instants)
        work.from_twins(lambda one: not _is_long(one))
        work.from_catalog(options)
        work.from_twins(_is_long)
        if work.repaired:
            filesystem.sync_filesystem(store.root)
            found = list(verify_files.check_files(store))
    return RepairResult(found, work.repaired, work.problem)


def _is_long(one: NamedFile) -> bool:
    """Whether a build may have compressed the body in pieces, which it alone gives the same bytes again."""
    return isinstance(one, GzipFile) and one.body.size >= LONG


def _missing(
    known: RetainedReleases, found: Iterable[FileFault]
) -> tuple[list[NamedFile], dict[Path, list[NamedFile]]]:
    """Files to restore, and the links to folders with the files that belong behind each."""
    links: dict[Path, list[NamedFile]] = {
        one.path: [] for one in found if one.fault == verify_files.LINK and not one.named
    }
    if links:
        for one in known.files():
            for link in links.keys() & set((known.root / one.path).parents):
                links[link].append(one)
    return [one.named for one in found if one.named], {link: files for link, files in links.items() if files}


@dataclass(slots=True)
class _Repair:
    known: RetainedReleases
    files: list[NamedFile]
    links: dict[Path, list[NamedFile]]
    # When the releases of the journal were built.
    instants: dict[str, int]
    repaired: list[RestoredFile] = field(default_factory=list)
    problem: str | None = None

    def restore(self, source: str, of: Callable[[NamedFile], bytes | None]) -> None:
        """Restore every file for which `of` has the right bytes."""
        left = []
        for one in self.files:
            text = of(one)
            if text is None or one.fault(text) or not self.put(one, text, source):
                left.append(one)
        self.files = left

    def put(self, one: NamedFile, text: bytes, source: str) -> bool:
        modified = None if isinstance(one, ReleaseFile | SidecarFile) else one.body.modified
        done = shelving.restore(self.known.root, one.path, text, modified)
        if done:
            self.repaired.append(RestoredFile(self.known.root / one.path, source))
        return done

    # Twins

    def from_twins(self, which: Callable[[NamedFile], bool]) -> None:
        self.restore("its twin", lambda one: self.twin(one) if which(one) else None)

    def twin(self, one: NamedFile) -> bytes | None:
        """The same content in another form."""
        root = self.known.root
        if isinstance(one, SidecarFile):
            return one.text
        if isinstance(one, ReleaseFile):
            return self.of_another_release(one)
        if isinstance(one, BodyFile):
            packed = filesystem.read_regular(root / GzipFile(one.body).path)
            return GzipFile(one.body).unpack(packed) if packed is not None else None
        body = filesystem.read_regular(root / one.body.file)
        return encoding.gzip(body) if body is not None and BodyFile(one.body).fault(body) is None else None

    def of_another_release(self, one: ReleaseFile) -> bytes | None:
        """Most files of a release are those of the release before."""
        for release, found in self.known.manifests.items():
            other = ReleaseFile(release, one.name, one.sha256)
            if release != one.release and found.files.get(one.name) == one.sha256:
                text = filesystem.read_regular(self.known.root / other.path)
                if text is not None and other.fault(text) is None:
                    return manifest.with_release_id(manifest.without_release_id(text, release), one.release)
        return None

    # The catalog

    def from_catalog(self, options: Options) -> None:
        """Build each release that lacks a file again, as of its time, and take what has the right digest."""
        for release in reversed(self.known.manifests):
            manifest_path = self.known.root / "releases" / release / "manifest.json"
            again = replace(options, as_of=self.instant(release), previous=manifest_path)
            try:
                if self.lacks(release):
                    site = build_trial(again, self.take)
                    if site.server_folder and self.lacks(release):  # `serve` may have built it
                        build_trial(replace(again, local=True), self.take)
            except FlatpanelError as error:
                self.problem = str(error)
                return

    def instant(self, release: str) -> int:
        """A time at which the catalog gave this release. No body shows anything newer than the newest body's date."""
        bodies = self.known.manifests[release].resources.values()
        return self.instants.get(release) or max(one.modified for one in bodies)

    def lacks(self, release: str) -> bool:
        bodies = {one.file for one in self.known.manifests[release].resources.values()}
        wanted = [*self.files, *(one for files in self.links.values() for one in files)]
        return any(
            one.release == release if isinstance(one, ReleaseFile) else one.body.file in bodies for one in wanted
        )

    def take(self, made: TrialRelease) -> Site:
        """Take the files of a trial build whose digests are right."""
        self.problem = "\n".join(made.warnings) or None

        def of(one: NamedFile) -> bytes | None:
            if not isinstance(one, ReleaseFile):
                return filesystem.read_regular(made.store.root / one.path)
            text = filesystem.read_regular(made.store.root / "releases" / made.release / one.name)
            return (
                None
                if text is None
                else manifest.with_release_id(manifest.without_release_id(text, made.release), one.release)
            )

        # A folder takes the place of a link once everything that belongs into it can be restored.
        for link, files in list(self.links.items()):
            if all((text := of(one)) is not None and not one.fault(text) for one in files):
                shelving.remove_link(link)
                self.files += self.links.pop(link)
        self.restore("the catalog", of)
        return made.site
