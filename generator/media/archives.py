"""Archives of chapters in the folder of the media (.cbz), and their record in the catalog, `archives.yaml`.

The record has the archives that a build offers. Which archives to remove is seen in the folder: each copy of a project
has one of its own, and all share the record. An archive is the same bytes for the same catalog and images.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from io import BytesIO
from itertools import chain
from os import fstat
from pathlib import Path
from typing import NamedTuple, TypeVar

from .. import filesystem
from ..catalog import confined_folder, layout
from ..catalog.confined_folder import ConfinedFolder
from ..catalog.entities import Chapter, Series, archive_path
from ..catalog.linking import Linker, archive_paths, offers_archives, path_below
from ..catalog.reader import ARCHIVES, Sources
from . import comicinfo, image_content, stored_zip
from .folder_check import Finding, is_own_archive, list_tree
from .named_files import DIGEST_LENGTH
from .page_files import MAX_PAGE
from .stored_zip import StoredZip

_HEAD = "# Archives of chapters by chapter id, written by `media archives`.\n"
# The extension of each format. Readers of archives go by it.
_EXTENSIONS = {"JPEG": ".jpg", **{name: suffix for suffix, name in image_content.FORMATS.items() if name != "JPEG"}}
_MIN_DIGITS = 3
_FOLDER = "archives/"
_CHANGED = "changed while it was archived; run the command again"


@dataclass(slots=True)
class ArchivesResult:
    """The archives that were written, with their bytes, and removed; those that are unchanged, and findings."""

    written: int = 0
    size: int = 0
    removed: int = 0
    kept: int = 0
    findings: list[Finding] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not any(finding.kind in ("missing", "unusable") for finding in self.findings)


class _Source(NamedTuple):
    """A chapter to archive: the path of its archive, and those of its pages, below the media root."""

    series: Series
    chapter: Chapter
    path: str
    pages: tuple[str, ...]


class _Unusable(Exception):
    """A page of which no archive can be made."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding


