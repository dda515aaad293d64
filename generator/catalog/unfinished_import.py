"""Journal of an import: the files that it writes, stored before the first one and removed after the last one.

A catalog with a journal may be half written. `check` and `build` refuse it; the next import writes the other files.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .. import encoding
from ..errors import FlatpanelError
from . import confined_folder, layout
from .confined_folder import ConfinedFolder, Folder

JOURNAL = ".unfinished-import"
# The text of each file; None removes it.
Files: TypeAlias = Mapping[str, bytes | None]
# The files of the largest import take less.
_MAX_SIZE = 1 << 30
# Accounts may have names and email addresses.
_PRIVATE = 0o600


@dataclass(frozen=True, slots=True)
class _Journal:
    """The arguments of the import, and for each file the digest of its text before and its text after.

    Both are empty for no file.
    """

    arguments: list[str]
    files: dict[str, tuple[str, bytes | None]]


def refuse(folder: Folder) -> None:
    """Raise if an import into the catalog is unfinished."""
    catalog = confined_folder.of(folder)
    if layout.has(catalog, JOURNAL):
        arguments = shlex.join(_read(catalog).arguments or ["URL"])
        command = f"`python build.py import {arguments} --catalog {shlex.quote(str(folder))}`"
        raise FlatpanelError(f"{folder}: an import is unfinished; run {command} again to finish it")


def finish(folder: Folder) -> None:
    """Write the other files of an unfinished import, except those that were edited since."""
    catalog = confined_folder.of(folder)
    for file, (before, text) in _read(catalog).files.items():
        if _digest(catalog, file) == before:
            _apply(catalog, file, text)
    catalog.delete(JOURNAL)


def write(folder: Folder, arguments: Sequence[str], files: Files) -> None:
    """Write or remove files in the given order. An interruption leaves the journal, with the import's arguments."""
    catalog = confined_folder.of(folder)
    if files:
        entries = {file: [_digest(catalog, file), _encoded(text)] for file, text in files.items()}
        catalog.write(JOURNAL, mode=_PRIVATE, text=encoding.json({"arguments": list(arguments), "files": entries}))
        for file, text in files.items():
            _apply(catalog, file, text)
    catalog.delete(JOURNAL)


def _apply(catalog: ConfinedFolder, file: str, text: bytes | None) -> None:
    if text is None:
        catalog.delete(file)
    else:
        catalog.write(file, text)


def _digest(catalog: ConfinedFolder, file: str) -> str:
    try:
        return encoding.digest(catalog.content(file)[0])
    except FileNotFoundError:
        return ""


def _read(catalog: ConfinedFolder) -> _Journal:
    """Return the journal; an empty one if there is none, or if it is damaged."""
    try:
        value = encoding.parse(catalog.content(JOURNAL, _MAX_SIZE)[0])
        files = {
            str(file): (str(before), None if text is None else text.encode("latin-1"))
            for file, (before, text) in value["files"].items()
            if _is_catalog_file(file)
        }
        # Earlier versions stored the URL alone.
        arguments = value["arguments"] if "arguments" in value else [value["site"]]
        return _Journal([str(argument) for argument in arguments], files)
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return _Journal([], {})


def _is_catalog_file(file: str) -> bool:
    """Whether a journal, which may come with an untrusted repository, names a file that imports write."""
    return file.endswith(".yaml") and not any(part.startswith(".") or not part for part in file.split("/"))


def _encoded(text: bytes | None) -> str | None:
    """Return bytes as text for JSON, one character for each byte."""
    return None if text is None else text.decode("latin-1")
