"""The objects of a large JSON array in a file, one after the other: only a part of the text is in memory.

The first bytes show compression and encoding: PowerShell writes UTF-16, and editors a byte order mark.
"""

import codecs
import gzip
import io
import json
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

# Characters that are read at once, and of the longest object.
_CHUNK = 1 << 20
_LONGEST = 1 << 24
_OPENERS: dict[bytes, Callable[[Path], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ\0": lzma.open,
}
_ENCODINGS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    b"[\0": "utf-16-le",
    b"\0[": "utf-16-be",
}
_SPACE = " \t\r\n"


class InvalidArray(ValueError):
    """A file is no complete JSON array, or is too large; the message ends with the reason."""


def starts_array(path: Path) -> bool:
    """Return whether the text in a file begins with a square bracket."""
    try:
        with closing(_text(path, "replace")) as text:
            return text.read(_CHUNK).lstrip(_SPACE).startswith("[")
    except (OSError, EOFError, lzma.LZMAError, zlib.error):
        return False


def objects(path: Path, limit: int) -> Iterator[dict[str, Any]]:
    """Yield the objects of an array; `limit` is the number of characters of the largest accepted file."""
    try:
        with closing(_text(path)) as text:
            yield from _Array(text, limit).items()
    except UnicodeDecodeError as error:
        raise InvalidArray(f"not {error.encoding.upper()}: {error.reason}") from None
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise InvalidArray(f"cannot be decompressed: {error}") from None


def _text(path: Path, errors: str = "strict") -> TextIO:
    with path.open("rb") as file:
        opener = _matching(_OPENERS, file.read(max(map(len, _OPENERS))))
    stream = cast(BinaryIO, opener(path) if opener else path.open("rb"))
    buffered = io.BufferedReader(cast(io.RawIOBase, stream))
    with ExitStack() as on_error:
        on_error.enter_context(buffered)
        encoding = _matching(_ENCODINGS, buffered.peek(max(map(len, _ENCODINGS)))) or "utf-8"
        # The caller closes it.
        on_error.pop_all()
    return io.TextIOWrapper(buffered, encoding, errors, newline="")


def _matching(values: dict[bytes, Any], start: bytes) -> Any:
    return next((value for prefix, value in values.items() if start.startswith(prefix)), None)


class _Array:
    """Parses one item at a time from the text that is in memory."""

    def __init__(self, stream: TextIO, limit: int) -> None:
        self.stream, self.left = stream, limit
        self.text, self.at, self.line = "", 0, 1
        self.decoder = json.JSONDecoder()

    def items(self) -> Iterator[dict[str, Any]]:
        self._expect("[")
        if self._next() != "]":
            yield self._item()
            while self._next() == ",":
                self.at += 1
                self._next()
                yield self._item()
        self._expect("]")
        if self._next():
            raise self._invalid("text after the end of the array")

    def _item(self) -> dict[str, Any]:
        while True:
            try:
                value, self.at = self.decoder.raw_decode(self.text, self.at)
            except (ValueError, RecursionError) as error:
                if not self._read_more():
                    self.at = getattr(error, "pos", self.at)
                    raise self._invalid(getattr(error, "msg", "invalid JSON")) from None
            else:
                if not isinstance(value, dict):
                    raise self._invalid("an item of the array should be an object")
                return value

    def _expect(self, sign: str) -> None:
        if self._next() != sign:
            raise self._invalid(f"expected {sign}")
        self.at += 1

    def _next(self) -> str:
        """Skip spaces, and return the next character; "" at the end."""
        while True:
            rest = self.text[self.at : self.at + 1]
            if rest and rest in _SPACE:
                self.at += 1
            elif rest or not self._read_more():
                return rest

    def _read_more(self) -> bool:
        """Read the next part of the text; False at its end, and in an object that is too long."""
        self.line += self.text.count("\n", 0, self.at)
        self.text, self.at = self.text[self.at :], 0
        if len(self.text) > _LONGEST:
            return False
        part = self.stream.read(max(_CHUNK, len(self.text)))
        self.left -= len(part)
        if self.left < 0:
            raise InvalidArray("too large")
        self.text += part
        return bool(part)

    def _invalid(self, fault: str) -> InvalidArray:
        line = self.line + self.text.count("\n", 0, self.at)
        return InvalidArray(f"line {line}: {fault}")
