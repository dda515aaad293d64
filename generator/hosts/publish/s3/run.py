"""Publish a release to a bucket: bodies first, the pointer last, then remove what no release uses any more."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cached_property
from itertools import groupby
from typing import NamedTuple, TypeVar

from .... import encoding
from ....errors import FlatpanelError
from ..totals import PublishTotals
from . import stored_lists
from .bucket import Bucket, Conflict
from .layouts import JSON_HEADERS, BucketLayout, Item
from .lock import Lock, honours_conditions, unfinished_lists
from .stored_lists import LISTS, POINTER, Kept, Lines, Pointer, Shard, StoredList, read_list, read_pointer

T = TypeVar("T")


def send(bucket: Bucket, layout: BucketLayout, item: Item) -> None:
    """Write one object and compare the ETag that the store computed."""
    data = layout.read(item)
    tag, etag = bucket.put(item.key, data, item.headers), encoding.etag(data)
    if tag != etag:
        raise FlatpanelError(
            f"{bucket.target}: the store has other bytes of {item.key} than were sent, or its ETags are no MD5, as in"
            f" buckets with keys of their own (SSE-KMS): {tag or 'none'} instead of {etag}"
        )


def waves(items: Sequence[Item]) -> Iterator[list[Item]]:
    """Objects that may be sent at the same time: lists after what they name, and `a/b` after `a`.

    SeaweedFS loses `a` or `a/b` if both are written at the same time.
    """

    def wave(item: Item) -> tuple[bool, int]:
        return item.is_list, item.key.count("/")

    for _, group in groupby(sorted(items, key=wave), wave):
        yield list(group)


def in_parallel(items: Sequence[T], action: Callable[[T], None], jobs: int, progress: Callable[[int], None]) -> None:
    """Call the action for each item in `jobs` threads. The first error ends all of them."""
    source, mutex, ended = iter(items), threading.Lock(), threading.Event()

    def taken() -> Iterator[T]:
        while not ended.is_set():
            with mutex:
                try:
                    item = next(source)
                except StopIteration:
                    return
            yield item

    def work() -> None:
        try:
            for item in taken():
                action(item)
                with mutex:
                    progress(1)
        finally:
            ended.set()

    with ThreadPoolExecutor(jobs) as pool:
        try:
            for future in [pool.submit(work) for _ in range(min(jobs, len(items)))]:
                future.result()
        finally:
            ended.set()  # for an interrupt of the main thread


# The comparison of a release with a bucket: what to send, and what to remove afterwards


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


# Yields the function that advances a progress bar of so many steps.
Progress = Callable[[int], AbstractContextManager[Callable[[int], None]]]


class PublishOptions(NamedTuple):
    """How a publish is done."""

    jobs: int
    # The seconds after which the lock of a killed publish is taken over, and the function that announces the wait.
    lock_seconds: int
    waiting: Callable[[int], None]
    progress: Progress
    check: bool = False
    without_lock: bool = False


def plan(bucket: Bucket, layout: BucketLayout, *, check: bool = False) -> PublishTotals:
    """What a publish would do. Writes nothing."""
    state = _TargetState(bucket, layout, unfinished_lists(bucket))
    return _totals(state.difference(check=check))


def publish(bucket: Bucket, layout: BucketLayout, options: PublishOptions) -> PublishTotals:
    bucket.is_conditional = not options.without_lock
    if bucket.is_conditional and not honours_conditions(bucket):
        raise FlatpanelError(
            f"{bucket.target}: this store ignores the conditions of writes, so two publishers at once would mix their"
            " releases; make sure that there is only one, and pass --without-lock"
        )
    with Lock(bucket, options.lock_seconds, options.waiting) as lock:
        state = _TargetState(bucket, layout, lock.unfinished)
        difference = state.difference(check=options.check)
        if state.is_published(difference):
            _send(bucket, layout, difference, options, lock)
        else:
            names = [stored_lists.put(bucket, data) for data in (*difference.shards, difference.result.dump())]
            lock.record([*filter(None, (state.pointer and state.pointer.list,)), names[-1]])
            _send(bucket, layout, difference, options, lock)
            _commit(bucket, layout, state, difference.result, names[-1])
        bucket.delete(difference.removed)
        bucket.delete(sorted(state.list_objects() - _objects(difference.result)))
        lock.finish()
    return _totals(difference)


class _TargetState:
    """What a bucket has, as its pointer and its lists say."""

    def __init__(self, bucket: Bucket, layout: BucketLayout, unfinished: Iterable[str]) -> None:
        self._bucket, self._layout = bucket, layout
        self.pointer: Pointer | None = read_pointer(bucket)
        self.published = read_list(bucket, self.pointer.list) if self.pointer else None
        if self.published and self.published.layout != layout.name:
            raise FlatpanelError(
                f"{bucket.target}: has the layout {self.published.layout}; pass --layout {self.published.layout}, or"
                " use another prefix"
            )
        self._names = set(unfinished)
        self.unfinished = [stored for name in sorted(self._names) if (stored := read_list(bucket, name))]

    def difference(self, *, check: bool) -> BucketDifference:
        """What to do. The same release again is not another publish."""
        comparison = BucketComparison(self._bucket, self._layout, self.published, self.unfinished, check=check)
        last = self.pointer.number if self.pointer else 0
        is_same = self.published and self.published.release == self._layout.release
        return comparison.difference(last if is_same else last + 1)

    def is_published(self, difference: BucketDifference) -> bool:
        """Whether the pointer names this result already."""
        return self.pointer is not None and self.pointer.list == stored_lists.digest(difference.result.dump())

    def list_objects(self) -> set[str]:
        """The keys of all lists and their shards."""
        lists = [*filter(None, (self.published,)), *self.unfinished]
        names = self._names | ({self.pointer.list} if self.pointer else set())
        return {f"{LISTS}/{name}" for name in names}.union(*map(_objects, lists))


def _send(
    bucket: Bucket, layout: BucketLayout, difference: BucketDifference, options: PublishOptions, lock: Lock
) -> None:
    def action(item: Item) -> None:
        lock.check()
        send(bucket, layout, item)

    with options.progress(len(difference.items)) as advance:
        for wave in waves(difference.items):
            in_parallel(wave, action, options.jobs, advance)
    lock.check()


def _commit(bucket: Bucket, layout: BucketLayout, state: _TargetState, result: StoredList, name: str) -> None:
    data = stored_lists.dump_pointer(result, name, layout.pointer())
    try:
        bucket.swap(POINTER, data, JSON_HEADERS, state.pointer.tag if state.pointer else None)
    except Conflict:
        raise FlatpanelError(f"{bucket.target}: another publish has finished meanwhile; run this one again") from None


def _objects(stored: StoredList) -> set[str]:
    """The keys of a list and its shards."""
    names = {stored_lists.digest(stored.dump()), *(shard.lines for shard in stored.shards.values())}
    return {f"{LISTS}/{name}" for name in names}


def _totals(difference: BucketDifference) -> PublishTotals:
    items = difference.items
    size = sum(item.size for item in items)
    return PublishTotals(len(items), size, difference.kept, len(difference.removed), difference.result.release)
