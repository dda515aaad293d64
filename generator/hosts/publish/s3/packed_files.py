"""The layout `packs`: the packs of a release, for a worker that reads them from the bucket.

All files are immutable and named by their digests. The pointer names an object with the rules and the directories of a
release, so a worker answers from one release while files come and go.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path

from .... import encoding
from ....release.store import Store
from ...packs import leaves, pack_files, worker_files
from ...packs.pack_format import DIGEST
from .layouts import BINARY, PRIVATE, Item, Line, damaged

PUBLIC, RELEASES = "public", "releases"
_FOREVER = "public, max-age=31536000, immutable"
_NEVER = "private, max-age=31536000, immutable"
# The directory of a tree without packs.
_NO_PACKS = b64encode(leaves.dump(leaves.divided(()))).decode()


class PackedFiles:
    """The packs in a folder that has just been packed.

    Restricted packs, and the digests of API keys, are sent only `with_restricted`. They are below a prefix of their
    own, and only a worker may read the bucket then.
    """

    name = "packs"

    def __init__(self, store: Store, folder: Path, keep: int, *, with_restricted: bool) -> None:
        self.keep = keep
        self._folder = folder / pack_files.FILES
        self._packed = pack_files.read_mark(folder)
        self.release = self._packed.release
        self._trees = (PUBLIC, PRIVATE) if with_restricted else (PUBLIC,)
        directories = {**self._packed.directories, **({} if with_restricted else {PRIVATE: _NO_PACKS})}
        with store.table() as table:
            rules = worker_files.worker_rules(table)
        if not with_restricted:
            rules["keys"] = {}
        self._description = encoding.json({"rules": rules, "directories": directories})

    def items(self, _: Mapping[str, Line]) -> Iterator[Item]:
        for tree in self._trees:
            for name in sorted(self._packed.files(tree)):
                cache = _NEVER if tree == PRIVATE else _FOREVER
                yield Item(f"{tree}/{name}", name, BINARY, cache, name, (self._folder / tree / name).stat().st_size)
        yield Item(self._key, self._digest, "application/json", _NEVER, "", len(self._description), is_list=True)

    def read(self, item: Item) -> bytes:
        data = (self._folder / item.key).read_bytes() if item.file else self._description
        if item.digest != _name(data):
            raise damaged(str(self._folder / item.key), "remove the folder of the packs")
        return data

    def etag(self, item: Item) -> str:
        return encoding.etag(self.read(item))

    def pointer(self) -> Mapping[str, object]:
        return {"worker": self._key}

    @property
    def _digest(self) -> str:
        return _name(self._description)

    @property
    def _key(self) -> str:
        """The key of the object that describes the release."""
        name = f"{RELEASES}/{self._digest}.json"
        return f"{PRIVATE}/{name}" if PRIVATE in self._trees else name


def _name(data: bytes) -> str:
    """The digest that names a file."""
    return encoding.sha256(data)[: 2 * DIGEST]
