"""What a source answered, kept by its address: nothing is asked twice, and asked again only with conditions.

An import that was cut off leaves its number behind; the next one takes what that one has got as it is.
"""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ... import encoding, filesystem

# Only its owner may read what a key opened.
_FILE, _FOLDER = 0o600, 0o700
# Whoever goes on later than this begins anew: half of an old site and half of a new one are no site.
_STALE = 86_400
# After a dry run nothing is to be asked for; what it found is soon no longer what the site says.
_SOON = 3_600
_STATE = {"run": int, "started": int, "asking": bool, "finished": bool}
_KEPT = ("etag", "last-modified", "cache-control")


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer that came earlier, and the number of the import that last had it confirmed."""

    run: int
    status: int
    headers: dict[str, str]
    body: bytes


def folder_of(cache: Path, source: str) -> Path:
    """Where the answers of one source are kept."""
    folder = cache / encoding.digest(source.encode())
    filesystem.make_folder(folder, _FOLDER)
    return folder


class ResponseCache:
    """A folder that belongs to one source, for as long as nobody else writes to it."""

    def __init__(self, folder: Path, now: int) -> None:
        self.folder = folder
        # Beside a catalog there may be a repository, and all the world may read that.
        filesystem.write_if_changed(self.folder / ".gitignore", b"*\n", _FILE)
        state = self._state()
        self.run, self.started = state["run"], state["started"]
        if state["finished"] or not 0 <= now - self.started < (_STALE if state["asking"] else _SOON):
            self.run, self.started = self.run + 1, now
        self._save(asking=True)

    def find(self, name: str) -> Kept | None:
        """What came for an address, if it can be read; a damaged file is as good as none."""
        found = self._read(self._file(name))
        head, _, body = found.partition(b"\n")
        try:
            said = encoding.parse(head)
            return Kept(said["run"], said["status"], dict(said["headers"]), body) if said["name"] == name else None
        except (ValueError, KeyError, TypeError):
            return None

    def keep(self, name: str, status: int, headers: dict[str, str], body: bytes) -> Kept:
        kept = {key: headers[key] for key in _KEPT if key in headers}
        head = {"name": name, "run": self.run, "status": status, "headers": kept}
        filesystem.write_if_changed(self._file(name), encoding.json(head) + b"\n" + body, _FILE)
        return Kept(self.run, status, kept, body)

    def forget(self, name: str) -> None:
        """Have an answer asked for again, by whoever goes on."""
        filesystem.write_if_changed(self._file(name), b"", _FILE)

    def complete(self) -> None:
        """Nothing is left to be asked for."""
        self._save(asking=False)

    def imported(self, catalog: str) -> dict[str, Any]:
        """What the import before this one found for a catalog; a damaged memory is as good as none."""
        with suppress(ValueError):
            found = encoding.parse(self._read(self._memory(catalog)))
            if isinstance(found, dict) and isinstance(found.get(catalog), dict):
                return dict(found[catalog])
        return {}

    def finish(self, catalog: str, imported: bytes) -> None:
        """This import is done; the next one into the same catalog compares with what it found, which is JSON."""
        filesystem.write_if_changed(self._memory(catalog), b"{%b:%b}" % (encoding.json(catalog), imported), _FILE)
        self._save(asking=False, finished=True)

    def _save(self, *, asking: bool, finished: bool = False) -> None:
        state = {"run": self.run, "started": self.started, "asking": asking, "finished": finished}
        filesystem.write_if_changed(self.folder / "state.json", encoding.json(state), _FILE)

    def _state(self) -> dict[str, Any]:
        """How the import before this one went."""
        with suppress(ValueError):
            found = encoding.parse(self._read(self.folder / "state.json"))
            if isinstance(found, dict) and {name: type(one) for name, one in found.items()} == _STATE:
                return found
        return {"run": 0, "started": 0, "asking": False, "finished": True}

    def _memory(self, catalog: str) -> Path:
        return self.folder / f"imported-{encoding.digest(catalog.encode())}.json"

    def _file(self, name: str) -> Path:
        return self.folder / encoding.digest(name.encode())

    def _read(self, path: Path) -> bytes:
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return b""
