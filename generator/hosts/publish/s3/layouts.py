"""What a release is in a bucket: its objects, in shards that change as rarely as possible."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from ....errors import FlatpanelError

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
