"""What a release is in a bucket: its objects.

A bucket that is read directly has the layout `files` or `media`, and one that a worker reads has the layout `packs`.
"""

import re
import sys
from abc import ABC, abstractmethod
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from .... import encoding
from ....api.payloads import resources
from ....errors import FlatpanelError
from ....release import manifest
from ....release.manifest import Published
from ....release.store import Store, read_body
from ...packs import pack_files, worker_files
from ...packs.pack_files import PRIVATE, PUBLIC, TREES
from ...packs.pack_format import EMPTY_DIRECTORY, file_name

# The folder of objects that belong to no release.
FOLDER = ".flatpanel"
BINARY = "application/octet-stream"
# Of objects that are written again under the same key.
JSON_HEADERS = {"Content-Type": "application/json", "Cache-Control": "no-cache"}


# What the stored list says of an object: digest, type, Cache-Control, and the state of its file.
Line = list[str]


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
    # Size and time of a file that is not read again while both stay the same.
    state: str = ""
    # The name by which a browser saves the object; empty for one that it shows.
    saved_as: str = ""

    @property
    def headers(self) -> dict[str, str]:
        headers = {"Content-Type": self.type, "Cache-Control": self.cache}
        return headers | ({"Content-Disposition": f'attachment; filename="{self.saved_as}"'} if self.saved_as else {})

    @property
    def line(self) -> Line:
        return [self.digest, self.type, self.cache, self.state]

    def is_written_as(self, line: Line) -> bool:
        """Whether an object with this line has the bytes and the headers of this one."""
        return [self.digest, self.type, self.cache] == line[:3]


class BucketLayout(ABC):
    """The objects of a release."""

    name: str
    release = ""
    # What the pointer says to the readers of the bucket.
    pointer: Mapping[str, object] = {}

    @abstractmethod
    def items(self, before: Mapping[str, Line]) -> Iterable[Item]:
        """The objects; `before` are the lines of the last publish."""

    @abstractmethod
    def read(self, item: Item) -> bytes:
        """The bytes of an object, checked."""

    def etag(self, item: Item) -> str:
        """The MD5 of an object."""
        return item.digest

    def keeps(self, key: str) -> int:
        """How many publishes an object stays after it was last used; 1 removes it at once."""
        return 1


class PlainKeys(BucketLayout):
    """The layout `files`: one object for each public URL without parameters of the current release of a store.

    The key is the path, decoded. Pages are called as hosts of websites want them: index.html in a folder.
    """

    name = "files"

    def __init__(self, store: Store) -> None:
        self.release, self._store = store.release(), store

    def items(self, _: Mapping[str, Line]) -> Iterator[Item]:
        with self._store.table() as table:
            for slug in table.segments:
                for body in table.bodies(slug).values():
                    if manifest.is_plain(body):
                        # The bodies of the catalog as a whole are lists and front pages.
                        yield _item(body, is_list=not slug)

    def read(self, item: Item) -> bytes:
        return read_body(self._store.root, item.file, item.digest)


def _item(body: Published, *, is_list: bool) -> Item:
    is_page = body.type == resources.HTML or body.url == "/"
    key = manifest.plain_file(body._replace(type=resources.HTML)) if is_page else resources.key(body.url)[1:]
    return Item(key, body.etag, body.type, f"public, max-age={body.max_age}", body.file, body.size, is_list)


_FOREVER = "public, max-age=31536000, immutable"
_NEVER = "private, max-age=31536000, immutable"
# The directory of a tree without packs.
_NO_PACKS = b64encode(EMPTY_DIRECTORY).decode()


