"""Apply a function to tasks in several processes. Results come in the order of the tasks."""

import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")

# The number of tasks that are sent together, and of batches that are submitted for each process.
_BATCH = 8
_SUBMITTED = 3

_function: Callable[[Any], Any]


def ordered_map(jobs: int, make: Callable[[], Callable[[Task], Result]], tasks: Iterable[Task]) -> Iterator[Result]:
    """Call a function with each task. Each process makes the function once, with `make`."""
    batches = _batches(iter(tasks))
    nothing: list[Task] = []
    first, second = next(batches, nothing), next(batches, nothing)
    if jobs == 1 or not second:
        function = make()
        for batch in chain((first, second), batches):
            yield from map(function, batch)
        return
    # The import takes longer than a small edit.
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    with ProcessPoolExecutor(jobs, initializer=_begin, initargs=(make,)) as pool:
        submitted: deque[Any] = deque()
        try:
            with _without_interrupts():
                submitted.extend(pool.submit(_apply, batch) for batch in (first, second))
            while submitted:
                while len(submitted) < _SUBMITTED * jobs and (batch := next(batches, nothing)):
                    with _without_interrupts():  # some systems start a process for each of the first batches
                        submitted.append(pool.submit(_apply, batch))
                yield from submitted.popleft().result()
        except BrokenProcessPool:
            raise ChildProcessError(
                "a worker process was killed, probably because memory ran out; --jobs 1 needs less"
            ) from None
        finally:  # nothing is left to cancel, except after an error or an interrupt
            pool.shutdown(cancel_futures=True)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Block SIGINT while the processes start. They inherit this, so Ctrl-C interrupts the calling process only.

    An interrupt in the middle of a fork, or of a worker that holds a lock of the pool, could block all processes.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _batches(tasks: Iterator[Task]) -> Iterator[list[Task]]:
    while batch := list(islice(tasks, _BATCH)):
        yield batch


def _begin(make: Callable[[], Callable[[Any], Any]]) -> None:
    global _function
    _function = make()


def _apply(batch: list[Any]) -> list[Any]:
    return list(map(_function, batch))
