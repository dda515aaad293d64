"""The layout `media`: one object for each image, for a bucket that is read directly."""

import sys
from collections.abc import Mapping
from pathlib import Path

from .... import encoding
from ....errors import FlatpanelError
from .layouts import BINARY, Item

_TYPES = {
    ".avif": "image/avif",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".webp": "image/webp",
}


class MediaLayout:
    """Images by key. Files of a shard are read again if the size or the time of one of them changes."""

    name = "media"
    release = ""
    # Images stay, also those that the catalog no longer names: readers of earlier releases request them.
    keep = sys.maxsize

    def __init__(self, files: Mapping[str, Path], max_age: int) -> None:
        self._files, self._cache = files, f"public, max-age={max_age}"
        self._keys: dict[str, list[str]] = {}
        for key in sorted(files):
            self._keys.setdefault(encoding.digest(key.rpartition("/")[0].encode())[:2], []).append(key)

    def shards(self) -> Mapping[str, str]:
        return {
            shard: encoding.digest(encoding.json(list(map(self._state, keys)))) for shard, keys in self._keys.items()
        }

    def _state(self, key: str) -> tuple[str, int, int, str]:
        status = self._files[key].stat()
        return key, status.st_size, status.st_mtime_ns, self._cache

    def items(self, shard: str) -> list[Item]:
        return [self._item(key) for key in self._keys[shard]]

    def _item(self, key: str) -> Item:
        file = self._files[key]
        content = file.read_bytes()
        return Item(
            key, encoding.etag(content), _TYPES.get(file.suffix.lower(), BINARY), self._cache, str(file), len(content)
        )

    def etag(self, item: Item) -> str:
        return item.digest

    def read(self, item: Item) -> bytes:
        content = self._files[item.key].read_bytes()
        if encoding.etag(content) != item.digest:
            raise FlatpanelError(f"{item.file}: was changed while it was sent; run the publish again")
        return content

    def pointer(self) -> Mapping[str, object]:
        return {}
