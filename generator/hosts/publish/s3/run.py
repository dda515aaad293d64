"""Publish a release to a bucket: bodies first, the pointer last, then remove what no release uses any more."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from itertools import groupby
from typing import NamedTuple, TypeVar

from .... import encoding
from ....errors import FlatpanelError
from ...packs.pack_files import PRIVATE
from ...packs.pack_format import file_name
from ...totals import Counter, PublishTotals
from .bucket import DELETED_AT_ONCE, Bucket, Conflict
from .layouts import BINARY, FOLDER, JSON_HEADERS, BucketLayout, Item, Line, MediaLayout
from .lock import Lock, exclusive, unfinished_lists

T = TypeVar("T")
# Larger objects, such as archives, are in memory one at a time.
_LARGE = 32 << 20
_one_large_object = threading.Lock()


def send(bucket: Bucket, layout: BucketLayout, item: Item, lock: Lock) -> None:
    """Write one object and compare the ETag that the store computed."""
    with _one_large_object if item.size > _LARGE else nullcontext():
        data = layout.read(item)
        # As late as possible: the time before it, or a suspension, may be long.
        lock.check()
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


# The list of a publish: its objects, stored in the bucket itself, and the pointer that names the last list

POINTER = f"{FOLDER}/pointer.json"
FORMAT = 2
# More than a list of a million objects.
_MAX_SIZE = 1 << 30


class StoredList(NamedTuple):
    """The objects after a publish: those of the release, and those that stay for readers of earlier releases."""

    layout: str
    number: int
    objects: Mapping[str, Line]
    # Each with the number of the last publish that used it.
    kept: Mapping[str, tuple[Line, int]]

    def dump(self) -> bytes:
        return encoding.json(self._asdict())

    def line(self, key: str) -> Line | None:
        """The line of an object, if the list has it."""
        return self.objects.get(key) or self.kept.get(key, (None,))[0]

    def key(self, data: bytes) -> str:
        """The key of the list, which is named by its content `data`. Names of restricted packs stay in their folder."""
        is_private = self.layout == "packs" and any(key.startswith(PRIVATE) for key in (*self.objects, *self.kept))
        return f"{PRIVATE if is_private else FOLDER}/lists/{file_name(data).hex()}"


def put_list(bucket: Bucket, key: str, data: bytes) -> None:
    bucket.put(key, encoding.gzip(data) or data, {**JSON_HEADERS, "Content-Type": BINARY})


def read_list(bucket: Bucket, key: str) -> StoredList | None:
    """A list; None if it is missing or damaged."""
    stored = bucket.get(key)
    data = stored.data if stored else b""
    if data.startswith(b"\x1f\x8b"):
        data = encoding.gunzip(data, _MAX_SIZE) or b""
    # A digest that is right makes every other check of the content unnecessary.
    return StoredList(**encoding.parse(data)) if file_name(data).hex() == key.rpartition("/")[2] else None


class Pointer(NamedTuple):
    """The object that names the last list. It is written last."""

    layout: str
    number: int
    list: str
    # The version of the object, for the next conditional write.
    tag: str


def read_pointer(bucket: Bucket, layout: str) -> Pointer | None:
    """The pointer; None in a bucket without a release. Raises FlatpanelError for one of another layout."""
    stored = bucket.get(POINTER)
    if not stored:
        return None
    try:
        value = encoding.parse(stored.data)
        if value["flatpanel"] != FORMAT:
            raise ValueError
        pointer = Pointer(str(value["layout"]), int(value["number"]), str(value["list"]), stored.tag)
    except (ValueError, KeyError, TypeError):
        raise FlatpanelError(
            f"{bucket.target}: {POINTER} is not of this version of the program; remove the object to send everything."
            " That does not remove what only earlier releases have: if some of it must not be public, empty this"
            " prefix, or publish to an empty one"
        ) from None
    if pointer.layout != layout:
        # --layout chooses that of a release.
        pass_it = "" if MediaLayout.name in (layout, pointer.layout) else f"pass --layout {pointer.layout}, or "
        raise FlatpanelError(f"{bucket.target}: has the layout {pointer.layout}; {pass_it}use another prefix")
    return pointer


def dump_pointer(stored: StoredList, key: str, fields: Mapping[str, object]) -> bytes:
    head = {"flatpanel": FORMAT, "layout": stored.layout, "number": stored.number, "list": key}
    return encoding.json({**head, **fields})


# The comparison of a release with a bucket: what to send, and what to remove afterwards


class BucketDifference(NamedTuple):
    """What a publish has to do."""

    # The list after it.
    result: StoredList
    items: list[Item]
    # Objects that no release uses any more.
    removed: list[str]


def difference(
    bucket: Bucket, layout: BucketLayout, pointer: Pointer | None, unfinished: Iterable[str], *, check: bool
) -> BucketDifference:
    """Compare a release with a bucket; `unfinished` are the keys of the lists of publishes that were cut off.

    With the latter, without a list of the last publish, or with `check`, the objects in the bucket itself are listed.
    """
    published = read_list(bucket, pointer.list) if pointer else None
    lists = [stored for key in sorted(unfinished) if (stored := read_list(bucket, key))]
    is_exact = bool(published) and not lists and not check
    last = published or StoredList(layout.name, pointer.number if pointer else 0, {}, {})
    lists.append(last)
    tags = {} if is_exact else dict(bucket.tags())

    def is_there(item: Item) -> bool:
        """Whether the bucket has an object with its headers."""
        lines = [line for stored in lists if (line := stored.line(item.key))]
        if is_exact:
            return any(map(item.is_written_as, lines))
        if tags.get(item.key) != layout.etag(item):
            return False
        written = [line for line in lines if line[0] == item.digest]
        if written and all(map(item.is_written_as, written)):
            return True
        # The listing does not have the headers.
        return item.headers.items() <= bucket.attributes(item.key).items()

    objects: dict[str, Line] = {}
    differing: list[Item] = []
    for item in layout.items(last.objects):
        objects[item.key] = item.line
        if not is_there(item):
            differing.append(item)
    # The same objects again are not another publish.
    number = last.number + (objects != last.objects)
    unused = {key: (line, last.number) for key, line in last.objects.items() if key not in objects}
    kept = {
        key: (line, used)
        for key, (line, used) in {**last.kept, **unused}.items()
        if key not in objects and used > number - layout.keeps(key)
    }
    before = {key for stored in lists for key in (*stored.objects, *stored.kept)}
    removed = sorted(before - objects.keys() - kept.keys())
    return BucketDifference(StoredList(layout.name, number, objects, kept), differing, removed)


class PublishOptions(NamedTuple):
    """How a publish is done."""

    jobs: int
    # The seconds after which the lock of a killed publish is taken over, and the function that announces the wait.
    lock_seconds: int
    waiting: Callable[[int], None]
    # Counts the time in which the machine sleeps, too.
    clock: Callable[[], float]
    counter: Counter
    check: bool = False
    without_lock: bool = False


def plan(bucket: Bucket, layout: BucketLayout, *, check: bool = False) -> PublishTotals:
    """What a publish would do. Writes nothing."""
    unfinished = unfinished_lists(bucket)
    return _totals(layout, difference(bucket, layout, read_pointer(bucket, layout.name), unfinished, check=check))


def publish(bucket: Bucket, layout: BucketLayout, options: PublishOptions) -> PublishTotals:
    with exclusive(
        bucket, options.lock_seconds, options.waiting, options.clock, without_lock=options.without_lock
    ) as lock:
        pointer = read_pointer(bucket, layout.name)
        differing = difference(bucket, layout, pointer, lock.unfinished, check=options.check)
        data = differing.result.dump()
        key, earlier_lists = differing.result.key(data), [*([pointer.list] if pointer else []), *lock.unfinished]
        if pointer and pointer.list == key:
            _send(bucket, layout, differing, options, lock)
        else:
            lock.check()
            put_list(bucket, key, data)
            lock.record([*earlier_lists, key])
            _send(bucket, layout, differing, options, lock)
            named = dump_pointer(differing.result, key, layout.pointer)
            try:
                bucket.swap(POINTER, named, JSON_HEADERS, pointer.tag if pointer else None)
            except Conflict:
                sentence = "another publish has finished meanwhile; run this one again"
                raise FlatpanelError(f"{bucket.target}: {sentence}") from None
        for keys in (differing.removed, sorted({*earlier_lists} - {key})):
            for start in range(0, len(keys), DELETED_AT_ONCE):
                lock.check()
                bucket.delete(keys[start : start + DELETED_AT_ONCE])
        lock.finish()
    return _totals(layout, differing)


def _send(
    bucket: Bucket, layout: BucketLayout, differing: BucketDifference, options: PublishOptions, lock: Lock
) -> None:
    def action(item: Item) -> None:
        send(bucket, layout, item, lock)

    with options.counter(len(differing.items)) as advance:
        for wave in waves(differing.items):
            in_parallel(wave, action, options.jobs, advance)
    lock.check()


def _totals(layout: BucketLayout, differing: BucketDifference) -> PublishTotals:
    sent, size = len(differing.items), sum(item.size for item in differing.items)
    return PublishTotals(sent, size, len(differing.result.objects) - sent, len(differing.removed), layout.release)
