"""Journal of an import: the files that it writes, stored before the first one and removed after the last one.

A catalog with a journal may be half written. `check` and `build` refuse it; the next import writes the other files.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TypeAlias

from .. import encoding
from ..errors import FlatpanelError
from . import confined_folder, layout
from .confined_folder import ConfinedFolder, Folder

JOURNAL = ".unfinished-import"
# The text of each file; None removes it.
Files: TypeAlias = Mapping[str, bytes | None]
# The text of a catalog file takes less, also with escaped characters.
_MAX_LINE = 1 << 27
# Accounts may have names and email addresses.
_PRIVATE = 0o600


def refuse(folder: Folder) -> None:
    """Raise if an import into the catalog is unfinished."""
    catalog = confined_folder.of(folder)
    if layout.has(catalog, JOURNAL):
        arguments, _ = next(_lines(catalog), ([], {}))
        words = shlex.join(arguments or ["URL"])
        command = f"`python build.py import {words} --catalog {shlex.quote(str(folder))}`"
        raise FlatpanelError(f"{folder}: an import is unfinished; run {command} again to finish it")


def finish(folder: Folder) -> None:
    """Write the other files of an unfinished import, except those that were edited since."""
    catalog = confined_folder.of(folder)
    for _, files in _lines(catalog):
        for file, (before, text) in files.items():
            if _digest(catalog, file) == before:
                _apply(catalog, file, text)
    catalog.delete(JOURNAL)


def write(folder: Folder, arguments: Sequence[str], files: Files) -> None:
    """Write or remove files in the given order. An interruption leaves the journal, with the import's arguments."""
    catalog = confined_folder.of(folder)
    if files:
        # One line for each file: all texts together may not fit into memory.
        lines = (
            encoding.json({"arguments": list(arguments), "files": {file: [_digest(catalog, file), _encoded(text)]}})
            for file, text in files.items()
        )
        catalog.write(JOURNAL, (line + b"\n" for line in lines), mode=_PRIVATE)
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


def _lines(catalog: ConfinedFolder) -> Iterator[tuple[list[str], dict[str, tuple[str, bytes | None]]]]:
    """Yield the arguments of the import, and for each file the digest of its text before and its text after.

    Both are empty for no file. A damaged line is the end.
    """
    damage = (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError)
    with suppress(*damage), confined_folder.reading(catalog, JOURNAL) as journal:
        while line := journal.readline(_MAX_LINE):
            value = encoding.parse(line)
            files = {
                str(file): (str(before), None if text is None else text.encode("latin-1"))
                for file, (before, text) in value["files"].items()
                if _is_catalog_file(file)
            }
            yield [str(argument) for argument in value["arguments"]], files


def _is_catalog_file(file: str) -> bool:
    """Whether a journal, which may come with an untrusted repository, names a file that imports write."""
    return file.endswith(".yaml") and not any(part.startswith(".") or not part for part in file.split("/"))


def _encoded(text: bytes | None) -> str | None:
    """Return bytes as text for JSON, one character for each byte."""
    return None if text is None else text.decode("latin-1")
