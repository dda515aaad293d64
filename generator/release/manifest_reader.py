"""Read a release: its manifest series by series, since a whole one may not fit into memory, and the keys beside it."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from .. import encoding
from ..api.payloads.resources import Alias, Gate
from ..errors import FlatpanelError
from . import manifest
from .manifest import Entry, Published
from .rules import NO_RULES, Rules

_BLOCK = 1 << 20
# The digests of the API keys, beside the manifest. The file is private: no server sends it.
KEYS_FILE = "keys.json"
# Lines of bodies: the value of any other line is no object.
_BODY, _GATE_END, _ALIAS_END = b'":{"file":"', b"]", b'"'


class ManifestReader:
    """An open manifest; an empty one if `path` is None. Errors name the path, or the `name` of a copy."""

    def __init__(self, path: Path | None, name: str = "") -> None:
        self.path, self.name = path, name or str(path)
        self._file = -1
        self.highest_id = 0
        self.page_ids: Mapping[str, int] = {}
        # The slugs in their order, with the place of their lines: first an empty one, for the catalog as a whole.
        self.segments: dict[str, tuple[int, int]] = {}
        self._start = 0
        # The digests of the other files in the folder of the release.
        self.file_digests: Mapping[str, str] = {}
        self.rules: Rules = NO_RULES
        if path:
            with ExitStack() as opened:
                self._file = os.open(path, os.O_RDONLY)
                opened.callback(self.close)
                try:
                    self._read_head(self.name)
                except FlatpanelError:
                    if path.parent.parent.name == "releases":
                        # Its error says what to do about a damaged release.
                        refuse_damaged(path.parents[2], path.parent.name)
                    raise
                opened.pop_all()

    def _read_head(self, name: str) -> None:
        text = b""
        while manifest.RESOURCES_START not in text:
            block = os.pread(self._file, _BLOCK, len(text))
            if not block:
                manifest.load(text, name)  # raises a better error, unless only white space differs
                raise FlatpanelError(f"{name}: manifest has been reformatted; restore the original file")
            text += block
        head = text[: text.index(manifest.RESOURCES_START)]
        parsed = manifest.load_head(head + b"}", name)
        self._start = offset = len(head) + len(manifest.RESOURCES_START)
        for slug, length in parsed.segments.items():
            self.segments[slug] = offset, length
            offset += length + len(manifest.SEPARATOR)
        self.highest_id, self.page_ids, self.file_digests = parsed.highest_id, parsed.page_ids, parsed.files
        self.rules = parsed.rules

    def __enter__(self) -> "ManifestReader":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    @property
    def folder(self) -> Path:
        """The folder of the release."""
        assert self.path, "an empty manifest has no folder"
        return self.path.parent

    @property
    def id(self) -> str:
        return self.folder.name

    @cached_property
    def keys(self) -> Mapping[str, str]:
        """The account key of each API key by its SHA-256; empty for a key without an account."""
        path, keys = self.folder / KEYS_FILE, None
        with suppress(FileNotFoundError, ValueError):
            keys = encoding.parse(path.read_bytes())
        if not isinstance(keys, dict) or not all(isinstance(account, str) for account in keys.values()):
            raise FlatpanelError(f"{path}: is missing or damaged; `python build.py verify --repair` restores it")
        return keys

    def segment(self, slug: str) -> bytes:
        """The lines of a series, or of the catalog as a whole if the slug is empty. Equal bytes mean equal entries."""
        offset, length = self.segments.get(slug, (0, 0))
        return os.pread(self._file, length, offset) if length else b""

    def count(self, slug: str) -> int:
        """The number of bodies in a segment."""
        return self.segment(slug).count(_BODY)

    def count_files(self, slug: str) -> int:
        """The number of files of these bodies: each has a sidecar, and some have a gzip form."""
        return 2 * self.count(slug) + self.segment(slug).count(b'"gzip":true')

    def resource_lines(self) -> Iterator[bytes]:
        """All segments in chunks, and the end of the file."""
        offset = self._start
        while block := os.pread(self._file, _BLOCK, offset):
            yield block
            offset += len(block)

    def entries(self, slug: str) -> list[Entry]:
        """The bodies, gates and aliases of a segment."""
        return manifest.parse_entries(self.segment(slug), self.name)

    def bodies(self, slug: str) -> dict[str, Published]:
        return manifest.parse_lines(self.segment(slug), self.name)

    def files(self) -> Iterator[str]:
        """The files of all bodies, with gzip forms, without sidecars."""
        for slug in self.segments:
            for body in self.bodies(slug).values():
                yield from manifest.files(body)


def gates(reader: ManifestReader) -> Iterator[Gate]:
    """All gates, in the order of the segments."""
    return (entry for entry in _entries_with_end(reader, _GATE_END) if isinstance(entry, Gate))


def aliases(reader: ManifestReader) -> Iterator[Alias]:
    """All aliases, in the order of the segments."""
    return (entry for entry in _entries_with_end(reader, _ALIAS_END) if isinstance(entry, Alias))


def _entries_with_end(reader: ManifestReader, end: bytes) -> Iterator[Entry]:
    """Parse only the lines with this end: each kind of entry has its own."""
    for slug in reader.segments:
        lines = (line for line in reader.segment(slug).split(manifest.SEPARATOR) if line.endswith(end))
        yield from manifest.parse_entries(manifest.SEPARATOR.join(lines), reader.name)


def dump_keys(keys: Mapping[str, str]) -> bytes:
    """The file of the digests, one line for each."""
    lines = (encoding.json(digest) + b":" + encoding.json(account) for digest, account in sorted(keys.items()))
    return b"{\n" + manifest.SEPARATOR.join(lines) + b"\n}\n"


def problem(path: Path, release: str) -> str | None:
    """Describe what is wrong with the manifest of a release. The id of the release is its digest."""
    if not path.is_file():
        return "is missing"
    return None if manifest.release_id(file_digest(path)) == release else "does not match the id of the release"


def problem_and_remedy(root: Path, release: str) -> str | None:
    """Describe what is wrong with the manifest of a release in `root`, and what to do: nothing can make it again."""
    folder, link = root / "releases" / release, root / "current"
    fault = problem(folder / "manifest.json", release)
    if not fault:
        return None
    if Path(os.readlink(link)).name != release:
        return f"{fault}; restore the file, or remove {folder}, which only a rollback needs"
    return (
        f"{fault}, so no build can continue the release; restore the file, or remove {link} to build a first release "
        "with new dates"
    )


def refuse_damaged(root: Path, release: str | None = None) -> None:
    """Refuse a damaged manifest of a release; of the current one by default, since a build continues its dates."""
    link = root / "current"
    if link.is_symlink():
        release = release or Path(os.readlink(link)).name
        if sentence := problem_and_remedy(root, release):
            raise FlatpanelError(f"{root / 'releases' / release / 'manifest.json'}: {sentence}")


def file_digest(path: Path) -> str:
    """SHA-256 of a file, read in chunks."""
    with path.open("rb") as opened:
        return encoding.sha256_of_chunks(iter(lambda: opened.read(_BLOCK), b""))


# Series and chapters, counted by the lines of the manifest

_CHAPTER_URL = re.compile(rb'"/api/v2/chapters/(\d+)":\{|"/api/series/[^"/]+/([^"/]+)/([^"/]+)":')


class ChapterNames(NamedTuple):
    """The chapters of a series: volume and number of those in /api, ids of those in /api/v2."""

    numbers: list[tuple[str, str]]
    ids: list[int]

    @property
    def total(self) -> int:
        """The number of chapters: /api has chapters without an id, /api/v2 those that need an API key."""
        return max(len(self.numbers), len(self.ids))


def chapter_names(segment: bytes) -> ChapterNames:
    """The chapters in the lines of a series."""
    names = ChapterNames([], [])
    for match in _CHAPTER_URL.finditer(segment):
        if match[1]:
            names.ids.append(int(match[1]))
        else:
            names.numbers.append((match[2].decode(), match[3].decode()))
    return names


def chapter_names_by_series(reader: ManifestReader) -> Iterator[tuple[str, ChapterNames]]:
    return ((slug, chapter_names(reader.segment(slug))) for slug in reader.segments if slug)


def release_counts(reader: ManifestReader) -> dict[str, int]:
    """The number of series, chapters and URLs with a body."""
    totals = [names.total for _, names in chapter_names_by_series(reader)]
    return {
        "series": len(totals),
        "chapters": sum(totals),
        "resources": sum(map(reader.count, reader.segments)),
    }
