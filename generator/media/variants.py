"""Smaller copies of covers and pages in the folder of the media, and their record in the catalog, `variants.yaml`."""

import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

from .. import filesystem
from ..catalog import layout
from ..catalog.confined_folder import ConfinedFolder
from ..catalog.linking import variant_path
from ..catalog.reader import VARIANTS
from ..catalog.yaml import writer
from .folder_check import Finding
from .image_copies import Copier, Unusable
from .named_files import VARIANT, MediaFile, NamedMedia, copies_of, digest, may_have_copies
from .source import existing

# The widths of the copies of each kind of image.
WIDTHS = {"cover": (160, 320, 480), "page": (800, 1200)}
# A larger file is no image for the web.
MAX_IMAGE = 64 << 20
_HEADING = "Smaller copies of images, by path; written by `media variants`."


@dataclass(slots=True)
class VariantsResult:
    """The copies that were written, with their bytes, and removed; the images that are unchanged, and findings."""

    written: int = 0
    size: int = 0
    removed: int = 0
    kept: int = 0
    findings: list[Finding] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not any(finding.kind in ("missing", "unusable") for finding in self.findings)


class _Outcome(NamedTuple):
    """What was done with an image: its entry in the record, if it has one, findings, and the sizes of new copies."""

    entry: str | None
    findings: tuple[Finding, ...] = ()
    sizes: tuple[int, ...] = ()
    is_kept: bool = False


@dataclass(frozen=True, slots=True)
class VariantsWriter:
    """Writes the copies that are missing or outdated, and removes those that the catalog does not name any more."""

    catalog: ConfinedFolder
    media: ConfinedFolder
    named: NamedMedia
    copier: Copier

    def wanted(self, *, pages: bool) -> list[MediaFile]:
        """The images that should have copies. A page that has some keeps them also without `pages`."""
        return [
            file
            for path, file in self.named.files.items()
            if may_have_copies(file) and (file.kind == "cover" or pages or path in self.named.variants)
        ]

    def write(self, images: list[MediaFile], jobs: int, progress: Callable[[int], object]) -> VariantsResult:
        """Write the copies of images, one thread an image, and record them; an interrupted run records what it did."""
        result, before = VariantsResult(), self.named.variants
        # An image that was not reached keeps its entry, so that the next run knows the copies to remove.
        after = dict(before)
        pool = ThreadPoolExecutor(jobs)
        with filesystem.exclusive(self.media), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the library has some for damaged metadata
            try:
                for file, outcome in zip(images, pool.map(self._update, images), strict=True):
                    progress(1)
                    after.pop(file.path, None)
                    after |= {file.path: outcome.entry} if outcome.entry else {}
                    result.findings += outcome.findings
                    result.written += len(outcome.sizes)
                    result.size += sum(outcome.sizes)
                    result.kept += outcome.is_kept
            finally:
                pool.shutdown(cancel_futures=True)
                self._record(after)
            wanted = {file.path for file in images}
            used = {path: entry for path, entry in after.items() if path in wanted}
            for path in sorted(_copies(before) - _copies(used)):
                if path not in self.named.files or self.named.files[path].kind == VARIANT:
                    self.media.delete(path)
                    result.removed += 1
            if used != after:
                self._record(used)
        return result

    def _update(self, file: MediaFile) -> _Outcome:
        """Bring the copies of an image up to date."""
        recorded = self.named.variants.get(file.path, "")
        try:
            content = self.media.content(file.path, MAX_IMAGE)[0]
        except (FileNotFoundError, NotADirectoryError):
            # A part of the media may be elsewhere.
            return _Outcome(recorded, (Finding("missing", file.path),))
        except OSError as error:
            fault = (error.strerror or str(error)).partition(";")[0]
            return _Outcome(None, (Finding("unusable", file.path, f"cannot be read: {fault}"),))
        present = (existing(self.media, path) is not None for path in copies_of(file.path, recorded))
        if recorded.endswith(digest(content)) and all(present):
            return _Outcome(recorded, is_kept=True)
        return self._convert(file, content)

    def _convert(self, file: MediaFile, content: bytes) -> _Outcome:
        try:
            copies = self.copier(content, WIDTHS[file.kind])
        except Unusable as error:
            return _Outcome(None, (Finding("unusable", file.path, str(error)),))
        for width, copy in copies.by_width.items():
            self.media.write(variant_path(width, file.path), copy)
        findings = [Finding("animated", file.path)] if copies.is_animated else []
        if copies.converted:
            findings.append(Finding("converted", file.path, copies.converted))
        widths = "".join(f"{width} " for width in copies.by_width)
        # An entry without copies says that none is smaller. A narrow image needs none.
        is_narrow = copies.width < min(WIDTHS[file.kind])
        entry = None if is_narrow else f"{widths}of {copies.width}, {digest(content)}"
        return _Outcome(entry, tuple(findings), tuple(map(len, copies.by_width.values())))

    def _record(self, variants: Mapping[str, str]) -> None:
        with filesystem.exclusive(layout.existing(self.catalog)):
            if variants or layout.has(self.catalog, VARIANTS):
                self.catalog.write(VARIANTS, writer.file(dict(sorted(variants.items())), _HEADING))


def _copies(recorded: Mapping[str, str]) -> set[str]:
    return {copy for path, text in recorded.items() for copy in copies_of(path, text)}
