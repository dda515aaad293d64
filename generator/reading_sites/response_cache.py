"""Cache of a site's responses, by path, in one SQLite file: an import resumes, and the next import revalidates.

Each import has a number. A response of the current number is used without a request. An interrupted import keeps its
number for the next one.
"""

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import encoding, filesystem
from ..errors import FlatpanelError

# One file for each response took 441 MB for 58,000 responses; as compressed rows, they take 121 MB.
FILE = "responses.sqlite"
_COLUMNS = "name TEXT PRIMARY KEY, run INT, status INT, headers BLOB, body BLOB, size INT"
# Responses to requests with a key are readable for the owner only.
PRIVATE, _FOLDER = 0o600, 0o700
# Seconds after which an interrupted import starts again: responses of different days do not fit together.
_STALE = 86_400
# Seconds for which the responses of a dry run are used without a request.
_FRESH = 3_600
_STATE = {"run": int, "started": int, "asking": bool, "finished": bool}
# The last two name the software of the site.
_HEADERS = ("etag", "last-modified", "cache-control", "location", "warning", "x-powered-by")


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """A response, and the number of the last import that received or revalidated it."""

    run: int
    status: int
    headers: dict[str, str]
    body: bytes


def path_of(cache: Path, source: str) -> Path:
    """Return the path of the cache folder of a source."""
    return cache / encoding.digest(source.encode())


def make(folder: Path) -> Path:
    """Create a cache folder, and return it."""
    filesystem.make_folder(folder, _FOLDER)
    # The folder may be in a repository, which may be public.
    filesystem.write_if_changed(folder / ".gitignore", b"*\n", PRIVATE)
    return folder


class ResponseCache:
    """The cache folder of one site; the caller holds its lock."""

    def __init__(self, folder: Path, now: int) -> None:
        self.folder = folder
        self._database = self._opened()
        state = _state(folder)
        self.run, self.started = state["run"], state["started"]
        if state["finished"] or not 0 <= now - self.started < (_STALE if state["asking"] else _FRESH):
            self.run, self.started = self.run + 1, now
        self._save(asking=True)

    def _opened(self) -> sqlite3.Connection:
        """Open the file; a damaged one is replaced, which costs requests only."""
        try:
            return self._connected()
        except sqlite3.OperationalError as error:
            # A full disk, a missing permission or a lock is no damage: the stored responses took hours.
            raise self._fault(error) from None
        except sqlite3.DatabaseError:
            pass
        for path in self.folder.iterdir():
            if path.name.startswith(FILE):
                filesystem.delete(path)
        with self._errors():
            return self._connected()

    def _connected(self) -> sqlite3.Connection:
        filesystem.create_private(self.folder / FILE)
        database = sqlite3.connect(self.folder / FILE, isolation_level=None, timeout=0)
        try:
            # Each response is stored at once, without waiting for the disk. The lock avoids a file for shared memory.
            for statement in ("locking_mode = EXCLUSIVE", "journal_mode = WAL", "synchronous = NORMAL"):
                database.execute(f"PRAGMA {statement}")
            if database.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise sqlite3.DatabaseError("damaged")
            database.execute(f"CREATE TABLE IF NOT EXISTS response ({_COLUMNS})")
        except sqlite3.DatabaseError:
            database.close()
            raise
        return database

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise self._fault(error) from None

    def _fault(self, error: sqlite3.Error) -> FlatpanelError:
        return FlatpanelError(f"{self.folder / FILE}: {error}")

    def close(self) -> None:
        self._database.close()

    def find(self, name: str) -> CachedResponse | None:
        """Return the response of a name; None if there is none, or if it is damaged."""
        with self._errors():
            query = "SELECT run, status, headers, body, size FROM response WHERE name = ?"
            row = self._database.execute(query, (name,)).fetchone()
        with suppress(ValueError, TypeError, zlib.error):
            if row:
                run, status, headers, body, size = row
                # Without the size, a large body is in memory twice. No body is shrunk by a larger factor.
                body = zlib.decompress(body, bufsize=min(max(size, 1), len(body) * 1032))
                return CachedResponse(run, status, dict(encoding.parse(headers)), body)
        return None

    def keep(self, name: str, status: int, headers: dict[str, str], body: bytes) -> CachedResponse:
        cached_headers = {key: headers[key] for key in _HEADERS if key in headers}
        # Names of images are random: more effort saves nothing.
        values = (name, self.run, status, encoding.json(cached_headers), zlib.compress(body, 1), len(body))
        with self._errors():
            self._database.execute("REPLACE INTO response VALUES (?, ?, ?, ?, ?, ?)", values)
        return CachedResponse(self.run, status, cached_headers, body)

    def forget(self, path: str) -> None:
        """Remove the responses to a path, without and with a key, so that the next import requests it."""
        with self._errors():
            # The name of a response to a key has a space and a digest at the end.
            query = "DELETE FROM response WHERE name = ? OR name BETWEEN ? AND ?"
            self._database.execute(query, (path, f"{path} ", f"{path}!"))

    def complete(self) -> None:
        """Record that all requests are done."""
        self._save(asking=False)

    def finish(self) -> None:
        """End this import."""
        self._save(asking=False, finished=True)

    def _save(self, *, asking: bool, finished: bool = False) -> None:
        state = {"run": self.run, "started": self.started, "asking": asking, "finished": finished}
        filesystem.write_if_changed(self.folder / "state.json", encoding.json(state), PRIVATE)


def _state(folder: Path) -> dict[str, Any]:
    """Return the state that the last import saved."""
    with suppress(ValueError, FileNotFoundError):
        state = encoding.parse((folder / "state.json").read_bytes())
        if isinstance(state, dict) and {name: type(value) for name, value in state.items()} == _STATE:
            return state
    return {"run": 0, "started": 0, "asking": False, "finished": True}
