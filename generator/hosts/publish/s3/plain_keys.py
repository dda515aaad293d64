"""The layout `files`: one object for each public URL without parameters, for a bucket that is read directly.

The key is the path, decoded. Pages are called as hosts of websites want them: index.html in a folder.
"""

from collections.abc import Mapping

from .... import encoding
from ....api import resources
from ....release import manifest
from ....release.manifest import Published
from ....release.manifest_reader import ManifestReader
from ....release.store import Store
from .layouts import Item, damaged

# Changes of this module that change keys or headers of the same manifest count this up.
_VERSION = b"1"
# The bodies of the catalog as a whole: lists and front pages.
_CATALOG = "catalog"


class PlainKeys:
    """The objects of the current release of a store; series with the same digest share a shard."""

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
