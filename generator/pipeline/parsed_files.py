"""The files of a catalog with their digests and parsed values; unchanged files are neither read nor parsed."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from .. import encoding
from ..catalog import snapshot
from ..catalog.confined_folder import ConfinedFolder
from ..catalog.reader import ParsedFile
from .cache import FILES, PARSED, Cache, Damaged


class ParsedFiles:
    """Compares the status and the digest of each file with those in the cache."""

    def __init__(self, folder: ConfinedFolder, cache: Cache) -> None:
        self.folder, self.cache = folder, cache
        self.digests: dict[str, str] = {}
        self._statuses: dict[str, str] = {}
        self._cached = {row.item: (row.key, row.value.decode()) for row in cache.rows(FILES)}
        self._parsed = cache.items(PARSED)
        # Without parsed values every content must be parsed, so its digest need not be computed beforehand.
        self._computes_digests = bool(self._parsed)

    def look_at(self, files: Iterable[str]) -> None:
        """Determine the digest of each file. A file whose status is in the cache is not read."""
        for file, status in snapshot.statuses(self.folder, files):
            if not status:
                continue  # a missing file; reading it reports the problem
            self._statuses[file] = status
            cached_status, digest = self._cached.get(file, ("", ""))
            if status == cached_status:
                self.digests[file] = digest
            elif self._computes_digests:
                with suppress(OSError):
                    self.digests[file] = encoding.digest(self.folder.content(file)[0])

    def modified_times(self) -> dict[str, int]:
        return {file: snapshot.modified(status) for file, status in self._statuses.items()}

    def parsed(self, files: Iterable[str]) -> dict[str, ParsedFile]:
        """Those of the files whose contents an earlier build parsed."""
        return {
            file: ParsedFile(encoding.parse(value), snapshot.modified(self._statuses[file]), self.digests[file])
            for file, value in self.values(files).items()
        }

    def values(self, files: Iterable[str]) -> dict[str, bytes]:
        """The same as JSON."""
        digests = {file: self.digests[file] for file in files if self.digests.get(file) in self._parsed}
        return {file: value_of(digest, self.cache) for file, digest in digests.items()}

    def keep(self, file: str, digest: str, value: bytes) -> None:
        """Store the value of a file that was parsed. Its digest may have changed since `look_at`."""
        self.digests[file] = digest
        if digest not in self._parsed:
            self.cache.put(PARSED, digest, "", value)
            self._parsed.add(digest)

    def save(self) -> None:
        """Store all files for the next build."""
        files = {file: (self._statuses[file], digest) for file, digest in self.digests.items()}
        for file, (status, digest) in sorted(files.items() - self._cached.items()):
            self.cache.put(FILES, file, status, digest.encode())
        self.cache.forget(FILES, self._cached.keys() - files.keys())
        self.cache.forget(PARSED, self._parsed - set(self.digests.values()))


def value_of(digest: str, cache: Cache) -> bytes:
    """The parsed value of a content in the cache, as JSON."""
    value = cache.get(PARSED, digest)
    if value is None:
        raise Damaged
    return value


def from_json(values: Mapping[str, bytes]) -> dict[str, Any]:
    return {file: encoding.parse(value) for file, value in values.items()}
