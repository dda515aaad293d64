"""The files of an export: copies of bodies, and texts made for a host."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ...api.resources import SUFFIXES, key
from ...encoding import etag
from ...release.manifest import Published

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
