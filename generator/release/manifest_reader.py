"""The manifest of a release on the disk, read series by series: there may be more of it than fits into memory."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from .. import encoding
from ..errors import FlatpanelError
from . import manifest
from .manifest import Published

_BLOCK = 1 << 20
_CHAPTER = re.compile(rb'"/api/v2/chapters/(\d+)":')


class ManifestReader:
    """What a release says of itself; nothing where there is none."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._file = -1
        self.highest_id = 0
        self.page_ids: Mapping[str, int] = {}
        self.segments: dict[str, tuple[int, int]] = {}
        self._start = 0
        # The digests of the other files of its folder.
        self.file_digests: Mapping[str, str] = {}
        if path:
            with ExitStack() as opened:
                self._file = os.open(path, os.O_RDONLY)
                opened.callback(self.close)
                self._read_head(str(path))
                opened.pop_all()

    def _read_head(self, name: str) -> None:
        text = b""
        while manifest.RESOURCES_START not in text:
            block = os.pread(self._file, _BLOCK, len(text))
            if not block:
                manifest.load(text, name)  # it knows what is wrong, unless somebody only laid the lines out otherwise
                raise FlatpanelError(f"{name}: is not laid out as a build leaves it; take the file as it was")
            text += block
        head = text[: text.index(manifest.RESOURCES_START)]
        found = manifest.load_head(head + b"}", name)
        self._start = offset = len(head) + len(manifest.RESOURCES_START)
        for slug, length in found.segments.items():
            self.segments[slug] = offset, length
            offset += length + len(manifest.SEPARATOR)
        self.highest_id, self.page_ids, self.file_digests = found.highest_id, found.page_ids, found.files

    def __enter__(self) -> "ManifestReader":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def segment(self, slug: str) -> bytes:
        """The lines of a series, or of what is about all of them, whose slug is empty."""
        offset, length = self.segments.get(slug, (0, 0))
        return os.pread(self._file, length, offset) if length else b""

    def count(self, slug: str) -> int:
        """How many bodies a series has, or what is about all of them."""
        run = self.segment(slug)
        return run.count(manifest.SEPARATOR) + 1 if run else 0

    def resource_lines(self) -> Iterator[bytes]:
        """All runs as they stand in the file, to its end."""
        offset = self._start
        while block := os.pread(self._file, _BLOCK, offset):
            yield block
            offset += len(block)

    def bodies(self, slug: str) -> dict[str, Published]:
        return manifest.parse_lines(self.segment(slug), str(self.path))

    def chapter_owners(self) -> dict[int, str]:
        """The chapters of v2, which are called by their ids, and whose each is."""
        return {int(found): slug for slug in self.segments for found in _CHAPTER.findall(self.segment(slug))}

    def files(self) -> Iterator[str]:
        """All bodies, and their compressed forms."""
        for slug in self.segments:
            for one in self.bodies(slug).values():
                yield from manifest.files(one)


def problem(path: Path, release: str) -> str | None:
    """What is wrong with the manifest of a release, whose name is made of its digest."""
    if not path.is_file():
        return "is missing"
    return (
        None if manifest.release_id(file_digest(path)) == release else "is not the one that gave the release its name"
    )


def refuse_damaged(root: Path) -> None:
    """A build continues the dates and ids of the current manifest, so it must be intact."""
    link = root / "current"
    if link.is_symlink():
        release = Path(os.readlink(link)).name
        path = root / "releases" / release / "manifest.json"
        if found := problem(path, release):
            raise FlatpanelError(
                f"{path}: {found}, so no build can continue this release; put back a copy of the file, "
                f"or remove {link}: then the next build starts anew, with new dates"
            )


def file_digest(path: Path) -> str:
    """Of a whole file, in parts."""
    with path.open("rb") as opened:
        return encoding.sha256_of_chunks(iter(lambda: opened.read(_BLOCK), b""))
