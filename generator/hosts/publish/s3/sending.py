"""Send objects, several at a time."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from threading import Event, Lock
from typing import TypeVar

from .... import encoding
from ....errors import FlatpanelError
from .bucket import Bucket
from .layouts import BucketLayout, Item

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
    source, mutex, ended = iter(items), Lock(), Event()

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
