"""Work that several processes share. What they answer comes in the order in which it was asked for."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any, TypeVar

Task = TypeVar("Task")
Answer = TypeVar("Answer")

# So many tasks travel together; and so many such batches wait for each process, no more, whatever there is to do.
_BATCH = 8
_WAITING = 3

_work: Callable[[Any], Any]


def ordered_map(jobs: int, make: Callable[[], Callable[[Task], Answer]], tasks: Iterable[Task]) -> Iterator[Answer]:
    """`make` makes, in each process, what is then called with each task."""
    batches = _batches(iter(tasks))
    nothing: list[Task] = []
    first, second = next(batches, nothing), next(batches, nothing)
    if jobs == 1 or not second:
        work = make()
        for batch in chain((first, second), batches):
            yield from map(work, batch)
        return
    # Takes its time to load, and small edits need none.
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    with ProcessPoolExecutor(jobs, initializer=_begin, initargs=(make,)) as pool:
        waiting: deque[Any] = deque()
        try:
            waiting.extend(pool.submit(_do, batch) for batch in (first, second))
            while waiting:
                while len(waiting) < _WAITING * jobs and (batch := next(batches, nothing)):
                    waiting.append(pool.submit(_do, batch))
                yield from waiting.popleft().result()
        except BrokenProcessPool:
            raise ChildProcessError(
                "one of the processes that share the work was killed, as for want of memory; --jobs 1 needs less"
            ) from None


def _batches(tasks: Iterator[Task]) -> Iterator[list[Task]]:
    while batch := list(islice(tasks, _BATCH)):
        yield batch


def _begin(make: Callable[[], Callable[[Any], Any]]) -> None:
    global _work
    _work = make()


def _do(batch: list[Any]) -> list[Any]:
    return list(map(_work, batch))
