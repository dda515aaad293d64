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
_FILE, _FOLDER = 0o600, 0o700
# Seconds after which an interrupted import starts again: responses of different days do not fit together.
_STALE = 86_400
# Seconds for which the responses of a dry run are used without a request.
_FRESH = 3_600
_STATE = {"run": int, "started": int, "asking": bool, "finished": bool}
_HEADERS = ("etag", "last-modified", "cache-control")


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """A response, and the number of the last import that received or revalidated it."""

    run: int
    status: int
    headers: dict[str, str]
    body: bytes


def folder_of(cache: Path, source: str) -> Path:
    """Create and return the cache folder of a site."""
    folder = cache / encoding.digest(source.encode())
    filesystem.make_folder(folder, _FOLDER)
    return folder


class ResponseCache:
    """The cache folder of one site; the caller holds its lock."""

    def __init__(self, folder: Path, now: int) -> None:
        self.folder = folder
        # The folder may be in a repository, which may be public.
        filesystem.write_if_changed(self.folder / ".gitignore", b"*\n", _FILE)
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
        filesystem.write_if_changed(self._file(name), encoding.json(head) + b"\n" + body, _FILE)
        return CachedResponse(self.run, status, cached_headers, body)

    def forget(self, name: str) -> None:
        """Remove a response, so that the next import requests it."""
        filesystem.write_if_changed(self._file(name), b"", _FILE)

    def complete(self) -> None:
        """Record that all requests are done."""
        self._save(asking=False)

    def imported(self, catalog: str) -> dict[str, Any]:
        """Return what the last import into a catalog saved with `finish`; empty if that is damaged."""
        with suppress(ValueError):
            catalogs = encoding.parse(_read(self._last_import(catalog)))
            if isinstance(catalogs, dict) and isinstance(catalogs.get(catalog), dict):
                return dict(catalogs[catalog])
        return {}

    def finish(self, catalog: str, imported: bytes) -> None:
        """End this import; `imported` is JSON for the next import into the same catalog."""
        filesystem.write_if_changed(self._last_import(catalog), b"{%b:%b}" % (encoding.json(catalog), imported), _FILE)
        self._save(asking=False, finished=True)

    def _save(self, *, asking: bool, finished: bool = False) -> None:
        state = {"run": self.run, "started": self.started, "asking": asking, "finished": finished}
        filesystem.write_if_changed(self.folder / "state.json", encoding.json(state), _FILE)

    def _last_import(self, catalog: str) -> Path:
        return self.folder / f"imported-{encoding.digest(catalog.encode())}.json"

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