class _Content:
    """The parts of an archive, with their size and digest when the last one has been taken."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        """Takes the first part, which needs all pages, so that an archive is begun only if they are there."""
        self._parts, self.size, self._digest = chain([next(parts)], parts), 0, sha256()

    def __iter__(self) -> Iterator[bytes]:
        for part in self._parts:
            self.size += len(part)
            self._digest.update(part)
            yield part

    def entry(self, path: str) -> str:
        return f"{path} {self.size} {self._digest.hexdigest()[:DIGEST_LENGTH]}"


class Archiver:
    """Writes the archives of the chapters that all readers get, and removes those of other chapters."""

    def __init__(self, catalog: ConfinedFolder, sources: Sources, media: ConfinedFolder, now: int) -> None:
        """`sources` are the records of the catalog. Chapters that are published after `now` have no archive."""
        self._catalog, self._sources, self._media = catalog, sources, media
        self._linker = Linker(sources, sources.mtimes, now)
        self.is_on = offers_archives(self._linker.site)
        self.recorded: Mapping[int, str] = {int(id): text for id, text in sources.archives.items()}
        # The path of the archive of each chapter that should have one, by chapter id; the number of other chapters.
        self.wanted: dict[int, str] = {}
        self.without = 0
        for series in self._series():
            paths = {source.chapter.id or 0: source.path for source in self._archived(series)}
            self.wanted |= paths
            self.without += len(series.chapters) - len(paths)

    def obsolete(self) -> list[str]:
        """The archives in the folder that readers should not get any more, or not with the path of another chapter."""
        own = self._media.path / _FOLDER
        if own.is_symlink() or not own.is_dir():
            return []
        ids = {archive_path(text): id for id, text in self.recorded.items()}
        wanted = set(self.wanted.values())

        def is_obsolete(path: str) -> bool:
            if path in ids:
                return self.wanted.get(ids[path]) != path
            return path not in wanted and is_own_archive(self._media, path)

        return sorted(filter(is_obsolete, list_tree(self._media, _FOLDER).files))

    def plan(self, progress: Callable[[int], object]) -> ArchivesResult:
        """What a run would do. Writes nothing."""
        obsolete = self.obsolete()
        result = ArchivesResult(removed=len(obsolete))
        result.findings += [Finding("delete", path) for path in obsolete]
        for source in self._all():
            progress(1)
            try:
                content = _Content(self._parts(source))
                if self._is_there(source.path, content):
                    result.kept += 1
                else:
                    # A page that cannot be archived is found now, as in a run.
                    deque(_Content(self._parts(source)), maxlen=0)
                    result.written += 1
                    result.findings.append(Finding("write", source.path))
            except _Unusable as error:
                result.findings.append(error.finding)
        return result

    def write(self, progress: Callable[[int], object]) -> ArchivesResult:
        """Remove obsolete archives, write those that are missing or differ, and record all."""
        result = ArchivesResult()
        with filesystem.exclusive(self._media):
            for path in self.obsolete():
                self._media.delete(path)
                result.removed += 1
            for path in set(map(archive_path, self.recorded.values())) - set(self.wanted.values()):
                # What a killed run has left of it.
                self._media.delete(str(filesystem.unfinished(Path(path))))
            # A path alone is that of an archive that may be incomplete or missing.
            recorded = {id: (self.recorded.get(id, ""), path) for id, path in self.wanted.items()}
            after = {id: text if archive_path(text) == path else path for id, (text, path) in recorded.items()}
            self._record(after)
            try:
                for source in self._all():
                    progress(1)
                    self._update(source, after, result)
            finally:
                self._record(after)
        return result

    def _update(self, source: _Source, after: dict[int, str], result: ArchivesResult) -> None:
        """Bring the archive of a chapter up to date, and its entry in the record."""
        id = source.chapter.id or 0
        try:
            content = _Content(self._parts(source))
            if self._is_there(source.path, content):
                result.kept += 1
            else:
                content = _Content(self._parts(source))
                self._media.write(source.path, content)
                result.written += 1
                result.size += content.size
            after[id] = content.entry(source.path)
        except _Unusable as error:
            # The chapter keeps the archive that it has.
            result.findings.append(error.finding)

    def _series(self) -> Iterator[Series]:
        """The series that all readers get. Linked one by one: all of them need more memory."""
        # Page ids do not matter here.
        ids: Mapping[str, int] = defaultdict(int)
        for entry in self._sources.series if self.is_on else ():
            record = entry.entry.record
            if not (record.licensed or record.restricted):
                yield self._linker.series(entry, self._sources.mtimes, ids)

    def _all(self) -> Iterator[_Source]:
        for series in self._series():
            yield from self._archived(series)

    def _archived(self, series: Series) -> Iterator[_Source]:
        """The chapters of a series that have an id, and pages below the media root only."""
        paths, root = archive_paths(series.slug, series.chapters), self._linker.media.root
        for chapter in series.identified_chapters:
            pages = tuple(path_below(root, chapter.pages_root + page) for page in chapter.pages)
            if pages and all(pages):
                yield _Source(series, chapter, paths[chapter.id or 0], pages)

    def _parts(self, source: _Source) -> Iterator[bytes]:
        """Yield the parts of an archive: one page after the other is in memory."""
        sizes = [self._size(page) for page in source.pages]
        web = self._linker.site.base_url + source.chapter.page_path
        info = comicinfo.document(source.series, source.chapter, web, sizes)
        digits = max(_MIN_DIGITS, len(str(len(sizes))))
        longest = "0" * digits + max(_EXTENSIONS.values(), key=len)
        if stored_zip.size([(comicinfo.FILE, len(info)), *((longest, size) for size in sizes)]) > stored_zip.MAX_SIZE:
            raise _Unusable(Finding("unusable", source.path, "would have more than 4 GiB; divide the chapter"))
        archive = StoredZip()
        yield from archive.member(comicinfo.FILE, info)
        for number, (page, size) in enumerate(zip(source.pages, sizes, strict=True), start=1):
            content = self._page(page)
            examined = image_content.examine(BytesIO(content))
            fault = _CHANGED if len(content) != size else examined.fault
            if fault:
                raise _Unusable(Finding("unusable", page, fault))
            yield from archive.member(f"{number:0{digits}}{_EXTENSIONS[examined.format]}", content)
        yield archive.end()

    def _size(self, page: str) -> int:
        def size() -> int:
            with confined_folder.reading(self._media, page) as file:
                return fstat(file.fileno()).st_size

        return _read(page, size)

    def _page(self, page: str) -> bytes:
        return _read(page, partial(self._media.content, page, MAX_PAGE))[0]

    def _is_there(self, path: str, content: Iterable[bytes]) -> bool:
        """Whether a file consists of exactly these parts."""
        try:
            with confined_folder.reading(self._media, path) as file:
                return all(file.read(len(part)) == part for part in content) and not file.read(1)
        except (FileNotFoundError, NotADirectoryError):
            return False

    def _record(self, archives: Mapping[int, str]) -> None:
        with filesystem.exclusive(layout.existing(self._catalog)):
            if archives or layout.has(self._catalog, ARCHIVES):
                text = _HEAD + "".join(f"{id}: {text}\n" for id, text in sorted(archives.items()))
                self._catalog.write(ARCHIVES, text.encode())


_T = TypeVar("_T")


def _read(page: str, read: Callable[[], _T]) -> _T:
    """The result of a function that reads a page. Raises `_Unusable` if it fails."""
    try:
        return read()
    except (FileNotFoundError, NotADirectoryError):
        # A part of the media may be elsewhere.
        raise _Unusable(Finding("missing", page)) from None
    except OSError as error:
        fault = (error.strerror or str(error)).partition(";")[0]
        raise _Unusable(Finding("unusable", page, f"cannot be read: {fault}")) from None
