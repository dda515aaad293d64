"""Publish a release to a bucket: bodies first, the pointer last, then remove what no release uses any more."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import NamedTuple

from ....errors import FlatpanelError
from ..totals import PublishTotals
from . import stored_lists
from .bucket import Bucket, Conflict
from .comparison import BucketComparison, BucketDifference
from .layouts import JSON_HEADERS, BucketLayout, Item
from .lock import Lock, honours_conditions, unfinished_lists
from .sending import in_parallel, send, waves
from .stored_lists import LISTS, POINTER, Pointer, StoredList, read_list, read_pointer

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
