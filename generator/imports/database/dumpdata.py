"""The JSON of Django's `dumpdata` as tables, with or without natural keys.

A dump is one large JSON array. Its objects are read one after the other, so only a part of the text is in memory. The
first bytes show compression and encoding: PowerShell writes UTF-16, and editors a byte order mark.
"""

import codecs
import gzip
import io
import json
import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

from ...errors import FlatpanelError
from ..spilled import SpilledRows
from .tables import TABLES, RowMemory, Tables, Version

_COMMAND = "python manage.py dumpdata {} --output dump.json"
COMMANDS: dict[Version, str] = {
    "0.9.6": _COMMAND.format("reader groups users auth.user contenttypes redirects sites"),
    "0.4.5": _COMMAND.format("reader groups"),
}
# Characters of the largest file.
_MAX_SIZE = 1 << 30
# Models whose table is not named after the app.
_TABLES = {
    "contenttypes.contenttype": "django_content_type",
    "redirects.redirect": "django_redirect",
    "sites.site": "django_site",
}
_PAGES = "reader_page"
# Tables of links by the table whose objects list them.
_LINKS = {"reader_series": ("authors", "artists", "categories"), "reader_chapter": ("groups",)}
# Tables whose rows natural keys identify, the columns of these keys, and the columns that refer to such rows.
_NATURAL = {"auth_user": ("username",), "django_content_type": ("app_label", "model"), "django_site": ("domain",)}
_REFERENCES = {"user_id": "auth_user", "content_type_id": "django_content_type"}
_COLUMNS: dict[str, tuple[str, ...]] = {
    table: tuple(dict.fromkeys(name for version in TABLES.values() for name in version.get(table, ())))
    for version in TABLES.values()
    for table in version
}


def is_dump(path: Path) -> bool:
    """Return whether the text in a file begins with a square bracket, as an array does."""
    try:
        with closing(_text(path, "replace")) as text:
            return text.read(_CHUNK).lstrip(_SPACE).startswith("[")
    except (OSError, EOFError, lzma.LZMAError, zlib.error):
        return False


@contextmanager
def opened(path: Path) -> Iterator[Tables]:
    """Read a dump, and check that it has what an import needs."""
    dump = _Dump(RowMemory(path))
    try:
        for number, item in enumerate(json_objects(path, _MAX_SIZE), 1):
            dump.add(item, number)
        version = dump.check()
    except InvalidArray as error:
        raise FlatpanelError(f"{path}: {error}; write it with `{COMMANDS[dump.version]}`") from None
    yield Tables(version, dump.raw)


