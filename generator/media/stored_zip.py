"""A ZIP archive without compression, as parts in the order of the file. The same members give the same bytes.

`zipfile` needs a file in which it can go back. Fields that it fills from the system have constant values here.
"""

import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

# Larger archives need other headers.
MAX_SIZE = 0xFFFF_FFFF
_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
# Version 1.0 of the format, no flags, stored. The first day that a ZIP archive can express: 1980-01-01.
_FIELDS = (10, 0, 0, 0, 0x21)
# Made on Unix, by version 2.0; a regular file that its owner may write.
_MADE_BY, _MODE = 3 << 8 | 20, 0o100644 << 16


def size(members: Iterable[tuple[str, int]]) -> int:
    """The bytes of an archive with these names and sizes of members."""
    headers = _LOCAL.size + _CENTRAL.size
    return sum(headers + 2 * len(name) + length for name, length in members) + _END.size


def begins_with(name: str, head: bytes) -> bool:
    """Whether the beginning of a file is that of an archive of this module, with a first member of this name."""
    fields = _LOCAL.unpack_from(head) if len(head) >= _LOCAL.size else ()
    return fields[:6] == (b"PK\3\4", *_FIELDS) and head[_LOCAL.size :].startswith(name.encode("ascii"))


@dataclass(slots=True)
class StoredZip:
    """The members so far. Names are ASCII."""

    _offset: int = 0
    _directory: list[bytes] = field(default_factory=list)

    def member(self, name: str, content: bytes) -> Iterator[bytes]:
        """Yield the parts of a member."""
        encoded, length = name.encode("ascii"), len(content)
        fields = (*_FIELDS, zlib.crc32(content), length, length, len(encoded), 0)
        local = _LOCAL.pack(b"PK\3\4", *fields) + encoded
        self._directory.append(_CENTRAL.pack(b"PK\1\2", _MADE_BY, *fields, 0, 0, 0, _MODE, self._offset) + encoded)
        self._offset += len(local) + length
        yield local
        yield content

    def end(self) -> bytes:
        """The part after the last member."""
        directory, count = b"".join(self._directory), len(self._directory)
        return directory + _END.pack(b"PK\5\6", 0, 0, count, count, len(directory), self._offset, 0)