class PackedFiles(BucketLayout):
    """The layout `packs`, for a worker that reads the packs of a release: those in a folder that has just been packed.

    All files are immutable and named by their digests. The pointer names an object with the rules and the directories
    of a release, so a worker answers from one release while files come and go.

    Restricted packs, and the digests of API keys, are sent only `with_restricted`. They are below a prefix of their
    own, and only a worker may read the bucket then.
    """

    name = "packs"

    def __init__(self, store: Store, folder: Path, keep: int, *, with_restricted: bool) -> None:
        self._keep, self._with_restricted = keep, with_restricted
        self._folder = folder / pack_files.FILES
        self._packed = pack_files.read_mark(folder)
        self.release = self._packed.release
        self._trees = TREES if with_restricted else (PUBLIC,)
        directories = {**self._packed.directories, **({} if with_restricted else {PRIVATE: _NO_PACKS})}
        with store.table() as table:
            rules = worker_files.worker_rules(table)
        if not with_restricted:
            rules["keys"] = {}
        self._description = encoding.json({"rules": rules, "directories": directories})
        # The key of the object that describes the release.
        name = f"releases/{file_name(self._description).hex()}.json"
        self._key = f"{PRIVATE}/{name}" if with_restricted else name
        self.pointer = {"worker": self._key}

    def items(self, _: Mapping[str, Line]) -> Iterator[Item]:
        for tree in self._trees:
            for name in sorted(self._packed.files(tree)):
                cache = _NEVER if tree == PRIVATE else _FOREVER
                yield Item(f"{tree}/{name}", name, BINARY, cache, name, (self._folder / tree / name).stat().st_size)
        digest, size = file_name(self._description).hex(), len(self._description)
        yield Item(self._key, digest, "application/json", _NEVER, "", size, is_list=True)

    def read(self, item: Item) -> bytes:
        data = (self._folder / item.key).read_bytes() if item.file else self._description
        if item.digest != file_name(data).hex():
            raise FlatpanelError(f"{self._folder / item.key}: is damaged; remove the folder of the packs")
        return data

    def etag(self, item: Item) -> str:
        return encoding.etag(self.read(item))

    def keeps(self, key: str) -> int:
        """Without restricted packs, others than a worker may read the bucket.

        Then no pack stays: it may have what was public earlier. A worker that misses one reads the next release.
        """
        return self._keep if self._with_restricted else 1


_TYPES = {
    ".avif": "image/avif",
    ".cbz": "application/vnd.comicbook+zip",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".webp": "image/webp",
}


# The key of an archive of a chapter. Its parts are in the name by which a browser saves it, as nginx names it.
_ARCHIVE = re.compile(r"archives/([-A-Za-z0-9_]+)/([0-9]+)/([0-9.]+(?:-version-[0-9]+)?)\.cbz")


class MediaLayout(BucketLayout):
    """The layout `media`: one object for each image and archive, by key."""

    name = "media"

    def __init__(
        self, files: Mapping[str, Path], max_age: int, archive_age: int, is_obsolete: Callable[[str], bool]
    ) -> None:
        self._files, self._max_age, self._archive_age, self._is_obsolete = files, max_age, archive_age, is_obsolete

    def items(self, before: Mapping[str, Line]) -> Iterator[Item]:
        for key, file in sorted(self._files.items()):
            status = file.stat()
            digest, *_, state = before.get(key, ("", ""))
            now = f"{status.st_size} {status.st_mtime_ns}"
            if state != now:
                with file.open("rb") as opened:
                    digest = encoding.etag_of_file(opened)
            type = _TYPES.get(file.suffix.lower(), BINARY)
            archive = _ARCHIVE.fullmatch(key)
            age = self._archive_age if archive else self._max_age
            name = "{} v{} c{}.cbz".format(*archive.groups()) if archive else ""
            cache = f"public, max-age={age}"
            yield Item(key, digest, type, cache, str(file), status.st_size, state=now, saved_as=name)

    def keeps(self, key: str) -> int:
        """Images stay, also those that the catalog no longer names: readers of earlier releases request them."""
        return 1 if self._is_obsolete(key) else sys.maxsize

    def read(self, item: Item) -> bytes:
        content = self._files[item.key].read_bytes()
        if encoding.etag(content) != item.digest:
            raise FlatpanelError(f"{item.file}: was changed while it was sent; run the publish again")
        return content
