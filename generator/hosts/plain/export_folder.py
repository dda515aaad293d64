"""The files of an export: copies of bodies and texts made for a host. A second export writes only what changed."""

import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path, PurePath
from typing import NamedTuple, TypeAlias

from ... import encoding
from ...api.payloads.resources import SUFFIXES, key
from ...encoding import etag
from ...errors import FlatpanelError
from ...filesystem import delete_file, make_folder, read_regular, remove_empty_folders, replace, write
from ...release.manifest import Published
from ...release.store import is_unused, refuse_links

# The folder in an export that the host serves. Files beside it are for the host itself.
ROOT = "site"


class HostFile(NamedTuple):
    """A file of an export by its name in the folder."""

    name: str
    # The bytes, or a file to copy.
    content: bytes | Path
    # Equal texts mean equal content.
    version: str
    modified: int | None = None
    # A setting of the user: once changed, it is not written again.
    is_editable: bool = False


class HostExport(NamedTuple):
    """The files of an export, and sentences about what the host cannot do with this release."""

    files: list[HostFile]
    warnings: tuple[str, ...] = ()


def text_file(name: str, text: bytes, *, is_editable: bool = False, modified: int | None = None) -> HostFile:
    return HostFile(name, text, etag(text), modified, is_editable)


def body_file(name: str, body: Published, dist: Path) -> HostFile:
    """A body. Its time is its Last-Modified."""
    return HostFile(name, dist / body.file, body.etag, body.file_time)


def gzip_file(name: str, body: Published, dist: Path) -> HostFile:
    """The gzip form of a body."""
    return HostFile(name, dist / f"{body.file}.gz", f"{body.etag}.gz", body.file_time)


def exact_name(body: Published) -> str:
    """A file name that differs from each path, for hosts with rewrites: the key of the URL, and a suffix of its type.

    No request reaches a file by its name: the host adds the suffix to each path.
    """
    return f"{ROOT}{key(body.url)}{SUFFIXES[body.type]}"


def markers(paths: Iterable[str], status: int) -> Iterator[HostFile]:
    """Files that give paths a status in place of a body."""
    return (text_file(f"{ROOT}{key(path)}.{status}", b"") for path in paths)


Track: TypeAlias = Callable[[Collection[HostFile]], Iterable[HostFile]]

# The host of an export, and the version of each file that it wrote: the next one may change and remove these files.
LIST = ".flatpanel-export.json"
# The version of a file that an interrupted export may have written.
_UNKNOWN = ""


class FolderTotals(NamedTuple):
    """The number of files in the export, and of those that were written and removed."""

    files: int
    written: int
    removed: int
    # Settings that the user changed, and that a new export would write differently.
    kept: tuple[str, ...]


def write_files(target: Path, host: str, files: Iterable[HostFile], track: Track = iter) -> FolderTotals:
    """Write the files of an export, and remove those of an earlier one that it does not have.

    `track` sees the files as they are written.
    """
    earlier = _earlier(target, host)
    wanted = {file.name: file for file in files}
    if outside := [name for name in wanted if not _is_inside(name)]:
        raise FlatpanelError(f"{target}: {min(outside)} would be outside of the folder; build the site again")
    refuse_links(target, {*wanted, *earlier})
    for name in wanted.keys() - earlier.keys():
        if os.path.lexists(target / name):
            raise FlatpanelError(f"{target / name}: is not of an earlier export; move it, or choose a new folder")
    changed = [file for file in wanted.values() if not _is_there(target / file.name, file, earlier)]
    kept = {file.name: earlier[file.name] for file in changed if _is_edited(target / file.name, file, earlier)}
    changed = [file for file in changed if file.name not in kept]
    removed = earlier.keys() - wanted.keys()
    make_folder(target)
    # First of all: an interrupted export leaves no file that the next one would refuse.
    _write_list(target, host, {**earlier, **{file.name: _UNKNOWN for file in changed}})
    for folder in {file.name.rpartition("/")[0] for file in changed}:
        make_folder(target / folder)
    # In a new folder, nothing is served yet.
    put = replace if earlier else write
    failure: FlatpanelError | OSError | None = None
    try:
        for file in track(changed):
            put(target / file.name, _content(file), modified=file.modified)
    except (FlatpanelError, OSError) as error:  # withdrawn chapters do not stay until a body or the disk is repaired
        failure = error
    for name in removed:
        delete_file(target / name)
        remove_empty_folders((target / name).parent)
    if failure:
        raise failure
    _write_list(target, host, {**{file.name: file.version for file in wanted.values()}, **kept})
    return FolderTotals(len(wanted), len(changed), len(removed), tuple(kept))


def _earlier(target: Path, host: str) -> dict[str, str]:
    """The files of the earlier export in the folder, and their versions."""
    if is_unused(target, LIST):
        return {}
    text = read_regular(target / LIST)
    if text is None:
        raise FlatpanelError(
            f"{target}: is not an empty folder, and has no list of an earlier export; choose a new one"
        )
    other, files = _parsed_list(target / LIST, text)
    if other != host:
        raise FlatpanelError(f"{target}: is an export for {other}; choose another folder for {host}")
    return files


def _parsed_list(path: Path, text: bytes) -> tuple[str, dict[str, str]]:
    try:
        value = encoding.parse(text)
        host, files = value["for"], dict(value["files"])
        is_valid = all(_is_inside(name) and isinstance(version, str) for name, version in files.items())
    except (ValueError, TypeError, KeyError):
        is_valid = False
    if not is_valid:
        raise FlatpanelError(f"{path}: has been changed; remove the folder, and export again")
    return host, files


def _is_inside(name: str) -> bool:
    """Check that a name belongs to a file below the folder."""
    return bool(name) and not name.startswith("/") and ".." not in PurePath(name).parts


def _write_list(target: Path, host: str, files: Mapping[str, str]) -> None:
    text = encoding.indented({"for": host, "files": dict(sorted(files.items()))})
    if read_regular(target / LIST) != text:
        replace(target / LIST, text)


def _is_there(path: Path, file: HostFile, earlier: Mapping[str, str]) -> bool:
    """Check that a file needs not be written. Files of a host's settings are read, others are looked at."""
    if file.is_editable:
        return read_regular(path) == file.content
    if earlier.get(file.name) != file.version:
        return False
    try:
        status = path.lstat()
    except OSError:
        return False
    is_same_time = file.modified is None or int(status.st_mtime) == file.modified
    return stat.S_ISREG(status.st_mode) and is_same_time and status.st_size == _size(file)


def _content(file: HostFile) -> bytes:
    """The bytes of a file. Those of a body are checked by its ETag."""
    if isinstance(file.content, bytes):
        return file.content
    content = file.content.read_bytes()
    stated_size = int.from_bytes(content[-4:], "little")
    plain = encoding.gunzip(content, stated_size) if file.version.endswith(".gz") else content
    if plain is None or etag(plain) != file.version.removesuffix(".gz"):
        raise FlatpanelError(f"{file.content}: is damaged; `python build.py verify --repair` restores it")
    return content


def _size(file: HostFile) -> int:
    return file.content.stat().st_size if isinstance(file.content, Path) else len(file.content)


def _is_edited(path: Path, file: HostFile, earlier: Mapping[str, str]) -> bool:
    """Whether the user changed a file of the host's settings."""
    if not file.is_editable or not earlier.get(file.name):
        return False
    text = read_regular(path)
    return text is not None and encoding.etag(text) != earlier[file.name]
