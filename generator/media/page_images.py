"""A folder or an archive of images -> the file names of a chapter's pages in reading order, and its ComicInfo.xml.

Only the names and ComicInfo.xml are read; `page_files` reads the pages. Unsafe paths are refused.
"""

import io
import os
import re
import sys
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from unicodedata import decimal

from ..catalog import confined_folder
from ..catalog.confined_folder import ConfinedFolder, Folder
from ..errors import FlatpanelError
from .image_content import FORMATS, SERVED

COMICINFO = "comicinfo.xml"
# Enough for a list of all pages with their sizes.
MAX_COMICINFO = 1 << 20
# A folder with more files, or with deeper ones, is not a chapter, but perhaps a home folder.
MAX_FILES, MAX_LEVELS = 100_000, 100
# Bytes of the directory of an archive. Its entries take ten times as many in memory.
MAX_DIRECTORY = 16 << 20

# Of all scripts.
_NUMBERS = re.compile(r"(\d+)")
# Names that may be resolved outside the folder that they are in.
_UNSAFE = re.compile(r"/|[A-Za-z]:|(?:.*/)?\.\.(?:/|$)|.*[\\\x00-\x1f\x7f]", re.DOTALL)
# Methods that unpack a bounded number of bytes.
_STREAMING = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 1
# Characters of a name that a message quotes.
_QUOTED = 60


@dataclass(frozen=True, slots=True)
class PageImages:
    """The file names of the pages without their folder, the text of ComicInfo.xml, and the folder of the pages."""

    pages: list[str]
    comicinfo: bytes | None
    folder: str


def read(source: Folder) -> PageImages:
    """Read a folder, or a zip archive."""
    path = Path(source)
    with readable(path):
        if path.is_dir():
            return _folder(confined_folder.of(source))
        with open_archive(path) as archive:
            return _archive(path, archive)


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn the errors of a block that reads a folder or an archive into messages."""
    try:
        yield
    except UnicodeError:
        raise FlatpanelError(
            f"{path}: contains file names that are not UTF-8; rename the files, or pack the archive again"
        ) from None
    except OSError as error:
        raise FlatpanelError(f"{error.filename or path}: cannot be read: {error.strerror or error}") from None
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, zlib.error) as error:
        hint = "pass a folder of images or a zip archive (.cbz or .zip)"
        raise FlatpanelError(f"{path}: cannot be read: {error}; {hint}") from None


class _ArchiveFile(io.BufferedReader):
    """The file of an archive. While `zipfile` opens it, `limit` bounds the directory, which is read at once."""

    limit = MAX_DIRECTORY

    def read(self, size: int | None = -1, /) -> bytes:
        if size and size > self.limit:
            raise FlatpanelError(
                f"{self.name}: its list of files has more than {self.limit >> 20} MiB; pass the archive of one chapter"
            )
        return super().read(size)


@contextmanager
def open_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive. Pipes and devices are refused: opening a pipe waits for a writer."""
    if path.exists() and not path.is_file():
        raise ValueError("it is neither a file nor a folder")
    # Names without the UTF-8 flag are read as UTF-8, too: their encoding is not stated anywhere.
    with _ArchiveFile(io.FileIO(path)) as file, zipfile.ZipFile(file, metadata_encoding="utf-8") as archive:
        file.limit = sys.maxsize
        yield archive


def _folder(folder: ConfinedFolder) -> PageImages:
    path = folder.path
    pages, comicinfo, inside = _sort_files(path, list(islice(_files(path), MAX_FILES + 1)))
    return PageImages(pages, _small(path, folder.content(comicinfo)[0]) if comicinfo else None, inside)


def _files(folder: Path) -> Iterator[str]:
    """Yield the paths of all files below a folder, as an archive of it would name them."""

    def fail(error: OSError) -> None:
        raise error

    for inside, folders, names in os.walk(folder, onerror=fail):
        folders[:] = [name for name in folders if not _is_hidden(name)]
        below = Path(inside).relative_to(folder)
        if len(below.parts) > MAX_LEVELS:
            raise FlatpanelError(
                f"{folder}: contains folders of more than {MAX_LEVELS} levels; pass the folder of one chapter"
            )
        yield from ((below / name).as_posix() for name in names)


def _archive(path: Path, archive: zipfile.ZipFile) -> PageImages:
    members = {member.filename: member for member in archive.infolist() if not member.filename.endswith("/")}
    for name in members:
        if _UNSAFE.match(name):
            raise FlatpanelError(f"{path}: contains the unsafe path {name[:_QUOTED]!r}; pack the archive again")
    pages, comicinfo, inside = _sort_files(path, list(members))
    if not comicinfo:
        return PageImages(pages, None, inside)
    member = members[comicinfo]
    if not is_streamed(member):
        raise FlatpanelError(
            f"{path}: ComicInfo.xml is encrypted or has an unsupported compression; pack the archive again"
        )
    with archive.open(name=member) as file:
        return PageImages(pages, _small(path, file.read(MAX_COMICINFO + 1)), inside)


def is_streamed(member: zipfile.ZipInfo) -> bool:
    """Whether a member of an archive can be unpacked in bounded pieces, without a password."""
    return not member.flag_bits & _ENCRYPTED and member.compress_type in _STREAMING


def _small(path: Path, text: bytes) -> bytes:
    if len(text) > MAX_COMICINFO:
        raise FlatpanelError(f"{path}: ComicInfo.xml is larger than {MAX_COMICINFO >> 20} MiB; remove it")
    return text


def _sort_files(path: Path, names: Sequence[str]) -> tuple[list[str], str | None, str]:
    """Return the page names in reading order, the path of ComicInfo.xml, and the folder of the pages."""
    if len(names) > MAX_FILES:
        raise FlatpanelError(f"{path}: contains more than {MAX_FILES} files; pass the folder or archive of one chapter")
    visible = [name for name in names if not any(map(_is_hidden, name.split("/")))]
    images = [PurePosixPath(name) for name in visible if PurePosixPath(name).suffix.lower() in FORMATS]
    served = ", ".join(sorted(SERVED))
    folders = sorted({str(image.parent) for image in images})
    if not folders:
        raise FlatpanelError(f"{path}: contains no images ({served})")
    if len(folders) > 1:
        examples = " and ".join(repr(folder[:_QUOTED]) for folder in folders[:2])
        raise FlatpanelError(
            f"{path}: contains images in {len(folders)} folders, such as {examples}; "
            "put the pages of a chapter into one folder"
        )
    for image in images:
        image.name.encode()  # raises UnicodeError: file names may be any bytes
        if image.suffix.lower() not in SERVED:
            raise FlatpanelError(
                f"{path}: contains {image.name[:_QUOTED]!r}, which nginx does not serve; convert it to one of {served}"
            )
    candidates = {COMICINFO, f"{folders[0]}/{COMICINFO}".lower()}
    # The file at the top describes the whole archive.
    comicinfo = min((name for name in visible if name.lower() in candidates), key=len, default=None)
    return sorted((image.name for image in images), key=_reading_order), comicinfo, folders[0]


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "__MACOSX"))


def _reading_order(name: str) -> tuple[list[tuple[int, str]], str]:
    """Sort 2 before 10, and A beside a; the exact name decides between equal keys."""
    parts = _NUMBERS.split(PurePosixPath(name).stem.casefold())
    # Digits without leading zeros compare by length first; as integers they could be too long for Python.
    digits = ["".join(str(decimal(digit)) for digit in part).lstrip("0") for part in parts[1::2]]
    key = [(0, part) for part in parts]
    key[1::2] = [(len(part), part) for part in digits]
    return key, name
