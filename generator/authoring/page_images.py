"""A folder or an archive of images -> the names of a chapter's pages in reading order, and its ComicInfo.xml.

Of an archive the names are read, and one small file; nothing is unpacked, and no name leads anywhere.
"""

import os
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath

from ..catalog import confined_folder
from ..catalog.confined_folder import ConfinedFolder, Folder
from ..errors import FlatpanelError

IMAGES = frozenset({".avif", ".bmp", ".gif", ".jpeg", ".jpg", ".jxl", ".png", ".webp"})
COMICINFO = "comicinfo.xml"
# A list of every page with its size is the most that one may reasonably hold.
MAX_COMICINFO = 1 << 20
# More than that is somebody's home folder.
MAX_FILES = 100_000

_NUMBERS = re.compile(r"([0-9]+)")
# What a name can be that is read somewhere else than where it stands.
_LEADS_ELSEWHERE = re.compile(r"/|[A-Za-z]:|(?:.*/)?\.\.(?:/|$)|.*[\\\x00-\x1f\x7f]", re.DOTALL)
# Those that can be unpacked piece by piece, and no further than is wanted.
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 1
# How much of a strange name is told.
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Found:
    """The names of the pages, without their folder, and the text that describes them."""

    pages: list[str]
    comicinfo: bytes | None


def read(given: Folder) -> Found:
    """What a folder or an archive holds."""
    path = Path(given)
    try:
        if path.is_dir():
            return _folder(confined_folder.of(given))
        # Those who say nothing of their letters mean these; what else they could mean nobody knows.
        with zipfile.ZipFile(_file(path), metadata_encoding="utf-8") as archive:
            return _archive(path, archive)
    except UnicodeError:
        raise FlatpanelError(f"{path}: holds names that are not UTF-8; rename the files, or pack them again") from None
    except OSError as error:
        raise FlatpanelError(f"{error.filename or path}: cannot be read: {error.strerror or error}") from None
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, zlib.error) as error:
        hint = "name a folder of images, or a zip archive (.cbz or .zip)"
        raise FlatpanelError(f"{path}: cannot be read: {error}; {hint}") from None


def _file(path: Path) -> Path:
    """Merely opening a pipe would wait for whoever writes into it."""
    if path.exists() and not path.is_file():
        raise ValueError("it is neither a file nor a folder")
    return path


def _folder(folder: ConfinedFolder) -> Found:
    path = folder.path
    pages, description = _sorted_out(path, list(islice(_files(path), MAX_FILES + 1)))
    return Found(pages, _small(path, folder.content(description)[0]) if description else None)


def _files(folder: Path) -> Iterator[str]:
    """The paths of all files below, as they would stand in an archive."""

    def fail(error: OSError) -> None:
        raise error

    for inside, folders, names in os.walk(folder, onerror=fail):
        folders[:] = [name for name in folders if not _is_hidden(name)]
        yield from (Path(inside, name).relative_to(folder).as_posix() for name in names)


def _archive(path: Path, archive: zipfile.ZipFile) -> Found:
    members = {one.filename: one for one in archive.infolist() if not one.filename.endswith("/")}
    for name in members:
        if _LEADS_ELSEWHERE.match(name):
            raise FlatpanelError(f"{path}: holds the name {name[:_SHOWN]!r}, which leads elsewhere; pack it again")
    pages, description = _sorted_out(path, list(members))
    if not description:
        return Found(pages, None)
    member = members[description]
    if member.flag_bits & _ENCRYPTED or member.compress_type not in _PACKED:
        raise FlatpanelError(f"{path}: its ComicInfo.xml is encrypted, or packed in a rare way; pack it again")
    with archive.open(name=member) as opened:
        return Found(pages, _small(path, opened.read(MAX_COMICINFO + 1)))


def _small(path: Path, text: bytes) -> bytes:
    if len(text) > MAX_COMICINFO:
        raise FlatpanelError(f"{path}: its ComicInfo.xml has more than {MAX_COMICINFO >> 20} MiB; remove it")
    return text


def _sorted_out(path: Path, names: Sequence[str]) -> tuple[list[str], str | None]:
    """The pages among the files, and the file that describes them."""
    if len(names) > MAX_FILES:
        raise FlatpanelError(f"{path}: holds more than {MAX_FILES} files; name what has the pages of one chapter")
    shown = [name for name in names if not any(map(_is_hidden, name.split("/")))]
    images = [PurePosixPath(name) for name in shown if PurePosixPath(name).suffix.lower() in IMAGES]
    folders = sorted({str(one.parent) for one in images})
    if not folders:
        raise FlatpanelError(f"{path}: holds no images ({', '.join(sorted(IMAGES))})")
    if len(folders) > 1:
        some = " and ".join(repr(folder[:_SHOWN]) for folder in folders[:2])
        raise FlatpanelError(
            f"{path}: holds images in {len(folders)} folders, such as {some}; the pages of a chapter lie in one"
        )
    for one in images:
        one.name.encode()  # a name on a disk may be any bytes
    places = {COMICINFO, f"{folders[0]}/{COMICINFO}".lower()}
    # The one at the top is that of the whole archive.
    description = min((name for name in shown if name.lower() in places), key=len, default=None)
    return sorted((one.name for one in images), key=_reading_order), description


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "__MACOSX"))


def _reading_order(name: str) -> tuple[list[tuple[int, str]], str]:
    """2 before 10, and A beside a; the letters themselves decide where nothing else does, so there is one order."""
    parts = _NUMBERS.split(PurePosixPath(name).stem.casefold())
    # Digits without their zeros compare by length first; as numbers they could be too long for Python.
    digits = [part.lstrip("0") for part in parts[1::2]]
    key = [(0, part) for part in parts]
    key[1::2] = [(len(part), part) for part in digits]
    return key, name
