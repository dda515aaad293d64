"""Journal of an import: the files that it writes, stored before the first one and removed after the last one.

A catalog with a journal may be half written. `check` and `build` refuse it; the next import writes the other files.
"""

import re
from collections.abc import Iterator, Mapping
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
_STRING = rb'"(?:[^"\\]++|\\.)*+"'
# A line: a file, the digest of its text before and its text after. Version 1.0.0 wrote arguments of the import,
# too. The expression is checked first, because the values of another line may not fit into memory.
_LINE = re.compile(
    rb'\{(?:"arguments":\[(?:%(string)b,?){0,9}+\],)?"files":\{(%(string)b):\["([0-9a-f]*)",(null|%(string)b)\]\}\}\n?'
    % {b"string": _STRING}
)
# Accounts may have names and email addresses.
_PRIVATE = 0o600


def refuse(folder: Folder) -> None:
    """Raise if an import into the catalog is unfinished."""
    if layout.has(confined_folder.of(folder), JOURNAL):
        # Without a command of the journal, which may come with an untrusted repository.
        raise FlatpanelError(
            f"{folder}: an import is unfinished; run the same import again, or remove {folder}/{JOURNAL} if you "
            "started none"
        )


def finish(folder: Folder) -> None:
    """Write the other files of an unfinished import, except those that were edited since."""
    catalog = confined_folder.of(folder)
    for file, before, text in _lines(catalog):
        if _digest(catalog, file) == before:
            _apply(catalog, file, text)
    catalog.delete(JOURNAL)


def write(folder: Folder, files: Files) -> None:
    """Write or remove files in the given order. An interruption leaves the journal."""
    catalog = confined_folder.of(folder)
    if files:
        # One line for each file: all texts together may not fit into memory.
        lines = (
            encoding.json({"files": {file: [_digest(catalog, file), _encoded(text)]}}) for file, text in files.items()
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


def _lines(catalog: ConfinedFolder) -> Iterator[tuple[str, str, bytes | None]]:
    """Yield each file of the catalog, the digest of its text before and its text after. A damaged line is the end."""
    with suppress(FileNotFoundError, ValueError), confined_folder.reading(catalog, JOURNAL) as journal:
        while match := _LINE.fullmatch(journal.readline(_MAX_LINE)):
            file, before, text = encoding.parse(match[1]), match[2].decode(), encoding.parse(match[3])
            if _is_catalog_file(file):
                yield file, before, None if text is None else text.encode("latin-1")


def _is_catalog_file(file: str) -> bool:
    """Whether a journal, which may come with an untrusted repository, names a file that imports write."""
    return file.endswith(".yaml") and not any(part.startswith(".") or not part for part in file.split("/"))


def _encoded(text: bytes | None) -> str | None:
    """Return bytes as text for JSON, one character for each byte."""
    return None if text is None else text.decode("latin-1")
