"""Cache of a site's responses on disk, by path: an import resumes, and the next import revalidates.

Each import has a number. A response of the current number is used without a request. An interrupted import keeps its
number for the next one.
"""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ... import encoding, filesystem

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
        state = _state(folder)
        self.run, self.started = state["run"], state["started"]
        if state["finished"] or not 0 <= now - self.started < (_STALE if state["asking"] else _FRESH):
            self.run, self.started = self.run + 1, now
        self._save(asking=True)

    def find(self, name: str) -> CachedResponse | None:
        """Return the response of a name; None if there is none, or its file is damaged."""
        head, _, body = _read(self._file(name)).partition(b"\n")
        try:
            entry = encoding.parse(head)
            if entry["name"] != name:
                return None
            return CachedResponse(entry["run"], entry["status"], dict(entry["headers"]), body)
        except (ValueError, KeyError, TypeError):
            return None

    def keep(self, name: str, status: int, headers: dict[str, str], body: bytes) -> CachedResponse:
        cached_headers = {key: headers[key] for key in _HEADERS if key in headers}
        head = {"name": name, "run": self.run, "status": status, "headers": cached_headers}
        filesystem.write_if_changed(self._file(name), encoding.json(head) + b"\n" + body, PRIVATE)
        return CachedResponse(self.run, status, cached_headers, body)

    def forget(self, name: str) -> None:
        """Remove a response, so that the next import requests it."""
        filesystem.write_if_changed(self._file(name), b"", PRIVATE)

    def complete(self) -> None:
        """Record that all requests are done."""
        self._save(asking=False)

    def finish(self) -> None:
        """End this import."""
        self._save(asking=False, finished=True)

    def _save(self, *, asking: bool, finished: bool = False) -> None:
        state = {"run": self.run, "started": self.started, "asking": asking, "finished": finished}
        filesystem.write_if_changed(self.folder / "state.json", encoding.json(state), PRIVATE)

    def _file(self, name: str) -> Path:
        return self.folder / encoding.digest(name.encode())


def _state(folder: Path) -> dict[str, Any]:
    """Return the state that the last import saved."""
    with suppress(ValueError):
        state = encoding.parse(_read(folder / "state.json"))
        if isinstance(state, dict) and {name: type(value) for name, value in state.items()} == _STATE:
            return state
    return {"run": 0, "started": 0, "asking": False, "finished": True}


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
