"""Restore damaged files of the retained releases from other intact files, or from the catalog."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from .. import encoding, filesystem
from ..catalog.site_settings import Site
from ..errors import FlatpanelError
from ..nginx import table_files
from ..pipeline.build_options import Options
from ..pipeline.long_lists import LONG
from ..pipeline.open_cache import Waiting
from ..release import bodies as body_files
from ..release import manifest, transaction
from ..release.manifest_reader import ManifestReader
from ..release.named_files import BodyFile, GzipFile, NamedFile, ReleaseFile, SidecarFile
from ..release.store import Store
from . import verify_files
from .trial_build import TrialRelease, build_trial
from .verify_files import FileFault, RetainedReleases, Track


class RestoredFile(NamedTuple):
    """A restored file and where its content came from."""

    path: Path
    source: str

    def __str__(self) -> str:
        return f"{self.path}: restored from {self.source}"


@dataclass(slots=True)
class RepairResult:
    """The faults that remain, and the restored files."""

    faults: list[FileFault]
    repaired: list[RestoredFile] = field(default_factory=list)
    # Why no file was restored from the catalog.
    problem: str | None = None


def repair(options: Options, waiting: Waiting, track: Track = iter) -> RepairResult:
    """Restore damaged files in `out`. Writes only files that releases name, and no manifest."""
    store = Store(options.out)
    verify_files.releases_of(store)
    with transaction.locked(store, waiting):
        retained = verify_files.retained_releases(store)
        faults = list(verify_files.file_faults(retained, track))
        build_times = {entry.release: entry.as_of for entry in store.journal() if entry.as_of is not None}
        work = _Repair(retained, *_missing(retained, faults), build_times)
        work.restore_from_files(lambda file: not _is_long(file))
        work.restore_from_catalog(options)
        work.restore_from_files(_is_long)
        if work.repaired:
            filesystem.sync_filesystem(store.root)
            faults = list(verify_files.check_files(store, track))
    return RepairResult(faults, work.repaired, work.problem)


def _is_long(file: NamedFile) -> bool:
    """Whether a build may have compressed the body in pieces. Only a build reproduces those bytes."""
    return isinstance(file, GzipFile) and file.body.size >= LONG


def _missing(
    retained: RetainedReleases, faults: Iterable[FileFault]
) -> tuple[list[NamedFile], dict[Path, list[NamedFile]]]:
    """The files to restore, and the links in place of folders with the files that belong below each."""
    links: dict[Path, list[NamedFile]] = {
        fault.path: [] for fault in faults if fault.fault == verify_files.LINK and not fault.named
    }
    if links:
        for file in retained.files():
            for link in links.keys() & set((retained.root / file.path).parents):
                links[link].append(file)
    return [fault.named for fault in faults if fault.named], {link: files for link, files in links.items() if files}


@dataclass(slots=True)
class _Repair:
    retained: RetainedReleases
    files: list[NamedFile]
    links: dict[Path, list[NamedFile]]
    # The `as_of` of each release in the journal.
    build_times: dict[str, int]
    repaired: list[RestoredFile] = field(default_factory=list)
    problem: str | None = None

    def restore(self, source: str, content_of: Callable[[NamedFile], bytes | None]) -> None:
        """Restore every file for which `content_of` returns the right bytes."""
        remaining = []
        for file in self.files:
            text = content_of(file)
            if text is None or file.fault(text) or not self.write(file, text, source):
                remaining.append(file)
        self.files = remaining

    def write(self, file: NamedFile, text: bytes, source: str) -> bool:
        modified = None if isinstance(file, ReleaseFile | SidecarFile) else file.body.file_time
        is_written = body_files.restore(self.retained.root, file.path, text, modified)
        if is_written:
            self.repaired.append(RestoredFile(self.retained.root / file.path, source))
        return is_written

    # From other files

    def restore_from_files(self, is_eligible: Callable[[NamedFile], bool]) -> None:
        self.restore("an intact file", lambda file: self.equivalent(file) if is_eligible(file) else None)

    def equivalent(self, file: NamedFile) -> bytes | None:
        """The content of a file, derived from the manifest or another file."""
        root = self.retained.root
        if isinstance(file, SidecarFile):
            return file.text
        if isinstance(file, ReleaseFile):
            return self.from_another_release(file) or self.from_table(file)
        if isinstance(file, BodyFile):
            packed = filesystem.read_regular(root / GzipFile(file.body).path)
            return GzipFile(file.body).unpack(packed) if packed is not None else None
        body = filesystem.read_regular(root / file.body.file)
        return encoding.gzip(body) if body is not None and BodyFile(file.body).fault(body) is None else None

    def from_another_release(self, file: ReleaseFile) -> bytes | None:
        """The same file of another release. Most files are the same in consecutive releases."""
        for release in self.retained.manifests:
            other = ReleaseFile(release, file.name, file.sha256)
            if release != file.release:
                text = filesystem.read_regular(self.retained.root / other.path)
                if text is not None and other.fault(text) is None:
                    return manifest.with_release_id(manifest.without_release_id(text, release), file.release)
        return None

    def from_table(self, file: ReleaseFile) -> bytes | None:
        """A map, or the keys, which the map of keys has too; None if the table needs a lost or damaged file."""
        folder = self.retained.root / "releases" / file.release
        with suppress(FlatpanelError), ManifestReader(folder / "manifest.json") as table:
            return table_files.text(table, file.name)
        return None

    # From the catalog

    def restore_from_catalog(self, options: Options) -> None:
        """Rebuild each release that lacks a file, as of its time, and take the files with the right digests."""
        for release in reversed(self.retained.manifests):
            manifest_path = self.retained.root / "releases" / release / "manifest.json"
            release_options = replace(options, as_of=self.build_time(release), previous=manifest_path)
            try:
                if self.lacks(release):
                    site = build_trial(release_options, self.take_files)
                    if site.server_folder and self.lacks(release):  # `serve` may have built it
                        build_trial(replace(release_options, local=True), self.take_files)
            except FlatpanelError as error:
                self.problem = str(error)
                return

    def build_time(self, release: str) -> int:
        """A time as of which the catalog gives this release: no content is newer than its newest body."""
        bodies = self.retained.manifests[release].resources.values()
        return self.build_times.get(release) or max(body.modified for body in bodies)

    def lacks(self, release: str) -> bool:
        bodies = {body.file for body in self.retained.manifests[release].resources.values()}
        files = [*self.files, *(file for files in self.links.values() for file in files)]
        return any(
            file.release == release if isinstance(file, ReleaseFile) else file.body.file in bodies for file in files
        )

    def take_files(self, trial: TrialRelease) -> Site:
        """Restore files from a trial build."""
        self.problem = "\n".join(trial.warnings) or None

        def content_of(file: NamedFile) -> bytes | None:
            if not isinstance(file, ReleaseFile):
                return filesystem.read_regular(trial.store.root / file.path)
            text = filesystem.read_regular(trial.store.root / "releases" / trial.release / file.name)
            original = None if text is None else manifest.without_release_id(text, trial.release)
            return None if original is None else manifest.with_release_id(original, file.release)

        # A link is replaced by a folder only if all files of the folder can be restored.
        for link, files in list(self.links.items()):
            if all((text := content_of(file)) is not None and not file.fault(text) for file in files):
                body_files.remove_link(link)
                self.files += self.links.pop(link)
        self.restore("the catalog", content_of)
        return trial.site
