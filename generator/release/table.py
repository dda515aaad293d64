"""The table of a release: everything that any host needs in order to answer as nginx does.

It has each URL with its body, gate or alias, and the rules of the site. Configurations and packs are functions of it.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

from .. import encoding
from ..api.resources import Alias, Gate
from ..errors import FlatpanelError
from . import manifest
from .manifest import Entry, Published
from .manifest_reader import ManifestReader
from .rules import Rules

__all__ = ["KEYS_FILE", "Alias", "Entry", "Gate", "Published", "ReleaseTable", "Rules", "dump_keys"]

# The digests of the API keys, beside the manifest. The file is private: no server sends it.
KEYS_FILE = "keys.json"


class ReleaseTable:
    """The table of the release in a folder below `dist/releases`. It must be closed."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.id = folder, folder.name
        self._manifest = ManifestReader(folder / "manifest.json")
        self.rules: Rules = self._manifest.rules

    def __enter__(self) -> "ReleaseTable":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._manifest.close()

    @property
    def slugs(self) -> Sequence[str]:
        """The segments in their order: the slug of each series, and first an empty one for the catalog as a whole."""
        return list(self._manifest.segments)

    def segment(self, slug: str) -> bytes:
        """The lines of a segment. Equal bytes mean equal entries."""
        return self._manifest.segment(slug)

    def entries(self, slug: str) -> list[Entry]:
        """The bodies, gates and aliases of a segment."""
        return manifest.parse_entries(self.segment(slug), str(self._manifest.path))

    @cached_property
    def keys(self) -> Mapping[str, str]:
        """The account key of each API key by its SHA-256; empty for a key without an account."""
        return load_keys(self.folder)


def dump_keys(keys: Mapping[str, str]) -> bytes:
    """The file of the digests, one line for each."""
    lines = (encoding.json(digest) + b":" + encoding.json(account) for digest, account in sorted(keys.items()))
    return b"{\n" + manifest.SEPARATOR.join(lines) + b"\n}\n"


def load_keys(folder: Path) -> Mapping[str, str]:
    """The account key of each API key of the release in a folder."""
    path = folder / KEYS_FILE
    keys: Any = None
    with suppress(FileNotFoundError, ValueError):
        keys = encoding.parse(path.read_bytes())
    if not isinstance(keys, dict) or not all(isinstance(account, str) for account in keys.values()):
        raise FlatpanelError(f"{path}: is missing or damaged; `python build.py verify --repair` restores it")
    return keys
