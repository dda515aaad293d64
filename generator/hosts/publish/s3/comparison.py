"""Compare a release with what a bucket has: what to send, and what to remove afterwards."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from .... import encoding
from . import stored_lists
from .bucket import Bucket
from .layouts import BucketLayout, Item
from .stored_lists import Kept, Lines, Shard, StoredList


class BucketDifference(NamedTuple):
    """What a publish has to do."""

    # The list after it, and the shards of the list that the bucket does not have, as their bytes.
    result: StoredList
    shards: list[bytes]
    items: list[Item]
    # Objects that no release uses any more.
    removed: list[str]

    @property
    def kept(self) -> int:
        return sum(shard.objects for shard in self.result.shards.values()) - len(self.items)


class BucketComparison:
    """One release and one bucket.

    `published` is the list of the last publish, and `unfinished` are those of publishes that were cut off. With the
    latter, without the former, or with `check`, the objects in the bucket itself are listed.
    """

    def __init__(
        self,
        bucket: Bucket,
        layout: BucketLayout,
        published: StoredList | None,
        unfinished: Sequence[StoredList] = (),
        *,
        check: bool = False,
    ) -> None:
        self._bucket, self._layout, self._published, self._check = bucket, layout, published, check
        self._lists = [*filter(None, (published,)), *unfinished]
        self._is_exact = bool(published) and not unfinished and not check
        self._kept = published.kept if published else {}
        # Of the shards that differ.
        self._published_lines: dict[str, list[str]] = {}

    def difference(self, number: int) -> BucketDifference:
        """What to do, so that `number` is the number of the last publish."""
        shards: dict[str, Shard] = {}
        written: list[bytes] = []
        items: list[Item] = []
        before: set[str] = {key for stored in self._lists for key in stored.kept}
        after: set[str] = set()
        sources = self._layout.shards()
        for name, source in sources.items():
            same = self._unchanged(name, source)
            if same:
                shards[name] = same
                continue
            contained = sorted(self._layout.items(name))
            lines = {item.key: item.line for item in contained}
            data = encoding.json(lines)
            shards[name] = Shard(source, stored_lists.digest(data), len(lines))
            written.append(data)
            known_lines = self._known_lines(name)
            items += [item for item in contained if not self._is_there(item, known_lines)]
            before.update(*filter(None, known_lines))
            after |= lines.keys()
        for name in {name for stored in self._lists for name in stored.shards} - sources.keys():
            before.update(*filter(None, self._known_lines(name)))
        kept, removed = self._left_over(before - after, number)
        result = StoredList(self._layout.name, self._layout.release, number, dict(sorted(shards.items())), kept)
        return BucketDifference(result, written, items, removed)

    @cached_property
    def _tags(self) -> Mapping[str, str]:
        return dict(self._bucket.tags())

    def _unchanged(self, name: str, source: str) -> Shard | None:
        """The stored shard if all lists have it with this source, so that no publish touched its objects."""
        stored_shards = [stored.shards.get(name) for stored in self._lists]
        is_same = (
            self._published and not self._check and all(shard and shard.source == source for shard in stored_shards)
        )
        return stored_shards[0] if is_same else None

    def _known_lines(self, name: str) -> list[Lines | None]:
        """The lines of a shard in all lists."""
        digests = {stored.shards[name].lines: stored for stored in reversed(self._lists) if name in stored.shards}
        known_lines = {digest: stored_lists.read_lines(self._bucket, digest) for digest in digests}
        for digest, stored in digests.items():
            if stored is self._published:
                self._published_lines.update(known_lines[digest] or {})
        return list(known_lines.values())

    def _is_there(self, item: Item, known_lines: Sequence[Lines | None]) -> bool:
        """Whether the bucket has an object with its headers."""
        lines = [lines[item.key] for lines in known_lines if lines and item.key in lines]
        if item.key in self._kept:
            lines.append(self._kept[item.key].line)
        if self._is_exact and None not in known_lines:
            return lines == [item.line]
        if self._tags.get(item.key) != self._layout.etag(item):
            return False
        written = [line for line in lines if line[0] == item.digest]
        if written and all(line == item.line for line in written):
            return True
        # The listing does not have the headers.
        return item.headers.items() <= self._bucket.attributes(item.key).items()

    def _left_over(self, unused: set[str], number: int) -> tuple[dict[str, Kept], list[str]]:
        """The objects that stay without being part of the release, and those to remove."""
        kept = {}
        for key in sorted(unused):
            entry = self._last_use(key)
            if entry and entry.number > number - self._layout.keep:
                kept[key] = entry
        return kept, sorted(unused - kept.keys())

    def _last_use(self, key: str) -> Kept | None:
        """The last publish that used an object; None if no finished publish did."""
        if key in self._kept:
            return self._kept[key]
        line = self._published_lines.get(key)
        return Kept(line, self._published.number) if line and self._published else None
