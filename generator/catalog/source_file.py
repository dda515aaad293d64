"""Read and parse one file of the catalog."""

import re
from dataclasses import dataclass
from typing import Any

from .. import encoding
from . import api_keys
from .confined_folder import ConfinedFolder
from .garbage_collection import without_garbage_collection
from .yaml import reader

_ANCHOR = re.compile(rb" &(?=[^ \t\r\n])")
# A line with a value and then a comment whose # is directly followed by text.
_CUT = re.compile(rb"^[ \t]*[^ \t\r\n#][^\n]*?[ \t]#[^ \t\r\n]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """The value of a file, or the error that prevents reading it."""

    value: Any = None
    mtime: int = 0
    digest: str = ""
    error: OSError | reader.Malformed | None = None
    # The content, if a comment or an anchor in it may be meant as text.
    suspicious: bytes = b""


def parse_file(folder: ConfinedFolder, file: str) -> ParsedFile:
    try:
        with without_garbage_collection():
            text, mtime = folder.content(file)
            value = reader.load(text)
            if _has_key(text, value):
                raise reader.Malformed
            return ParsedFile(value, mtime, encoding.digest(text), suspicious=text if _may_cut(text) else b"")
    except (OSError, reader.Malformed) as error:
        return ParsedFile(error=error)


def _may_cut(text: bytes) -> bool:
    """Whether a value is followed by a comment without a blank after its #, or an & starts a word."""
    if b" &" in text and _ANCHOR.search(text):
        return True
    return (b" #" in text or b"\t#" in text) and _CUT.search(text) is not None


def _has_key(text: bytes, value: Any) -> bool:
    """Whether the file contains an API key, even in a comment. Only a backslash in it can disguise a key."""
    return bool(api_keys.positions(text)) or (b"\\" in text and api_keys.contains_key(repr(value)))
