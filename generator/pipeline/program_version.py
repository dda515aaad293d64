"""The version of the program: the cache holds results of one version only."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from .. import encoding

_PACKAGE = Path(__file__).parents[1]
_SUFFIXES = (".py", ".conf", ".js", ".html", ".css", ".svg", ".yaml")


class ProgramVersion(NamedTuple):
    """The status of all program files, and a function that reads them and returns a digest of their contents.

    An equal status means equal contents. An equal digest means the same program with another status: a new checkout.
    """

    status: str
    digest: Callable[[], str]


def current() -> ProgramVersion:
    """The version of this program."""
    statuses = [
        (file, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino) for file, status in _files()
    ]
    return ProgramVersion(_digest(statuses), _digest_of_contents)


def _digest_of_contents() -> str:
    return _digest([(file, encoding.digest((_PACKAGE / file).read_bytes())) for file, _ in _files()])


def _digest(files: Sequence[tuple[str | int, ...]]) -> str:
    """A digest of values of all files, and of the version of zlib, which compresses bodies."""
    return encoding.digest(encoding.json([encoding.ZLIB_VERSION, *sorted(files)]))


def _files() -> Iterator[tuple[str, os.stat_result]]:
    """Every program file by its path in the package, with its status."""
    for folder, folders, names in os.walk(_PACKAGE, followlinks=True):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in names:
            if name.endswith(_SUFFIXES):
                path = os.path.join(folder, name)
                yield path.removeprefix(f"{_PACKAGE}/"), os.stat(path)