class _Dump:
    """The rows of the tables that an import reads."""

    def __init__(self, memory: RowMemory) -> None:
        self._memory = memory
        # Values in the order of _COLUMNS.
        self.rows: dict[str, list[tuple[Any, ...]]] = {}
        # The rows of pages, converted: most rows of a dump are pages.
        self.pages = SpilledRows()
        # The names of the fields of the first object, by table.
        self.fields: dict[str, set[str]] = {}

    @property
    def version(self) -> Version:
        """The version whose models these are."""
        series = self.fields.get("reader_series", ())
        # Only in 0.4.5, the slug of a series is its key.
        is_old = ("reader_seriesalias" in self.rows or "completed" in series) and "slug" not in series
        return "0.4.5" if is_old else "0.9.6"

    def add(self, item: Mapping[str, Any], number: int) -> None:
        """Add the rows of an object: its own, and one for each of its links."""
        model, fields = item.get("model"), item.get("fields")
        if not isinstance(model, str) or not isinstance(fields, dict):
            raise InvalidArray(f"object {number} has no model and fields, as those of dumpdata have")
        table = _TABLES.get(model, model.replace(".", "_"))
        if table not in _COLUMNS:
            return
        self.fields.setdefault(table, set(fields))
        rows = self.rows.setdefault(table, [])
        key = item.get("pk")
        if key is None:
            if table not in _NATURAL:
                raise InvalidArray(f"object {number}, a {model}, has no pk: the dump has natural primary keys")
            key = len(rows) + 1
        if isinstance(key, list | dict):
            raise InvalidArray(f"object {number}, a {model}, has a pk that is no number or text")
        row = tuple(self._value(table, name, fields, key) for name in _COLUMNS[table])
        if table == _PAGES:
            conversions = TABLES["0.9.6"][_PAGES].values()
            self.pages.append([convert(value) for convert, value in zip(conversions, row, strict=True)])
        else:
            self._memory.take(row)
            rows.append(row)
        for name in _LINKS.get(table, ()):
            self._add_links(f"{table}_{name}", key, fields.get(name))

    def _value(self, table: str, name: str, fields: Mapping[str, Any], key: Any) -> Any:
        """The value of a column: a field, the key of another object, or its own key."""
        field = name if name in fields else name.removesuffix("_id")
        if field not in fields:
            return key if name in _own_key(table) else None
        value = fields[field]
        if isinstance(value, list):
            if name not in _REFERENCES or not all(isinstance(part, str) for part in value):
                raise InvalidArray(f"{field} in {table} is a natural key or a list")
            return tuple(value)
        return None if isinstance(value, dict) else value

    def _add_links(self, table: str, key: Any, others: Any) -> None:
        owner = f"{table.split('_')[1]}_id"
        rows = self.rows.setdefault(table, [])
        for other in others if isinstance(others, list) else ():
            if isinstance(other, list | dict):
                raise InvalidArray(f"an object of {table} is a natural key")
            row = tuple(key if name == owner else other for name in _COLUMNS[table])
            self._memory.take(row)
            rows.append(row)

    def check(self) -> Version:
        """Check models and fields; return their version."""
        version = self.version
        if not self.rows.keys() & {"reader_series", "reader_chapter", "reader_category", "reader_author"}:
            raise InvalidArray("it has no series of MangAdventure (reader.series)")
        for table, names in self.fields.items():
            expected = {*TABLES[version].get(table, ()), *_LINKS.get(table, ())} - _own_key(table)
            missing = sorted(expected - names - {f"{name}_id" for name in names})
            if missing:
                fault = f"{table} has no {missing[0].removesuffix('_id')}, unlike version {version}"
                raise InvalidArray(f"{fault}: first update the old site to 0.9.6")
        if self.rows.get("reader_chapter_groups") and not self.rows.get("groups_group"):
            raise InvalidArray("chapters have groups, but the dump has no groups.group")
        self._add_content_types()
        return version

    def _add_content_types(self) -> None:
        """Add the content types that only natural keys name; refuse numbers without content types."""
        types = self.rows.setdefault("django_content_type", [])
        place = _COLUMNS["reader_alias"].index("content_type_id")
        used = {row[place] for row in self.rows.get("reader_alias", ())}
        if any(not isinstance(type, tuple) for type in used) and not types:
            raise InvalidArray("whose the aliases are is unknown: the dump has no contenttypes.contenttype")
        by_key = self._ids("django_content_type")
        next_id = max((id for id in by_key.values() if isinstance(id, int)), default=0) + 1
        new = sorted(key for key in used if isinstance(key, tuple) and len(key) == 2 and key not in by_key)
        types += [(id, *key) for id, key in enumerate(new, next_id)]

    def raw(self, table: str) -> Iterable[Mapping[str, Any]]:
        """Yield the rows of a table, with numbers in place of natural keys."""
        names = _COLUMNS[table]
        ids = {name: self._ids(_REFERENCES[name]) for name in names if name in _REFERENCES}
        for row in self.pages if table == _PAGES else self.rows.get(table, ()):
            yield {
                name: ids[name].get(value) if isinstance(value, tuple) else value
                for name, value in zip(names, row, strict=True)
            }

    def _ids(self, table: str) -> dict[tuple[Any, ...], Any]:
        """The keys of the rows of a table by their natural keys."""
        names = _COLUMNS[table]
        id, *parts = (names.index(name) for name in ("id", *_NATURAL[table]))
        return {tuple(row[part] for part in parts): row[id] for row in self.rows.get(table, ())}


def _own_key(table: str) -> set[str]:
    """The columns that can have the key of an object. In version 0.4.5, the slug of a series is its key."""
    return {"users_apikey": {"key"}, "reader_series": {"id", "slug"}}.get(table, {"id"})


# The objects of the array

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


def json_objects(path: Path, limit: int) -> Iterator[dict[str, Any]]:
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
                    # The message of "Unterminated string starting at" goes on with a position.
                    fault = getattr(error, "msg", "invalid JSON").removesuffix(" starting at").removesuffix(" at")
                    raise self._invalid(fault) from None
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
