"""What a release is in a bucket: its objects, in shards that change as rarely as possible.

A bucket that is read directly has the layout `files` or `media`. `packed_files` has the layout for a worker.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from .... import encoding
from ....api.payloads import resources
from ....errors import FlatpanelError
from ....release import manifest
from ....release.manifest import Published
from ....release.manifest_reader import ManifestReader
from ....release.store import Store

BINARY = "application/octet-stream"
# Of objects that are written again under the same key.
JSON_HEADERS = {"Content-Type": "application/json", "Cache-Control": "no-cache"}


class Item(NamedTuple):
    """An object to store, with a digest of its bytes: the ETag if that is known, or the digest in its name."""

    key: str
    digest: str
    type: str
    cache: str
    file: str
    size: int
    # Lists name other bodies, so they are sent after these.
    is_list: bool = False

    @property
    def headers(self) -> dict[str, str]:
        return {"Content-Type": self.type, "Cache-Control": self.cache}

    @property
    def line(self) -> list[str]:
        """What the stored list says of the object."""
        return [self.digest, self.type, self.cache]


class BucketLayout(Protocol):
    """The objects of a release."""

    name: str
    release: str
    # How many publishes an object stays after it was last used; 1 removes it at once.
    keep: int

    def shards(self) -> Mapping[str, str]:
        """The names of the shards, each with a digest of all that its objects depend on."""

    def items(self, shard: str) -> list[Item]:
        """The objects of a shard."""

    def read(self, item: Item) -> bytes:
        """The bytes of an object, checked."""

    def etag(self, item: Item) -> str:
        """The MD5 of an object."""

    def pointer(self) -> Mapping[str, object]:
        """What the pointer says to the readers of the bucket, besides the release."""


def damaged(file: str, repair: str = "`python build.py verify --repair` restores it") -> FlatpanelError:
    return FlatpanelError(f"{file}: is damaged; {repair}")


# Changes of this module that change keys or headers of the same manifest count this up.
_VERSION = b"1"
# The bodies of the catalog as a whole: lists and front pages.
_CATALOG = "catalog"


class PlainKeys:
    """The layout `files`: one object for each public URL without parameters of the current release of a store.

    The key is the path, decoded. Pages are called as hosts of websites want them: index.html in a folder. Series with
    the same digest share a shard.
    """

    name = "files"
    keep = 1

    def __init__(self, store: Store) -> None:
        self.release = store.release()
        self._root = store.root
        self._manifest = ManifestReader(store.manifest_path(self.release))
        self._slugs: dict[str, list[str]] = {}
        for slug in self._manifest.segments:
            self._slugs.setdefault(_shard(slug), []).append(slug)

    def shards(self) -> Mapping[str, str]:
        return {
            shard: encoding.digest(b"".join((_VERSION, *map(self._manifest.segment, slugs))))
            for shard, slugs in self._slugs.items()
        }

    def items(self, shard: str) -> list[Item]:
        bodies = (body for slug in self._slugs[shard] for body in self._manifest.bodies(slug).values())
        return [_item(body, shard == _CATALOG) for body in bodies if manifest.is_plain(body)]

    def read(self, item: Item) -> bytes:
        data = (self._root / item.file).read_bytes()
        if encoding.etag(data) != item.digest:
            raise damaged(item.file)
        return data

    def etag(self, item: Item) -> str:
        return item.digest

    def pointer(self) -> Mapping[str, object]:
        return {}


def _shard(slug: str) -> str:
    return encoding.digest(slug.encode())[:2] if slug else _CATALOG


def _item(body: Published, is_list: bool) -> Item:
    is_page = body.type == resources.HTML or body.url == "/"
    key = manifest.plain_file(body._replace(type=resources.HTML)) if is_page else resources.key(body.url)[1:]
    return Item(key, body.etag, body.type, f"public, max-age={body.max_age}", body.file, body.size, is_list)


_TYPES = {
    ".avif": "image/avif",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".webp": "image/webp",
}


class MediaLayout:
    """The layout `media`: one object for each image, by key.

    Files of a shard are read again if the size or the time of one of them changes.
    """

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
