"""One file of the catalog -> what it says."""

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .. import encoding
from . import api_keys
from .confined_folder import ConfinedFolder
from .yaml import reader

_ANCHOR = re.compile(rb" &(?=[^ \t\r\n])")
# From the first of a line that is no comment to a # that begins one, and has something else than a blank behind it.
_CUT = re.compile(rb"^[ \t]*[^ \t\r\n#][^\n]*?[ \t]#[^ \t\r\n]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """What a file says, or why nobody can tell."""

    value: Any = None
    mtime: int = 0
    digest: str = ""
    error: OSError | reader.Malformed | None = None
    # The whole file, if a comment or an anchor stands in it that may have been meant as text.
    doubtful: bytes = b""


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Parsing makes millions of objects and no cycles; looking for cycles would be a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def parse_file(folder: ConfinedFolder, file: str) -> ParsedFile:
    try:
        with without_garbage_collection():
            text, mtime = folder.content(file)
            value = reader.load(text)
            if _holds_key(text, value):
                raise reader.Malformed
            return ParsedFile(value, mtime, encoding.digest(text), doubtful=text if _may_cut(text) else b"")
    except (OSError, reader.Malformed) as error:
        return ParsedFile(error=error)


def _may_cut(text: bytes) -> bool:
    """Whether a # between a blank and something else stands behind what is no comment, or an & before a word."""
    if b" &" in text and _ANCHOR.search(text):
        return True
    return (b" #" in text or b"\t#" in text) and _CUT.search(text) is not None


def _holds_key(text: bytes, value: Any) -> bool:
    """Not even a comment may hold one: whoever reads the catalog could use it. Only a backslash can disguise it."""
    if api_keys.positions(text):
        return True
    shown = repr(value) if b"\\" in text else ""
    return api_keys.redacted(shown) != shown
